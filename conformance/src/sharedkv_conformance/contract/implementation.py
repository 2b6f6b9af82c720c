"""How an implementation is described and opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sharedkv_conformance.contract.pool import PoolConfig


@dataclass(frozen=True, kw_only=True)
class Description:
    """What an implementation says of itself before anything is opened.

    `features` are claims: facet words (`allocation`), optional features (`allocation.snapshot`) and probes
    (`probe.cost`). `limits` bound what the suite generates, in the unit that the key names (`max_pages`,
    `max_cp_size`, `max_page_size`, `max_host_pages`); an absent key means that the suite may choose. `environment` is
    free text for the report: device, driver, library versions.
    """

    name: str
    version: str
    features: frozenset[str]
    limits: Mapping[str, int] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FreeRoom:
    """Free-room policy, in pages a lane: room to keep beyond what is pending, and the least worth evicting."""

    target: int = 0
    min_chunk: int = 1


@dataclass(frozen=True, kw_only=True)
class HostConfig:
    """How the host tier behaves.

    `write` is `write_through`, `write_through_selective` or `write_back`: when nodes are backed up. `layout` is
    `layer_first`, `page_first` or `page_first_direct`: how host memory is laid out. Any other is refused with
    `Rejected` (`host_config_invalid`) when a session that claims `host_tier.tree` is opened. `free_room` is the policy
    of host lanes. A load-back of fewer pages than `load_back_least` is skipped, and one with which more than
    `load_back_most` pages were in flight; 0 means no bound.
    """

    write: str = "write_through"
    layout: str = "layer_first"
    free_room: FreeRoom = field(default_factory=FreeRoom)
    load_back_least: int = 1
    load_back_most: int = 0


@dataclass(frozen=True, kw_only=True)
class StorageConfig:
    """Which objects a session reaches, and how much it may have in flight.

    Sessions of one implementation with the same `store` share objects; an empty one is the session's own. `model` and
    `fields` go into the namespace of keys; a field named twice is refused with `Rejected` (`namespace_invalid`) when a
    session that claims `storage` is opened. Fetches hold at most `quota` pages together, 0 meaning no bound; one of
    fewer than `least` pages is not begun.
    """

    store: str = ""
    model: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    quota: int = 0
    least: int = 1


@dataclass(frozen=True, kw_only=True)
class TransferConfig:
    """Decode as a session plays it, and how long anything may take, in ticks of the session's clock.

    Each of `decode_ranks` has the pages 1..`decode_pages` (page 0 is its dummy), stored as the session's pool stores
    them, and the slots 0..`slots` - 1 of `aux_bytes` each. Layers are sent in groups of `group`; 0 turns overlap off.
    A flight that has not ended `deadline` ticks after its submission, or a chunk after `transfer.send`, fails; a room
    that has not ended `patience` ticks after it was reserved does so at decode.
    """

    decode_ranks: int = 1
    decode_pages: int = 0
    slots: int = 0
    aux_bytes: int = 16
    group: int = 8
    deadline: int = 30
    patience: int = 300
    quarantine: int = 60


@dataclass(frozen=True, kw_only=True)
class OpenConfig:
    """The geometry of one session.

    `pages` counts the logical pages 1..pages of the pool, before any surplus is dropped; page 0 is the dummy and
    not among them. `rank` is the rank that this session plays in planning and allocation: every rank does both alike;
    the data-plane facets play all ranks. `split` other than `in_sequence` is refused with `Rejected`. `host_pages`
    counts the pages of each lane of the host tier, `host` says how it behaves, `storage` which objects are behind it.
    `transfer` describes the decode side and the patience of both.
    """

    cp_size: int
    page_size: int
    pages: int
    rank: int = 0
    split: str = "in_sequence"
    free_room: FreeRoom = field(default_factory=FreeRoom)
    pool: PoolConfig = field(default_factory=PoolConfig)
    prefetch: bool = False
    host_pages: int = 0
    host: HostConfig = field(default_factory=HostConfig)
    storage: StorageConfig = field(default_factory=StorageConfig)
    transfer: TransferConfig = field(default_factory=TransferConfig)


class Session(Protocol):
    """One fresh and isolated instance, used from one thread.

    Beside `close` it has one attribute a facet that is claimed, under the facet's word: `planning` (`Planning`),
    `allocation` (`Allocation`), `direct_write` (`DirectWrite`), `reuse` (`Reuse`), `prefetch` (`Prefetch`), `eviction`
    (`Eviction`), `host_tier` (`HostTier`), `copies` (`Copies`), `storage` (`Storage`), `transfer` (`Transfer` and
    `Sending`), `overlap` (`Overlap`), `abort` (`Abort`) and `probe` (`Probe`). A call that is not claimed raises
    `Unsupported`; a facet or a call that is not there at all counts as one that does, so that an adapter outlives the
    next minor version of the contract.
    """

    def close(self) -> None:
        """Give up everything that the session holds."""


class Implementation(Protocol):
    """What the suite is pointed at."""

    def describe(self) -> Description:
        """Say what this is and what it claims. Costs nothing and opens nothing."""

    def open(self, config: OpenConfig) -> Session:
        """Open a fresh session, or raise `Rejected` when the geometry is not supported."""

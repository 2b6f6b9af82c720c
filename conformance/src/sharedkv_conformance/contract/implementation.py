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
class OpenConfig:
    """The geometry of one session.

    `pages` counts the logical pages 1..pages of the pool, before any surplus is dropped; page 0 is the dummy and
    not among them. `rank` is the rank that this session plays in planning and allocation: every rank does both alike;
    the data-plane facets play all ranks. `split` other than `in_sequence` is refused with `Rejected`. `host_pages`
    counts the pages of each lane of the host tier.
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


class Session(Protocol):
    """One fresh and isolated instance, used from one thread.

    Beside `close` it has one attribute a facet that is claimed, under the facet's word: `planning` (`Planning`),
    `allocation` (`Allocation`), `direct_write` (`DirectWrite`), `reuse` (`Reuse`), `prefetch` (`Prefetch`), `eviction`
    (`Eviction`), `host_tier` (`HostTier`) and `probe` (`Probe`). A call that is not claimed raises `Unsupported`; a
    facet or a call that is not there at all counts as one that does, so that an adapter outlives the next minor version
    of the contract.
    """

    def close(self) -> None:
        """Give up everything that the session holds."""


class Implementation(Protocol):
    """What the suite is pointed at."""

    def describe(self) -> Description:
        """Say what this is and what it claims. Costs nothing and opens nothing."""

    def open(self, config: OpenConfig) -> Session:
        """Open a fresh session, or raise `Rejected` when the geometry is not supported."""

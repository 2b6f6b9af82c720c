"""Probes: optional features that make inner state observable. Each is named `probe.<method>` and claimed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Event:
    """A choice of path that the implementation reports.

    Kinds: `rejected` (a batch was refused; `reason` is the rejection's), `legacy_allocation` (a batch went
    through paged allocation without lanes) and `fallback` (a path was left; `reason` says why). Of the data plane, with
    the `layer`: `written` (rows of the buffer `reason` are enqueued), `layer_end` (every buffer of the layer is),
    `materialized` (prefix pages of the buffer `reason` were gathered). Reasons of `fallback` from prefetch:
    `prefetch_skip`, `prefetch_miss`. Of copies: `backup_submitted`, `load_submitted` (one set of descriptors of the
    `layer` is enqueued; `reason` is `target` or `draft`).
    """

    kind: str
    reason: str
    layer: int = -1


@dataclass(frozen=True, kw_only=True)
class PageSets:
    """The logical pages of each lane by state; order within a lane means nothing."""

    free: tuple[tuple[int, ...], ...]
    evictable: tuple[tuple[int, ...], ...]
    in_use: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class PoolBuffer:
    """The bytes of one buffer of one layer on one rank: physical pages from the dummy on, as they are stored."""

    rank: int
    buffer: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Span:
    """Tokens [start, end) of a dense view."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Collective:
    """One collective among the ranks: its `kind` (`all_reduce`, `all_gather`, ...), what for, and what it carried."""

    kind: str
    layer: int
    buffer: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class TreeNode:
    """One node of the prefix tree of `host_tier`.

    `node` is its number, unique; `parent` the number of the node above, -1 below the root. `tokens` are its own.
    `pages` are its device pages, none where it is not resident; `host_lanes` and `host_pages` say where its host pages
    are, none where it has none; `device_counts` and `host_counts` are the counts a lane that are kept of them. `locks`
    counts the locks that cover it, `readers` the loads, saves and fetches that use its host pages; `backup_pending` and
    `load_pending` say that one was not acknowledged. `hits` counts inserts, `last_tick` orders by recency.
    """

    node: int
    parent: int
    tokens: tuple[int, ...]
    pages: tuple[int, ...]
    host_lanes: tuple[int, ...]
    host_pages: tuple[int, ...]
    device_counts: tuple[int, ...]
    host_counts: tuple[int, ...]
    locks: int
    readers: int
    backup_pending: bool
    load_pending: bool
    hits: int
    last_tick: int


@dataclass(frozen=True, kw_only=True)
class CopyInFlight:
    """A copy that was not acknowledged: `kind` is `backup`, `load` or `save`; `sources` are those not finished."""

    copy: int
    kind: str
    sources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class HostBuffer:
    """The host pages of one lane for one buffer of one layer: page after page, each as its device page is stored."""

    lane: int
    buffer: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """One object of the storage tier: the key and part of its page, the lane kept with it, and who wrote it."""

    key: str
    part: str
    lane: int
    writer: int


class Probe(Protocol):
    """Views of inner state. A probe never changes what it shows."""

    def cost(self) -> int:
        """Return how many elements of allocator state the last call of the facet read or wrote.

        An element is an entry of the implementation's own bookkeeping: a list entry, a run, a tree node, a
        bitmap word. What was merely copied into the answer does not count. After a call of `eviction` it is an entry of
        the `owners` of a node, counted each time that it is read. After a call of `host_tier` it is an entry of the
        bookkeeping of host pages.
        """

    def events(self) -> tuple[Event, ...]:
        """Return every event since the session was opened, oldest first."""

    def pages(self) -> PageSets:
        """Return the state of every page."""

    def pool(self, layer: int) -> tuple[PoolBuffer, ...]:
        """Return every buffer of a layer, rank by rank, as whoever is ordered after every write sees it."""

    def collectives(self) -> tuple[Collective, ...]:
        """Return every collective since the session was opened, oldest first."""

    def inject(self, fault: str) -> None:
        """Bring about a fault or a disorder, from now on.

        `late_writes`: rows that `direct_write.write` enqueues reach the pool only when something that is ordered after
        them runs. `late_copies`: a prefetch fills its buffer only when a reader waits for it. `prefetch_lost`: the next
        prefetch that is started never finishes. `no_kernels`: the fast kernels are not there. `late_backups`: rows
        reach the host only when something that is ordered after the copy runs (its acknowledgement, a load or a save of
        the host page). `late_loads`: rows of a layer reach the device only when somebody waits for them.
        """

    def tree(self) -> tuple[TreeNode, ...]:
        """Return every node, in any order."""

    def host_pool(self, layer: int) -> tuple[HostBuffer, ...]:
        """Return the host pages of a layer, lane by lane, as whoever is ordered after every copy sees them."""

    def copies(self) -> tuple[CopyInFlight, ...]:
        """Return every copy that was not acknowledged, in the order of submission."""

    def hold(self) -> None:
        """Let no copy and no fetch that is submitted from now on finish before `finish` or `arrive` says so.

        What is held is that the host hears of it: device work keeps its order, and readers get their rows.
        """

    def finish(self, copy: int, source: str, rank: int) -> None:
        """Let one source of a held copy (`target`, `draft`) finish on one rank, on all ranks where it is -1.

        Nothing changes where it is finished already; a source that the copy does not have, and a rank that is none, is
        `copy_unknown`. Of a held fetch the source `query`, on all ranks, makes known what is planned. `Rejected`
        (`copy_unknown`) where there is none.
        """

    def arrive(self, fetch: int, part: str, pages: int) -> None:
        """Let so many more pages of one part of a held fetch arrive. `Rejected` (`fetch_unknown`) like `finish`."""

    def advance(self, ticks: int) -> None:
        """Let the clock of the session go on."""

    def objects(self) -> tuple[StoredObject, ...]:
        """Return every object that the session's store holds whole and as it was written, in any order."""

    def spoil(self, key: str, part: str, how: str) -> None:
        """Spoil one object of the store: it is `lost`, `truncated`, `flipped` (one bit), or `foreign` (another's).

        `Rejected` (`object_unknown`) where there is none of this key and part.
        """

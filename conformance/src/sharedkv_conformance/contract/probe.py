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
    `prefetch_skip`, `prefetch_miss`.
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
        prefetch that is started never finishes. `no_kernels`: the fast kernels are not there.
        """

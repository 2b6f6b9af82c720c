"""Owner-lane allocation: every new page of an extend batch lies on the lane of the rank that computes it.

Knows batches, splits, eviction by lane and the free-room policy. Does not know who asks, what a prefix's pages are,
nor tensors. Every call checks, then changes, then answers; a call that raises has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharedkv.cost import CostMeter
from sharedkv.errors import CapacityWaitError, Refusal, RefusedError
from sharedkv.geometry import Geometry, Lane, PageId
from sharedkv.lanes import EVICTABLE, IN_USE, KEPT, LaneCounts, LanePages, LanePool
from sharedkv.planning import PageSplit, split_pages

OnRefused = Callable[[RefusedError], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtendRequest:
    """One request of a batch; its prefix's pages are the caller's."""

    request: str
    prefix_tokens: int
    extend_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FreeRoom:
    """Pages a lane: room to keep beyond what is pending, and the least worth evicting."""

    target: int = 0
    min_chunk: int = 1


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ExtendAllocation:
    """What a batch was given, flattened in request order.

    `owners` and `pages` have one entry a new page; `locations` is int64 of shape (new tokens,) and the caller's own;
    `evicted` are pages that were retained and gave way.
    """

    owners: Sequence[Lane]
    pages: Sequence[PageId]
    locations: NDArray[np.int64]
    evicted: Sequence[PageId]


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """Whether a batch would fit now, with one count a lane; `available` is free and evictable together."""

    fits: bool
    required: tuple[int, ...]
    available: tuple[int, ...]
    deficit: tuple[int, ...]


def _ignore(_refused: RefusedError) -> None:
    pass


class OwnerLaneAllocator:
    """The pages of one pool. Equal streams of calls get equal pages, on every rank.

    `on_refused` hears of every refused batch before the caller does.
    """

    def __init__(self, geometry: Geometry, free_room: FreeRoom, on_refused: OnRefused = _ignore) -> None:
        self.geometry = geometry
        self._free_room = free_room
        self._on_refused = on_refused
        self._meter = CostMeter()
        self._pool = LanePool(geometry, self._meter)
        self._meter.touched = 0

    @property
    def touched(self) -> int:
        """Count the elements of bookkeeping that the last call read or wrote."""
        return self._meter.touched

    def extend(self, batch: Sequence[ExtendRequest]) -> ExtendAllocation:
        """Allocate every new page of the batch, or change nothing and raise.

        A lane that is short evicts exactly what it lacks, oldest first. Raises `RefusedError` for a request that has
        no page-aligned split and `CapacityWaitError` when a lane stays short.
        """
        splits, required = self._plan(batch)
        evicted = self._make_fit(required)
        owners: list[int] = []
        pages: list[int] = []
        take = self._pool.take
        for split in splits:
            owners += split.owners()
            pages += split.in_page_order([take(lane, count) for lane, count in enumerate(split.lane_counts())])
        return ExtendAllocation(
            owners=cast("list[Lane]", owners),
            pages=cast("list[PageId]", pages),
            locations=self.geometry.locations(pages, [request.extend_tokens for request in batch]),
            evicted=cast("list[PageId]", evicted),
        )

    def admit(self, batch: Sequence[ExtendRequest]) -> Admission:
        """Say whether the batch would fit now, lane by lane. Changes nothing."""
        _, required = self._plan(batch)
        available = [free + kept for free, kept in zip(self._pool.free(), self._pool.evictable(), strict=True)]
        return _admission(required, available)

    def make_room(self, batch: Sequence[ExtendRequest]) -> list[PageId]:
        """Evict ahead of a batch where a lane would keep less than its target, and return what gave way.

        A lane evicts what is pending beyond its free pages, and never less than the policy's chunk, as far as it has
        evictable pages; a shortfall is no error.
        """
        _, required = self._plan(batch)
        evicted: list[int] = []
        free, evictable = self._pool.free(), self._pool.evictable()
        for lane, (need, idle, kept) in enumerate(zip(required, free, evictable, strict=True)):
            if idle - need < self._free_room.target:
                evicted += self._pool.evict(lane, min(kept, max(self._free_room.min_chunk, need - idle, 0)))
        return cast("list[PageId]", evicted)

    def retain(self, pages: Sequence[PageId]) -> None:
        """Turn distinct pages that are in use into evictable ones, each newer than the one before.

        Refuses pages that a cache keeps, as `release` does.
        """
        self._meter.touched = 0
        self._pool.require_distinct(pages, (IN_USE,))
        self._pool.retain(pages)

    def release(self, pages: Sequence[PageId]) -> None:
        """Free distinct pages that are in use or evictable."""
        self._meter.touched = 0
        self._pool.require_distinct(pages, (IN_USE, EVICTABLE))
        self._pool.release(pages)

    def release_locations(self, locations: ArrayLike) -> None:
        """Free each page that holds one of the token locations, once."""
        self._meter.touched = 0
        self.release(self.geometry.pages_of(locations))

    def keep(self, pages: Sequence[PageId]) -> None:
        """Let distinct pages that are in use be a cache's: nobody retains or frees them but by `release_kept`."""
        self._meter.touched = 0
        self._pool.require_distinct(pages, (IN_USE,))
        self._pool.keep(pages)

    def release_kept(self, pages: Sequence[PageId]) -> None:
        """Free distinct pages that a cache keeps."""
        self._meter.touched = 0
        self._pool.require_distinct(pages, (KEPT,))
        self._pool.release_kept(pages)

    def take(self, counts: Sequence[int]) -> tuple[Sequence[PageId], ...]:
        """Put `counts[lane]` free pages of each lane in use, on all lanes or on none, and return them by lane.

        Nothing gives way for them. Raises `CapacityWaitError`, with what is free as available, when a lane is short.
        """
        self._meter.touched = 0
        admission = _admission(counts, self._pool.free())
        if not admission.fits:
            raise CapacityWaitError(admission.required, admission.available, admission.deficit)
        taken = [self._pool.take(lane, count) if count else () for lane, count in enumerate(counts)]
        return cast("tuple[Sequence[PageId], ...]", tuple(taken))

    def require_in_use(self, pages: Sequence[PageId]) -> None:
        """Refuse pages of which one is none of the pool, neither in use nor kept, or named twice."""
        self._meter.touched = 0
        self._pool.require_distinct(pages, (IN_USE, KEPT))

    def require_allocated(self, pages: Sequence[int]) -> None:
        """Refuse pages of which one is none of the pool, or free."""
        self._meter.touched = 0
        self._pool.require_allocated(pages)

    def pin(self, pages: Sequence[int]) -> None:
        """Keep pages that are not free from being used again; each is counted.

        `release` and `retain` of them are accepted, and done at the last `unpin`; until then a page is in use, and
        nothing more can be asked for it. They are no part of a snapshot.
        """
        self._pool.pin(pages)

    def unpin(self, pages: Sequence[int]) -> None:
        """Keep pages once less."""
        self._pool.unpin(pages)

    def is_any_pinned(self, pages: Sequence[int]) -> bool:
        """Say whether one of some pages is pinned."""
        return self._pool.is_any_pinned(pages)

    def allocate_flat(self, num_pages: int) -> NoReturn:
        """Refuse to allocate pages without owners: no lane could be right for them."""
        self._meter.touched = 0
        raise RefusedError(Refusal.ALLOCATION_WITHOUT_OWNERS, num_pages)

    def owners(self, pages: Sequence[PageId]) -> list[Lane]:
        """Read the lane of each page from its id, whatever plan allocated it."""
        self._meter.touched = 0
        self._pool.require_in_pool(pages)
        return [self.geometry.lane(page) for page in pages]

    def lanes(self) -> LaneCounts:
        """Count the pages of each lane."""
        self._meter.touched = 0
        return self._pool.counts()

    def pages(self) -> LanePages:
        """List every page by state. For inspection: reads the whole pool and leaves `touched` alone."""
        return self._pool.pages()

    def snapshot(self) -> int:
        """Remember the state of every page and return a name for it."""
        self._meter.touched = 0
        return self._pool.journal.mark()

    def restore(self, snapshot: int) -> None:
        """Give every page the state it had at a snapshot, which stays; later snapshots are gone.

        Refuses a snapshot at which a cache kept other pages than now.
        """
        self._meter.touched = 0
        self._pool.restore(snapshot)

    def forget(self, snapshot: int) -> None:
        """Give up a snapshot, so that what only it needs is no longer kept."""
        self._meter.touched = 0
        self._pool.journal.forget(snapshot)

    def kept_pages(self) -> list[int]:
        """List the pages that a cache keeps. For inspection: reads the whole pool and leaves `touched` alone."""
        return self._pool.kept()

    def invariants(self) -> list[str]:
        """List the laws that the state breaks. Reads the whole pool and leaves `touched` alone."""
        touched = self._meter.touched
        broken = self._pool.invariants()
        self._meter.touched = touched
        return broken

    def _plan(self, batch: Sequence[ExtendRequest]) -> tuple[list[PageSplit], list[int]]:
        """Split every request on its own and add up the pages that each lane must give."""
        self._meter.touched = 0
        try:
            splits = [split_pages(self.geometry, request.prefix_tokens, request.extend_tokens) for request in batch]
        except RefusedError as refused:
            self._on_refused(refused)
            raise
        required = [0] * self.geometry.cp_size
        for split in splits:
            for lane, count in enumerate(split.lane_counts()):
                required[lane] += count
        return splits, required

    def _make_fit(self, required: Sequence[int]) -> list[int]:
        """Evict what lanes lack and no more, or raise before anything gives way."""
        free = self._pool.free()
        short = [need - idle for need, idle in zip(required, free, strict=True)]
        if max(short) <= 0:
            return []
        available = [idle + kept for idle, kept in zip(free, self._pool.evictable(), strict=True)]
        admission = _admission(required, available)
        if not admission.fits:
            raise CapacityWaitError(admission.required, admission.available, admission.deficit)
        evicted: list[int] = []
        for lane, lacking in enumerate(short):
            if lacking > 0:
                evicted += self._pool.evict(lane, lacking)
        return evicted


def _admission(required: Sequence[int], available: Sequence[int]) -> Admission:
    deficit = tuple(max(0, need - have) for need, have in zip(required, available, strict=True))
    return Admission(fits=not any(deficit), required=tuple(required), available=tuple(available), deficit=deficit)

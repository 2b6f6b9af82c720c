"""The state of every page, lane by lane.

Knows which pages are free, in use, kept by a cache or evictable, and moves them between these; each change notes
its inverse while a snapshot is held. Does not know requests or splits: how many pages a lane must give is the
allocator's business.

    state      kept in
    free       the lane's extent index, by physical page
    evictable  the lane's retention order, by logical page
    in use     neither; every state also stands in one byte a logical page
    kept       as in use, and counted there: only the byte tells

A *pinned* page is in use, or kept. To free or to retain one is accepted, and put off until its last unpin; until then
nothing more can be asked for it. An evictable page that is pinned is in use meanwhile, and then the newest evictable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sharedkv.cost import CostMeter
from sharedkv.errors import Refusal, RefusedError
from sharedkv.extents import ExtentIndex
from sharedkv.geometry import DUMMY_PAGE, Geometry, Lane, PageId, PhysicalPage
from sharedkv.journal import Journal
from sharedkv.retention import RetentionOrder

FREE, IN_USE, EVICTABLE, KEPT, OUTSIDE = range(5)

_ONE_IN_USE = bytearray([IN_USE])  # a bytearray: a slice of one takes bytes only by way of a copy


@dataclass(frozen=True, kw_only=True)
class LaneCounts:
    """One count a lane, in pages."""

    capacity: tuple[int, ...]
    free: tuple[int, ...]
    evictable: tuple[int, ...]
    in_use: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LanePages:
    """The logical pages of each lane by state, ascending."""

    free: tuple[tuple[PageId, ...], ...]
    evictable: tuple[tuple[PageId, ...], ...]
    in_use: tuple[tuple[PageId, ...], ...]


class LanePool:
    """Every page of a pool: free at first, then in use, evictable, free again.

    A method that takes pages expects what it says of their state; `require_*` is how a caller makes sure.
    """

    def __init__(self, geometry: Geometry, meter: CostMeter) -> None:
        self.geometry = geometry
        self.journal = Journal(meter)
        self._meter = meter
        self._states = bytearray(geometry.last_page + 1)
        self._states[DUMMY_PAGE] = OUTSIDE
        lanes = range(geometry.cp_size)
        self._free = [ExtentIndex(geometry.lane_capacity, meter) for _ in lanes]
        self._retained = [RetentionOrder(meter) for _ in lanes]
        self._pins: dict[int, int] = {}
        self._deferred: dict[int, int] = {}

    def free(self) -> list[int]:
        """Count the free pages of each lane."""
        self._meter.touched += len(self._free)
        return [index.num_free for index in self._free]

    def evictable(self) -> list[int]:
        """Count the evictable pages of each lane."""
        self._meter.touched += len(self._retained)
        return [len(order) for order in self._retained]

    def counts(self) -> LaneCounts:
        """Count the pages of each lane by state, from counters."""
        capacity, free, evictable = self.geometry.lane_capacity, self.free(), self.evictable()
        in_use = tuple(capacity - idle - kept for idle, kept in zip(free, evictable, strict=True))
        lanes = (capacity,) * self.geometry.cp_size
        return LaneCounts(capacity=lanes, free=tuple(free), evictable=tuple(evictable), in_use=in_use)

    def take(self, lane: int, count: int) -> Sequence[int]:
        """Put `count` free pages of a lane in use, at least one and no more than are free; ascending."""
        runs = self._free[lane].take(count)
        self._meter.touched += count
        if self.journal.recording:
            self.journal.record(partial(self._untake, lane, runs))
        taken: list[int] = []
        for run in runs:
            pages = self.geometry.run(lane, run)
            self._states[pages.start : pages.stop : pages.step] = _ONE_IN_USE * len(run)
            if len(run) == count:
                return pages
            taken += pages
        return taken

    def retain(self, pages: Iterable[int]) -> None:
        """Make pages that are in use evictable, each newer than the one before."""
        for page in self._deferring(pages, EVICTABLE) if self._pins else pages:
            order = self._retained[(page - 1) % self.geometry.cp_size]
            order.append(page)
            self._states[page] = EVICTABLE
            self._meter.touched += 1
            if self.journal.recording:
                self.journal.record(partial(self._unretain, order, page))

    def keep(self, pages: Sequence[int]) -> None:
        """Let pages that are in use be a cache's."""
        for page in pages:
            self._states[page] = KEPT
        self._meter.touched += len(pages)
        if self.journal.recording:
            self.journal.record(partial(self._unkeep, pages))
            self.journal.move(pages)

    def release_kept(self, pages: Sequence[int]) -> None:
        """Free distinct pages that a cache keeps."""
        self.release(pages)
        if self.journal.recording:
            self.journal.move(pages)

    def evict(self, lane: int, count: int) -> list[int]:
        """Free the `count` pages of a lane that were retained longest ago, no more than are evictable."""
        pages = self._retained[lane].oldest(count)
        self.release(pages)
        return pages

    def release(self, pages: Sequence[int]) -> None:
        """Free distinct pages that are in use or evictable."""
        if self._pins:
            pages = self._deferring(pages, FREE)
        self._unlink_retained(pages)
        cp_size = self.geometry.cp_size
        start_before: dict[int, int] = {}
        start_of = start_before.pop
        for page in sorted(pages):
            start_before[page + cp_size] = start_of(page, page)
        for end, start in start_before.items():
            self._free_run(range(start, end, cp_size))

    def pin(self, pages: Iterable[int]) -> None:
        """Keep pages that are not free; each is counted."""
        for page in pages:
            self._pins[page] = self._pins.get(page, 0) + 1
            self._meter.touched += 1
            if self._states[page] == EVICTABLE:
                self._hold_back(page)

    def is_any_pinned(self, pages: Iterable[int]) -> bool:
        """Say whether one of some pages is pinned."""
        return bool(self._pins) and not self._pins.keys().isdisjoint(pages)

    def unpin(self, pages: Iterable[int]) -> None:
        """Keep pages once less, and do what was asked for those that nobody keeps any more."""
        idle = []
        for page in pages:
            self._meter.touched += 1
            self._pins[page] -= 1
            if not self._pins[page]:
                del self._pins[page]
                idle.append(page)
        self._catch_up(idle)

    def _deferring(self, pages: Iterable[int], state: int) -> list[int]:
        """Put off what is asked of pinned pages, and return the others."""
        now = []
        for page in pages:
            if page not in self._pins:
                now.append(page)
                continue
            self._meter.touched += 1
            if self.journal.recording:
                self.journal.record(partial(self._undefer, page, self._states[page]))
            self._deferred[page] = state
            self._states[page] = IN_USE
        return now

    def _hold_back(self, page: int) -> None:
        """Take an evictable page that is pinned out of the retention order, until it is not pinned."""
        order = self._retained[(page - 1) % self.geometry.cp_size]
        older = order.remove(page)
        if self.journal.recording:
            self.journal.record(partial(order.insert_after, older, page))
            self.journal.record(partial(self._undefer, page, EVICTABLE))
        self._deferred[page] = EVICTABLE
        self._states[page] = IN_USE

    def _catch_up(self, pages: Iterable[int]) -> None:
        """Do what was put off of pages that are not pinned any more."""
        asked = {page: self._deferred.pop(page) for page in pages if page in self._deferred}
        if self.journal.recording:
            for page, state in asked.items():
                self.journal.record(partial(self._deferred.__setitem__, page, state))
        self.retain([page for page, state in asked.items() if state == EVICTABLE])
        self.release([page for page, state in asked.items() if state == FREE])

    def _undefer(self, page: int, state: int) -> None:
        self._deferred.pop(page, None)
        self._states[page] = state

    def _unlink_retained(self, pages: Sequence[int]) -> None:
        known = self._states
        self._meter.touched += len(pages)
        for page in pages:
            if known[page] == EVICTABLE:
                order = self._retained[(page - 1) % self.geometry.cp_size]
                older = order.remove(page)
                if self.journal.recording:
                    self.journal.record(partial(order.insert_after, older, page))

    def _free_run(self, pages: range) -> None:
        """Free pages of one lane that lie one after another, none of them linked in the retention order."""
        count = len(pages)
        above, lane = divmod(pages.start - 1, pages.step)
        run = range(above + 1, above + 1 + count)
        joined_start = self._free[lane].give(run)
        if self.journal.recording:
            states = bytes(self._states[pages.start : pages.stop : pages.step])
            self.journal.record(partial(self._unfree, lane, joined_start, run, states))
        self._states[pages.start : pages.stop : pages.step] = bytearray(count)
        self._meter.touched += count

    def _untake(self, lane: int, runs: Iterable[range]) -> None:
        for run in runs:
            self._free[lane].give(run)
            pages = self.geometry.run(lane, run)
            self._states[pages.start : pages.stop : pages.step] = bytes(len(pages))
            self._meter.touched += len(pages)

    def _unkeep(self, pages: Sequence[int]) -> None:
        for page in pages:
            self._states[page] = IN_USE
        self._meter.touched += len(pages)

    def _unretain(self, order: RetentionOrder, page: int) -> None:
        order.remove(page)
        self._states[page] = IN_USE
        self._meter.touched += 1

    def _unfree(self, lane: int, joined_start: int, run: range, states: bytes) -> None:
        self._free[lane].carve(joined_start, run)
        pages = self.geometry.run(lane, run)
        self._states[pages.start : pages.stop : pages.step] = states
        self._meter.touched += len(pages)

    def restore(self, snapshot: int) -> None:
        """Undo everything since a snapshot, which stays; later snapshots are gone."""
        for undo in self.journal.unwind(snapshot):
            undo()
        if self._pins or self._deferred:
            self._settle_pins()

    def _settle_pins(self) -> None:
        """Let what is pinned now be in use, whatever it was at a snapshot, and what is not be what it was to become."""
        for page in self._pins:
            if self._states[page] == EVICTABLE:
                self._hold_back(page)
            elif self._states[page] == FREE:
                self._take_back(page)
        self._catch_up([page for page in self._deferred if page not in self._pins])

    def _take_back(self, page: int) -> None:
        """Take one free page that is pinned, to be free when it is not."""
        lane, position = (page - 1) % self.geometry.cp_size, self.geometry.physical_page(PageId(page))
        index = self._free[lane]
        joined = next(run for run in index.runs() if position in run)
        run = range(position, position + 1)
        index.carve(joined.start, run)
        self._states[page] = IN_USE
        self._deferred[page] = FREE
        if self.journal.recording:
            self.journal.record(partial(self._untake, lane, [run]))
            self.journal.record(partial(self._undefer, page, IN_USE))

    def require_in_pool(self, pages: Sequence[int]) -> None:
        """Refuse pages that no lane holds."""
        if pages and not (min(pages) > DUMMY_PAGE and max(pages) < len(self._states)):
            stranger = next(page for page in pages if not self.geometry.is_in_pool(page))
            raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, stranger)

    def require_distinct(self, pages: Sequence[int], states: tuple[int, ...]) -> None:
        """Refuse pages that no lane holds, that are named twice, or that have none of the states.

        A page that only its cache can give up is refused as one of the tree.
        """
        self.require_in_pool(pages)
        if len(set(pages)) < len(pages):
            again = next(page for page, times in Counter(pages).items() if times > 1)
            raise RefusedError(Refusal.PAGE_NAMED_TWICE, again)
        known = self._states
        self._meter.touched += len(pages)
        if self._deferred and not self._deferred.keys().isdisjoint(pages):
            asked = next(page for page in pages if page in self._deferred)
            raise RefusedError(Refusal.PAGE_NOT_ALLOCATED, asked)
        for page in pages:
            if known[page] not in states:
                kept = known[page] == KEPT
                raise RefusedError(Refusal.PAGE_IN_TREE if kept else Refusal.PAGE_NOT_ALLOCATED, page)

    def require_allocated(self, pages: Sequence[int]) -> None:
        """Refuse pages that no lane holds, or that are free."""
        self.require_in_pool(pages)
        self._meter.touched += len(pages)
        for page in pages:
            if self._states[page] == FREE:
                raise RefusedError(Refusal.PAGE_NOT_ALLOCATED, page)

    def pages(self) -> LanePages:
        """List every page by state. Reads the whole pool."""
        return LanePages(
            free=self._pages_in(FREE), evictable=self._pages_in(EVICTABLE), in_use=self._pages_in(IN_USE, KEPT)
        )

    def kept(self) -> list[int]:
        """List the pages that a cache keeps, ascending. Reads the whole pool."""
        return [page for page, state in enumerate(self._states) if state == KEPT]

    def _pages_in(self, *states: int) -> tuple[tuple[PageId, ...], ...]:
        found = np.flatnonzero(np.isin(np.frombuffer(self._states, dtype=np.uint8), states))
        lanes = (found - 1) % self.geometry.cp_size
        return tuple(tuple(found[lanes == lane].tolist()) for lane in range(self.geometry.cp_size))

    def invariants(self) -> list[str]:
        """List the laws that the pool breaks. Reads the whole pool."""
        broken = []
        pages = self.pages()
        if self._states[DUMMY_PAGE] != OUTSIDE:
            broken.append("the dummy page has a state")
        if any(self._states[page] not in (IN_USE, KEPT) for page in self._pins):
            broken.append("a pinned page is neither in use nor kept")
        if not self._deferred.keys() <= self._pins.keys():
            broken.append("something is put off for a page that is not pinned")
        for lane, (index, order) in enumerate(zip(self._free, self._retained, strict=True)):
            held = [PhysicalPage(position) for run in index.runs() for position in run]
            if tuple(self.geometry.page(Lane(lane), page) for page in held) != pages.free[lane]:
                broken.append(f"lane {lane}: the free runs differ from the states")
            if tuple(sorted(order.pages())) != pages.evictable[lane]:
                broken.append(f"lane {lane}: the retention order differs from the states")
            held_pages = len(pages.free[lane]) + len(pages.evictable[lane]) + len(pages.in_use[lane])
            if held_pages != self.geometry.lane_capacity:
                broken.append(f"lane {lane}: {held_pages} pages have a state, its capacity differs")
            broken += [f"lane {lane}: {law}" for law in (*index.invariants(), *order.invariants())]
        return broken

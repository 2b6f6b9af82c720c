"""The pool of host pages: an allocation of so many pages of each lane, on all lanes or on none.

Knows which pages of each lane are free, and shows them by token slot to whoever still asks for that. Does not know what
a page holds, who waits for room, nor tensors. Every call checks, then changes, then answers; a call that raises has
changed nothing.

    state      kept in
    free       the lane's extent index, by position (page + 1)
    allocated  nowhere else; every state also stands in one byte a page
    kept       as allocated: a cache's, which alone gives it back
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sharedkv.cost import CostMeter
from sharedkv.errors import CapacityWaitError, Refusal, RefusedError
from sharedkv.extents import ExtentIndex

FREE, ALLOCATED, KEPT = range(3)

_ONE_ALLOCATED = bytearray([ALLOCATED])
_ONE_KEPT = bytearray([KEPT])


@dataclass(frozen=True, kw_only=True, slots=True)
class HostStatistics:
    """One count a lane, in pages."""

    capacity: tuple[int, ...]
    free: tuple[int, ...]


class HostPool:
    """Pages 0..lane_pages-1 of each lane, all free at first. Equal streams of calls get equal pages, on every rank."""

    def __init__(self, *, lanes: int, lane_pages: int, page_size: int) -> None:
        self.lane_pages = max(lane_pages, 0)
        self._page_size = page_size
        self._meter = CostMeter()
        self._free = [ExtentIndex(self.lane_pages, self._meter) for _ in range(lanes)]
        self._states = [bytearray(self.lane_pages) for _ in range(lanes)]
        self._views: dict[int, NDArray[np.int64]] = {}
        self._meter.touched = 0

    @property
    def touched(self) -> int:
        """Count the elements of bookkeeping that the last call read or wrote."""
        return self._meter.touched

    def allocate(self, counts: Sequence[int]) -> tuple[Sequence[int], ...]:
        """Allocate `counts[lane]` pages of each lane, and return them by lane; the answer never changes.

        The pages of a lane are one ascending run where a free run is long enough, else as few runs as can be. Raises
        `CapacityWaitError` when a lane has too few free pages, and `RefusedError` for what is not one count a lane.
        """
        self._meter.touched = len(self._free)
        if len(counts) != len(self._free) or (counts and min(counts) < 0):
            raise RefusedError(Refusal.HOST_COUNTS_INVALID, f"{list(counts)} for {len(self._free)} lanes")
        for index, count in zip(self._free, counts, strict=True):
            if count > index.num_free:
                raise self._capacity_wait(counts)
        return tuple([self._take(lane, count) if count else () for lane, count in enumerate(counts)])

    def release(self, lane: int, pages: Sequence[int]) -> None:
        """Give allocated pages of a lane back, in any order.

        Raises `RefusedError` for a lane that is not there, and for a page that is outside the lane, not allocated, kept
        by a cache or named twice.
        """
        self._release(lane, pages, ALLOCATED)

    def keep(self, lane: int, pages: Sequence[int]) -> None:
        """Let allocated pages of a lane be a cache's: nobody gives them back but by `release_kept`."""
        runs = runs_of(pages)
        self._require_state(lane, runs, ALLOCATED)
        for run in runs:
            self._states[lane][run.start : run.stop] = _ONE_KEPT * len(run)

    def release_kept(self, lane: int, pages: Sequence[int]) -> None:
        """Give pages back that a cache keeps, as `release` does with others."""
        self._release(lane, pages, KEPT)

    def kept_pages(self, lane: int) -> list[int]:
        """List the pages of a lane that a cache keeps, ascending. Reads the whole lane."""
        return [page for page, state in enumerate(self._states[lane]) if state == KEPT]

    def _release(self, lane: int, pages: Sequence[int], state: int) -> None:
        self._meter.touched = 0
        self._require_lane(lane)
        runs = runs_of(pages)
        self._require_state(lane, runs, state)
        self._views.pop(lane, None)
        states, free = self._states[lane], self._free[lane]
        for run in runs:
            states[run.start : run.stop] = bytes(len(run))
            free.give(range(run.start + 1, run.stop + 1))
            self._meter.touched += len(run)

    def statistics(self) -> HostStatistics:
        """Count the pages of each lane, from counters."""
        self._meter.touched = len(self._free)
        return HostStatistics(
            capacity=(self.lane_pages,) * len(self._free), free=tuple([index.num_free for index in self._free])
        )

    def free_slots(self, lane: int) -> NDArray[np.int64]:
        """Show the token slots of the free pages of a lane: int64 of shape (free pages * page_size,), ascending.

        Made when it is asked for and kept until a page of the lane moves; it cannot be written to, and what was shown
        before stays as it was.
        """
        self._require_lane(lane)
        view = self._views.get(lane)
        if view is None:
            pages = np.flatnonzero(np.frombuffer(self._states[lane], dtype=np.uint8) == FREE)
            view = (pages[:, None] * self._page_size + np.arange(self._page_size)).ravel()
            view.setflags(write=False)
            self._views[lane] = view
        return view

    def _take(self, lane: int, count: int) -> Sequence[int]:
        """Allocate pages of one lane, at least one and no more than are free."""
        self._views.pop(lane, None)
        runs = self._free[lane].take(count)
        self._meter.touched += count
        states = self._states[lane]
        taken: list[int] = []
        for run in runs:
            pages = range(run.start - 1, run.stop - 1)
            states[pages.start : pages.stop] = _ONE_ALLOCATED * len(pages)
            if len(pages) == count:
                return pages
            taken += pages
        return tuple(taken)

    def _capacity_wait(self, counts: Sequence[int]) -> CapacityWaitError:
        free = [index.num_free for index in self._free]
        return CapacityWaitError(counts, free, [max(0, need - have) for need, have in zip(counts, free, strict=True)])

    def _require_lane(self, lane: int) -> None:
        if not 0 <= lane < len(self._free):
            raise RefusedError(Refusal.LANE_UNKNOWN, lane)

    def _require_state(self, lane: int, runs: Sequence[range], state: int) -> None:
        """Refuse runs that leave the lane, hold a page of another state, or overlap."""
        states = self._states[lane]
        for run in runs:
            if run.start < 0 or run.stop > self.lane_pages:
                raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, run.start if run.start < 0 else run.stop - 1)
            if states.count(state, run.start, run.stop) < len(run):
                page = next(page for page in run if states[page] != state)
                kept = states[page] == KEPT
                raise RefusedError(Refusal.PAGE_IN_TREE if kept else Refusal.PAGE_NOT_ALLOCATED, page)
            self._meter.touched += len(run)
        if len(runs) > 1:
            for before, after in pairwise(sorted(runs, key=_start)):
                if before.stop > after.start:
                    raise RefusedError(Refusal.PAGE_NAMED_TWICE, after.start)

    def invariants(self) -> list[str]:
        """List the laws that the pool breaks. Reads the whole pool."""
        broken = []
        for lane, (index, states) in enumerate(zip(self._free, self._states, strict=True)):
            broken += [f"lane {lane}: {law}" for law in index.invariants()]
            free = {page for run in index.runs() for page in range(run.start - 1, run.stop - 1)}
            if free != {page for page, state in enumerate(states) if state == FREE}:
                broken.append(f"lane {lane}: the free runs differ from the states")
        return broken


def runs_of(pages: Sequence[int]) -> list[range]:
    """Return pages as runs of consecutive ones, in the order in which they stand."""
    if isinstance(pages, range) and pages.step == 1:
        return [pages] if pages else []
    runs: list[range] = []
    start = stop = pages[0] if pages else 0
    for page in pages:
        if page != stop:
            runs.append(range(start, stop))
            start = page
        stop = page + 1
    return [*runs, range(start, stop)] if pages else []


def _start(run: range) -> int:
    return run.start

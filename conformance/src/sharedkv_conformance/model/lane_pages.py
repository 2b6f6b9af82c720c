"""The state of every page of a pool, and the free runs of each lane in its physical space."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sharedkv_conformance.model.geometry import Geometry

FREE = "free"
EVICTABLE = "evictable"
IN_USE = "in_use"


class LaneRuns:
    """Free pages of one lane as runs of physical pages, found by length; counts what it touches."""

    def __init__(self, physical_pages: int) -> None:
        self.end_of: dict[int, int] = {}
        self.start_of: dict[int, int] = {}
        self.starts: dict[int, set[int]] = {}
        self.touched = 0
        if physical_pages:
            self._add(1, physical_pages + 1)

    def _add(self, start: int, end: int) -> None:
        self.end_of[start], self.start_of[end] = end, start
        self.starts.setdefault(end - start, set()).add(start)
        self.touched += 1

    def _remove(self, start: int) -> int:
        end = self.end_of.pop(start)
        del self.start_of[end]
        same_length = self.starts[end - start]
        same_length.discard(start)
        if not same_length:
            del self.starts[end - start]
        self.touched += 1
        return end

    def free(self, page: int) -> None:
        """Add a page and join it with its neighbours."""
        start, end = page, page + 1
        if page in self.start_of:
            start = self.start_of[page]
            self._remove(start)
        if end in self.end_of:
            end = self._remove(end)
        self._add(start, end)

    def take(self, page: int) -> None:
        """Remove one page from the run that holds it."""
        start = page if page in self.end_of else max(s for s in self.end_of if s <= page)
        end = self._remove(start)
        if start < page:
            self._add(start, page)
        if page + 1 < end:
            self._add(page + 1, end)

    def choose(self, count: int) -> list[int]:
        """Return pages to take: the lowest shortest run that is long enough, else the longest runs first."""
        chosen: list[int] = []
        spent: set[int] = set()
        while len(chosen) < count:
            start, length = self._best(count - len(chosen), spent)
            spent.add(start)
            chosen += range(start, start + min(length, count - len(chosen)))
        return chosen

    def _best(self, wanted: int, spent: Collection[int]) -> tuple[int, int]:
        lengths = sorted(self.starts)
        self.touched += len(lengths)
        long_enough = [length for length in lengths if length >= wanted]
        for length in [*long_enough, *reversed(lengths)]:
            for start in self.starts[length]:
                if start not in spent:
                    self.touched += 1
                    return start, length
        message = f"the lane has fewer than {wanted} free pages left"
        raise AssertionError(message)

    def copy(self) -> LaneRuns:
        """Return an independent copy."""
        twin = LaneRuns(0)
        twin.end_of, twin.start_of = dict(self.end_of), dict(self.start_of)
        twin.starts = {length: set(starts) for length, starts in self.starts.items()}
        return twin


class LanePages:
    """Every page's state: free pages as runs a lane, the others by name, evictable ones oldest first."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.runs = [LaneRuns(geometry.lane_pages) for _ in range(geometry.cp_size)]
        self.evictable: list[dict[int, None]] = [{} for _ in range(geometry.cp_size)]
        self.in_use: list[set[int]] = [set() for _ in range(geometry.cp_size)]
        self._touched = 0

    @property
    def touched(self) -> int:
        """Return how many entries were read or written since the count was set."""
        return self._touched + sum(runs.touched for runs in self.runs)

    @touched.setter
    def touched(self, count: int) -> None:
        self._touched = count
        for runs in self.runs:
            runs.touched = 0

    def state(self, page: int) -> str:
        """Return what a page of the pool is now."""
        lane = self.geometry.lane(page)
        if page in self.in_use[lane]:
            return IN_USE
        return EVICTABLE if page in self.evictable[lane] else FREE

    def move(self, pages: Iterable[int], state: str) -> None:
        """Put pages into a state."""
        for page in pages:
            self._move(page, state)

    def _move(self, page: int, state: str) -> None:
        self._touched += 1
        lane = self.geometry.lane(page)
        if self.state(page) == FREE:
            self.runs[lane].take(self.geometry.physical(page))
        self.in_use[lane].discard(page)
        self.evictable[lane].pop(page, None)
        if state == IN_USE:
            self.in_use[lane].add(page)
        elif state == EVICTABLE:
            self.evictable[lane][page] = None
        else:
            self.runs[lane].free(self.geometry.physical(page))

    def oldest(self, lane: int, count: int) -> list[int]:
        """Return the evictable pages of a lane that were retained first, as many as there are."""
        return [page for page, _ in zip(self.evictable[lane], range(count), strict=False)]

    def choose(self, lane: int, count: int) -> Sequence[int]:
        """Return free pages of a lane for one request; evicted pages count as free once moved."""
        return [self.geometry.logical(lane, physical) for physical in self.runs[lane].choose(count)]

    def counts(self, state: str) -> tuple[int, ...]:
        """Count the pages of each lane in a state."""
        if state == FREE:
            allocated = zip(self.in_use, self.evictable, strict=True)
            return tuple(self.geometry.lane_pages - len(used) - len(kept) for used, kept in allocated)
        return tuple(map(len, self.in_use if state == IN_USE else self.evictable))

    def by_lane(self, state: str) -> tuple[tuple[int, ...], ...]:
        """Return the pages of each lane in a state, ascending."""
        if state == FREE:
            lanes = range(self.geometry.cp_size)
            every = (
                range(lane + 1, self.geometry.cp_size * self.geometry.lane_pages + 1, self.geometry.cp_size)
                for lane in lanes
            )
            return tuple(tuple(page for page in pages if self.state(page) == FREE) for pages in every)
        return tuple(tuple(sorted(pages)) for pages in (self.in_use if state == IN_USE else self.evictable))

    def copy(self) -> LanePages:
        """Return an independent copy."""
        twin = LanePages.__new__(LanePages)
        twin.geometry, twin._touched = self.geometry, 0  # noqa: SLF001 - a copy of itself
        twin.runs = [runs.copy() for runs in self.runs]
        twin.evictable = [dict(pages) for pages in self.evictable]
        twin.in_use = [set(pages) for pages in self.in_use]
        return twin

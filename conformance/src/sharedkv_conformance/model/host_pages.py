"""The host pages of one lane: which are allocated, and the free ones as runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

from sharedkv_conformance.model.lane_pages import LaneRuns


class HostLane:
    """Pages 0..capacity-1 of one lane, free at first. Moving a page to where it is changes nothing."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.allocated: set[int] = set()
        self._runs = LaneRuns(capacity)  # counts from 1

    def twin(self) -> HostLane:
        """Return an independent copy."""
        other = copy(self)
        other.allocated, other._runs = set(self.allocated), self._runs.copy()  # noqa: SLF001 - a copy of itself
        return other

    @property
    def touched(self) -> int:
        """Return how many entries were read or written since the count was set."""
        return self._runs.touched

    @touched.setter
    def touched(self, count: int) -> None:
        self._runs.touched = count

    @property
    def num_free(self) -> int:
        """Return how many pages are free."""
        return self.capacity - len(self.allocated)

    @property
    def run_lengths(self) -> list[int]:
        """Return the length of every free run, ascending."""
        return sorted(length for length, starts in self._runs.starts.items() for _ in starts)

    def holds(self, page: int) -> bool:
        """Say whether the lane has a page of this number."""
        return 0 <= page < self.capacity

    def is_free(self, page: int) -> bool:
        """Say whether a page is there and free."""
        return self.holds(page) and page not in self.allocated

    def free_pages(self) -> list[int]:
        """Return the free pages, ascending."""
        return [page for page in range(self.capacity) if page not in self.allocated]

    def runs(self) -> list[range]:
        """Return the free runs, ascending."""
        return [range(start - 1, self._runs.end_of[start] - 1) for start in sorted(self._runs.end_of)]

    def choose(self, count: int) -> Sequence[int]:
        """Return free pages to take: the shortest run that is long enough, else the longest runs first."""
        return [place - 1 for place in self._runs.choose(count)]

    def take(self, pages: Iterable[int]) -> None:
        """Make free pages of the lane allocated."""
        for page in pages:
            if self.is_free(page):
                self._runs.take(page + 1)
                self.allocated.add(page)
                self.touched += 1

    def give(self, pages: Iterable[int]) -> None:
        """Make allocated pages of the lane free."""
        for page in pages:
            if page in self.allocated:
                self.allocated.discard(page)
                self._runs.free(page + 1)
                self.touched += 1

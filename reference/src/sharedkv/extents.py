"""Free positions of one linear space, as runs.

Knows which positions are free and how they join. Does not know what a position stands for: a lane gives its physical
pages, a host pool its slots. Runs are maximal: no two of them touch.

    positions   1 2 3 4 5 6 7 8 9        length at  {1: 3, 6: 2}
    free        # # # . . # # . .        start of   {4: 1, 8: 6}        by the position behind the run
                                         starts     {3: {1}, 2: {6}}    by length, latest last; bitmap {2, 3}
"""

from __future__ import annotations

from itertools import pairwise

from sharedkv.bitmap import NO_MEMBER, SparseBitmap
from sharedkv.cost import CostMeter
from sharedkv.errors import OutOfExtentsError


class ExtentIndex:
    """Positions 1..capacity, all free at first, handed out as runs by best fit.

    Among runs of equal length the one that came last gives way, so that equal calls get equal positions.
    """

    __slots__ = ("_latest_length", "_length_at", "_lengths", "_meter", "_start_of", "_starts", "capacity", "num_free")

    def __init__(self, capacity: int, meter: CostMeter) -> None:
        self.capacity = capacity
        self.num_free = 0
        self._meter = meter
        self._length_at: dict[int, int] = {}
        self._start_of: dict[int, int] = {}
        self._starts: dict[int, dict[int, None]] = {}
        self._lengths = SparseBitmap(capacity, meter)
        self._latest_length = 0  # the length listed last, a guess that spares a search where runs are few
        if capacity:
            self.give(range(1, capacity + 1))

    def take(self, count: int) -> list[range]:
        """Take `count` positions, at least one: the smallest run that is long enough, else as few runs as can be.

        Returns ascending runs. The largest runs go first where no single one is long enough.
        """
        if not 0 < count <= self.num_free:
            raise OutOfExtentsError(count, self.num_free)
        length = self._fit(count)
        if length != NO_MEMBER:
            return [self._cut(length, count)]
        runs = []
        while count:
            length = self._fit(count)
            if length == NO_MEMBER:
                length = self._lengths.largest()
            run = self._cut(length, min(length, count))
            runs.append(run)
            count -= len(run)
        runs.sort(key=lambda run: run.start)
        return runs

    def give(self, run: range) -> int:
        """Join a run of positions that are not free to the free ones, and return where the joined run starts."""
        start, end = run.start, run.stop
        self.num_free += end - start
        left = self._start_of.pop(start, 0)
        right_length = self._length_at.pop(end, 0)
        joined_start, joined_end = left or start, end + right_length
        length = joined_end - joined_start
        self._length_at[joined_start] = length
        self._start_of[joined_end] = joined_start
        self._meter.touched += 4
        if left:
            if right_length:
                self._unlist(right_length, end)
            self._relist(start - left, left, length, left)
        elif right_length:
            self._relist(right_length, end, length, start)
        else:
            self._list(length, start)
        return joined_start

    def carve(self, joined_start: int, run: range) -> None:
        """Take exactly these positions out of the free run that starts at `joined_start` and holds them.

        Undoes `give`, when everything that came after it is undone.
        """
        length = self._length_at.pop(joined_start)
        joined_end = joined_start + length
        del self._start_of[joined_end]
        self._unlist(length, joined_start)
        self.num_free -= len(run)
        self._meter.touched += 2
        for start, end in ((joined_start, run.start), (run.stop, joined_end)):
            if start < end:
                self._length_at[start] = end - start
                self._start_of[end] = start
                self._meter.touched += 2
                self._list(end - start, start)

    def runs(self) -> list[range]:
        """List the free runs, ascending."""
        return [range(start, start + self._length_at[start]) for start in sorted(self._length_at)]

    def largest(self) -> int:
        """Return the length of the longest free run, zero when nothing is free."""
        return max(self._lengths.largest(), 0)

    def _fit(self, count: int) -> int:
        """Return the smallest length that some run has and that is long enough, or `NO_MEMBER`."""
        starts, latest = self._starts, self._latest_length
        if count in starts:
            return count
        if len(starts) == 1 and latest in starts:
            return latest if latest > count else NO_MEMBER
        return self._lengths.successor(count)

    def _cut(self, length: int, count: int) -> range:
        """Take `count` positions from the front of the latest run of a length."""
        starts = self._starts[length]
        start, _ = starts.popitem()
        end, rest_start = start + length, start + count
        self.num_free -= count
        del self._length_at[start]
        if count == length:
            del self._start_of[end]
            self._meter.touched += 4
            if not starts:
                self._forget(length)
        else:
            self._length_at[rest_start] = length - count
            self._start_of[end] = rest_start
            self._meter.touched += 5
            self._list_after(starts, length, length - count, rest_start)
        return range(start, rest_start)

    def _list(self, length: int, start: int) -> None:
        starts = self._starts.get(length)
        if starts is None:
            self._starts[length] = {start: None}
            self._lengths.add(length)
            self._latest_length = length
        else:
            starts[start] = None
        self._meter.touched += 1

    def _unlist(self, length: int, start: int) -> None:
        starts = self._starts[length]
        del starts[start]
        self._meter.touched += 1
        if not starts:
            self._forget(length)

    def _relist(self, old_length: int, old_start: int, length: int, start: int) -> None:
        starts = self._starts[old_length]
        del starts[old_start]
        self._meter.touched += 1
        self._list_after(starts, old_length, length, start)

    def _list_after(self, starts: dict[int, None], old_length: int, length: int, start: int) -> None:
        """List a run in place of one that was just taken from `starts`, the list of another length."""
        if starts or length in self._starts:
            self._list(length, start)
            if not starts:
                self._forget(old_length)
        else:
            del self._starts[old_length]
            starts[start] = None
            self._starts[length] = starts
            self._lengths.move(old_length, length)
            self._latest_length = length
            self._meter.touched += 1

    def _forget(self, length: int) -> None:
        """Drop a length that no run has any more."""
        del self._starts[length]
        self._lengths.remove(length)

    def invariants(self) -> list[str]:
        """List the laws that the tables break."""
        broken = self._lengths.invariants()
        runs = self.runs()
        if sum(len(run) for run in runs) != self.num_free:
            broken.append(f"{self.num_free} positions are counted free, the runs hold {sum(map(len, runs))}")
        if any(left.stop >= right.start for left, right in pairwise(runs)):
            broken.append("two free runs touch or overlap")
        if runs and not 1 <= runs[0].start <= runs[-1].stop <= self.capacity + 1:
            broken.append("a free run leaves the space")
        if self._start_of != {run.stop: run.start for run in runs}:
            broken.append("the table by end differs from the table by start")
        listed = {(length, start) for length, starts in self._starts.items() for start in starts}
        if listed != {(len(run), run.start) for run in runs}:
            broken.append("the lists by length differ from the runs")
        if self._lengths.members() != sorted(self._starts):
            broken.append("the bitmap of lengths differs from the lists by length")
        return broken

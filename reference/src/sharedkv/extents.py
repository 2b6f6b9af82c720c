"""Free positions of one linear space, as runs.

Knows which positions are free and how they join. Does not know what a position stands for: a lane gives its physical
pages, a host pool its slots. Runs are maximal: no two of them touch. The run that was cut last is open: it stands apart
from the tables, so that cutting more from it, or giving back what was cut, moves one of its ends and nothing else.

    positions   1 2 3 4 5 6 7 8 9 10     length at  {1: 3, 6: 2}
    free        # # # . . # # . #  #     start of   {4: 1, 8: 6}        by the position behind the run
                                open     starts     {3: {1}, 2: {6}}    by length, latest last; bitmap {2, 3}
"""

from __future__ import annotations

from itertools import pairwise

from sharedkv.bitmap import NO_MEMBER, SparseBitmap
from sharedkv.cost import CostMeter
from sharedkv.errors import OutOfExtentsError

NOWHERE = (0, 0)  # both ends of the open run when there is none: no position is there


class ExtentIndex:
    """Positions 1..capacity, all free at first, handed out as runs by best fit.

    Among runs of equal length the open one gives way, then the one that came last, so that equal calls get equal
    positions.
    """

    __slots__ = (
        "_length_at",
        "_lengths",
        "_meter",
        "_open_end",
        "_open_start",
        "_start_of",
        "_starts",
        "capacity",
        "num_free",
    )

    def __init__(self, capacity: int, meter: CostMeter) -> None:
        self.capacity = capacity
        self.num_free = max(capacity, 0)
        self._meter = meter
        self._length_at: dict[int, int] = {}
        self._start_of: dict[int, int] = {}
        self._starts: dict[int, dict[int, None]] = {}
        self._lengths = SparseBitmap(capacity, meter)
        self._open_start, self._open_end = (1, 1 + capacity) if capacity > 0 else NOWHERE

    def take(self, count: int) -> list[range]:
        """Take `count` positions, at least one: the smallest run that is long enough, else as few runs as can be.

        Returns ascending runs. The largest runs go first where no single one is long enough.
        """
        if not 0 < count <= self.num_free:
            raise OutOfExtentsError(count, self.num_free)
        run = self._cut_best(count)
        if run is not None:
            return [run]
        runs = []
        while run is None:
            runs.append(self._cut_largest())
            count -= len(runs[-1])
            run = self._cut_best(count)
        runs.append(run)
        runs.sort(key=lambda run: run.start)
        return runs

    def give(self, run: range) -> int:
        """Join a run of positions that are not free to the free ones, and return where the joined run starts."""
        start, end = run.start, run.stop
        self.num_free += end - start
        if end == self._open_start:
            self._open_start = self._unlisted_before(start)
            return self._open_start
        if start == self._open_end:
            self._open_end = self._unlisted_after(end)
            return self._open_start
        return self._join_listed(start, end)

    def carve(self, joined_start: int, run: range) -> None:
        """Take exactly these positions out of the free run that starts at `joined_start` and holds them.

        Undoes `give`, when everything that came after it is undone.
        """
        if joined_start == self._open_start:
            joined_end = self._open_end
            self._open_start, self._open_end = NOWHERE
            self._meter.touched += 1
        else:
            joined_end = joined_start + self._length_at[joined_start]
            self._remove(joined_start, joined_end)
        self.num_free -= len(run)
        for start, end in ((joined_start, run.start), (run.stop, joined_end)):
            if start < end:
                self._insert(start, end)

    def runs(self) -> list[range]:
        """List the free runs, ascending."""
        ends = {start: start + length for start, length in self._length_at.items()}
        if self._open_start < self._open_end:
            ends[self._open_start] = self._open_end
        return [range(start, ends[start]) for start in sorted(ends)]

    def largest(self) -> int:
        """Return the length of the longest free run, zero when nothing is free."""
        return max(self._lengths.largest(), self._open_end - self._open_start)

    def _cut_best(self, count: int) -> range | None:
        """Take `count` positions from the front of the smallest run that is long enough; None where there is none."""
        self._meter.touched += 2
        start = self._open_start
        spare = self._open_end - start
        if self._starts and spare != count:
            length = count if count in self._starts else self._lengths.successor(count)
            if length == count:
                return self._pop(length)
            if length != NO_MEMBER and not count < spare <= length:
                start = self._open_listed(length)
                spare = length
        if spare < count:
            return None
        self.num_free -= count
        self._open_start = cut_end = start + count
        if spare == count:
            self._open_start, self._open_end = NOWHERE
        return range(start, cut_end)

    def _cut_largest(self) -> range:
        """Take the longest run whole."""
        length = self._lengths.largest()
        run = range(self._open_start, self._open_end)
        if length > len(run):
            return self._pop(length)
        self._open_start, self._open_end = NOWHERE
        self.num_free -= len(run)
        self._meter.touched += 1
        return run

    def _pop(self, length: int) -> range:
        """Take the latest run of a length whole."""
        start = self._remove_latest(length)
        self.num_free -= length
        return range(start, start + length)

    def _open_listed(self, length: int) -> int:
        """Open the latest run of a length and return where it starts; the run that was open is listed."""
        start = self._remove_latest(length)
        if self._open_start < self._open_end:
            self._insert(self._open_start, self._open_end)
        self._open_start, self._open_end = start, start + length
        return start

    def _unlisted_before(self, end: int) -> int:
        """Remove the listed run that ends at a position, if there is one, and return where it started."""
        self._meter.touched += 1
        start = self._start_of.get(end)
        if start is None:
            return end
        self._remove(start, end)
        return start

    def _unlisted_after(self, start: int) -> int:
        """Remove the listed run that starts at a position, if there is one, and return where it ended."""
        self._meter.touched += 1
        length = self._length_at.get(start)
        if length is None:
            return start
        self._remove(start, start + length)
        return start + length

    def _join_listed(self, start: int, end: int) -> int:
        """Insert a run that does not touch the open one, joined with its neighbours; return where it starts."""
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

    def _insert(self, start: int, end: int) -> None:
        self._length_at[start] = end - start
        self._start_of[end] = start
        self._meter.touched += 2
        self._list(end - start, start)

    def _remove_latest(self, length: int) -> int:
        starts = self._starts[length]
        start, _ = starts.popitem()
        del self._length_at[start]
        del self._start_of[start + length]
        self._meter.touched += 3
        if not starts:
            self._forget(length)
        return start

    def _remove(self, start: int, end: int) -> None:
        del self._length_at[start]
        del self._start_of[end]
        self._meter.touched += 2
        self._unlist(end - start, start)

    def _list(self, length: int, start: int) -> None:
        starts = self._starts.get(length)
        if starts is None:
            self._starts[length] = {start: None}
            self._lengths.add(length)
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
        """List a run in place of another; where both are alone with their length, the list moves as it is."""
        starts = self._starts[old_length]
        del starts[old_start]
        self._meter.touched += 1
        if starts or length in self._starts:
            self._list(length, start)
            if not starts:
                self._forget(old_length)
        else:
            del self._starts[old_length]
            starts[start] = None
            self._starts[length] = starts
            self._lengths.move(old_length, length)
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
        if self._open_start == self._open_end and (self._open_start, self._open_end) != NOWHERE:
            broken.append("an empty run is open")
        listed_runs = [range(start, start + length) for start, length in self._length_at.items()]
        if self._start_of != {run.stop: run.start for run in listed_runs}:
            broken.append("the table by end differs from the table by start")
        listed = {(length, start) for length, starts in self._starts.items() for start in starts}
        if listed != {(len(run), run.start) for run in listed_runs}:
            broken.append("the lists by length differ from the runs")
        if self._lengths.members() != sorted(self._starts):
            broken.append("the bitmap of lengths differs from the lists by length")
        return broken

"""What must be done to go back.

Knows the inverse of every change since the oldest snapshot, in order, and where each snapshot stands. Does not know
what changes. Going back costs what was done since, never the size of the pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sharedkv.cost import CostMeter
from sharedkv.errors import Refusal, RefusedError

Undo = Callable[[], None]


class Journal:
    """A stack of inverse changes with named marks; it records only while some snapshot is held."""

    __slots__ = ("_marks", "_meter", "_next_name", "_undos", "recording")

    def __init__(self, meter: CostMeter) -> None:
        self.recording = False
        self._meter = meter
        self._undos: list[Undo] = []
        self._marks: dict[int, int] = {}
        self._next_name = 1

    def mark(self) -> int:
        """Remember this moment and return a name for it; no name is used twice."""
        name = self._next_name
        self._next_name += 1
        self._marks[name] = len(self._undos)
        self.recording = True
        self._meter.touched += 1
        return name

    def record(self, undo: Undo) -> None:
        """Note the inverse of a change just made."""
        self._undos.append(undo)
        self._meter.touched += 1

    def unwind(self, name: int) -> Iterator[Undo]:
        """Yield each inverse since a moment, latest first, and forget it with every later mark.

        The caller runs each one before it asks for the next; running one records nothing.
        """
        depth = self._depth(name)
        while next(reversed(self._marks)) != name:
            self._marks.popitem()
            self._meter.touched += 1
        while len(self._undos) > depth:
            self._meter.touched += 1
            yield self._undos.pop()

    def forget(self, name: int) -> None:
        """Drop a mark; what no mark needs any more is dropped with it."""
        self._depth(name)
        del self._marks[name]
        unneeded = min(self._marks.values(), default=len(self._undos))
        self._meter.touched += unneeded + len(self._marks)
        del self._undos[:unneeded]
        self._marks = {kept: depth - unneeded for kept, depth in self._marks.items()}
        self.recording = bool(self._marks)

    def _depth(self, name: int) -> int:
        if name not in self._marks:
            raise RefusedError(Refusal.SNAPSHOT_UNKNOWN, name)
        return self._marks[name]

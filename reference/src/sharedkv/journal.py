"""What must be done to go back.

Knows the inverse of every change since the oldest snapshot, in order, which pages went to a cache or left it, and where
each snapshot stands. Does not know what changes. Going back costs what was done since, never the size of the pool.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from sharedkv.cost import CostMeter
from sharedkv.errors import Refusal, RefusedError

Undo = Callable[[], None]


class Mark(NamedTuple):
    """How much had been noted at one moment."""

    undos: int
    moves: int


class Journal:
    """A stack of inverse changes with named marks; it records only while some snapshot is held.

    What a cache keeps is the cache's: a mark at which it had other pages is not gone back to.
    """

    __slots__ = ("_marks", "_meter", "_moves", "_next_name", "_undos", "recording")

    def __init__(self, meter: CostMeter) -> None:
        self.recording = False
        self._meter = meter
        self._undos: list[Undo] = []
        self._moves: list[int] = []
        self._marks: dict[int, Mark] = {}
        self._next_name = 1

    def mark(self) -> int:
        """Remember this moment and return a name for it; no name is used twice."""
        name = self._next_name
        self._next_name += 1
        self._marks[name] = Mark(len(self._undos), len(self._moves))
        self.recording = True
        self._meter.touched += 1
        return name

    def record(self, undo: Undo) -> None:
        """Note the inverse of a change just made."""
        self._undos.append(undo)
        self._meter.touched += 1

    def move(self, pages: Iterable[int]) -> None:
        """Note pages that went to a cache, or left it, by a change just made."""
        self._moves += pages

    def unwind(self, name: int) -> Iterator[Undo]:
        """Yield each inverse since a moment, latest first, and forget it with every later mark.

        The caller runs each one before it asks for the next; running one records nothing.
        """
        mark = self._mark(name)
        for page, times in Counter(self._moves[mark.moves :]).items():
            if times % 2:
                raise RefusedError(Refusal.PAGE_IN_TREE, f"page {page}, which was not at snapshot {name} or is not now")
        del self._moves[mark.moves :]
        while next(reversed(self._marks)) != name:
            self._marks.popitem()
            self._meter.touched += 1
        while len(self._undos) > mark.undos:
            self._meter.touched += 1
            yield self._undos.pop()

    def forget(self, name: int) -> None:
        """Drop a mark; what no mark needs any more is dropped with it."""
        self._mark(name)
        del self._marks[name]
        undos, moves = min(self._marks.values(), default=Mark(len(self._undos), len(self._moves)))
        self._meter.touched += undos + len(self._marks)
        del self._undos[:undos], self._moves[:moves]
        self._marks = {kept: Mark(mark.undos - undos, mark.moves - moves) for kept, mark in self._marks.items()}
        self.recording = bool(self._marks)

    def _mark(self, name: int) -> Mark:
        if name not in self._marks:
            raise RefusedError(Refusal.SNAPSHOT_UNKNOWN, name)
        return self._marks[name]

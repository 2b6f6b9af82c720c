"""A sparse set of small integers that finds the next member fast.

Knows members only. Every level keeps the words that are not zero: level 0 has one bit a member, a level above has one
bit for each word below that is not zero. A search visits at most two words a level.
"""

from __future__ import annotations

from itertools import pairwise

from sharedkv.cost import CostMeter

WORD_BITS = 64
NO_MEMBER = -1

_SHIFT = 6
_MASK = WORD_BITS - 1


class SparseBitmap:
    """A set of integers in [0, limit], empty at first; opening it costs nothing that grows with the limit."""

    __slots__ = ("_levels", "_meter")

    def __init__(self, limit: int, meter: CostMeter) -> None:
        self._meter = meter
        self._levels: list[dict[int, int]] = [{}]
        while limit > _MASK:
            limit >>= _SHIFT
            self._levels.append({})

    def add(self, member: int) -> None:
        """Put in an integer that is no member."""
        for words in self._levels:
            index = member >> _SHIFT
            word = words.get(index, 0)
            words[index] = word | 1 << (member & _MASK)
            self._meter.touched += 1
            if word:
                return
            member = index

    def remove(self, member: int) -> None:
        """Take out a member."""
        for words in self._levels:
            index = member >> _SHIFT
            word = words[index] & ~(1 << (member & _MASK))
            self._meter.touched += 1
            if word:
                words[index] = word
                return
            del words[index]
            member = index

    def move(self, old: int, new: int) -> None:
        """Take out the member `old` and put in `new`, which is none."""
        index = old >> _SHIFT
        if new >> _SHIFT == index:
            self._levels[0][index] ^= 1 << (old & _MASK) | 1 << (new & _MASK)
            self._meter.touched += 1
        else:
            self.add(new)
            self.remove(old)

    def successor(self, lowest: int) -> int:
        """Return the smallest member that is not below `lowest`, or `NO_MEMBER`."""
        for level, words in enumerate(self._levels):
            index = lowest >> _SHIFT
            above = words.get(index, 0) >> (lowest & _MASK)
            self._meter.touched += 1
            if above:
                return self._smallest_below(level, lowest + (above & -above).bit_length() - 1)
            lowest = index + 1
        return NO_MEMBER

    def _smallest_below(self, level: int, index: int) -> int:
        self._meter.touched += level
        for below in range(level - 1, -1, -1):
            word = self._levels[below][index]
            index = index << _SHIFT | (word & -word).bit_length() - 1
        return index

    def largest(self) -> int:
        """Return the largest member, or `NO_MEMBER`."""
        if not self._levels[0]:
            return NO_MEMBER
        self._meter.touched += len(self._levels)
        index = 0
        for words in reversed(self._levels):
            index = index << _SHIFT | words[index].bit_length() - 1
        return index

    def members(self) -> list[int]:
        """List every member, ascending."""
        return sorted(_bits(self._levels[0]))

    def invariants(self) -> list[str]:
        """List the laws that the levels break."""
        broken = []
        for level, words in enumerate(self._levels):
            if 0 in words.values():
                broken.append(f"bitmap level {level} keeps a word that is zero")
        for level, (below, above) in enumerate(pairwise(self._levels)):
            marked = {
                index << _SHIFT | bit for index, word in above.items() for bit in range(WORD_BITS) if word >> bit & 1
            }
            if marked != below.keys():
                broken.append(f"bitmap level {level + 1} does not mark the words of level {level}")
        return broken


def _bits(words: dict[int, int]) -> set[int]:
    return {index << _SHIFT | bit for index, word in words.items() for bit in range(WORD_BITS) if word >> bit & 1}

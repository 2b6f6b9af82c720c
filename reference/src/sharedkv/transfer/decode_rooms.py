"""One room as decode has set it aside: its places, how it ended, and who may still write there.

Knows what has to be known before its pages are anybody else's. Does not know when that is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sharedkv.transfer.decode_memory import DecodeMemory, DecodePlace


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """The epoch of a room, and its places in the order that was asked for."""

    epoch: int
    places: tuple[DecodePlace, ...]


@dataclass(kw_only=True, eq=False, slots=True)
class ReservedRoom:
    """A room from `reserve` until its pages are free. `failed_at` is None unless it failed.

    `undrained` are the pairs of prefill rank and decode rank that have not said that they write no more.
    """

    room: int
    epoch: int
    places: tuple[DecodePlace, ...]
    opened_at: float
    undrained: set[tuple[int, int]]
    failed_at: float | None = None
    is_committed: bool = False
    is_closed: bool = False
    is_quarantined: bool = field(default=False, init=False)

    @property
    def has_failed(self) -> bool:
        """Say whether decode took it for failed."""
        return self.failed_at is not None

    def slots_are_ours(self, memories: Mapping[int, DecodeMemory]) -> bool:
        """Say whether every slot names the room and its epoch."""
        return all(memories[each.rank].slots.names(each.slot, self.room, self.epoch) for each in self.places)

    def quarantine(self, memories: Mapping[int, DecodeMemory]) -> None:
        """Keep its pages and slots for nobody."""
        self.is_quarantined = True
        for each in self.places:
            memories[each.rank].quarantine(each.pages)

    def give(self, memories: Mapping[int, DecodeMemory]) -> None:
        """Free its pages, and its slots unless they are free."""
        for each in self.places:
            memories[each.rank].give(each.pages, are_quarantined=self.is_quarantined)
            if not self.is_committed:
                memories[each.rank].give_slot(each.slot)


def pairs(sources: Sequence[int], places: Sequence[DecodePlace]) -> set[tuple[int, int]]:
    """Return every pair of a prefill rank and a decode rank."""
    return {(source, place.rank) for source in sources for place in places}

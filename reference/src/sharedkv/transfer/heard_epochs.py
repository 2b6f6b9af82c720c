"""Which epochs prefill has heard of, and which decode gave up before that, in memory that does not grow without end.

Knows numbers. Does not know rooms, nor who is told.

Epochs of one decode process grow over all its rooms. So what is not kept any more of an old room is kept as one number
for each decode rank that named it: nothing of that rank that is not later is new.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

MOST_KEPT = 1 << 16
_NONE = -1


@dataclass(kw_only=True, eq=False, slots=True)
class _Latest:
    """The latest epoch of a room, and the decode ranks that named it or an earlier one."""

    epoch: int = _NONE
    destinations: set[int] = field(default_factory=set)


@dataclass(kw_only=True, eq=False, slots=True)
class DeadEpoch:
    """An epoch that decode ranks gave up before it was heard of; `told` are the ways that were told of a failure."""

    destinations: set[int] = field(default_factory=set)
    told: set[tuple[int, int]] = field(default_factory=set)


class HeardEpochs:
    """Epochs by room; so many rooms, and so many dead epochs, are kept one by one."""

    def __init__(self, most_kept: int = MOST_KEPT) -> None:
        self._most_kept = most_kept
        self._latest: OrderedDict[int, _Latest] = OrderedDict()
        self._dead: OrderedDict[tuple[int, int], DeadEpoch] = OrderedDict()
        self._floors: dict[int, int] = {}

    def is_new(self, room: int, epoch: int, destination: int) -> bool:
        """Say whether an epoch, which a decode rank names, is later than all that the room had."""
        known = self._latest.get(room)
        floor = self._floors.get(destination, _NONE)
        return epoch > (floor if known is None else max(floor, known.epoch))

    def note(self, room: int, epoch: int, destination: int) -> None:
        """Note that a decode rank named an epoch."""
        known = self._latest.setdefault(room, _Latest())
        known.epoch = max(known.epoch, epoch)
        known.destinations.add(destination)
        self._latest.move_to_end(room)
        if len(self._latest) > self._most_kept:
            _, oldest = self._latest.popitem(last=False)
            for each in oldest.destinations:
                self.begin(each, oldest.epoch + 1)

    def begin(self, destination: int, first_epoch: int) -> None:
        """Take nothing of a decode rank for new that is earlier."""
        self._floors[destination] = max(first_epoch - 1, self._floors.get(destination, _NONE))

    def kill(self, room: int, epoch: int, destination: int) -> None:
        """Note that a decode rank gave up an epoch that was not heard of, unless it is not new."""
        if not self.is_new(room, epoch, destination):
            return
        self._dead.setdefault((room, epoch), DeadEpoch()).destinations.add(destination)
        if len(self._dead) > self._most_kept:
            (of_room, oldest), dead = self._dead.popitem(last=False)
            for each in dead.destinations:
                self.note(of_room, oldest, each)

    def dead(self, room: int, epoch: int) -> DeadEpoch | None:
        """Return what is known of an epoch that was given up, and is not earlier than what the room had since."""
        known = self._latest.get(room)
        return None if known is not None and epoch <= known.epoch else self._dead.get((room, epoch))

    def __len__(self) -> int:
        return len(self._latest) + len(self._dead)

"""Wrong variants of what comes after a room that was given up: its number, its later epoch, and its pages."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import (
    Chunk,
    FlightModel,
    Notice,
    PrefillRoom,
)


@mutant("abort.number-in-quarantine", kills="RFC-0014:C-AGAIN#S1")
class NumberInQuarantine(SendingModel):
    """Refuses the number of a room whose pages are quarantined."""

    def reserve_faults(self, room: int, num_pages: int, ranks: Sequence[int]) -> frozenset[Reason]:
        lingers = any(other.room == room for other in self.lingering)
        return super().reserve_faults(room, num_pages, ranks) | (frozenset({Reason.ROOM_IN_USE} if lingers else ()))


@mutant("abort.number-in-flight", kills="RFC-0014:C-AGAIN#S1")
class NumberInFlight(SendingModel):
    """Refuses the number of a room that prefill has not forgotten."""

    def reserve_faults(self, room: int, num_pages: int, ranks: Sequence[int]) -> frozenset[Reason]:
        faults = super().reserve_faults(room, num_pages, ranks)
        return faults | (frozenset({Reason.ROOM_IN_USE}) if room in self.rooms else frozenset())


@mutant("abort.epoch-once-more", kills="RFC-0014:C-AGAIN#S1")
class EpochOnceMore(SendingModel):
    """Counts the epochs anew where nothing of a room is left."""

    def next_epoch(self, room: int) -> int:
        found = super().next_epoch(room)
        return found - 1 if room in self.rooms and self.epochs > 1 else found


@mutant("abort.earlier-room-in-the-way", kills="RFC-0014:C-AGAIN#S2")
class EarlierRoomInTheWay(SendingModel):
    """Keeps a room that has not ended, whatever it hears of a later epoch."""

    def hear_opened(self, notice: Notice) -> None:
        known = self.rooms.get(notice.room)
        if known is None or known.epoch >= notice.epoch or self.has_ended_here(known):
            super().hear_opened(notice)


@mutant("abort.earlier-room-goes-on", kills="RFC-0014:C-AGAIN#S2")
class EarlierRoomGoesOn(SendingModel):
    """Forgets a room for its later epoch, without giving it up: its chunks stay in the queue."""

    def hear_opened(self, notice: Notice) -> None:
        known = self.rooms.get(notice.room)
        if known is not None and known.epoch < notice.epoch and self.is_news(notice):
            del self.rooms[notice.room]
        super().hear_opened(notice)


@mutant("abort.destinations-of-the-earlier", kills="RFC-0014:C-AGAIN#S2")
class DestinationsOfTheEarlier(SendingModel):
    """Takes what it has heard of the earlier epoch over to the later."""

    def new_prefill_room(self, notice: Notice) -> PrefillRoom:
        found, known = super().new_prefill_room(notice), self.rooms.get(notice.room)
        if known is not None:
            found.heard = {pair for pair in known.heard if pair[1] in found.destinations}
            found.places = {each: known.places[each] for each in found.destinations if each in known.places}
        return found


@mutant("abort.pinned-for-good", kills="RFC-0014:C-AGAIN#S3")
class PinnedForGood(SendingModel):
    """Keeps the pages of a room pinned that failed while something of it was in flight."""

    def chunks_left(self) -> list[Chunk]:
        flown = [flight.chunk for flight in self.lost]
        return list(dict.fromkeys((*super().chunks_left(), *flown)))

    def fail_prefill(self, room: PrefillRoom, reason: str) -> None:
        self.lost = [*self.lost, *(flight for flight in self.flying if flight.room is room)]
        super().fail_prefill(room, reason)

    lost: Sequence[FlightModel] = ()


@mutant("abort.queue-stays-pinned", kills="RFC-0014:C-AGAIN#S3")
class QueueStaysPinned(SendingModel):
    """Forgets to unpin what was queued or registered when the room failed."""

    dropped: Sequence[Chunk] = ()

    def drop(self, room: PrefillRoom) -> None:
        queued = [job.chunk for job in self.jobs if job.chunk.room is room]
        opened = [chunk for chunk in self.contexts_open if chunk.room is room]
        self.dropped = [*self.dropped, *queued, *opened]
        super().drop(room)

    def chunks_left(self) -> list[Chunk]:
        return list(dict.fromkeys((*super().chunks_left(), *self.dropped)))


@mutant("abort.doubt-pins-for-good", kills="RFC-0014:C-AGAIN#S3")
class DoubtPinsForGood(SendingModel):
    """Keeps pages pinned that a flight in doubt reads, also when the doubt is over."""

    doubted: Sequence[FlightModel] = ()

    def doubt(self, flight: FlightModel) -> None:
        self.doubted = [*self.doubted, flight]
        super().doubt(flight)

    def chunks_left(self) -> list[Chunk]:
        return list(dict.fromkeys((*super().chunks_left(), *(flight.chunk for flight in self.doubted))))

"""Wrong variants of what follows on an abort: drains, quarantines, and what the next request finds."""

from __future__ import annotations

from sharedkv_conformance.contract.sending import DecodePlace
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import (
    AUX,
    KV,
    Debt,
    DecodeRoom,
    FlightModel,
    Notice,
)

# -- drains ----------------------------------------------------------------------------------------------------------


@mutant(
    "abort.receipt-is-drain",
    kills="RFC-0014:C-DRAIN#S1",
    also={"RFC-0014:C-QUARANTINE#S1": "the pages are free when all have said so"},
)
class ReceiptIsDrain(SendingModel):
    """Says that nothing lands when it has heard the notice."""

    def may_drain(self, debt: Debt) -> bool:
        return debt not in self.poisoned


@mutant("abort.metadata-does-not-count", kills="RFC-0014:C-DRAIN#S1")
class MetadataDoesNotCount(SendingModel):
    """Waits for the pages, and not for the metadata."""

    def may_drain(self, debt: Debt) -> bool:
        own = [flight for flight in self.flying if flight.debt == debt]
        return debt not in self.poisoned and all(flight.part == AUX for flight in own)


@mutant(
    "abort.one-flight-is-all",
    kills="RFC-0014:C-DRAIN#S1",
    also={"RFC-0014:C-QUARANTINE#S1": "the pages are free when all have said so"},
)
class OneFlightIsAll(SendingModel):
    """Says that nothing lands when the first flight has ended."""

    def has_left(self, flight: FlightModel) -> None:
        if flight.debt in self.owed and flight.debt not in self.poisoned:
            self.may_all = True
        super().has_left(flight)
        self.may_all = False

    may_all = False

    def may_drain(self, debt: Debt) -> bool:
        return super().may_drain(debt) or (self.may_all and debt not in self.poisoned)


@mutant(
    "abort.doubt-does-not-count",
    kills="RFC-0014:C-DRAIN#S2",
    also={"RFC-0014:C-QUARANTINE#S1": "the pages are free when all have said so"},
)
class DoubtDoesNotCount(SendingModel):
    """Takes a flight that its engine gave up for one that has ended."""

    def may_drain(self, debt: Debt) -> bool:
        return not any(flight.debt == debt and not flight.is_in_doubt for flight in self.flying)


@mutant("abort.doubt-is-over", kills="RFC-0014:C-DRAIN#S2")
class DoubtIsOver(SendingModel):
    """Says that nothing lands when a flight in doubt is forgotten."""

    def may_drain(self, debt: Debt) -> bool:
        return not any(flight.debt == debt for flight in self.flying)


@mutant(
    "abort.never-drained",
    kills="RFC-0014:C-DRAIN#S3",
    also={"RFC-0014:C-QUARANTINE#S3": "pages wait for answers that do not come"},
)
class NeverDrained(SendingModel):
    """Forgets to answer where something was in flight when it was asked."""

    def has_left(self, flight: FlightModel) -> None:
        self.look_after(flight.room)


@mutant(
    "abort.one-destination-is-answered",
    kills="RFC-0014:C-DRAIN#S3",
    also={"RFC-0014:C-QUARANTINE#S3": "pages wait for answers that do not come"},
)
class OneDestinationIsAnswered(SendingModel):
    """Answers the destination that asked last."""

    def hear_abort(self, notice: Notice) -> None:
        mine = self.debt_of(notice)
        self.owed = {debt: None for debt in self.owed if (debt[0], *debt[2:]) != (mine[0], *mine[2:])}
        super().hear_abort(notice)


@mutant(
    "abort.other-destinations-hold-it-up",
    kills="RFC-0014:C-DRAIN#S3",
    also={"RFC-0014:C-DRAIN#S4": "the room may be replaced by then"},
)
class OtherDestinationsHoldItUp(SendingModel):
    """Answers nobody where a flight to somebody was in doubt."""

    def may_drain(self, debt: Debt) -> bool:
        return super().may_drain(debt) and not any(other[2:] == debt[2:] for other in self.poisoned)


@mutant(
    "abort.ended-room-not-drained",
    kills="RFC-0014:C-DRAIN#S3",
    also={"RFC-0014:C-QUARANTINE#S3": "pages wait for answers that do not come"},
)
class EndedRoomNotDrained(SendingModel):
    """Does not answer for a room that has ended already."""

    def hear_abort(self, notice: Notice) -> None:
        known = self.rooms.get(notice.room)
        if known is None or known.epoch != notice.epoch or not self.has_ended_here(known):
            super().hear_abort(notice)


@mutant(
    "abort.unknown-epoch-not-drained",
    kills="RFC-0014:C-DRAIN#S4",
    also={
        "RFC-0014:C-DRAIN#S3": "a room may be replaced while its flights are waited for",
        "RFC-0014:C-QUARANTINE#S3": "pages wait for answers that do not come",
    },
)
class UnknownEpochNotDrained(SendingModel):
    """Does not answer for what it knows nothing of."""

    def may_drain(self, debt: Debt) -> bool:
        known = self.rooms.get(debt[2])
        return known is not None and known.epoch == debt[3] and super().may_drain(debt)


@mutant(
    "abort.forgotten-room-not-drained",
    kills="RFC-0014:C-DRAIN#S4",
    also={"RFC-0014:C-DRAIN#S3": "a room may be forgotten while its flights are waited for"},
)
class ForgottenRoomNotDrained(SendingModel):
    """Does not answer for a room that it has forgotten."""

    def may_drain(self, debt: Debt) -> bool:
        is_forgotten = debt[2] not in self.rooms and self.latest.get(debt[2], -1) >= debt[3]
        return not is_forgotten and super().may_drain(debt)


@mutant("abort.drained-under-its-own-epoch", kills="RFC-0014:C-DRAIN#S5")
class DrainedUnderItsOwnEpoch(SendingModel):
    """Answers with the epoch that it has of the room."""

    def debt_of(self, notice: Notice) -> Debt:
        known = self.rooms.get(notice.room)
        epoch = notice.epoch if known is None else known.epoch
        return (notice.source, notice.destination, notice.room, epoch)


# -- quarantine ------------------------------------------------------------------------------------------------------


@mutant("abort.freed-on-unknown-error", kills="RFC-0014:C-QUARANTINE#S1")
class FreedOnUnknownError(SendingModel):
    """Gives the pages of a room that has failed to the next."""

    def is_safe(self, room: DecodeRoom) -> bool:
        del room
        return True


@mutant("abort.first-drain-frees", kills="RFC-0014:C-QUARANTINE#S1")
class FirstDrainFrees(SendingModel):
    """Takes the first rank that has drained for all of them."""

    def drained_is_enough(self, room: DecodeRoom) -> bool:
        return bool(room.drained)


@mutant("abort.drains-of-one-destination-free", kills="RFC-0014:C-QUARANTINE#S1")
class DrainsOfOneDestinationFree(SendingModel):
    """Counts who has drained, and not to whom."""

    def drained_is_enough(self, room: DecodeRoom) -> bool:
        return {source for source, _ in room.drained} >= set(range(self.config.cp_size))


@mutant("abort.quarantine-from-the-reservation", kills="RFC-0014:C-QUARANTINE#S1")
class QuarantineFromTheReservation(SendingModel):
    """Counts the quarantine from when the room was reserved."""

    def quarantine_is_over(self, room: DecodeRoom) -> bool:
        return self.clock - room.began >= self.config.transfer.quarantine


@mutant("abort.slots-need-no-quarantine", kills="RFC-0014:C-QUARANTINE#S1")
class SlotsNeedNoQuarantine(SendingModel):
    """Gives the slots of a room back when it is closed, whoever may still write them."""

    def close_room(self, room: int) -> None:
        found = self.reserved[room]
        super().close_room(room)
        if found in self.lingering and not found.is_committed:
            self.give_slots_back(found)
            found.is_committed = True


@mutant("abort.late-bytes-follow-the-number", kills="RFC-0014:C-QUARANTINE#S2")
class LateBytesFollowTheNumber(SendingModel):
    """Lets late bytes land where the room of the same number is now."""

    def write(self, flight: FlightModel, pages: int) -> None:
        own, now = flight.pages, self.reserved.get(flight.room.room)
        place = next((p for p in now.places if p.rank == flight.destination), None) if now is not None else None
        if flight.part == KV and now is not None and now.epoch != flight.room.epoch and place is not None:
            flight.pages = place.pages[: len(own)]
            pages = min(pages, len(flight.pages))
        super().write(flight, pages)
        flight.pages = own


@mutant("abort.late-metadata-follows-the-number", kills="RFC-0014:C-QUARANTINE#S2")
class LateMetadataFollowsTheNumber(SendingModel):
    """Lets late metadata land in the slot of the room of the same number."""

    def write(self, flight: FlightModel, pages: int) -> None:
        now, places = self.reserved.get(flight.room.room), flight.room.places
        place = next((p for p in now.places if p.rank == flight.destination), None) if now is not None else None
        if flight.part == AUX and place is not None:
            flight.room.places = {**places, flight.destination: place}
        super().write(flight, pages)
        flight.room.places = places


@mutant("abort.time-alone-frees", kills="RFC-0014:C-QUARANTINE#S3")
class TimeAloneFrees(SendingModel):
    """Waits for the end of the quarantine, whoever has drained."""

    def drained_is_enough(self, room: DecodeRoom) -> bool:
        del room
        return False


@mutant("abort.drained-after-the-close", kills="RFC-0014:C-QUARANTINE#S3")
class DrainedAfterTheClose(SendingModel):
    """Does not hear who has drained once the room was closed."""

    def is_drained_of(self, room: DecodeRoom, notice: Notice) -> bool:
        return not room.is_closed and super().is_drained_of(room, notice)


@mutant(
    "abort.slots-are-lost",
    kills="RFC-0014:C-QUARANTINE#S3",
    also={"RFC-0014:C-QUARANTINE#S4": "slots are lost however the pages come back"},
)
class SlotsAreLost(SendingModel):
    """Gives the pages of a room that has failed back, and not its slots."""

    def give_slots_back(self, room: DecodeRoom) -> None:
        if not room.has_failed:
            super().give_slots_back(room)


@mutant("abort.drained-alone-frees", kills="RFC-0014:C-QUARANTINE#S4")
class DrainedAloneFrees(SendingModel):
    """Waits for every prefill rank, also for those that are gone."""

    def quarantine_is_over(self, room: DecodeRoom) -> bool:
        del room
        return False


@mutant("abort.quarantine-of-the-close", kills="RFC-0014:C-QUARANTINE#S4")
class QuarantineOfTheClose(SendingModel):
    """Counts the quarantine from when the room was closed."""

    def close_room(self, room: int) -> None:
        found, failed_at = self.reserved[room], self.reserved[room].failed_at
        found.failed_at = self.clock if found.has_failed else failed_at
        super().close_room(room)


@mutant("abort.any-epoch-drains", kills="RFC-0014:C-QUARANTINE#S5")
class AnyEpochDrains(SendingModel):
    """Takes what was said of an earlier request for an answer to this one."""

    def is_drained_of(self, room: DecodeRoom, notice: Notice) -> bool:
        return room.has_failed and room.room == notice.room


@mutant("abort.freed-before-the-close", kills="RFC-0014:C-QUARANTINE#S6")
class FreedBeforeTheClose(SendingModel):
    """Gives the pages of a room back when all have drained, while it is open."""

    def hear_drained(self, notice: Notice) -> None:
        super().hear_drained(notice)
        room = self.decode_room(notice.room, notice.epoch)
        if room is not None and room.has_failed and self.drained_is_enough(room):
            for place in room.places:
                own = [page for page in place.pages if page not in self.free_pages[place.rank]]
                self.free_pages[place.rank] += own

    def pages_given_back(self, room: DecodeRoom, place: DecodePlace) -> tuple[int, ...]:
        given = super().pages_given_back(room, place)
        return tuple(page for page in given if page not in self.free_pages[place.rank])


@mutant("abort.freed-by-time-before-the-close", kills="RFC-0014:C-QUARANTINE#S6")
class FreedByTimeBeforeTheClose(SendingModel):
    """Gives the pages of a room back when the quarantine is over, while it is open."""

    def end_quarantines(self) -> None:
        super().end_quarantines()
        for room in self.reserved.values():
            if room.has_failed and self.quarantine_is_over(room):
                for place in room.places:
                    own = [page for page in place.pages if page not in self.free_pages[place.rank]]
                    self.free_pages[place.rank] += own

    def pages_given_back(self, room: DecodeRoom, place: DecodePlace) -> tuple[int, ...]:
        given = super().pages_given_back(room, place)
        return tuple(page for page in given if page not in self.free_pages[place.rank])

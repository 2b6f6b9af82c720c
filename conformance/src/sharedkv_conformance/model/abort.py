"""The executable specification of abort: notices, drains, quarantine, and what happens when time is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.overlap import OverlapModel
from sharedkv_conformance.model.sending_parts import (
    ABORT,
    ARRIVED,
    DRAINED,
    FAILED,
    OPENED,
    Chunk,
    Debt,
    DecodeRoom,
    FlightModel,
    Notice,
    Pair,
)


class AbortModel(OverlapModel):
    """Giving up on both sides; small decisions are methods."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.owed: dict[Debt, None] = {}
        self.poisoned: set[Debt] = set()

    # -- the calls of the contract -----------------------------------------------------------------------------------

    def abort_decode(self, room: int) -> None:
        """Have decode give a room up that has not ended."""
        found = self.reserved.get(room)
        if found is not None:
            self.look(found)
            if not self.has_ended(found):
                self.fail_decode(found)
        self.settle()

    def abort_prefill(self, room: int) -> None:
        """Have prefill give a room up that has not ended."""
        if room in self.rooms:
            self.fail_prefill(self.rooms[room], "aborted")
        self.settle()

    # -- decode ------------------------------------------------------------------------------------------------------

    def decode_failed(self, room: DecodeRoom) -> None:
        """Send the notices of a failure."""
        for source, destination in self.notices_of_failure(room):
            self.post(
                Notice(
                    number=-1,
                    kind=ABORT,
                    room=room.room,
                    epoch=room.epoch,
                    source=source,
                    destination=destination,
                )
            )

    def notices_of_failure(self, room: DecodeRoom) -> list[Pair]:
        """Return who is told: every prefill rank, by each destination."""
        return self.pairs_of(room)

    def pairs_of(self, room: DecodeRoom) -> list[Pair]:
        """Return every prefill rank with every destination."""
        return [(source, place.rank) for place in room.places for source in range(self.config.cp_size)]

    def hear_drained(self, notice: Notice) -> None:
        """Note that nothing goes on to land of a pair."""
        for room in (*self.reserved.values(), *self.lingering):
            if self.is_drained_of(room, notice):
                room.drained.add((notice.source, notice.destination))
                self.try_free(room)
                return

    def is_drained_of(self, room: DecodeRoom, notice: Notice) -> bool:
        """Say whether a message tells of a room that has failed."""
        return room.has_failed and room.room == notice.room and self.is_epoch_of(room.epoch, notice.epoch)

    def is_safe(self, room: DecodeRoom) -> bool:
        """Say whether every pair has drained, or the room has waited long enough."""
        return self.drained_is_enough(room) or self.quarantine_is_over(room)

    def drained_is_enough(self, room: DecodeRoom) -> bool:
        """Say whether every prefill rank has drained to every destination."""
        return room.drained >= set(self.pairs_of(room))

    def quarantine_is_over(self, room: DecodeRoom) -> bool:
        """Say whether a room that has failed has waited long enough."""
        return self.clock - room.failed_at >= self.config.transfer.quarantine

    # -- prefill -----------------------------------------------------------------------------------------------------

    def hear_abort(self, notice: Notice) -> None:
        """Give up what has not ended, and owe the answer."""
        known = self.rooms.get(notice.room)
        if known is not None and known.epoch == notice.epoch:
            self.fail_prefill(known, "peer")
        elif self.is_news(notice):
            self.dead.add((notice.room, notice.epoch))
        self.owed[self.debt_of(notice)] = None
        self.pay()

    def debt_of(self, notice: Notice) -> Debt:
        """Return to whom the answer to a notice goes, and of what it speaks."""
        return (notice.source, notice.destination, notice.room, notice.epoch)

    def pay(self) -> None:
        """Tell each destination that waits for it, once nothing goes on to land there."""
        for debt in [debt for debt in self.owed if self.may_drain(debt)]:
            del self.owed[debt]
            source, destination, room, epoch = debt
            self.post(Notice(number=-1, kind=DRAINED, room=room, epoch=epoch, source=source, destination=destination))

    def may_drain(self, debt: Debt) -> bool:
        """Say whether nothing of a room is in flight from a rank to a destination, nor was in doubt."""
        return debt not in self.poisoned and not any(flight.debt == debt for flight in self.flying)

    def has_failed(self, flight: FlightModel) -> None:
        """Fail the room of a flight that failed or is in doubt."""
        if flight.is_in_doubt:
            self.poisoned.add(flight.debt)
        self.fail_prefill(flight.room, self.reason_of(flight))

    def reason_of(self, flight: FlightModel) -> str:
        """Say why a flight has failed."""
        return "deadline" if self.is_late(flight) else "engine"

    def has_left(self, flight: FlightModel) -> None:
        """Go on where a flight was waited for."""
        self.look_after(flight.room)
        self.pay()

    def hear(self, notice: Notice) -> None:
        """Hear a message, on the side that it is for."""
        heard = {
            OPENED: self.hear_opened,
            ARRIVED: self.hear_arrived,
            FAILED: self.hear_failed,
            ABORT: self.hear_abort,
            DRAINED: self.hear_drained,
        }
        heard[notice.kind](notice)

    # -- time --------------------------------------------------------------------------------------------------------

    def advance(self, ticks: int) -> None:
        """Let time go on, tick by tick."""
        for _ in range(ticks):
            self.clock += 1
            for stage in self.stages():
                stage()
                self.settle()

    def stages(self) -> Sequence[Callable[[], None]]:
        """Return what happens at a tick, in order."""
        return (self.give_up_flights, self.give_up_chunks, self.lose_patience, self.end_quarantines)

    def give_up_flights(self) -> None:
        """Put flights in doubt that are past their deadline."""
        for flight in [flight for flight in self.flying if not flight.is_in_doubt and self.is_late(flight)]:
            self.doubt(flight)

    def is_late(self, flight: FlightModel) -> bool:
        """Say whether a flight is past its deadline."""
        return self.clock - flight.began >= self.config.transfer.deadline

    def give_up_chunks(self) -> None:
        """Fail rooms that have a chunk which is past its deadline."""
        for room in list(self.rooms.values()):
            if any(self.is_overdue(chunk) for chunk in room.sent):
                self.fail_prefill(room, "deadline")

    def is_overdue(self, chunk: Chunk) -> bool:
        """Say whether a chunk is past its deadline and was not picked up, or the last without its metadata sent."""
        if self.clock - chunk.sent_at < self.config.transfer.deadline:
            return False
        return not self.is_picked(chunk) or (chunk.is_last and not self.has_all_aux(chunk.room))

    def lose_patience(self) -> None:
        """Fail rooms at decode that take too long."""
        for room in list(self.reserved.values()):
            self.look(room)
            if not self.has_ended(room) and self.is_out_of_patience(room):
                self.fail_decode(room)

    def is_out_of_patience(self, room: DecodeRoom) -> bool:
        """Say whether decode has waited too long for a room."""
        return self.clock - room.began >= self.config.transfer.patience

    def end_quarantines(self) -> None:
        """Let flights in doubt end, and rooms that have waited long enough give back what they hold."""
        for flight in [flight for flight in self.flying if self.is_doubt_over(flight)]:
            self.give_up(flight)
        for room in list(self.lingering):
            self.try_free(room)

    def is_doubt_over(self, flight: FlightModel) -> bool:
        """Say whether a flight in doubt is taken for ended."""
        return flight.is_in_doubt and self.clock - flight.doubted_at >= self.config.transfer.quarantine

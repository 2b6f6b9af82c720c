"""Wrong variants of notices: who is told of a failure, how often, and what is heard of what comes."""

from __future__ import annotations

from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import (
    ABORT,
    DecodeRoom,
    Notice,
    Pair,
)

# -- who is told -----------------------------------------------------------------------------------------------------


@mutant(
    "abort.one-rank-is-told",
    kills="RFC-0014:C-NOTICES#S1",
    also={"RFC-0014:C-QUARANTINE#S3": "who is not told does not drain"},
)
class OneRankIsTold(SendingModel):
    """Tells the first prefill rank and leaves the others to it."""

    def notices_of_failure(self, room: DecodeRoom) -> list[Pair]:
        return [pair for pair in super().notices_of_failure(room) if pair[0] == 0]


@mutant(
    "abort.one-destination-tells",
    kills="RFC-0014:C-NOTICES#S1",
    also={"RFC-0014:C-QUARANTINE#S3": "who is not told does not drain"},
)
class OneDestinationTells(SendingModel):
    """Tells every prefill rank from the first destination alone."""

    def notices_of_failure(self, room: DecodeRoom) -> list[Pair]:
        return [pair for pair in super().notices_of_failure(room) if pair[1] == room.places[0].rank]


@mutant(
    "abort.impatience-is-silent",
    kills="RFC-0014:C-NOTICES#S1",
    also={"RFC-0014:C-GIVING-UP#S7": "who is not told does not hear"},
)
class ImpatienceIsSilent(SendingModel):
    """Loses patience without telling anybody."""

    def notices_of_failure(self, room: DecodeRoom) -> list[Pair]:
        return [] if self.is_out_of_patience(room) else super().notices_of_failure(room)


@mutant(
    "abort.prefill-knows-already",
    kills="RFC-0014:C-NOTICES#S1",
    also={"RFC-0014:C-QUARANTINE#S3": "who is not told does not drain"},
)
class PrefillKnowsAlready(SendingModel):
    """Tells nobody where prefill was first: the pages wait for the end of the quarantine."""

    is_hearing = False

    def hear_failed(self, notice: Notice) -> None:
        self.is_hearing = True
        super().hear_failed(notice)
        self.is_hearing = False

    def notices_of_failure(self, room: DecodeRoom) -> list[Pair]:
        return [] if self.is_hearing else super().notices_of_failure(room)


@mutant("abort.told-again", kills="RFC-0014:C-NOTICES#S2")
class ToldAgain(SendingModel):
    """Tells everybody again each time that a room is given up."""

    def abort_decode(self, room: int) -> None:
        found = self.reserved.get(room)
        if found is not None and found.has_failed:
            self.decode_failed(found)
        super().abort_decode(room)


@mutant("abort.told-at-the-close", kills="RFC-0014:C-NOTICES#S2")
class ToldAtTheClose(SendingModel):
    """Tells everybody again when the room is closed."""

    def close_room(self, room: int) -> None:
        found = self.reserved[room]
        super().close_room(room)
        if found.has_failed:
            self.decode_failed(found)
            self.settle()


@mutant(
    "abort.prefill-is-silent",
    kills="RFC-0014:C-NOTICES#S3",
    also={
        "RFC-0014:C-AGAIN#S2": "nor are destinations of an earlier epoch told",
        "RFC-0014:C-GIVING-UP#S7": "who is not told does not hear",
    },
)
class PrefillIsSilent(SendingModel):
    """Leaves decode to its patience where prefill gives up."""

    def tell_failed(self, source: int, destination: int, room: int, epoch: int) -> None:
        del source, destination, room, epoch


@mutant(
    "abort.one-rank-tells",
    kills="RFC-0014:C-NOTICES#S3",
    also={"RFC-0014:C-AGAIN#S2": "nor are destinations of an earlier epoch told"},
)
class OneRankTells(SendingModel):
    """Tells decode from the first prefill rank alone."""

    def tell_failed(self, source: int, destination: int, room: int, epoch: int) -> None:
        if source == 0:
            super().tell_failed(source, destination, room, epoch)


@mutant("abort.failed-told-again", kills="RFC-0014:C-NOTICES#S4")
class FailedToldAgain(SendingModel):
    """Tells decode again that it gave up, each time that decode says so."""

    def hear_abort(self, notice: Notice) -> None:
        known = self.rooms.get(notice.room)
        if known is not None and known.epoch == notice.epoch and known.reason:
            self.told_failed -= {debt for debt in self.told_failed if debt[2:] == (notice.room, notice.epoch)}
            self.tell_failed(notice.source, notice.destination, notice.room, notice.epoch)
        super().hear_abort(notice)


# -- what is heard ---------------------------------------------------------------------------------------------------


@mutant("abort.dead-epoch-lives", kills="RFC-0014:C-NOTICES#S5")
class DeadEpochLives(SendingModel):
    """Answers that a dead epoch has failed, and gets ready to send to it."""

    def hear_opened(self, notice: Notice) -> None:
        super().hear_opened(notice)
        if self.is_dead(notice.room, notice.epoch) and (notice.room not in self.rooms or self.is_known(notice)):
            self.rooms.setdefault(notice.room, self.new_prefill_room(notice))
            self.note_opened(self.rooms[notice.room], notice)

    def is_known(self, notice: Notice) -> bool:
        """Say whether prefill has a room under the epoch of a message."""
        return self.rooms[notice.room].epoch == notice.epoch


@mutant("abort.epoch-of-the-notice-unread", kills="RFC-0014:C-NOTICES#S6")
class EpochOfTheNoticeUnread(SendingModel):
    """Gives a room up for a notice to an earlier request of its number."""

    def hear_abort(self, notice: Notice) -> None:
        known = self.rooms.get(notice.room)
        if known is not None and notice.epoch < known.epoch:
            self.fail_prefill(known, "peer")
        super().hear_abort(notice)


@mutant("abort.epoch-of-arrivals-unread", kills="RFC-0014:C-NOTICES#S6")
class EpochOfArrivalsUnread(SendingModel):
    """Takes what arrived of an earlier request for an arrival of this one, and its failure for this one's."""

    def decode_room(self, room: int, epoch: int) -> DecodeRoom | None:
        del epoch
        return self.reserved.get(room)


@mutant("abort.earlier-epoch-comes-back", kills="RFC-0014:C-NOTICES#S6")
class EarlierEpochComesBack(SendingModel):
    """Goes back to an earlier epoch when it hears of it late."""

    def is_news(self, notice: Notice) -> bool:
        return self.latest.get(notice.room) != notice.epoch


@mutant(
    "abort.opened-again",
    kills="RFC-0014:C-NOTICES#S7",
    also={"RFC-0014:C-NOTICES#S3": "a room that begins anew is not told as failed"},
)
class OpenedAgain(SendingModel):
    """Begins anew where it hears again of a destination that it knows."""

    def hear_opened(self, notice: Notice) -> None:
        known = self.rooms.get(notice.room)
        again = known is not None and (notice.source, notice.destination) in known.heard
        if known is not None and again and known.epoch == notice.epoch:
            del self.rooms[notice.room], self.latest[notice.room]
        super().hear_opened(notice)


@mutant("abort.forgotten-room-opened", kills="RFC-0014:C-NOTICES#S7")
class ForgottenRoomOpened(SendingModel):
    """Knows a room again that was forgotten when it hears again of a destination."""

    def is_news(self, notice: Notice) -> bool:
        is_gone = notice.room not in self.rooms and self.latest.get(notice.room) == notice.epoch
        return super().is_news(notice) or (is_gone and not self.is_dead(notice.room, notice.epoch))


@mutant(
    "abort.noise-ends-the-thread",
    kills="RFC-0014:C-NOTICES#S8",
    also={
        "RFC-0014:C-DRAIN#S3": "who hears nothing does not answer",
        "RFC-0014:C-NOTICES#S3": "who does not give up tells nobody",
        "RFC-0014:C-NOTICES#S7": "what was not heard comes again",
        "RFC-0014:C-QUARANTINE#S3": "nobody hears that all have drained",
    },
)
class NoiseEndsTheThread(SendingModel):
    """Hears nothing any more after bytes that are no message."""

    is_deaf = False

    def hear_garbled(self, notice: Notice, how: str) -> None:
        super().hear_garbled(notice, how)
        self.is_deaf = True

    def hear(self, notice: Notice) -> None:
        if not self.is_deaf:
            super().hear(notice)


@mutant("abort.truncated-is-heard", kills="RFC-0014:C-NOTICES#S8")
class TruncatedIsHeard(SendingModel):
    """Reads what it can of a message that was cut short."""

    def hear_garbled(self, notice: Notice, how: str) -> None:
        if how == "truncated":
            self.hear(notice)


@mutant("abort.noise-fails-the-room", kills="RFC-0014:C-NOTICES#S8")
class NoiseFailsTheRoom(SendingModel):
    """Gives a room up at prefill for bytes that nobody can read."""

    def hear_garbled(self, notice: Notice, how: str) -> None:
        super().hear_garbled(notice, how)
        if notice.room in self.rooms:
            self.fail_prefill(self.rooms[notice.room], "peer")


@mutant(
    "abort.notice-read-as-a-request",
    kills="RFC-0014:C-DRAIN#S3",
    also={
        "RFC-0014:C-DRAIN#S4": "who does not hear does not answer",
        "RFC-0014:C-QUARANTINE#S3": "who does not answer does not drain",
        "RFC-0014:C-NOTICES#S3": "who does not give up tells nobody",
        "RFC-0014:C-GIVING-UP#S7": "who is not told does not hear",
        "RFC-0014:C-AGAIN#S3": "what goes on has its pages",
        "RFC-0014:C-GIVING-UP#S4": "prefill goes on with what it should have heard of",
    },
)
class NoticeReadAsARequest(SendingModel):
    """Reads `abort` as a request that lacks fields, and throws it away."""

    def hear(self, notice: Notice) -> None:
        if notice.kind != ABORT:
            super().hear(notice)

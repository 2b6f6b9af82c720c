"""Wrong variants of giving up: who fails when, what goes on all the same, and who is told."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import (
    FAILED,
    DecodeRoom,
    Job,
    Notice,
    PrefillRoom,
)

# -- who fails -------------------------------------------------------------------------------------------------------


@mutant("abort.status-forgotten", kills="RFC-0014:C-GIVING-UP#S1")
class StatusForgotten(SendingModel):
    """Gives a room up at prefill, and goes on to say that it is under way."""

    def send_status(self, room: int) -> str:
        found = super().send_status(room)
        return "transferring" if found == "failed" and self.rooms[room].reason == "aborted" else found


@mutant("abort.unready-is-bootstrapping", kills="RFC-0014:C-GIVING-UP#S1")
class UnreadyIsBootstrapping(SendingModel):
    """Says of a room that was given up that it waits for its destinations, where it did."""

    def send_status(self, room: int) -> str:
        found = super().send_status(room)
        return "bootstrapping" if found == "failed" and not self.is_ready(self.rooms[room]) else found


@mutant(
    "abort.too-late-for-decode",
    kills="RFC-0014:C-GIVING-UP#S2",
    also={
        "RFC-0014:C-NOTICES#S1": "who does not give up tells nobody",
        "RFC-0014:C-GIVING-UP#S7": "who is not told does not hear",
    },
)
class TooLateForDecode(SendingModel):
    """Cannot give a room up at decode once something has arrived."""

    def abort_decode(self, room: int) -> None:
        if room in self.reserved and self.state_of(self.reserved[room]) == "waiting":
            super().abort_decode(room)


@mutant(
    "abort.too-early-for-decode",
    kills="RFC-0014:C-GIVING-UP#S2",
    also={
        "RFC-0014:C-NOTICES#S1": "who does not give up tells nobody",
        "RFC-0014:C-AGAIN#S3": "what goes on has its pages",
        "RFC-0014:C-GIVING-UP#S4": "prefill goes on with what it should have heard of",
    },
)
class TooEarlyForDecode(SendingModel):
    """Cannot give a room up at decode before something has arrived."""

    def abort_decode(self, room: int) -> None:
        if room in self.reserved and self.state_of(self.reserved[room]) != "waiting":
            super().abort_decode(room)


@mutant("abort.success-undone", kills="RFC-0014:C-GIVING-UP#S3")
class SuccessUndone(SendingModel):
    """Fails rooms at decode that have succeeded."""

    def abort_decode(self, room: int) -> None:
        if room in self.reserved and self.state_of(self.reserved[room]) == "success":
            self.fail_decode(self.reserved[room])
        super().abort_decode(room)


@mutant("abort.what-was-sent-undone", kills="RFC-0014:C-GIVING-UP#S3")
class WhatWasSentUndone(SendingModel):
    """Fails rooms at prefill of which everything was sent."""

    def abort_prefill(self, room: int) -> None:
        found = self.rooms.get(room)
        super().abort_prefill(room)
        if found is not None and not found.reason:
            found.reason = "aborted"


@mutant("abort.unknown-room-raises", kills="RFC-0014:C-GIVING-UP#S3")
class UnknownRoomRaises(SendingModel):
    """Refuses to give up a room that prefill does not know."""

    def abort_prefill(self, room: int) -> None:
        self.required(room)
        super().abort_prefill(room)


@mutant("abort.closed-room-raises", kills="RFC-0014:C-GIVING-UP#S3")
class ClosedRoomRaises(SendingModel):
    """Refuses to give up a room that is not open at decode."""

    def abort_decode(self, room: int) -> None:
        if room not in self.reserved:
            raise Rejected(Reason.ROOM_UNKNOWN)
        super().abort_decode(room)


# -- what goes on ----------------------------------------------------------------------------------------------------


@mutant(
    "abort.workers-go-on", kills="RFC-0014:C-GIVING-UP#S4", also={"RFC-0014:C-AGAIN#S3": "what goes on has its pages"}
)
class WorkersGoOn(SendingModel):
    """Sends what was queued, although the room has failed by the time a worker has time for it."""

    def skips(self, job: Job) -> bool:
        del job
        return False


@mutant(
    "abort.metadata-all-the-same",
    kills="RFC-0014:C-GIVING-UP#S4",
    also={"RFC-0014:C-AGAIN#S2": "the room may be one of an earlier epoch"},
)
class MetadataAllTheSame(SendingModel):
    """Sends the metadata of a room that has failed when its last flight has landed."""

    def look_after(self, room: PrefillRoom) -> None:
        reason, told = room.reason, set(room.told)
        room.reason = "" if reason and room.sent and room.sent[-1].is_last else reason
        if not room.reason and reason:
            room.told = {
                (part, chunk.number, source, destination)
                for chunk in room.sent
                for source in range(self.config.cp_size)
                for destination in room.destinations
                for part in ("kv", "index", "aux")
                for chunk.number in (chunk.number, 0)
            }
        super().look_after(room)
        room.reason, room.told = reason, told if reason else room.told


@mutant(
    "abort.groups-go-on", kills="RFC-0014:C-GIVING-UP#S4", also={"RFC-0014:C-AGAIN#S3": "what goes on has its pages"}
)
class GroupsGoOn(SendingModel):
    """Sends the groups of layers of a room that has failed, as long as its forward tells of them."""

    def drop(self, room: PrefillRoom) -> None:
        contexts = list(self.contexts_open)
        super().drop(room)
        self.contexts_open = contexts

    def skips(self, job: Job) -> bool:
        return super().skips(job) and job.is_finish


@mutant("abort.late-chunk-raises", kills="RFC-0014:C-GIVING-UP#S5")
class LateChunkRaises(SendingModel):
    """Refuses a chunk of a room that has failed."""

    def send(self, *args: object) -> None:
        room = self.rooms.get(args[0])  # type: ignore[call-overload]
        if room is not None and room.reason:
            raise Rejected(Reason.ROOM_NOT_READY)
        super().send(*args)  # type: ignore[arg-type]


@mutant(
    "abort.endless-patience",
    kills="RFC-0014:C-GIVING-UP#S6",
    also={
        "RFC-0014:C-NOTICES#S1": "who does not give up tells nobody",
    },
)
class EndlessPatience(SendingModel):
    """Waits for good where something has arrived."""

    def is_out_of_patience(self, room: DecodeRoom) -> bool:
        return super().is_out_of_patience(room) and self.state_of(room) == "waiting"


@mutant("abort.patience-of-one-tick-less", kills="RFC-0014:C-GIVING-UP#S6")
class PatienceOfOneTickLess(SendingModel):
    """Gives up a tick too early."""

    def is_out_of_patience(self, room: DecodeRoom) -> bool:
        return self.clock + 1 - room.began >= self.config.transfer.patience


@mutant(
    "abort.patience-with-nothing",
    kills="RFC-0014:C-GIVING-UP#S6",
    also={
        "RFC-0014:C-NOTICES#S1": "who does not give up tells nobody",
    },
)
class PatienceWithNothing(SendingModel):
    """Begins to count when something has arrived."""

    def is_out_of_patience(self, room: DecodeRoom) -> bool:
        return super().is_out_of_patience(room) and self.state_of(room) != "waiting"


@mutant(
    "abort.prefill-unheard",
    kills="RFC-0014:C-GIVING-UP#S7",
    also={"RFC-0014:C-NOTICES#S1": "who does not give up tells nobody"},
)
class PrefillUnheard(SendingModel):
    """Waits on at decode, although a prefill rank says that it gave up."""

    def hear_failed(self, notice: Notice) -> None:
        del notice


@mutant("abort.every-rank-has-to-fail", kills="RFC-0014:C-GIVING-UP#S7")
class EveryRankHasToFail(SendingModel):
    """Says at decode that a room goes on until the last of the prefill ranks has said that it gave up."""

    def status(self, room: int) -> str:
        found = super().status(room)
        known = self.rooms.get(room)
        is_by_prefill = known is not None and known.reason not in ("", "peer")
        waiting = any(message.kind == FAILED and message.room == room for message in self.way)
        return "transferring" if found == "failed" and is_by_prefill and waiting else found


@mutant(
    "abort.decode-unheard",
    kills="RFC-0014:C-GIVING-UP#S7",
    also={
        "RFC-0014:C-NOTICES#S3": "who does not give up tells nobody",
        "RFC-0014:C-AGAIN#S3": "what goes on has its pages",
        "RFC-0014:C-GIVING-UP#S4": "prefill goes on with what it should have heard of",
    },
)
class DecodeUnheard(SendingModel):
    """Says that nothing lands, and sends on what decode gave up."""

    def hear_abort(self, notice: Notice) -> None:
        known = self.rooms.get(notice.room)
        if known is None or known.epoch != notice.epoch or not known.sent or self.has_ended_here(known):
            super().hear_abort(notice)
        else:
            self.owed[self.debt_of(notice)] = None
            self.pay()

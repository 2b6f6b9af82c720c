"""The laws of metadata slots: what a commit returns, whose metadata it takes, and when a slot is free."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.laws.sending_answers import was_told_success
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_parts import DecodeRoom, Slot
from sharedkv_conformance.model.sending_state import POOLS, SendingState
from sharedkv_conformance.step import Answer, Call, Err, Ok

COMMIT, STATUS = "transfer.commit", "transfer.status"


def got(answer: Answer) -> str:
    """Return an answer in few words."""
    return repr(answer.value) if isinstance(answer, Ok) else str(answer.error)


def room_of(before: SendingState, call: Call) -> DecodeRoom | None:
    """Return the reserved room that a call names."""
    return before.sending.reserved.get(call.room)


def slots_of(before: SendingState, room: DecodeRoom) -> list[Slot]:
    """Return the slots of a room, destination by destination."""
    return [before.sending.memory.slots[place.rank, place.slot] for place in room.places]


def foreign_slots(before: SendingState, room: DecodeRoom) -> list[Slot]:
    """Return the slots of a room that name another room or epoch; a cleared one names nobody."""
    return [slot for slot in slots_of(before, room) if slot.room is not None and not _is_own(room, slot)]


def _is_own(room: DecodeRoom, slot: Slot) -> bool:
    return (slot.room, slot.epoch) == (room.room, room.epoch)


@law("RFC-0012:C-SLOTS#S1", on=COMMIT, history="sending")
def a_commit_returns_what_was_sent(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Decode goes on from another token than prefill ended with."""
    if before.wrong(call, answer):
        expected = before.step(call, answer).expected
        is_known = isinstance(answer, Ok) or was_told_success(before, call.room)
        if isinstance(expected, Ok) and is_known:
            yield f"room {call.room}: expected {expected.value!r}, got {got(answer)}"


@law("RFC-0012:C-SLOTS#S2", on=STATUS, history="sending")
def a_foreign_slot_fails_the_room(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Decode goes on from the first token of somebody else."""
    room = room_of(before, call)
    if room is None or not room.has_arrived or answer != Ok("success") or not before.wrong(call, answer):
        return
    if before.step(call, answer).expected == Ok("failed"):
        yield f"room {call.room}, epoch {room.epoch}: expected failed for its slots, got {got(answer)}"


@law("RFC-0012:C-SLOTS#S3", on=STATUS, history="sending")
def a_slot_counts_when_all_has_arrived(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """What the last room left behind in a slot is no fault of this one."""
    room = room_of(before, call)
    if room is None or room.has_arrived or answer != Ok("failed"):
        return
    if before.wrong(call, answer):
        yield f"room {call.room}: failed before all has arrived"


@law("RFC-0012:C-SLOTS#S4", on=COMMIT, history="sending")
def a_commit_is_refused(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whatever stands in the slot is taken for the metadata of the room."""
    if before.wrong(call, answer):
        expected = before.step(call, answer).expected
        if isinstance(expected, Err):
            yield f"room {call.room}: expected {expected.error}, got {got(answer)}"


@law("RFC-0012:C-SLOTS#S5", on=POOLS, history="sending")
def a_committed_slot_is_free(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A slot that is kept while tokens are made bounds how many requests decode."""
    step = before.judged(call, answer)
    if before.cause() != COMMIT or step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return
    wanted, found = ([each.free_slots for each in value] for value in (step.expected.value, answer.value))
    if wanted != found:
        yield f"after a commit: expected {wanted} free slots by rank, got {found}"

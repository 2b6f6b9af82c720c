"""The laws of rooms: what decode may believe of a transfer when it has heard so much."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.laws.transfer import unrefused
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.transfer_state import FRESH, REPEATED, STRANGE, TransferState
from sharedkv_conformance.step import Answer, Call, Ok

OPEN_ROOM = "transfer.open_room"
ARRIVED = "transfer.arrived"
FAILED = "transfer.failed"
STATUS = "transfer.status"
CLOSE = "transfer.close_room"
MESSAGES = (ARRIVED, FAILED)


def _wrong(before: TransferState, call: Call, answer: Answer) -> tuple[str, str, str] | None:
    """Return the right state, the one that was told, and the last kind of message, where the two differ."""
    if before.diverged or not before.is_open(call.room) or not isinstance(answer, Ok):
        return None
    right = before.rooms[call.room].state()
    return (right, answer.value, before.last_heard.get(call.room, FRESH)) if answer.value != right else None


def _told(before: TransferState, call: Call, found: tuple[str, str, str]) -> str:
    room = before.rooms[call.room]
    return f"room {call.room} is {found[1]}, expected {found[0]}; not complete: {room.missing()}"


@law("RFC-0012:C-ROOMS#S1", on=STATUS, history="transfer_rooms")
def success_means_every_chunk_of_every_part_of_every_source(
    before: TransferState, call: Call, answer: Answer
) -> Iterator[str]:
    """A request that starts on pages that are not there yet reads another request's."""
    found = _wrong(before, call, answer)
    if found and found[2] == FRESH and found[1] == "success":
        yield _told(before, call, found)


@law("RFC-0012:C-ROOMS#S2", on=STATUS, history="transfer_rooms")
def a_complete_room_has_succeeded(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """In whatever order the chunks came."""
    found = _wrong(before, call, answer)
    if found and found[2] == FRESH and found[0] == "success":
        yield _told(before, call, found)


@law("RFC-0012:C-ROOMS#S3", on=STATUS, history="transfer_rooms")
def a_repetition_changes_nothing(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Messages are sent again where an acknowledgement is late."""
    found = _wrong(before, call, answer)
    if found and found[2] == REPEATED:
        yield _told(before, call, found)


@law("RFC-0012:C-ROOMS#S4", on=STATUS, history="transfer_rooms")
def what_is_not_awaited_changes_nothing(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Messages of an earlier request under the same number, of strangers, and after the end."""
    found = _wrong(before, call, answer)
    if found and found[2] == STRANGE:
        yield _told(before, call, found)


@law("RFC-0012:C-ROOMS#S5", on=STATUS, history="transfer_rooms")
def a_source_that_gives_up_fails_the_room(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """For good, and before it has succeeded."""
    found = _wrong(before, call, answer)
    if found and found[2] not in {FRESH, REPEATED, STRANGE}:
        yield _told(before, call, found)


@law("RFC-0012:C-ROOMS#S6", on=STATUS, history="transfer_rooms")
def a_room_waits_until_something_arrives(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Who measures how long a transfer takes begins here."""
    found = _wrong(before, call, answer)
    if found and found[2] == FRESH and "success" not in found[:2]:
        yield _told(before, call, found)


@law("RFC-0012:C-ROOMS#S7", on=OPEN_ROOM, history="transfer_rooms")
def a_room_that_is_open_is_not_opened_again(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Two requests in one room end each other's transfers."""
    if not before.diverged and before.is_open(call.room):
        yield from unrefused(answer, frozenset({Reason.ROOM_IN_USE}), _opening_faults(before, call))


@law("RFC-0012:C-ROOMS#S8", on=OPEN_ROOM, history="transfer_rooms")
def a_room_without_sources_or_parts_is_refused(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """A room that waits for nothing has succeeded before anything was sent."""
    if not before.diverged and not before.is_open(call.room):
        yield from unrefused(answer, _opening_faults(before, call))


@law("RFC-0012:C-ROOMS#S9", on=OPEN_ROOM, history="transfer_rooms")
def a_closed_room_is_opened_under_another_epoch(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Numbers come again, and late messages come with them."""
    if before.diverged or _opening_faults(before, call):
        return
    if not isinstance(answer, Ok):
        yield f"room {call.room} is not open, and opening it is answered with {answer.error}"
    elif answer.value in before.epochs.get(call.room, ()):
        yield f"room {call.room} has epoch {answer.value} again"


def _opening_faults(before: TransferState, call: Call) -> frozenset[Reason]:
    invalid = any(not named or len(set(named)) < len(named) for named in (call.sources, call.parts))
    faults = {Reason.ROOM_IN_USE: before.is_open(call.room), Reason.ROOM_INVALID: invalid}
    return frozenset(reason for reason, present in faults.items() if present)


@law("RFC-0012:C-ROOMS#S10", on=CLOSE, history="transfer_rooms")
def a_room_is_closed_once_it_has_ended(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Not before: its pages may still be written."""
    if before.diverged or not before.is_open(call.room):
        return
    if not before.has_ended(call.room):
        yield from unrefused(answer, frozenset({Reason.ROOM_IN_USE}))
    elif not isinstance(answer, Ok):
        yield f"room {call.room} is {before.rooms[call.room].state()}, closing it is answered with {answer.error}"


@law("RFC-0012:C-ROOMS#S11", on=(STATUS, CLOSE), history="transfer_rooms")
def a_room_that_is_not_open_is_unknown(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Closed, or never opened."""
    if not before.diverged and not before.is_open(call.room):
        yield from unrefused(answer, frozenset({Reason.ROOM_UNKNOWN}))


@law("RFC-0012:C-ROOMS#S12", on=(*MESSAGES, STATUS), history="transfer_rooms")
def a_message_is_never_an_error(before: TransferState, call: Call, answer: Answer) -> Iterator[str]:
    """Whoever listens must not fall over what the network brings."""
    if before.diverged or isinstance(answer, Ok):
        return
    if call.op in MESSAGES:
        yield f"{call.op} of room {call.room}: {answer.error}"
    elif before.is_open(call.room) and not _is_unknown(answer):
        yield f"room {call.room} is open, its status is answered with {answer.error}"
    elif before.is_open(call.room):
        yield f"room {call.room} is open, and unknown by now"


def _is_unknown(answer: Answer) -> bool:
    return (
        not isinstance(answer, Ok) and isinstance(answer.error, Rejected) and answer.error.reason == Reason.ROOM_UNKNOWN
    )

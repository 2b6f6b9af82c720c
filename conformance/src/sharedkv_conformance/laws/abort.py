"""The laws of giving up: which side takes a room for failed when, and what is not done for it any more."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.laws.overlap_deviations import Apart, apart, cause_of, room_of
from sharedkv_conformance.laws.sending_answers import got, states, told
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_parts import ABORT, FAILED, DecodeRoom, PrefillRoom
from sharedkv_conformance.model.sending_state import FLIGHTS, MESSAGES, SendingState
from sharedkv_conformance.model.sending_tidings import AGAIN, EARLIER, NEWS, SPOILED
from sharedkv_conformance.step import Answer, Call, Err, Ok

DECODE, PREFILL = "abort.decode", "abort.prefill"
STATUS, SEND_STATUS, REPORT, SEND = "transfer.status", "transfer.send_status", "transfer.report", "transfer.send"
ADVANCE, LAND, RESERVE = "probe.advance", "probe.land", "transfer.reserve"
OVER = "failed"
ABORTED, PEER = "aborted", "peer"
BY_DECODE, BY_PREFILL, BY_PATIENCE, BY_SLOT = "decode", "prefill", "patience", "slot"


def is_disturbed(before: SendingState) -> bool:
    """Say whether the last call delivered what must change nothing."""
    return before.tidings.message in (AGAIN, EARLIER, SPOILED) or is_unheard(before)


def is_unheard(before: SendingState) -> bool:
    """Say whether the last call delivered something new right after bytes that are no message."""
    return before.tidings.is_after_noise and before.tidings.message == NEWS


def why_failed(before: SendingState, room: DecodeRoom) -> str:
    """Say what failed a room at decode: decode itself, prefill, patience, or what its slot names."""
    sending = before.sending
    known = room_of(before, room.room, room.epoch)
    if room.has_arrived:
        return BY_SLOT
    if known is not None and known.reason not in ("", PEER) and _has_heard(before, room):
        return BY_PREFILL
    is_late = room.failed_at - room.began >= sending.config.transfer.patience
    return BY_PATIENCE if is_late else BY_DECODE


def _has_heard(before: SendingState, room: DecodeRoom) -> bool:
    """Say whether a message that prefill gave up has come to decode."""
    own = [m for m in before.sending.posted.values() if (m.kind, m.room, m.epoch) == (FAILED, room.room, room.epoch)]
    return any(message not in before.sending.way for message in own)


def _prefill(before: SendingState, call: Call) -> PrefillRoom | None:
    return before.sending.rooms.get(call.room)


def _given_up(before: SendingState, call: Call, answer: Answer) -> str:
    """Return the reason for which prefill has given a room up, where it does not say so."""
    step = before.judged(call, answer)
    known = _prefill(before, call) if step is not None else None
    if step is None or known is None or not isinstance(step.expected, Ok):
        return ""
    if not isinstance(answer, Ok):
        return known.reason
    if call.op == REPORT:
        return known.reason if answer.value.reason != known.reason else ""
    return known.reason if answer.value != OVER else ""


def _room(before: SendingState, call: Call, answer: Answer) -> str:
    return f"room {call.room}: expected {told(before.step(call, answer))}, got {got(answer)}"


@law("RFC-0014:C-GIVING-UP#S1", on=(SEND_STATUS, REPORT))
def what_prefill_gives_up_has_failed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """In whatever state it was; the status of all ranks is agreed by the least."""
    if _given_up(before, call, answer) == ABORTED:
        yield _room(before, call, answer)


def _at_decode(before: SendingState, call: Call, answer: Answer) -> str:
    """Return why a room has failed at decode that is not told so."""
    found = states(before, call, answer)
    known = before.sending.reserved.get(call.room)
    if found is None or found[0] != OVER or known is None or not known.has_failed:
        return ""
    return why_failed(before, known)


@law("RFC-0014:C-GIVING-UP#S2", on=STATUS)
def what_decode_gives_up_has_failed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whatever has arrived of it."""
    if _at_decode(before, call, answer) == BY_DECODE:
        yield _room(before, call, answer)


@law("RFC-0014:C-GIVING-UP#S3", on=(DECODE, PREFILL))
def giving_up_is_never_an_error(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who gives up cannot know what has become of the room meanwhile."""
    if isinstance(answer, Err) and before.wrong(call, answer):
        yield f"{call.op} of room {call.room}: {answer.error}"


@law("RFC-0014:C-GIVING-UP#S3", on=(STATUS, SEND_STATUS, REPORT, MESSAGES))
def what_has_ended_stays(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A success that is undone frees what somebody reads."""
    if cause_of(before).op not in (DECODE, PREFILL):
        return
    if call.op == MESSAGES:
        found = apart(before, call, answer)
        if found is not None and found.extra and not found.missing and not _has_failed(before, found):
            yield f"after {cause_of(before).op} of room {cause_of(before).room}: {found}"
    elif call.op == REPORT:
        if before.wrong(call, answer) and isinstance(answer, Ok) and _has_not_failed(before, call):
            yield _room(before, call, answer)
    elif ((known := states(before, call, answer)) is not None and known[1] == OVER) or _is_lost(before, call, answer):
        yield _room(before, call, answer)


def _is_lost(before: SendingState, call: Call, answer: Answer) -> bool:
    """Say whether nothing is known any more of a room that has succeeded."""
    step = before.judged(call, answer)
    return step is not None and step.expected == Ok("success") and isinstance(answer, Err)


def _has_not_failed(before: SendingState, call: Call) -> bool:
    known = _prefill(before, call)
    return known is not None and not known.reason


def _has_failed(before: SendingState, found: Apart) -> bool:
    """Say whether the room of a message has failed on the side that says so."""
    return any(failed_there(before, message) for message in found.extra)


def failed_there(before: SendingState, message: object) -> bool:
    """Say whether the room of an `abort` or a `failed` has failed on the side that says so."""
    kind, room, epoch = (getattr(message, name) for name in ("kind", "room", "epoch"))
    if kind == ABORT:
        rooms = (*before.sending.reserved.values(), *before.sending.lingering)
        return any((each.room, each.epoch) == (room, epoch) and each.has_failed for each in rooms)
    known = room_of(before, room, epoch)
    return known is not None and bool(known.reason)


@law("RFC-0014:C-GIVING-UP#S4", on=(FLIGHTS, REPORT))
def nothing_is_sent_of_what_has_failed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Not what waited for a worker, nor what a forward tells of, nor the metadata at the end."""
    if call.op == REPORT:
        if _has_sent_more(before, call, answer):
            yield _room(before, call, answer)
        return
    found = apart(before, call, answer)
    for flight in found.extra if found is not None else ():
        known = before.sending.rooms.get(flight.room)
        if known is not None and known.epoch == flight.epoch and known.reason and not is_known(before, flight):
            yield f"room {flight.room} has failed ({known.reason}), and has {flight}"


def _has_sent_more(before: SendingState, call: Call, answer: Answer) -> bool:
    """Say whether a report has more flights than there were of a room that has failed."""
    step = before.judged(call, answer)
    known = _prefill(before, call) if step is not None else None
    if step is None or known is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return False
    return bool(known.reason) and answer.value.submitted > step.expected.value.submitted


def is_known(before: SendingState, flight: object) -> bool:
    """Say whether a flight flies, though it is shown otherwise."""
    return any(each.number == getattr(flight, "flight", -1) for each in before.sending.flying)


@law("RFC-0014:C-GIVING-UP#S5", on=SEND)
def a_late_chunk_is_no_error(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """The forward that made it was under way when its room failed."""
    known = _prefill(before, call)
    if known is not None and known.reason and isinstance(answer, Err) and before.wrong(call, answer):
        yield f"room {call.room} has failed ({known.reason}): {answer.error}"


@law("RFC-0014:C-GIVING-UP#S6", on=(STATUS, MESSAGES))
def decode_has_as_much_patience_as_it_says(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """From the reservation on; not less, and not more because something has arrived."""
    if call.op == STATUS:
        found = states(before, call, answer)
        is_early = found is not None and found[1] == OVER and cause_of(before).op == ADVANCE
        if is_early or _at_decode(before, call, answer) == BY_PATIENCE:
            yield _room(before, call, answer)
        return
    apart_ = apart(before, call, answer) if cause_of(before).op == ADVANCE else None
    early = [m for m in apart_.extra if m.kind == ABORT and not failed_there(before, m)] if apart_ is not None else []
    if early:
        yield f"after {cause_of(before).ticks} ticks, at {before.sending.clock}: {early}"


@law("RFC-0014:C-GIVING-UP#S7", on=(STATUS, SEND_STATUS, REPORT))
def each_side_hears_of_the_other(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """The first rank that gives up is enough."""
    if is_unheard(before):
        return
    if call.op == STATUS:
        if _at_decode(before, call, answer) == BY_PREFILL:
            yield _room(before, call, answer)
    elif _given_up(before, call, answer) == PEER and not is_replaced(before, call.room):
        yield _room(before, call, answer)


def is_replaced(before: SendingState, room: int) -> bool:
    """Say whether the number of a room was reserved before under another epoch."""
    epochs = {message.epoch for message in before.sending.posted.values() if message.room == room}
    return len(epochs) > 1

"""The laws of what comes after a room that was given up: its number, what prefill knows of it, and its pages."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Rejected
from sharedkv_conformance.laws.abort import ADVANCE, RESERVE, SEND, SEND_STATUS, is_disturbed, is_replaced
from sharedkv_conformance.laws.abort_notices import missing
from sharedkv_conformance.laws.overlap_deviations import apart, cause_of
from sharedkv_conformance.laws.sending_answers import got, told
from sharedkv_conformance.laws.sending_pins import lanes_seen, used_bounds
from sharedkv_conformance.laws.sending_reserve import last_epoch
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_parts import FAILED
from sharedkv_conformance.model.sending_state import EXTEND, FLIGHTS, LANES, MESSAGES, SendingState
from sharedkv_conformance.step import Answer, Call, Err, Ok


def was_used(before: SendingState, room: int) -> bool:
    """Say whether the number of a room was reserved before."""
    return any(message.room == room for message in before.sending.posted.values())


@law("RFC-0014:C-AGAIN#S1", on=RESERVE)
def a_number_can_be_used_again(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whatever is left of its earlier request; the epoch tells the two apart."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not was_used(before, call.room):
        return
    if isinstance(answer, Err) and isinstance(answer.error, Rejected):
        yield f"room {call.room} was closed: {answer.error}"
    elif isinstance(answer, Ok) and answer.value.epoch <= last_epoch(before):
        yield f"room {call.room} has epoch {answer.value.epoch} again, after {last_epoch(before)}"


@law("RFC-0014:C-AGAIN#S2", on=(SEND_STATUS, SEND, FLIGHTS, MESSAGES))
def prefill_goes_over_to_the_later_epoch(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """And gives the earlier one up, with all that was not submitted."""
    if call.op == MESSAGES:
        latest = before.sending.latest
        lost = [m for m in missing(before, call, answer, FAILED) if latest.get(m.room, m.epoch) > m.epoch]
        if lost:
            yield f"after {cause_of(before).op}: no {lost}"
    elif call.op == FLIGHTS:
        found = apart(before, call, answer)
        for flight in found.extra if found is not None else ():
            if before.sending.latest.get(flight.room, flight.epoch) > flight.epoch:
                yield f"room {flight.room} has a later epoch, and there is {flight}"
    elif before.wrong(call, answer) and is_replaced(before, call.room) and _is_live(before, call):
        yield f"room {call.room} again, {call.op}: expected {told(before.step(call, answer))}, got {got(answer)}"


def _is_live(before: SendingState, call: Call) -> bool:
    """Say whether nothing was sent yet of a room that goes on."""
    known = before.sending.rooms.get(call.room)
    is_quiet = cause_of(before).op != ADVANCE and not is_disturbed(before)
    return known is not None and not known.reason and not known.sent and is_quiet


@law("RFC-0014:C-AGAIN#S3", on=(LANES, EXTEND))
def pages_of_a_room_that_was_given_up_come_back(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Once nothing of it waits, flies or is in doubt."""
    if not any(room.reason for room in before.sending.rooms.values()):
        return
    if call.op == LANES:
        seen, used = lanes_seen(before, answer), used_bounds(before)
        if seen is not None and used.above(seen.in_use):
            yield f"after {cause_of(before).op}: expected {used} pages of each lane in use, got {list(seen.in_use)}"
    elif isinstance(answer, Err) and before.wrong(call, answer):
        step = before.judged(call, answer)
        if step is not None and isinstance(step.expected, Ok):
            yield f"pages are free: {answer.error}"

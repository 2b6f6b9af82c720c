"""The witnesses of drains and quarantines, and of what is used again afterwards."""

from __future__ import annotations

from sharedkv_conformance.laws.abort import LAND, RESERVE, SEND_STATUS, STATUS, is_replaced
from sharedkv_conformance.laws.abort_again import was_used
from sharedkv_conformance.laws.overlap_deviations import cause_of
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.sending_parts import ABORT, AUX, DRAINED, KV, FlightModel, Notice
from sharedkv_conformance.model.sending_state import DECODE_POOL, EXTEND, LANES, MESSAGES, POOLS, SendingState
from sharedkv_conformance.model.sending_tidings import BY_DRAINS, BY_TIME, EARLIER
from sharedkv_conformance.step import Answer, Call, Err, Ok

CLOSE, DELIVER = "transfer.close_room", "probe.deliver"


def _delivered(before: SendingState, kind: str) -> Notice | None:
    """Return the message that was delivered last, if it is of a kind."""
    cause = cause_of(before)
    found = before.message_of(cause.message) if cause.op == DELIVER and not before.diverged else None
    return found if found is not None and found.kind == kind else None


def _flying(before: SendingState, notice: Notice) -> list[FlightModel]:
    debt = (notice.source, notice.destination, notice.room, notice.epoch)
    return [flight for flight in before.sending.flying if flight.debt == debt]


# -- drains ----------------------------------------------------------------------------------------------------------


@witness(on=MESSAGES)
def notice_heard_in_flight(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank heard a notice while a flight to the destination had not ended, none of them in doubt."""
    heard = _delivered(before, ABORT)
    flown = _flying(before, heard) if heard is not None else []
    return bool(flown) and not any(flight.is_in_doubt for flight in flown)


@witness(on=MESSAGES)
def notice_heard_with_metadata_in_flight(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank heard a notice while nothing but the metadata was in flight to the destination."""
    heard = _delivered(before, ABORT)
    flown = _flying(before, heard) if heard is not None else []
    return bool(flown) and all(flight.part == AUX for flight in flown)


@witness(on=MESSAGES)
def one_flight_of_several_ends(before: SendingState, call: Call, answer: Answer) -> bool:
    """A flight landed of a rank that owes an answer, and another one is in flight."""
    if before.diverged or cause_of(before).op != LAND:
        return False
    return any(flight.debt in before.sending.owed for flight in before.sending.flying if not flight.is_in_doubt)


@witness(on=MESSAGES)
def notice_heard_in_doubt(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank heard a notice while a flight to the destination was in doubt."""
    heard = _delivered(before, ABORT)
    return heard is not None and any(flight.is_in_doubt for flight in _flying(before, heard))


@witness(on=MESSAGES)
def doubt_is_over(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank owes an answer that it cannot give, and the flight in doubt is forgotten."""
    if before.diverged:
        return False
    flying = {flight.debt for flight in before.sending.flying}
    return any(debt in before.sending.poisoned and debt not in flying for debt in before.sending.owed)


@witness(on=MESSAGES)
def drained_at_once(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank heard a notice with nothing in flight, and its answer was on the way."""
    heard = _delivered(before, ABORT)
    known = before.sending.rooms.get(heard.room) if heard is not None else None
    return known is not None and heard is not None and known.epoch == heard.epoch and _is_answered(before, heard)


@witness(on=MESSAGES)
def drained_later(before: SendingState, call: Call, answer: Answer) -> bool:
    """A flight ended, and the answer to a notice was on the way that had waited for it."""
    drained = [m for m in before.sending.way if m.kind == DRAINED] if not before.diverged else []
    return cause_of(before).op in (LAND, "probe.resume", "probe.fail") and bool(drained)


@witness(on=MESSAGES)
def drained_to_one_of_two_destinations(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank has answered one destination of a room, and owes it to another."""
    if before.diverged:
        return False
    posted = {(m.source, m.room, m.epoch) for m in before.sending.posted.values() if m.kind == DRAINED}
    return any((source, room, epoch) in posted for source, _, room, epoch in before.sending.owed)


def _is_answered(before: SendingState, heard: Notice) -> bool:
    wanted = (DRAINED, heard.source, heard.destination, heard.room, heard.epoch)
    return any((m.kind, m.source, m.destination, m.room, m.epoch) == wanted for m in before.sending.way)


@witness(on=MESSAGES)
def notice_heard_of_nobody(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank heard a notice of an epoch that it had not heard of."""
    heard = _delivered(before, ABORT)
    return heard is not None and before.sending.latest.get(heard.room, heard.epoch - 1) < heard.epoch


@witness(on=MESSAGES)
def notice_heard_of_a_forgotten_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank heard a notice of a room that prefill had forgotten."""
    heard = _delivered(before, ABORT)
    if heard is None or before.sending.latest.get(heard.room) != heard.epoch:
        return False
    return heard.room not in before.sending.rooms


@witness(on=MESSAGES)
def notice_heard_of_an_earlier_epoch(before: SendingState, call: Call, answer: Answer) -> bool:
    """A rank heard a notice of an epoch after it had heard of a later one."""
    heard = _delivered(before, ABORT)
    known = before.sending.rooms.get(heard.room) if heard is not None else None
    return heard is not None and known is not None and known.epoch > heard.epoch


# -- quarantine ------------------------------------------------------------------------------------------------------


def _is_partly_drained(before: SendingState) -> bool:
    rooms = before.sending.lingering
    return any(room.drained and not before.sending.drained_is_enough(room) for room in rooms)


@witness(on=POOLS)
def room_in_quarantine(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room that has failed was closed, and nobody had drained."""
    return not before.diverged and any(not room.drained for room in before.sending.lingering)


@witness(on=POOLS)
def room_partly_drained(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room that has failed was closed, and some ranks had drained and others not."""
    return not before.diverged and _is_partly_drained(before)


@witness(on=POOLS)
def room_drained_to_one_destination(before: SendingState, call: Call, answer: Answer) -> bool:
    """Every prefill rank had drained to one destination of a closed room, and not to another."""
    if before.diverged:
        return False
    sources = set(range(before.config.cp_size))
    rooms = [room for room in before.sending.lingering if not before.sending.drained_is_enough(room)]
    return any({source for source, _ in room.drained} == sources for room in rooms)


@witness(on=RESERVE)
def reserved_beside_a_quarantine(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was reserved, or found too few pages, while others were quarantined."""
    return not before.diverged and bool(before.sending.lingering)


def _late(before: SendingState) -> FlightModel | None:
    """Return the flight in doubt that landed with the last call."""
    cause = cause_of(before)
    return before.flight_of(cause.flight) if cause.op == LAND and not before.diverged else None


@witness(on=DECODE_POOL)
def late_bytes_beside_another_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages were shown right after late bytes of a room, when another one was open under its number."""
    late = _late(before)
    known = before.sending.reserved.get(late.room.room) if late is not None else None
    return late is not None and late.part == KV and known is not None and known.epoch != late.room.epoch


@witness(on=STATUS)
def late_metadata_beside_another_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was asked about right after late metadata of an earlier epoch of it."""
    late = _late(before)
    known = before.sending.reserved.get(call.room) if late is not None else None
    return late is not None and late.part == AUX and known is not None and known.epoch != late.room.epoch


@witness(on=POOLS)
def freed_by_drains(before: SendingState, call: Call, answer: Answer) -> bool:
    """The last of all drains came to a closed room."""
    return not before.diverged and before.tidings.freed == BY_DRAINS and cause_of(before).op != CLOSE


@witness(on=POOLS)
def freed_at_the_close(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was closed to which all had drained."""
    return not before.diverged and before.tidings.freed == BY_DRAINS and cause_of(before).op == CLOSE


@witness(on=POOLS)
def freed_by_time(before: SendingState, call: Call, answer: Answer) -> bool:
    """The quarantine of a closed room was over."""
    return not before.diverged and before.tidings.freed == BY_TIME


@witness(on=POOLS)
def drain_of_another_epoch(before: SendingState, call: Call, answer: Answer) -> bool:
    """A drain of an earlier epoch came while a later one of the room was quarantined."""
    heard = _delivered(before, DRAINED)
    if heard is None or before.tidings.message != EARLIER:
        return False
    return any(room.room == heard.room and room.epoch > heard.epoch for room in before.sending.lingering)


@witness(on=POOLS)
def drained_before_the_close(before: SendingState, call: Call, answer: Answer) -> bool:
    """All had drained to a room that was not closed."""
    if before.diverged:
        return False
    rooms = [room for room in before.sending.reserved.values() if room.has_failed]
    return any(before.sending.drained_is_enough(room) for room in rooms)


@witness(on=POOLS)
def time_over_before_the_close(before: SendingState, call: Call, answer: Answer) -> bool:
    """The time of a quarantine was over for a room that was not closed and not drained."""
    if before.diverged:
        return False
    rooms = [room for room in before.sending.reserved.values() if room.has_failed]
    late = [room for room in rooms if before.sending.quarantine_is_over(room)]
    return any(not before.sending.drained_is_enough(room) for room in late)


# -- again -----------------------------------------------------------------------------------------------------------


@witness(on=RESERVE)
def number_again_in_quarantine(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was reserved whose earlier epoch was quarantined."""
    step = before.judged(call, answer)
    is_made = step is not None and isinstance(step.expected, Ok)
    return is_made and any(room.room == call.room for room in before.sending.lingering)


@witness(on=RESERVE)
def number_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was reserved whose number had been used, and that prefill had not forgotten."""
    step = before.judged(call, answer)
    is_made = step is not None and isinstance(step.expected, Ok)
    return is_made and was_used(before, call.room) and call.room in before.sending.rooms


@witness(on=SEND_STATUS)
def later_epoch_asked_about(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked about the later epoch of a room that it goes on with."""
    known = None if before.diverged else before.sending.rooms.get(call.room)
    return known is not None and not known.reason and is_replaced(before, call.room)


@witness(on=MESSAGES)
def later_epoch_heard_under_way(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill heard of a later epoch of a room that had not ended there."""
    latest = {} if before.diverged else before.sending.latest
    told = [] if before.diverged else before.sending.way
    return any(m.kind == "failed" and latest.get(m.room, m.epoch) > m.epoch for m in told)


@witness(on=LANES)
def pages_of_a_failed_room_are_free(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages were counted after something of a room that has failed had left, and nothing else of it was there."""
    if before.diverged or not any(room.reason and room.flights for room in before.sending.rooms.values()):
        return False
    return not before.sending.pinned and cause_of(before).op in (LAND, "probe.fail", "probe.resume", "probe.advance")


@witness(on=EXTEND)
def pages_taken_after_a_failure(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages were asked for after a room had failed, and there were some."""
    if before.diverged or isinstance(answer, Err):
        return False
    return any(room.reason for room in before.sending.rooms.values())

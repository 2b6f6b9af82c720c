"""The witnesses of giving up: rooms that are given up in each state, and the messages that tell of it."""

from __future__ import annotations

from sharedkv_conformance.laws.abort import (
    ABORTED,
    ADVANCE,
    BY_DECODE,
    BY_PATIENCE,
    BY_PREFILL,
    DECODE,
    PEER,
    PREFILL,
    SEND,
    SEND_STATUS,
    STATUS,
    why_failed,
)
from sharedkv_conformance.laws.abort_notices import is_dead, is_heard_after_noise
from sharedkv_conformance.laws.overlap_deviations import cause_of
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.sending_parts import ABORT, FAILED, DecodeRoom, Notice, PrefillRoom
from sharedkv_conformance.model.sending_state import FLIGHTS, MESSAGES, SendingState
from sharedkv_conformance.model.sending_tidings import AGAIN, EARLIER, SPOILED
from sharedkv_conformance.step import Answer, Call

RESUME, DELIVER = "probe.resume", "probe.deliver"


def _prefill(before: SendingState, call: Call) -> PrefillRoom | None:
    return None if before.diverged else before.sending.rooms.get(call.room)


def _decode(before: SendingState, call: Call) -> DecodeRoom | None:
    return None if before.diverged else before.sending.reserved.get(call.room)


# -- giving up -------------------------------------------------------------------------------------------------------


@witness(on=PREFILL)
def prefill_gives_up_unready(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill gave a room up before it had heard of it on every rank."""
    room = _prefill(before, call)
    return room is not None and not room.reason and not before.sending.is_ready(room)


@witness(on=PREFILL)
def prefill_gives_up_before_a_chunk(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill gave a room up before anything was sent."""
    room = _prefill(before, call)
    return room is not None and not room.reason and before.sending.is_ready(room) and not room.sent


@witness(on=PREFILL)
def prefill_gives_up_under_way(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill gave a room up of which something was sent, and not everything has landed."""
    room = _prefill(before, call)
    return room is not None and bool(room.sent) and not before.sending.has_ended_here(room)


@witness(on=SEND_STATUS)
def prefill_has_given_up(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked about a room that it gave up."""
    room = _prefill(before, call)
    return room is not None and room.reason == ABORTED


@witness(on=DECODE)
def decode_gives_up_before_arrivals(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode gave a room up of which nothing had arrived."""
    room = _decode(before, call)
    return room is not None and before.sending.state_of(room) == "waiting"


@witness(on=DECODE)
def decode_gives_up_under_way(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode gave a room up of which something had arrived."""
    room = _decode(before, call)
    return room is not None and before.sending.state_of(room) == "transferring"


@witness(on=STATUS)
def decode_has_given_up(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was asked about a room that it gave up."""
    room = _decode(before, call)
    return room is not None and room.has_failed and why_failed(before, room) == BY_DECODE


@witness(on=(DECODE, PREFILL))
def nobody_is_given_up(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was given up that is not there."""
    room = _decode(before, call) if call.op == DECODE else _prefill(before, call)
    return not before.diverged and room is None


@witness(on=(DECODE, PREFILL))
def success_is_given_up(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room was given up that had succeeded on that side."""
    if call.op == DECODE:
        room = _decode(before, call)
        return room is not None and before.sending.state_of(room) == "success"
    sent = _prefill(before, call)
    return sent is not None and not sent.reason and before.sending.has_sent_all(sent)


@witness(on=FLIGHTS)
def workers_go_on_after_a_failure(before: SendingState, call: Call, answer: Answer) -> bool:
    """Workers went on after a room had failed of which a chunk was sent while they were stalled."""
    cause = cause_of(before)
    if before.diverged or cause.op != RESUME or cause.what != "workers":
        return False
    rooms = before.sending.rooms.values()
    return any(room.reason and any(not chunk.picked for chunk in room.sent) for room in rooms)


@witness(on=FLIGHTS)
def flights_end_after_a_failure(before: SendingState, call: Call, answer: Answer) -> bool:
    """The last flight of a room landed that had failed after its last chunk was sent."""
    if before.diverged or cause_of(before).op not in (RESUME, "probe.land"):
        return False
    rooms = [room for room in before.sending.rooms.values() if room.reason and room.sent and room.sent[-1].is_last]
    flying = {flight.room for flight in before.sending.flying}
    return any(room not in flying and room.flights and room.flights[-1].is_completed for room in rooms)


@witness(on=FLIGHTS)
def forward_goes_on_after_a_failure(before: SendingState, call: Call, answer: Answer) -> bool:
    """The end of a layer was told after a room had failed of whose chunk layers had gone early."""
    if before.diverged or cause_of(before).op != "overlap.layer_end":
        return False
    rooms = [room for room in before.sending.rooms.values() if room.reason]
    return any(flight.chunk.told and flight.chunk.number < 0 for room in rooms for flight in room.flights)


@witness(on=SEND)
def chunk_of_a_failed_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent of a room that had failed."""
    room = _prefill(before, call)
    return room is not None and bool(room.reason)


@witness(on=STATUS)
def patience_is_over(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was asked about a room that took too long, and of which nothing had arrived."""
    room = _decode(before, call)
    is_late = room is not None and room.has_failed and why_failed(before, room) == BY_PATIENCE
    return is_late and room is not None and not any(arrivals.heard for arrivals in room.arrivals.values())


@witness(on=STATUS)
def patience_is_over_under_way(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was asked about a room that took too long, and of which something had arrived."""
    room = _decode(before, call)
    is_late = room is not None and room.has_failed and why_failed(before, room) == BY_PATIENCE
    return is_late and room is not None and any(arrivals.heard for arrivals in room.arrivals.values())


@witness(on=STATUS)
def patience_is_nearly_over(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was asked about a room a tick before its patience is over."""
    room = _decode(before, call)
    if room is None or before.sending.has_ended(room) or cause_of(before).op != ADVANCE:
        return False
    return before.sending.clock - room.began == before.config.transfer.patience - 1


@witness(on=STATUS)
def decode_heard_of_a_failure(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was asked about a room that prefill gave up."""
    room = _decode(before, call)
    return room is not None and room.has_failed and why_failed(before, room) == BY_PREFILL


@witness(on=STATUS)
def decode_heard_of_a_failure_from_one_rank(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was asked about a room of whose failure one rank had told, and others had not."""
    room = _decode(before, call)
    if room is None or not room.has_failed:
        return False
    way = [m for m in before.sending.way if (m.kind, m.room, m.epoch) == (FAILED, room.room, room.epoch)]
    return bool(way) and why_failed(before, room) == BY_PREFILL


@witness(on=SEND_STATUS)
def prefill_heard_of_a_failure(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked about a room that decode gave up, and of which a chunk was sent."""
    room = _prefill(before, call)
    return room is not None and room.reason == PEER and bool(room.sent)


# -- notices ---------------------------------------------------------------------------------------------------------


def _on_the_way(before: SendingState, kind: str) -> list[Notice]:
    return [] if before.diverged else [message for message in before.sending.way if message.kind == kind]


@witness(on=MESSAGES)
def decode_tells_of_its_abort(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode gave a room up, and its notices were on the way."""
    return cause_of(before).op == DECODE and bool(_on_the_way(before, ABORT))


@witness(on=MESSAGES)
def decode_tells_of_its_impatience(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode lost patience, and its notices were on the way."""
    return cause_of(before).op == ADVANCE and bool(_on_the_way(before, ABORT))


@witness(on=MESSAGES)
def decode_tells_of_what_it_heard(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode heard that prefill gave up, and its notices were on the way."""
    heard = _delivered(before)
    return heard is not None and heard.kind == FAILED and bool(_on_the_way(before, ABORT))


def _delivered(before: SendingState) -> Notice | None:
    """Return the message that was delivered last."""
    cause = cause_of(before)
    return before.message_of(cause.message) if cause.op == DELIVER and not before.diverged else None


@witness(on=MESSAGES)
def two_destinations_tell(before: SendingState, call: Call, answer: Answer) -> bool:
    """Notices of one room were on the way from two destinations."""
    pairs = {(message.room, message.epoch, message.destination) for message in _on_the_way(before, ABORT)}
    return len(pairs) > len({pair[:2] for pair in pairs})


@witness(on=MESSAGES)
def given_up_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode gave a room up that it had given up, or closed it, while messages were held."""
    cause = cause_of(before)
    if before.diverged or cause.op not in (DECODE, "transfer.close_room") or "messages" not in before.sending.stalled:
        return False
    rooms = (*before.sending.reserved.values(), *before.sending.lingering)
    return any(room.room == cause.room and room.has_failed for room in rooms)


@witness(on=MESSAGES)
def prefill_tells_of_its_failure(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill gave up, and its messages were on the way."""
    return bool(_on_the_way(before, FAILED))


@witness(on=MESSAGES)
def failed_room_hears_a_notice(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill heard that a room was given up which had failed there."""
    heard = _delivered(before)
    if heard is None or heard.kind != ABORT:
        return False
    known = before.sending.rooms.get(heard.room)
    return known is not None and known.epoch == heard.epoch and known.reason not in ("", PEER)


# -- what is heard ---------------------------------------------------------------------------------------------------


@witness(on=SEND_STATUS)
def dead_epoch_asked_about(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked about a room that was given up before it was heard of, when it was."""
    if before.diverged or not is_dead(before, call.room):
        return False
    told = {debt[2:] for debt in before.sending.told_failed}
    return any(dead in told for dead in before.sending.dead if dead[0] == call.room)


def _asked_after(before: SendingState, call: Call, what: str) -> bool:
    return (
        not before.diverged
        and before.tidings.message == what
        and call.room
        in {
            *before.sending.rooms,
            *before.sending.reserved,
        }
    )


@witness(on=(STATUS, SEND_STATUS))
def earlier_epoch_heard(before: SendingState, call: Call, answer: Answer) -> bool:
    """A side was asked about a room after a message of an earlier epoch had come."""
    return _asked_after(before, call, EARLIER)


@witness(on=(STATUS, SEND_STATUS))
def message_heard_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A side was asked about a room after a message had come again."""
    return _asked_after(before, call, AGAIN)


@witness(on=(STATUS, SEND_STATUS))
def noise_heard(before: SendingState, call: Call, answer: Answer) -> bool:
    """A side was asked about a room after bytes that are no message."""
    return _asked_after(before, call, SPOILED)


@witness(on=(STATUS, SEND_STATUS))
def heard_after_noise(before: SendingState, call: Call, answer: Answer) -> bool:
    """A side was asked about a room of which something had come right after noise."""
    return is_heard_after_noise(before, call, answer)

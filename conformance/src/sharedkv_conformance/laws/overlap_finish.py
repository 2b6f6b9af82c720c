"""The laws of how a context ends: what is left goes, all of it arrives, and failures are told."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.laws.overlap import LAYER_END, REGISTER, SEND, lost_contexts
from sharedkv_conformance.laws.overlap_deviations import (
    Apart,
    apart,
    cause_of,
    chunk_of,
    chunks_of,
    is_double,
    of_part,
    room_of,
)
from sharedkv_conformance.laws.overlap_layers import RESUME, flights_apart, wrong_chunks
from sharedkv_conformance.laws.sending_answers import got, states, told
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_numbers import UNSHOWN
from sharedkv_conformance.model.sending_parts import ARRIVED, AUX, FAILED, INDEX, KV, PrefillRoom
from sharedkv_conformance.model.sending_state import CONTEXTS, DECODE_POOL, FLIGHTS, MESSAGES, SendingState
from sharedkv_conformance.step import Answer, Call, Ok

STATUS, SEND_STATUS, REPORT = "transfer.status", "transfer.send_status", "transfer.report"
WORKER, DEADLINE = "worker", "deadline"
DONE, OVER = "success", "failed"


def has_early_layers(before: SendingState, room: int) -> bool:
    """Say whether layers of a room that prefill knows were told."""
    known = before.sending.rooms.get(room)
    return known is not None and any(chunk.told for chunk in chunks_of(before, known))


def reason_of(before: SendingState, room: int, epoch: int) -> str:
    """Return why a room has failed at prefill; empty where it has not."""
    known = room_of(before, room, epoch)
    return known.reason if known is not None else ""


def _live(before: SendingState, room: int) -> PrefillRoom | None:
    known = before.sending.rooms.get(room)
    return known if known is not None and not known.reason else None


# -- what is left ----------------------------------------------------------------------------------------------------


def _finish(before: SendingState, call: Call, answer: Answer) -> Apart | None:
    """Return the flights of part `kv` that lie apart after a chunk was sent of which layers were told."""
    found = of_part(apart(before, call, answer), KV)
    if found is None or cause_of(before).op not in (SEND, RESUME) or flights_apart(before, call, answer) is not None:
        return None
    chunks = [chunk_of(before, flight) for flight in (*found.missing, *found.extra)]
    early = [chunk for chunk in chunks if chunk is not None and chunk.told]
    return found if early and not any(chunk.room.reason for chunk in early) else None


def _twice(before: SendingState, found: Apart) -> bool:
    return any(is_double(before, flight, found.missing) for flight in found.extra)


def _report(before: SendingState, call: Call, answer: Answer) -> tuple[int, int]:
    """Return how many flights and bytes too many a report counts of a room of which layers were told."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok) or before.sending.has_index:
        return 0, 0
    if _live(before, call.room) is None or not has_early_layers(before, call.room):
        return 0, 0
    due, shown = step.expected.value, answer.value
    return shown.submitted - due.submitted, shown.bytes - due.bytes


@law("RFC-0013:C-FINISH#S1", on=(FLIGHTS, REPORT))
def what_is_left_goes_at_the_end(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Also what nobody will ever tell, and as one flight of each rank."""
    if call.op == REPORT:
        flights, bytes_ = _report(before, call, answer)
        if flights and bytes_ <= 0:
            yield f"room {call.room}: expected {told(before.step(call, answer))}, got {got(answer)}"
        return
    found = _finish(before, call, answer)
    if found is not None and not _twice(before, found):
        yield f"after {cause_of(before).op}: {found}"


@law("RFC-0013:C-FINISH#S2", on=(FLIGHTS, REPORT))
def nothing_goes_beside_the_layers(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Twice the bytes take twice the time, and overwrite what was there."""
    if call.op == REPORT:
        flights, bytes_ = _report(before, call, answer)
        if flights and bytes_ > 0:
            yield f"room {call.room}: expected {told(before.step(call, answer))}, got {got(answer)}"
        return
    found = _finish(before, call, answer)
    if found is not None and _twice(before, found):
        yield f"after {cause_of(before).op}: {found}"


@law("RFC-0013:C-FINISH#S3", on=DECODE_POOL)
def the_bytes_are_those_without_overlap(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Layer by layer, group by group or at once."""
    if before.session.plane.faults:
        return
    for chunk, where in wrong_chunks(before, call, answer):
        if chunk.told:
            yield f"{where}: other bytes than room {chunk.room.room} was sent"


@law("RFC-0013:C-FINISH#S5", on=FLIGHTS)
def index_and_metadata_go_as_ever(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """The index with the last chunk, and the metadata when all else of rank 0 has landed."""
    parts = (INDEX,) if cause_of(before).op == LAYER_END else (INDEX, AUX)
    found = of_part(apart(before, call, answer), *parts)
    if found is None:
        return
    unsent = [flight for flight in found.missing if flight.flight == UNSHOWN]
    rooms = [room_of(before, flight.room, flight.epoch) for flight in (*unsent, *found.extra)]
    if any(room is not None and not room.reason and _is_early(before, room) for room in rooms):
        yield f"after {cause_of(before).op}: {found}"


def _is_early(before: SendingState, room: PrefillRoom) -> bool:
    return any(chunk.told for chunk in chunks_of(before, room))


# -- what has arrived ------------------------------------------------------------------------------------------------


def _arrivals(before: SendingState, call: Call, answer: Answer) -> Apart | None:
    """Return the arrivals of part `kv` that lie apart, of rooms of which layers were told."""
    found = apart(before, call, answer)
    if found is None:
        return None
    missing, extra = (
        tuple(
            each
            for each in side
            if (each.kind, each.part) == (ARRIVED, KV)
            and _live(before, each.room)
            and has_early_layers(before, each.room)
        )
        for side in (found.missing, found.extra)
    )
    return Apart(missing=missing, extra=extra)


def _state(before: SendingState, call: Call, answer: Answer) -> tuple[str, str] | None:
    """Return the right and the told state of a room of which layers were told, and which has not failed."""
    found = states(before, call, answer)
    is_early = _live(before, call.room) is not None and has_early_layers(before, call.room)
    return found if found is not None and is_early and OVER not in found else None


@law("RFC-0013:C-FINISH#S4", on=(MESSAGES, STATUS))
def a_chunk_arrives_with_its_last_layer(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Not with the one that was submitted last, and not while workers have other things to do."""
    if call.op == STATUS:
        found = _state(before, call, answer)
        if found is not None and (found[1] == DONE or found[0] == "waiting"):
            yield f"room {call.room} is {found[1]}, expected {found[0]}"
        return
    arrivals = _arrivals(before, call, answer)
    if arrivals is not None and arrivals.extra:
        yield f"after {cause_of(before).op}: {arrivals}"


@law("RFC-0013:C-FINISH#S9", on=(MESSAGES, STATUS))
def a_chunk_has_arrived_when_its_layers_have(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whoever told how many of them, and how often."""
    if call.op == STATUS:
        found = _state(before, call, answer)
        if found is not None and found[0] == DONE:
            yield f"room {call.room} is {found[1]}, expected {found[0]}"
        return
    arrivals = _arrivals(before, call, answer)
    if arrivals is not None and arrivals.missing and not arrivals.extra:
        yield f"after {cause_of(before).op}: {arrivals}"


# -- failures --------------------------------------------------------------------------------------------------------


def _failed_for(before: SendingState, reason: str) -> bool:
    return any(room.reason == reason for room in before.sending.rooms.values())


def _told_wrongly(before: SendingState, call: Call, answer: Answer) -> str:
    """Return the reason for which a room has to have failed that is not told so, or that it was told for."""
    step, known = before.step(call, answer), before.sending.rooms.get(call.room)
    if known is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return ""
    if call.op == REPORT:
        given: str = answer.value.reason
        return "" if given == known.reason else known.reason or given
    if OVER not in (step.expected.value, answer.value):
        return ""
    return known.reason or (WORKER if _failed_for(before, WORKER) else "")


def _shown_wrongly(before: SendingState, call: Call, answer: Answer) -> str:
    """Return the reason for which a room has to have failed whose flights or messages say otherwise."""
    found = apart(before, call, answer)
    if found is None:
        return ""
    shown = [each for each in (*found.missing, *found.extra) if call.op == FLIGHTS or each.kind == FAILED]
    reasons = {reason_of(before, each.room, each.epoch) for each in shown} - {""}
    if shown and not reasons and call.op == MESSAGES and _failed_for(before, WORKER):
        return WORKER
    return next(iter(reasons & {WORKER, DEADLINE}), "")


def _failure(before: SendingState, call: Call, answer: Answer) -> str:
    if not before.wrong(call, answer):
        return ""
    return (_shown_wrongly if call.op in (FLIGHTS, MESSAGES) else _told_wrongly)(before, call, answer)


FAILURES_SHOW = (STATUS, SEND_STATUS, REPORT, FLIGHTS, MESSAGES)


@law("RFC-0013:C-FINISH#S6", on=(*FAILURES_SHOW, CONTEXTS))
def a_crash_fails_the_room_it_was_for(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """And lets the others go on; nobody waits for a worker that is gone."""
    if call.op == CONTEXTS:
        lost = lost_contexts(before, call, answer)
        if lost and _failed_for(before, WORKER):
            yield f"after {cause_of(before).op}: {lost} are gone"
    elif _failure(before, call, answer) == WORKER:
        yield f"after {cause_of(before).op}, {call.op}: expected {told(before.step(call, answer))}, got {got(answer)}"


@law("RFC-0013:C-FINISH#S7", on=FAILURES_SHOW)
def what_is_not_done_in_time_has_failed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whether it is a worker, a flight or the metadata that is missing."""
    if _failure(before, call, answer) == DEADLINE:
        yield f"after {cause_of(before).op}, {call.op}: expected {told(before.step(call, answer))}, got {got(answer)}"


@law("RFC-0013:C-FINISH#S8", on=CONTEXTS)
def a_context_ends_with_its_chunk(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Or with its room; what is kept is finished with the next request's chunk."""
    found = apart(before, call, answer)
    if found is None or cause_of(before).op == REGISTER:
        return
    known = {(context.room, context.epoch, context.first_position) for context in before.sending.contexts()}
    left = [each for each in found.extra if (each.room, each.epoch, each.first_position) not in known]
    if left:
        yield f"after {cause_of(before).op}: contexts of {left} are left"

"""The witnesses of how contexts end: what is left, what has arrived, and what fails on the way."""

from __future__ import annotations

from sharedkv_conformance.laws.overlap import SEND
from sharedkv_conformance.laws.overlap_deviations import cause_of
from sharedkv_conformance.laws.overlap_finish import DEADLINE, REPORT, SEND_STATUS, STATUS, WORKER, has_early_layers
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.sending_parts import AUX, INDEX, KV, Chunk, PrefillRoom
from sharedkv_conformance.model.sending_state import CONTEXTS, FLIGHTS, MESSAGES, SendingState
from sharedkv_conformance.step import Answer, Call, Ok


def _prefill(before: SendingState, call: Call) -> PrefillRoom | None:
    return None if before.diverged else before.sending.rooms.get(call.room)


def _finished(before: SendingState) -> Chunk | None:
    """Return the chunk that was sent last, where layers of it were told and the room goes on."""
    cause = cause_of(before)
    room = before.sending.rooms.get(cause.room) if cause.op == SEND and not before.diverged else None
    if room is None or room.reason or not room.sent or not room.sent[-1].told:
        return None
    return room.sent[-1]


@witness(on=FLIGHTS)
def untold_layers_at_the_end(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent of which some layers were told and others never were."""
    chunk = _finished(before)
    return chunk is not None and len(chunk.told) < before.config.pool.all_layers


@witness(on=FLIGHTS)
def nothing_left_at_the_end(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent of which every layer had been submitted."""
    chunk = _finished(before)
    if chunk is None:
        return False
    last = [flight for flight in chunk.room.flights if flight.chunk is chunk and flight.part == KV]
    made = {layer for flight in last for layer in flight.layers}
    return chunk.told == made and len(made) == before.config.pool.all_layers


@witness(on=FLIGHTS)
def several_ranks_at_the_end(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk with pages on several ranks was sent, of which layers were left."""
    chunk = _finished(before)
    if chunk is None or len(chunk.told) == before.config.pool.all_layers:
        return False
    return len(before.sending.ranks_with_pages(chunk)) > 1


@witness(on=FLIGHTS)
def index_behind_early_layers(before: SendingState, call: Call, answer: Answer) -> bool:
    """The part `index` of a request was in flight of which layers were sent early."""
    return not before.diverged and any(f.part == INDEX and f.chunk.told for f in before.sending.flying)


@witness(on=FLIGHTS)
def metadata_behind_early_layers(before: SendingState, call: Call, answer: Answer) -> bool:
    """The metadata of a request was in flight of which layers were sent early."""
    return not before.diverged and any(f.part == AUX and f.chunk.told for f in before.sending.flying)


@witness(on=(FLIGHTS, MESSAGES))
def last_flight_lands_first(before: SendingState, call: Call, answer: Answer) -> bool:
    """Of a chunk that was sent, what was left has landed, and a group that was submitted before has not."""
    flying = [] if before.diverged else before.sending.flying
    rooms = {flight.room for flight in flying if flight.part == KV and flight.chunk.number >= 0 and flight.chunk.told}
    return any(f.is_completed and f.chunk.number >= 0 and f.part == KV for room in rooms for f in room.flights)


@witness(on=(FLIGHTS, MESSAGES))
def sent_while_workers_are_held(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent of which layers were told, and no worker had begun with the rest."""
    if before.diverged:
        return False
    return any(job.is_finish and job.chunk.told for job in before.sending.jobs)


@witness(on=STATUS)
def early_layers_asked_about(before: SendingState, call: Call, answer: Answer) -> bool:
    """Decode was asked about a room of which layers were sent early and not everything has arrived."""
    step = before.judged(call, answer)
    return step is not None and step.expected == Ok("transferring") and has_early_layers(before, call.room)


@witness(on=STATUS)
def early_layers_arrived(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room of which layers were sent early has succeeded."""
    step = before.judged(call, answer)
    return step is not None and step.expected == Ok("success") and has_early_layers(before, call.room)


@witness(on=STATUS)
def early_layers_arrived_told_often(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room has succeeded of which layers were told more than once."""
    return early_layers_arrived.occurred(before, call, answer) and any(n > 1 for n in before.told_before.values())


@witness(on=STATUS)
def early_layers_arrived_untold(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room has succeeded of which some layers were told, and others never were."""
    room = _prefill(before, call)
    some = room is not None and any(0 < len(c.told) < before.config.pool.all_layers for c in room.sent)
    return some and early_layers_arrived.occurred(before, call, answer)


def _failed_for(before: SendingState, call: Call, reason: str) -> bool:
    room = _prefill(before, call)
    return room is not None and room.reason == reason


@witness(on=(SEND_STATUS, REPORT))
def worker_crashed(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked about a room that failed for its worker."""
    return _failed_for(before, call, WORKER)


@witness(on=(SEND_STATUS, REPORT))
def asked_beside_a_crash(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked about a room that goes on, while another one has failed for its worker."""
    room = _prefill(before, call)
    others = [] if before.diverged else before.sending.rooms.values()
    return room is not None and not room.reason and any(other.reason == WORKER for other in others)


@witness(on=(SEND_STATUS, REPORT))
def deadline_passed(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked about a room that failed for its deadline with nothing in doubt."""
    room = _prefill(before, call)
    return _failed_for(before, call, DEADLINE) and room is not None and not _doubted(before, room)


@witness(on=(SEND_STATUS, REPORT))
def deadline_passed_in_flight(before: SendingState, call: Call, answer: Answer) -> bool:
    """Prefill was asked about a room of which a flight took too long."""
    room = _prefill(before, call)
    return _failed_for(before, call, DEADLINE) and room is not None and _doubted(before, room)


def _doubted(before: SendingState, room: PrefillRoom) -> bool:
    return any(flight.is_in_doubt for flight in room.flights if flight in before.sending.flying)


@witness(on=CONTEXTS)
def context_finished(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent that was registered, and of which layers had been told."""
    return _finished(before) is not None


@witness(on=CONTEXTS)
def context_dropped(before: SendingState, call: Call, answer: Answer) -> bool:
    """A room has failed of whose chunk layers had been submitted, before it was sent."""
    if before.diverged:
        return False
    failed = [room for room in before.sending.rooms.values() if room.reason]
    return any(f.chunk.told and f.chunk.number < 0 for room in failed for f in room.flights)

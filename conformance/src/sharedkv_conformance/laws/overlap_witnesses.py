"""The witnesses of overlap: chunks that are registered in every way, forwards told well and badly, and how they end."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.overlap import LAYER_END, REGISTER, SEND
from sharedkv_conformance.laws.overlap_deviations import cause_of, chunks_of
from sharedkv_conformance.laws.overlap_layers import chunk_at, is_boundary, is_idle
from sharedkv_conformance.laws.sending_answers import reasons
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.sending_parts import KV, WORKERS, WRITES, Chunk, FlightModel, PrefillRoom
from sharedkv_conformance.model.sending_state import CONTEXTS, DECODE_POOL, EXTEND, FLIGHTS, SendingState
from sharedkv_conformance.step import Answer, Call, Ok

# -- registrations ---------------------------------------------------------------------------------------------------


def _promised(before: SendingState, call: Call, answer: Answer) -> bool | None:
    """Return what a registration has to be answered with, where that is known."""
    step = before.judged(call, answer)
    value: bool | None = step.expected.value if step is not None and isinstance(step.expected, Ok) else None
    return value


def _is_registered(before: SendingState, call: Call, answer: Answer) -> bool:
    return _promised(before, call, answer) is True


def _is_declined(before: SendingState, call: Call, answer: Answer) -> bool:
    return _promised(before, call, answer) is False


def _prefill(before: SendingState, call: Call) -> PrefillRoom | None:
    return None if before.diverged else before.sending.rooms.get(call.room)


def _context(before: SendingState, call: Call) -> Chunk | None:
    """Return the context that a chunk has already."""
    room = _prefill(before, call)
    return before.sending.context_of(room, call.first_position) if room is not None else None


@witness(on=REGISTER)
def chunk_registered(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was registered."""
    return _is_registered(before, call, answer)


@witness(on=REGISTER)
def chunk_registered_behind_a_registered_one(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was registered while another one of its room was, and was not sent yet."""
    room = _prefill(before, call)
    others = before.sending.contexts_of(room) if room is not None else []
    return bool(others) and _context(before, call) is None and _is_registered(before, call, answer)


@witness(on=REGISTER)
def chunk_registered_behind_a_sent_one(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was registered of a room of which one was sent."""
    room = _prefill(before, call)
    return room is not None and bool(room.sent) and _is_registered(before, call, answer)


@witness(on=REGISTER)
def chunk_declined_when_off(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was declined where overlap is off."""
    return _is_declined(before, call, answer) and before.sending.is_off()


@witness(on=REGISTER)
def chunk_declined_for_its_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was declined of a room that prefill does not know, or that has failed."""
    room = _prefill(before, call)
    gone = room is None or bool(room.reason)
    return gone and not before.sending.is_off() and _is_declined(before, call, answer)


@witness(on=REGISTER)
def chunk_declined_of_an_unknown_room(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was declined of a room that prefill does not know."""
    return _prefill(before, call) is None and not before.sending.is_off() and _is_declined(before, call, answer)


@witness(on=REGISTER)
def chunk_declined_for_its_destinations(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was declined that could go early but for the number of its destinations."""
    room = _prefill(before, call)
    return room is not None and len(room.destinations) > 1 and _is_declined(before, call, answer)


@witness(on=REGISTER)
def chunk_declined_without_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk without pages was declined."""
    return not call.pages and not before.sending.is_off() and _is_declined(before, call, answer)


@witness(on=REGISTER)
def chunk_declined_for_its_place(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was declined that does not follow on what was sent or registered."""
    room = _prefill(before, call)
    if room is None or before.sending.is_off() or _context(before, call) is not None:
        return False
    chunk = Chunk(room=room, first=call.first_position, pages=tuple(call.pages), is_last=call.is_last)
    is_behind = before.sending.follows(chunk, chunks_of(before, room))
    return not is_behind and _is_declined(before, call, answer)


@witness(on=REGISTER)
def chunk_declined_for_its_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was declined whose pages a send would refuse."""
    named = bool(call.pages) and not before.diverged and bool(before.sending.page_faults(call.pages))
    return named and not before.sending.is_off() and _is_declined(before, call, answer)


@witness(on=REGISTER)
def chunk_registered_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was registered again of which layers had been told."""
    context = _context(before, call)
    return context is not None and bool(context.told) and _is_registered(before, call, answer)


@witness(on=REGISTER)
def chunk_registered_otherwise(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was registered again with other pages, or another end."""
    return _context(before, call) is not None and _is_declined(before, call, answer)


@witness(on=CONTEXTS)
def contexts_of_two_rooms(before: SendingState, call: Call, answer: Answer) -> bool:
    """Chunks of two rooms were registered at once."""
    return not before.diverged and len({chunk.room for chunk in before.sending.contexts_open}) > 1


@witness(on=CONTEXTS)
def contexts_of_two_chunks(before: SendingState, call: Call, answer: Answer) -> bool:
    """Two chunks of a room were registered at once."""
    contexts = before.sending.contexts_open if not before.diverged else []
    return len(contexts) > len({chunk.room for chunk in contexts})


@witness(on=CONTEXTS)
def context_without_a_rank(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was registered of which a rank has no page."""
    if before.diverged:
        return False
    sending = before.sending
    return any(len(sending.ranks_with_pages(chunk)) < before.config.cp_size for chunk in sending.contexts_open)


@witness(on=SEND)
def sent_with_other_pages(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent with other pages than were registered."""
    context, differs = _context(before, call), Reason.CONTEXT_DIFFERS in reasons(before, call, answer)
    return context is not None and differs and context.pages != tuple(call.pages)


@witness(on=SEND)
def sent_with_another_end(before: SendingState, call: Call, answer: Answer) -> bool:
    """A chunk was sent that is not the last although it was registered as such, or the other way round."""
    context, differs = _context(before, call), Reason.CONTEXT_DIFFERS in reasons(before, call, answer)
    return context is not None and differs and context.pages == tuple(call.pages)


@witness(on=EXTEND)
def pages_taken_while_registered_ones_were_released(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages were asked for while some were given back that a context has and nothing else reads."""
    if before.diverged:
        return False
    flown = {page for flight in before.sending.flying for page in flight.sources}
    flown |= {page for job in before.sending.jobs for page in job.chunk.pages}
    own = {page for context in before.sending.contexts_open for page in context.pages}
    return bool((own - flown) & set(before.allocation.deferred))


# -- layers ----------------------------------------------------------------------------------------------------------


def _after_layer(before: SendingState) -> int | None:
    """Return the layer that was told last, where it concerns somebody."""
    cause = cause_of(before)
    if before.diverged or cause.op != LAYER_END or is_idle(before, cause.layer):
        return None
    layer: int = cause.layer
    return layer


def _group(before: SendingState, layer: int) -> set[int]:
    return set(before.sending.group_of(layer))


def _new(before: SendingState) -> list[FlightModel]:
    """Return the flights of open contexts."""
    contexts = before.sending.contexts_open
    return [flight for flight in before.sending.flying if flight.chunk in contexts]


@witness(on=FLIGHTS)
def full_group_told(before: SendingState, call: Call, answer: Answer) -> bool:
    """All layers of a group of several were told, and were in flight."""
    layer = _after_layer(before)
    if layer is None or not is_boundary(before, layer):
        return False
    group = _group(before, layer)
    return len(group) > 1 and any(set(flight.layers) == group for flight in _new(before))


@witness(on=FLIGHTS)
def last_group_is_smaller(before: SendingState, call: Call, answer: Answer) -> bool:
    """The last layer was told, and its group is smaller than the others."""
    layer, size = _after_layer(before), before.config.transfer.group
    is_last = layer == before.config.pool.all_layers - 1
    return is_last and size > 1 and before.config.pool.all_layers % size > 0 and bool(_new(before))


@witness(on=FLIGHTS)
def layer_left_out(before: SendingState, call: Call, answer: Answer) -> bool:
    """A group was in flight without a layer of it that was not told."""
    layer = _after_layer(before)
    if layer is None or not is_boundary(before, layer):
        return False
    return any(layer in flight.layers and set(flight.layers) < _group(before, layer) for flight in _new(before))


@witness(on=FLIGHTS)
def draft_layer_goes_early(before: SendingState, call: Call, answer: Answer) -> bool:
    """A layer of the draft was in flight before its chunk was sent, with one of the target."""
    target = before.config.pool.layers
    if before.diverged:
        return False
    return any(min(f.layers, default=target) < target <= max(f.layers, default=0) for f in _new(before))


@witness(on=FLIGHTS)
def two_requests_in_a_forward(before: SendingState, call: Call, answer: Answer) -> bool:
    """Layers of two rooms were in flight after the end of a layer."""
    return _after_layer(before) is not None and len({flight.room for flight in _new(before)}) > 1


@witness(on=FLIGHTS)
def chunk_behind_another_goes_early(before: SendingState, call: Call, answer: Answer) -> bool:
    """Layers of a chunk were in flight that does not begin its request."""
    return _after_layer(before) is not None and any(flight.chunk.first > 0 for flight in _new(before))


@witness(on=FLIGHTS)
def layer_within_a_group(before: SendingState, call: Call, answer: Answer) -> bool:
    """A layer was told at which no group ends."""
    layer = _after_layer(before)
    return layer is not None and not is_boundary(before, layer)


@witness(on=FLIGHTS)
def layers_told_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A boundary was told again of a context that had submitted it."""
    layer = _after_layer(before)
    if layer is None or not is_boundary(before, layer):
        return False
    return any(layer in flight.layers for flight in _new(before)) and before.told_before.get(layer, 0) > 1


@witness(on=FLIGHTS)
def forward_while_flights_are_held(before: SendingState, call: Call, answer: Answer) -> bool:
    """A boundary was told while flights of the chunk were held."""
    layer = _after_layer(before)
    if layer is None or not is_boundary(before, layer):
        return False
    return WRITES in before.sending.stalled and any(layer not in flight.layers for flight in _new(before))


@witness(on=FLIGHTS)
def forward_while_workers_are_held(before: SendingState, call: Call, answer: Answer) -> bool:
    """A boundary was told while workers were stalled."""
    return _after_layer(before) is not None and WORKERS in before.sending.stalled and bool(before.sending.jobs)


@witness(on=FLIGHTS)
def boundary_with_nothing_left(before: SendingState, call: Call, answer: Answer) -> bool:
    """A boundary was told at which every context had submitted all that was told."""
    return layers_told_again.occurred(before, call, answer)


@witness(on=FLIGHTS)
def layer_that_concerns_nobody(before: SendingState, call: Call, answer: Answer) -> bool:
    """A layer was told where nothing was registered."""
    cause = cause_of(before)
    return not before.diverged and cause.op == LAYER_END and not before.sending.contexts_open


@witness(on=FLIGHTS)
def layer_that_is_none(before: SendingState, call: Call, answer: Answer) -> bool:
    """A layer was told that the pool does not have, while something was registered."""
    cause = cause_of(before)
    if before.diverged or cause.op != LAYER_END or not before.sending.contexts_open:
        return False
    return cause.layer not in range(before.config.pool.all_layers)


def _shown_chunks(before: SendingState, call: Call, answer: Answer) -> list[Chunk]:
    """Return the chunks of which a page was shown that had landed, layer and all."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok):
        return []
    pages = range(1, before.config.transfer.decode_pages + 1)
    found = [chunk_at(before, call.rank, page) for page in pages]
    return [
        chunk
        for chunk in dict.fromkeys(each for each in found if each is not None)
        if any(call.layer in f.layers and f.is_completed for f in chunk.room.flights if f.chunk is chunk)
    ]


@witness(on=DECODE_POOL)
def late_rows_of_a_group_shown(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages were shown to which a group of layers had gone while rows were late."""
    chunks = _shown_chunks(before, call, answer)
    return any(chunk.told for chunk in chunks) and "late_writes" in before.session.plane.faults


@witness(on=DECODE_POOL)
def rows_of_groups_shown(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages were shown to which several groups of layers had gone, the first of which had rows of its own."""
    chunks = _shown_chunks(before, call, answer)
    several = any(chunk.told and len([f for f in chunk.room.flights if f.part == KV]) > 1 for chunk in chunks)
    return several and not before.session.plane.faults

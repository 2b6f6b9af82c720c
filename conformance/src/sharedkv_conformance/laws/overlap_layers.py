"""The laws of layers that are told: what goes at a boundary, where it goes, with which rows, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.overlap import OverlapContext
from sharedkv_conformance.contract.probe import PoolBuffer
from sharedkv_conformance.laws.overlap import LAYER_END
from sharedkv_conformance.laws.overlap_deviations import (
    Apart,
    apart,
    cause_of,
    chunk_of,
    is_double,
    is_misled,
    of_part,
    room_of,
)
from sharedkv_conformance.laws.sending_answers import got, told
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_memory import page_bytes
from sharedkv_conformance.model.sending_numbers import UNSHOWN
from sharedkv_conformance.model.sending_parts import INDEX, KV, WORKERS, WRITES, Chunk
from sharedkv_conformance.model.sending_state import (
    CONTEXTS,
    DECODE_POOL,
    EVENTS,
    FLIGHTS,
    SendingState,
)
from sharedkv_conformance.step import Answer, Call, Err, Ok

RESUME = "probe.resume"
GROUP, NO_BOUNDARY, TWICE, PLACE, WAITING, IDLE = "group", "no boundary", "twice", "place", "waiting", "idle"


def is_idle(before: SendingState, layer: int) -> bool:
    """Say whether the end of a layer concerns nobody."""
    is_known = layer in range(before.config.pool.all_layers)
    return not before.sending.contexts_open or before.sending.is_off() or not is_known


def is_boundary(before: SendingState, layer: int) -> bool:
    """Say whether a group ends with a layer."""
    return not before.sending.is_off() and before.sending.is_boundary(layer)


def _is_of_groups(before: SendingState, found: Apart) -> bool:
    """Say whether what lies apart is of chunks that were not sent yet."""
    chunks = [chunk_of(before, flight) for flight in (*found.missing, *found.extra)]
    return any(chunk is not None and chunk in before.sending.contexts_open for chunk in chunks)


def flights_apart(before: SendingState, call: Call, answer: Answer) -> Apart | None:
    """Return the flights of layers that lie apart after the end of a layer, or after workers went on with groups."""
    found, cause = of_part(apart(before, call, answer), KV), cause_of(before)
    if found is None or (cause.op != LAYER_END and not (cause.op == RESUME and cause.what == WORKERS)):
        return None
    return found if cause.op == LAYER_END or _is_of_groups(before, found) else None


def is_of_the_dead(before: SendingState, found: Apart) -> bool:
    """Say whether what lies apart is of a room that has failed."""
    rooms = [room_of(before, each.room, each.epoch) for each in (*found.missing, *found.extra)]
    return any(room is not None and bool(room.reason) for room in rooms)


def _what_flew(before: SendingState, found: Apart) -> str:
    cause = cause_of(before)
    if is_of_the_dead(before, found):
        return ""
    if cause.op == LAYER_END:
        is_begun = WORKERS in before.sending.stalled and found.extra
        if is_begun or any(flight.flight != UNSHOWN for flight in found.missing):
            return WAITING
        if is_idle(before, cause.layer):
            return IDLE
    if is_misled(found):
        return PLACE
    if any(is_double(before, flight, found.missing) for flight in found.extra):
        return TWICE
    return GROUP if cause.op == RESUME or is_boundary(before, cause.layer) else NO_BOUNDARY


def _what_is_shown(before: SendingState, found: Apart) -> str:
    """Say what is wrong with the contexts after the end of a layer."""
    layer, pairs = cause_of(before).layer, list(_paired(found))
    if is_of_the_dead(before, found) or len(pairs) < len(found.missing):
        return ""
    if is_idle(before, layer):
        return IDLE
    completed = any(set(shown.completed) - set(due.completed) for due, shown in pairs)
    submitted = any(set(shown.submitted) - set(due.submitted) for due, shown in pairs)
    stalled = before.sending.stalled
    if (WORKERS in stalled and submitted) or (WRITES in stalled and completed and not submitted):
        return WAITING
    return GROUP if is_boundary(before, layer) else NO_BOUNDARY


def _paired(found: Apart) -> Iterator[tuple[OverlapContext, OverlapContext]]:
    """Yield each context that lies apart beside what was shown of it."""
    for due in found.missing:
        for shown in found.extra:
            if (due.room, due.first_position, due.rank) == (shown.room, shown.first_position, shown.rank):
                yield due, shown


def _layers(before: SendingState, call: Call, answer: Answer, what: str) -> Iterator[str]:
    if call.op == FLIGHTS:
        found = flights_apart(before, call, answer)
        is_it = found is not None and _what_flew(before, found) == what
    else:
        found = apart(before, call, answer) if cause_of(before).op == LAYER_END else None
        is_it = found is not None and _what_is_shown(before, found) == what
    if is_it:
        yield f"after {_cause(before)}: {found}"


def _cause(before: SendingState) -> str:
    cause = cause_of(before)
    return f"{cause.op}({', '.join(map(str, cause.args.values()))})"


@law("RFC-0013:C-LAYERS#S1", on=(FLIGHTS, CONTEXTS))
def a_group_goes_at_its_boundary(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """The layers that were told, of every context, from every rank that has pages of it."""
    yield from _layers(before, call, answer, GROUP)


@law("RFC-0013:C-LAYERS#S2", on=(FLIGHTS, CONTEXTS))
def nothing_goes_within_a_group(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Each submission costs what a layer of a small batch does."""
    yield from _layers(before, call, answer, NO_BOUNDARY)


@law("RFC-0013:C-LAYERS#S3", on=FLIGHTS)
def a_layer_goes_once(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Later forwards tell the same layers again."""
    yield from _layers(before, call, answer, TWICE)


@law("RFC-0013:C-LAYERS#S4", on=FLIGHTS)
def layers_go_to_their_own_room(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Several requests are in one forward, and several chunks of one may be registered."""
    yield from _layers(before, call, answer, PLACE)


@law("RFC-0013:C-LAYERS#S6", on=(FLIGHTS, CONTEXTS))
def a_forward_waits_for_nobody(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who is told of a layer is on the thread that feeds the device."""
    yield from _layers(before, call, answer, WAITING)


@law("RFC-0013:C-LAYERS#S8", on=(FLIGHTS, CONTEXTS))
def a_layer_that_concerns_nobody_changes_nothing(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Most forwards have nothing to send."""
    yield from _layers(before, call, answer, IDLE)


@law("RFC-0013:C-LAYERS#S8", on=LAYER_END)
def the_end_of_a_layer_is_never_an_error(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A layer that nobody has is nobody's."""
    if isinstance(answer, Err) and before.wrong(call, answer):
        yield f"layer {call.layer}: {answer.error}"


@law("RFC-0013:C-LAYERS#S7", on=EVENTS)
def a_boundary_costs_one_event(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """For all contexts together, where something goes."""
    cause = cause_of(before)
    if cause.op == LAYER_END and before.wrong(call, answer) and not is_idle(before, cause.layer):
        yield f"after layer {cause.layer}: {_events(before, call, answer)}"


@law("RFC-0013:C-LAYERS#S8", on=EVENTS)
def a_layer_that_concerns_nobody_costs_nothing(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """No event, either."""
    cause = cause_of(before)
    if cause.op == LAYER_END and before.wrong(call, answer) and is_idle(before, cause.layer):
        yield f"after layer {cause.layer}, which concerns nobody: {_events(before, call, answer)}"


def _events(before: SendingState, call: Call, answer: Answer) -> str:
    return f"expected {told(before.step(call, answer))}, got {got(answer)}"


# -- bytes -----------------------------------------------------------------------------------------------------------


def wrong_chunks(before: SendingState, call: Call, answer: Answer) -> Iterator[tuple[Chunk, str]]:
    """Yield the chunks whose pages on a decode rank are wrong, and in what."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return
    for due, shown in zip(step.expected.value, answer.value, strict=False):
        for page in _wrong_pages(before, due, shown) if due.buffer != INDEX else ():
            chunk = chunk_at(before, call.rank, page)
            if chunk is not None:
                yield chunk, f"layer {call.layer}, {due.buffer}, page {page} of decode rank {call.rank}"


def _wrong_pages(before: SendingState, due: PoolBuffer, shown: PoolBuffer) -> list[int]:
    size = page_bytes(before.config.pool, before.config.page_size, due.buffer)
    pages = range(len(due.data) // size)
    return [at for at in pages if due.data[at * size : (at + 1) * size] != shown.data[at * size : (at + 1) * size]]


def chunk_at(before: SendingState, rank: int, page: int) -> Chunk | None:
    """Return the chunk that is sent to a page of a decode rank, of the room that has it."""
    owner = before.owner_of(rank, page)
    known = before.sending.rooms.get(owner.room) if owner is not None else None
    if owner is None or known is None or known.epoch != owner.epoch or rank not in known.places:
        return None
    chunks = [*known.sent, *before.sending.contexts_of(known)]
    return next((each for each in chunks if page in known.places[rank].pages[each.first : each.end]), None)


@law("RFC-0013:C-LAYERS#S5", on=DECODE_POOL)
def layers_bring_the_rows_that_the_forward_wrote(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Those that were written before the layer was told, though the device is behind."""
    if before.session.plane.faults:
        for chunk, where in wrong_chunks(before, call, answer):
            if chunk.told:
                yield f"{where}: rows that were late have not come to room {chunk.room.room}"

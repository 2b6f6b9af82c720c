"""How histories of overlap are drawn: forwards layer by layer over chunks that were registered, told well and badly."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.sending import (
    STALL_WRITES,
    another,
    ends,
    forced_call,
    geometry,
    resume_writes,
    stall_writes,
)
from sharedkv_conformance.draws.sending_faults import bad_send
from sharedkv_conformance.draws.sending_kinds import (
    NO_ROOM,
    Draw,
    Kind,
    advance,
    ask_all,
    fail,
    give_back,
    land,
    next_chunk,
    reserve,
    send,
    take,
)
from sharedkv_conformance.draws.sending_view import (
    alive,
    called,
    contexts_of,
    landable,
    last_chunk,
    may_resume,
    sendable,
    spare,
    write,
)
from sharedkv_conformance.model.sending_parts import Chunk, PrefillRoom
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Call

STALL_WORKERS = called("probe.stall", what="workers")
CRASH = called("probe.inject", fault="worker_crash")
LATE_WRITES = called("probe.inject", fault="late_writes")


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a pool of some layers, mostly in groups, and mostly one decode rank."""
    layers = draw(st.sampled_from((3, 4, 2, 5, 6)))
    layout = draw(st.sampled_from(("mha_bf16", "mha_bf16", "mha_bf16", "mla_bf16")))
    return geometry(
        draw, limits, PoolConfig(layout=layout, layers=layers, kv_heads=1, head_dim=4), ranks=(1, 1, 1, 1, 2)
    )


def next_call(draw: Draw, state: SendingState) -> Call:
    """Draw the next call: what is due, else the next step of a forward, and sometimes what disturbs it."""
    if (forced := forced_call(state)) is not None:
        return forced
    if state.last is None:
        openings = (STALL_WRITES, STALL_WORKERS, LATE_WRITES, reserve(draw, state), reserve(draw, state))
        first: Call = draw(st.sampled_from(openings))
        return first
    kinds = [*ends(state), *forwards(state), *disturbances(state)]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def registrable(state: SendingState) -> list[PrefillRoom]:
    """Return the rooms of which a next chunk may be registered."""
    return [
        room
        for room in sendable(state)
        if (last := last_chunk(state, room)) is None or (not last.is_last and last.end < room.num_pages)
    ]


def forwards(state: SendingState) -> list[Kind]:
    """Offer what brings a request through."""
    if not sendable(state):
        return another(state)
    offered: list[Kind] = []
    if state.sending.contexts_open and may_tell(state):
        offered += [*[layer_end] * 4, *[forward] * 5, *[send] * 3]
    if not registrable(state):
        return [*offered, *[send] * 3, *another(state)[:1]]
    if not spare(state):
        return [*[take] * (3 if offered else 10), *offered]
    if not is_worth(state):
        return [*[send] * 6, *offered, register]
    return [*[register] * (3 if offered else 12), *offered, send, *another(state)[:1]]


def is_worth(state: SendingState) -> bool:
    """Say whether a registration is likely to be kept."""
    return state.config.transfer.group > 0 and any(len(room.destinations) == 1 for room in registrable(state))


def may_tell(state: SendingState) -> bool:
    """Say whether no context is of a room of whose pages nothing is promised."""
    return not any(state.is_stale(each.room.room, each.room.epoch) for each in state.sending.contexts_open)


def disturbances(state: SendingState) -> list[Kind]:
    """Offer what goes wrong, and what brings it to an end."""
    flights, stalled = landable(state), state.sending.stalled
    offered: list[Kind] = [land] * 5 if flights else []
    offered += [give_back, bad_register, bad_send, ask_all, advance]
    offered += [] if state.sending.contexts_open else [lonely_end]
    offered += [fail] if any(not flight.is_in_doubt for flight in flights) else []
    offered += [crash] if "worker_crash" not in state.session.plane.faults else []
    for what, stall, resume in (("writes", stall_writes, resume_writes), ("workers", stall_workers, resume_workers)):
        if what not in stalled:
            offered.append(stall)
        elif may_resume(state, what):
            offered += [resume] * 2
    return offered


def register(draw: Draw, state: SendingState) -> Call:
    """Register the next chunk of a room, and mostly look at the contexts; mostly its rows are written then."""
    room = draw(st.sampled_from(registrable(state)))
    return registering(next_chunk(draw, state, room, least=1))


def registering(chunk: Chunk) -> Call:
    """Return the registration of a chunk."""
    return called(
        "overlap.register",
        room=chunk.room.room,
        pages=chunk.pages,
        first_position=chunk.first,
        is_last=chunk.is_last,
    )


def bad_register(draw: Draw, state: SendingState) -> Call:
    """Register a chunk once more, otherwise, or one that is declined."""
    rooms = alive(state)
    if not rooms:
        return called("overlap.register", room=NO_ROOM, pages=(1,), first_position=0, is_last=True)
    room = draw(st.sampled_from(rooms))
    contexts = contexts_of(state, room)
    chunk = draw(st.sampled_from(contexts)) if contexts else Chunk(room=room, first=0, pages=(), is_last=False)
    pages = chunk.pages or tuple(spare(state)[:1])
    beyond = state.geometry.cp_size * state.geometry.lane_pages + 1
    odd = (
        (pages, chunk.first, chunk.is_last),
        (pages, chunk.first, chunk.is_last),
        (pages, chunk.first, not chunk.is_last),
        (pages[:-1], chunk.first, chunk.is_last),
        (pages, chunk.first + 1, chunk.is_last),
        ((), chunk.first, chunk.is_last),
        ((*pages, beyond), chunk.first, False),
        ((*pages, *pages), chunk.first, False),
        (tuple(spare(state)), room.num_pages, False),
        (pages, -1, False),
    )
    named, first, is_last = draw(st.sampled_from(odd))
    return called("overlap.register", room=room.room, pages=named, first_position=first, is_last=is_last)


def layer_end(draw: Draw, state: SendingState) -> Call:
    """Tell the end of a layer: mostly the next, sometimes any, sometimes one that was told or that there is not."""
    layers = state.config.pool.all_layers
    context = draw(st.sampled_from(state.sending.contexts_open))
    left = [layer for layer in range(layers) if layer not in context.told]
    told = sorted(context.told)
    layer = draw(st.sampled_from((*left[:1] * 6, *left, *left[-1:], *told[-1:], layers - 1, layers, -1)))
    return called("overlap.layer_end", layer=layer)


def forward(draw: Draw, state: SendingState) -> Call:
    """Let a forward write and end its layers in order; sometimes it leaves one out, or stops early."""
    layers = range(state.config.pool.all_layers)
    own = {page for context in state.sending.contexts_open for page in context.pages}
    fresh = [each for each in state.forwards if not each.is_written and own.intersection(each.pages)]
    fresh = [each for each in fresh if all(not _is_read(state, page) for page in each.pages)]
    writing = fresh if draw(st.booleans()) else []
    missing = draw(st.sampled_from((-1, -1, -1, *layers)))
    stop = draw(st.sampled_from((len(layers), len(layers), len(layers) - 1)))
    calls: list[Call] = []
    for layer in layers[: stop or 1]:
        calls += [write(state, each, layer) for each in writing]
        calls += [called("overlap.layer_end", layer=layer)] if layer != missing or len(layers) == 1 else []
    for each in writing:
        each.is_written = True
    state.due += calls[1:]
    return calls[0] if calls else called("overlap.layer_end", layer=0)


def _is_read(state: SendingState, page: int) -> bool:
    """Say whether a page is read already, or is not its owner's any more."""
    submitted = any(page in flight.sources for flight in state.sending.flying)
    queued = any(page in job.chunk.pages for job in state.sending.jobs)
    return submitted or queued or page in state.allocation.deferred or state.allocation.pages.state(page) == "free"


def lonely_end(draw: Draw, state: SendingState) -> Call:
    """Tell the end of a layer where there is perhaps no context."""
    if not may_tell(state):
        return ask_all(draw, state)
    return called("overlap.layer_end", layer=state.config.pool.all_layers - 1)


def crash(draw: Draw, state: SendingState) -> Call:
    """Let the next job of a worker fail."""
    return CRASH


def stall_workers(draw: Draw, state: SendingState) -> Call:
    """Let no worker begin."""
    return STALL_WORKERS


def resume_workers(draw: Draw, state: SendingState) -> Call:
    """Let workers go on."""
    return called("probe.resume", what="workers")

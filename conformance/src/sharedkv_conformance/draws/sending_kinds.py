"""Calls of histories of sending, overlap and abort: requests on their way, and what the network does to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.draws.sending_view import (
    allocated,
    called,
    contexts_of,
    delivered,
    done,
    ended,
    extend,
    landable,
    on_the_way,
    pages_of,
    sendable,
    spare,
    state_pages,
    succeeded,
    unwritten,
    write,
)
from sharedkv_conformance.model.sending_parts import Chunk, PrefillRoom
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, SendingState], Call]

ROOMS = (7, 0, 12)
NO_ROOM = 99


# -- requests --------------------------------------------------------------------------------------------------------


def reserve(draw: Draw, state: SendingState) -> Call:
    """Reserve a room that is not open, mostly as large as there is room for."""
    shut = [room for room in ROOMS if not state.sending.is_reserved(room)]
    ranks = draw(st.permutations(range(state.config.transfer.decode_ranks)))
    ranks = ranks[: draw(st.sampled_from((len(ranks), len(ranks), 1)))]
    free = min(len(state.sending.free_pages[rank]) for rank in ranks)
    most = max(1, min(free, 5, state.geometry.cp_size * state.geometry.lane_pages))
    pages = draw(st.integers(1, most)) + draw(st.sampled_from((0, 0, 0, 0, 0, 0, 0, free)))
    return called("transfer.reserve", room=shut[0] if shut else ROOMS[0], num_pages=pages, ranks=tuple(ranks))


def take(draw: Draw, state: SendingState) -> Call:
    """Allocate pages for a request, mostly as many as it still has to send."""
    open_rooms = sendable(state)
    missing = [room.num_pages - len(pages_of(state, room)) for room in open_rooms]
    most = min(state.allocation.room()) * state.config.cp_size
    wanted = max([*missing, 1]) if draw(st.sampled_from((True, True, False))) else draw(st.integers(1, 3))
    return extend(state, max(1, min(wanted, most or wanted)))


def write_rows(draw: Draw, state: SendingState) -> Call:
    """Write every layer of an allocation of which nothing was written."""
    forward = draw(st.sampled_from(unwritten(state)))
    forward.is_written = True
    first, *others = [write(state, forward, layer) for layer in range(state.config.pool.all_layers)]
    state.due += others
    return first


def send(draw: Draw, state: SendingState) -> Call:
    """Send the next chunk of a room: what was registered, or some of what is missing, in any order of pages."""
    room = draw(st.sampled_from(sendable(state)))
    contexts = contexts_of(state, room)
    if not state.sending.stalled and draw(st.booleans()):
        layer = draw(st.integers(0, state.config.pool.all_layers - 1))
        state.due.append(called("probe.decode_pool", rank=room.destinations[0], layer=layer))
    return sending_of(draw, state, contexts[0] if contexts else next_chunk(draw, state, room))


def next_chunk(draw: Draw, state: SendingState, room: PrefillRoom, least: int = 0) -> Chunk:
    """Draw a chunk that follows on what was sent or registered: mostly all that is missing."""
    first = len(pages_of(state, room))
    missing, there = room.num_pages - first, spare(state)
    most = min(missing, len(there))
    wanted = max(least, draw(st.sampled_from((most, most, most, *range(most + 1)))))
    order = draw(st.permutations(there)) if draw(st.booleans()) else _as_allocated(state, there)
    is_last = wanted == missing and draw(st.sampled_from((True, True, True, True, False)))
    return Chunk(room=room, first=first, pages=tuple(order[:wanted]), is_last=is_last)


def _as_allocated(state: SendingState, there: Sequence[int]) -> list[int]:
    newest = [page for forward in reversed(state.forwards) for page in forward.pages]
    ordered = [page for page in dict.fromkeys(newest) if page in there]
    return [*ordered, *(page for page in there if page not in ordered)]


def sending_of(draw: Draw, state: SendingState, chunk: Chunk) -> Call:
    """Return the send of a chunk; after the last one everybody asks how far the room is."""
    whole = pages_of(state, chunk.room)[: chunk.first] + chunk.pages
    index = state_pages(state, whole) if chunk.is_last and state.sending.has_index else ()
    longest = state.config.transfer.aux_bytes
    aux = bytes(draw(st.sampled_from((longest, longest - 1, 0))) * [1 + len(state.forwards) % 250])
    return called(
        "transfer.send",
        room=chunk.room.room,
        pages=chunk.pages,
        first_position=chunk.first,
        is_last=chunk.is_last,
        state=index,
        aux=aux,
    )


def ask(draw: Draw, state: SendingState) -> Call:
    """Ask one of the sides how far a room is."""
    rooms = sorted({*state.sending.reserved, *state.sending.rooms}) or [NO_ROOM]
    op = draw(st.sampled_from(("transfer.status", "transfer.status", "transfer.send_status", "transfer.report")))
    return called(op, room=draw(st.sampled_from((*rooms, *rooms, *rooms, NO_ROOM))))


def ask_all(draw: Draw, state: SendingState) -> Call:
    """Ask both sides of a room, and what prefill reports."""
    room = draw(st.sampled_from(sorted({*state.sending.reserved, *state.sending.rooms}) or [NO_ROOM]))
    state.due += [called("transfer.send_status", room=room), called("transfer.report", room=room)]
    return called("transfer.status", room=room)


def commit(draw: Draw, state: SendingState) -> Call:
    """Commit a room that has succeeded; sometimes another."""
    rooms = [room.room for room in succeeded(state)]
    return called("transfer.commit", room=_mostly(draw, rooms, sorted(state.sending.reserved)))


def close(draw: Draw, state: SendingState) -> Call:
    """Close a room that has ended; sometimes another."""
    rooms = [room.room for room in ended(state)]
    return called("transfer.close_room", room=_mostly(draw, rooms, sorted(state.sending.reserved)))


def forget(draw: Draw, state: SendingState) -> Call:
    """Have prefill forget a room that has ended; sometimes another."""
    rooms = [room.room for room in done(state)]
    return called("transfer.forget", room=_mostly(draw, rooms, sorted(state.sending.rooms)))


def _mostly(draw: Draw, rooms: Sequence[int], others: Sequence[int]) -> int:
    chosen: int = draw(st.sampled_from((*rooms, *rooms, *rooms, *others, NO_ROOM)))
    return chosen


def give_back(draw: Draw, state: SendingState) -> Call:
    """Release or retain pages, mostly such as are pinned; sometimes pages that were given back."""
    pinned, there = sorted(state.certainly_pinned()), allocated(state)
    own = [page for page in pinned if page in there] or there
    gone = sorted(state.allocation.asked & state.certainly_pinned())
    op = draw(st.sampled_from(("allocation.release", "allocation.release", "allocation.retain")))
    if op == "allocation.retain":
        own = [page for page in own if state.allocation.pages.state(page) == "in_use"] or own
    pages = draw(st.lists(st.sampled_from(own), min_size=1, max_size=4, unique=True)) if own else []
    if gone and draw(st.sampled_from((False, False, True))):
        pages = [draw(st.sampled_from(gone))]
    return called(op, pages=tuple(pages)) if pages else take(draw, state)


def look(draw: Draw, state: SendingState) -> Call:
    """Look at every layer of a decode rank."""
    rank = draw(st.integers(0, state.config.transfer.decode_ranks - 1))
    first, *others = [
        called("probe.decode_pool", rank=rank, layer=layer) for layer in range(state.config.pool.all_layers)
    ]
    state.due += others[:3]
    return first


# -- the network -----------------------------------------------------------------------------------------------------


def land(draw: Draw, state: SendingState) -> Call:
    """Land a flight, mostly the oldest."""
    flights = landable(state)
    chosen = draw(st.sampled_from((flights[0], *flights)))
    if chosen.layers and draw(st.sampled_from((False, False, True))):
        layer = draw(st.sampled_from(chosen.layers))
        state.due.append(called("probe.decode_pool", rank=chosen.destination, layer=layer))
    return called("probe.land", flight=state.number_of(chosen))


def fail(draw: Draw, state: SendingState) -> Call:
    """Let a flight fail behind none, some or all of its pages."""
    flights = [flight for flight in landable(state) if not flight.is_in_doubt]
    chosen = draw(st.sampled_from(flights))
    pages = draw(st.integers(0, len(chosen.pages)))
    return called("probe.fail", flight=state.number_of(chosen), pages=pages, is_definite=draw(st.booleans()))


def deliver(draw: Draw, state: SendingState) -> Call:
    """Deliver a message, mostly one that is on the way, in any order."""
    waiting, gone = on_the_way(state), delivered(state)
    chosen = draw(st.sampled_from((*waiting[:1] * 3, *waiting * 2, *gone[-4:])))
    return called("probe.deliver", message=state.number_of(chosen))


def garble(draw: Draw, state: SendingState) -> Call:
    """Deliver a spoiled copy of a message."""
    chosen = draw(st.sampled_from((*on_the_way(state), *delivered(state)[-2:])))
    how = draw(st.sampled_from(("empty", "truncated", "noise")))
    return called("probe.garble", message=state.number_of(chosen), how=how)


def advance(draw: Draw, state: SendingState) -> Call:
    """Let time go on, mostly up to where something is over."""
    transfer = state.config.transfer
    ticks = draw(st.sampled_from((1, 1, 2, transfer.deadline, transfer.quarantine, transfer.patience)))
    return called("probe.advance", ticks=ticks)


def scribble(draw: Draw, state: SendingState) -> Call:
    """Let metadata of another room, or of another epoch, land in a slot of a room; then everybody looks."""
    room = draw(st.sampled_from(list(state.sending.reserved.values())))
    place = draw(st.sampled_from(room.places))
    number, epoch = draw(st.sampled_from(((room.room, room.epoch - 1), (room.room + 1, room.epoch), (NO_ROOM, 1))))
    state.due.append(called("transfer.status", room=room.room))
    return called("probe.scribble", rank=place.rank, slot=place.slot, room=number, epoch=epoch, data=b"x")

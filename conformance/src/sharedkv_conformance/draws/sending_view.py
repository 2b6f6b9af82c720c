"""What those who draw histories of sending look at: which rooms go on, which pages are there to send, what may land.

Pure: draws nothing. Everything that nobody promises anything of is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.draws.copies_rows import prefix_rows
from sharedkv_conformance.model.lane_pages import EVICTABLE, IN_USE
from sharedkv_conformance.model.sending_parts import Chunk, DecodeRoom, FlightModel, Notice, PrefillRoom
from sharedkv_conformance.model.sending_state import Forward, SendingState
from sharedkv_conformance.step import Call


def called(op: str, **args: object) -> Call:
    """Return a call."""
    return Call(op=op, args=args)


# -- rooms -----------------------------------------------------------------------------------------------------------


def sendable(state: SendingState) -> list[PrefillRoom]:
    """Return the rooms that prefill may send a chunk of."""
    return [room for room in alive(state) if state.sending.is_ready(room) and not (room.sent and room.sent[-1].is_last)]


def alive(state: SendingState) -> list[PrefillRoom]:
    """Return the rooms that prefill has not given up, and of whose pages something is promised."""
    rooms = state.sending.rooms.values()
    return [room for room in rooms if not room.reason and not state.is_stale(room.room, room.epoch)]


def contexts_of(state: SendingState, room: PrefillRoom) -> list[Chunk]:
    """Return the open contexts of a room."""
    return state.sending.contexts_of(room)


def last_chunk(state: SendingState, room: PrefillRoom) -> Chunk | None:
    """Return the chunk that was sent or registered last."""
    chunks = (*room.sent, *contexts_of(state, room))
    return chunks[-1] if chunks else None


def succeeded(state: SendingState) -> list[DecodeRoom]:
    """Return the rooms that may be committed."""
    return [room for room in state.sending.reserved.values() if state.sending.may_commit(room)]


def ended(state: SendingState) -> list[DecodeRoom]:
    """Return the rooms that decode may close."""
    return [room for room in state.sending.reserved.values() if state.sending.has_ended(room)]


def done(state: SendingState) -> list[PrefillRoom]:
    """Return the rooms that prefill may forget."""
    return [room for room in state.sending.rooms.values() if state.sending.has_ended_here(room)]


# -- pages -----------------------------------------------------------------------------------------------------------


def spare(state: SendingState) -> list[int]:
    """Return the allocated pages that no room that goes on has sent or registered, in a fixed order."""
    taken = {page for room in alive(state) for page in pages_of(state, room)}
    return [page for page in allocated(state) if page not in taken]


def allocated(state: SendingState) -> list[int]:
    """Return the pages that somebody has, and has not given back."""
    pages = state.allocation.pages
    own = [page for which in (IN_USE, EVICTABLE) for lane in pages.by_lane(which) for page in lane]
    return [page for page in own if page not in state.allocation.deferred]


def pages_of(state: SendingState, room: PrefillRoom) -> tuple[int, ...]:
    """Return the pages of a request as far as they were sent or registered, in the order of positions."""
    return tuple(page for chunk in (*room.sent, *contexts_of(state, room)) for page in chunk.pages)


def unwritten(state: SendingState) -> list[Forward]:
    """Return the allocations that are whole, and of which no row was written or read."""
    free_to_write = set(spare(state)) - set(state.sending.pages_read())
    return [each for each in state.forwards if not each.is_written and free_to_write.issuperset(each.pages)]


def state_pages(state: SendingState, pages: Iterable[int]) -> tuple[int, ...]:
    """Return the pages of a whole request for its index; what was given back is replaced by what is there."""
    there, chosen = allocated(state), list(pages)
    others = [page for page in there if page not in chosen]
    return tuple(page if page in there else others.pop(0) if others else page for page in chosen)


def write(state: SendingState, forward: Forward, layer: int) -> Call:
    """Return the write of a layer of an allocation; no other allocation has these rows."""
    tokens = (1000 + forward.number,) * forward.request.extend_tokens
    rows = prefix_rows(state.config.pool, state.geometry, layer, forward.request, tokens)
    args = {"batch": (forward.request,), "locations": forward.locations, "static_tokens": len(tokens), "rows": rows}
    return called("direct_write.write", layer=layer, **args)


def extend(state: SendingState, pages: int) -> Call:
    """Return the allocation of so many pages for one request."""
    tokens = pages * state.config.page_size
    return called("allocation.extend", batch=(ExtendRequest(request="r", prefix_tokens=0, extend_tokens=tokens),))


# -- what is on the way ----------------------------------------------------------------------------------------------


def landable(state: SendingState) -> list[FlightModel]:
    """Return the flights that were shown, and may land."""
    return [
        flight
        for flight in state.sending.flying
        if state.number_of(flight) is not None and not state.is_stale(flight.room.room, flight.room.epoch)
    ]


def may_resume(state: SendingState, what: str) -> bool:
    """Say whether nothing that goes on then writes pages of which nothing is promised."""
    own = {"writes": [f.room for f in state.sending.flying if not f.is_in_doubt]}
    own["workers"] = [job.chunk.room for job in state.sending.jobs]
    return not any(state.is_stale(room.room, room.epoch) for room in own.get(what, ()))


def on_the_way(state: SendingState) -> list[Notice]:
    """Return the messages on the way that were shown."""
    return [notice for notice in state.sending.way if state.number_of(notice) is not None]


def delivered(state: SendingState) -> list[Notice]:
    """Return the messages that were shown, and have been delivered."""
    way = set(map(id, state.sending.way))
    shown = (state.sending.posted[own] for own in state.message_numbers.model_number.values())
    return [notice for notice in shown if id(notice) not in way]

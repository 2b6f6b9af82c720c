"""Calls of sending that have to be refused: chunks that do not follow, counts and pages that are wrong, odd rooms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.draws.sending_kinds import NO_ROOM, Draw, Kind, next_chunk, sending_of
from sharedkv_conformance.draws.sending_view import alive, called, contexts_of, pages_of
from sharedkv_conformance.model.lane_pages import FREE
from sharedkv_conformance.model.sending_parts import Chunk, PrefillRoom
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Call

Args = dict[str, Any]
Fault = Callable[[SendingState, PrefillRoom, Args], Args]


def bad_send(draw: Draw, state: SendingState) -> Call:
    """Send a chunk that is wrong in one way, of a room that goes on."""
    rooms = alive(state)
    if not rooms:
        return unknown(draw, state)
    room = draw(st.sampled_from(rooms))
    contexts = contexts_of(state, room)
    chunk = contexts[0] if contexts else _chunk(draw, state, room)
    call = sending_of(draw, state, chunk)
    wrong: Fault = draw(st.sampled_from(faults_of(state, chunk)))
    return replace(call, args={**call.args, **wrong(state, room, dict(call.args))})


def _chunk(draw: Draw, state: SendingState, room: PrefillRoom) -> Chunk:
    if not state.sending.is_ready(room) or (room.sent and room.sent[-1].is_last):
        return Chunk(room=room, first=len(pages_of(state, room)), pages=(), is_last=True)
    return next_chunk(draw, state, room)


def faults_of(state: SendingState, chunk: Chunk) -> list[Fault]:
    """Return the ways in which a chunk can be wrong."""
    faults: list[Fault] = [backwards, ahead, outside, free_page, too_much, elsewhere, index_too_long]
    faults += [twice, other_end] if chunk.pages else []
    return [*faults, *([index_too_short, index_free] if chunk.is_last and state.sending.has_index else [])]


def unknown(draw: Draw, state: SendingState) -> Call:
    """Ask for a room that nobody has."""
    op = draw(st.sampled_from(("transfer.send_status", "transfer.report", "transfer.forget", "transfer.commit")))
    return called(op, room=NO_ROOM)


def backwards(_state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Begin before the end of the last chunk."""
    return {"first_position": args["first_position"] - 1}


def ahead(_state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Begin behind the end of the last chunk."""
    return {"first_position": args["first_position"] + 1}


def outside(state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Name a page that is none."""
    beyond = state.geometry.cp_size * state.geometry.lane_pages + 1
    return {"pages": (*args["pages"][:-1], beyond if len(args["pages"]) % 2 else 0)}


def twice(_state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Name a page twice."""
    pages = args["pages"]
    return {"pages": (*pages[:-1], pages[0]) if len(pages) > 1 else pages * 2}


def free_page(state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Name a page that nobody has."""
    free = [page for lane in state.allocation.pages.by_lane(FREE) for page in lane]
    return {"pages": (*args["pages"][:-1], free[-1])} if free else {"first_position": -1}


def other_end(_state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Leave the last page out and call it the last chunk, or call the last one none."""
    return {"pages": args["pages"][:-1], "is_last": True}


def too_much(state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Send more metadata than a slot takes."""
    return {"aux": b"a" * (state.config.transfer.aux_bytes + 1), "room": args["room"]}


def elsewhere(_state: SendingState, _room: PrefillRoom, _args: Args) -> Args:
    """Send a chunk of a room that there is not."""
    return {"room": NO_ROOM}


def index_too_long(_state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Name a page of the index too much."""
    return {"state": (*args["state"], *(args["pages"] or (1,))[:1])}


def index_too_short(_state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Leave a page of the index out."""
    return {"state": args["state"][1:]}


def index_free(state: SendingState, _room: PrefillRoom, args: Args) -> Args:
    """Name a page of the index that nobody has."""
    free = [page for lane in state.allocation.pages.by_lane(FREE) for page in lane]
    return {"state": (*args["state"][:-1], *free[:1])} if free and args["state"] else {"first_position": -1}


def bad_reserve(draw: Draw, state: SendingState) -> Call:
    """Reserve a room that is open, or one that cannot be."""
    ranks = tuple(range(state.config.transfer.decode_ranks))
    odd = (((), 1), ((*ranks, 0), 1), ((len(ranks),), 1), ((-1,), 1), (ranks, 0), (ranks, -1))
    named, pages = draw(st.sampled_from(odd))
    rooms = sorted(state.sending.reserved)
    if rooms and draw(st.booleans()):
        return called("transfer.reserve", room=rooms[0], num_pages=1, ranks=ranks)
    return called("transfer.reserve", room=NO_ROOM, num_pages=pages, ranks=named)


def no_such(draw: Draw, state: SendingState) -> Call:
    """Name a flight, a message, a slot or a word that there is not."""
    kinds: tuple[Call, ...] = (
        called("probe.land", flight=1 << 40),
        called("probe.fail", flight=1 << 40, pages=0, is_definite=True),
        called("probe.deliver", message=1 << 40),
        called("probe.garble", message=1 << 40, how="noise"),
        called("probe.scribble", rank=0, slot=1 << 20, room=1, epoch=1, data=b""),
        called("probe.stall", what="nothing"),
        called("probe.resume", what="nothing"),
        called("probe.decode_pool", rank=-1, layer=0),
        called("probe.decode_pool", rank=0, layer=state.config.pool.all_layers),
    )
    chosen: Call = draw(st.sampled_from(kinds))
    return chosen


REFUSED: tuple[Kind, ...] = (bad_send, bad_reserve)

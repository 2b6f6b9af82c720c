"""How histories of rooms are drawn: small rooms that end, numbers used again, and messages that come late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.laws.transfer_rooms import ARRIVED, CLOSE, FAILED, OPEN_ROOM, STATUS
from sharedkv_conformance.model.transfer_rooms import RoomModel
from sharedkv_conformance.model.transfer_state import TransferState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, TransferState], Call]

ROOMS = (7, 0)
PARTS = (("kv",), ("kv", "aux"))
SOURCES = ((0, 1), (1, 0), (0,))
MOST_CHUNKS = 2


def next_call(draw: Draw, state: TransferState) -> Call:
    """Draw what happens to rooms: usually news of one, and every message is followed by a question."""
    if state.heard_last is not None:
        return Call(op=STATUS, args={"room": state.heard_last})
    ended = [room for room in sorted(state.rooms) if state.has_ended(room)]
    if not state.rooms or draw(st.integers(0, 11)) == 0:
        return open_room(draw, state)
    kinds: list[Kind] = [news, news, news, news, news, again, stranger, give_up, close, late, status]
    if ended:
        kinds += [close, close, close, give_up, give_up, give_up]
    if state.closed:
        kinds += [yesterday, yesterday]
    if any(len(epochs) > 1 for epochs in state.epochs.values()):
        kinds += [stranger] * 4
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def open_room(draw: Draw, state: TransferState) -> Call:
    """Open a room, rarely one that is open or one for nothing."""
    shut = [room for room in (*state.closed, *ROOMS) if not state.is_open(room)]
    room = draw(st.sampled_from((*shut[:1] * 3, *ROOMS)))
    sources, parts = draw(st.sampled_from(SOURCES)), draw(st.sampled_from(PARTS))
    fault = draw(st.sampled_from(("", "", "", "", "", "", "sources", "parts", "twice")))
    if fault == "sources":
        sources = ()
    elif fault == "parts":
        parts = ()
    elif fault == "twice":
        sources = (*sources, sources[0])
    return Call(op=OPEN_ROOM, args={"room": room, "sources": sources, "parts": parts})


def _a_room(draw: Draw, state: TransferState) -> tuple[int, RoomModel]:
    number = draw(st.sampled_from(sorted(state.rooms)))
    return number, state.rooms[number]


def news(draw: Draw, state: TransferState) -> Call:
    """Tell of a chunk that is missing, in any order; each part of a source has one to three."""
    number, room = _a_room(draw, state)
    missing = room.missing()
    if not missing:
        return Call(op=STATUS, args={"room": number})
    source, part = draw(st.sampled_from(missing[:2]))
    chunks = MOST_CHUNKS if part == "kv" else 1
    heard = {message.chunk for message in room.of(source, part)}
    left = [index for index in range(chunks) if index not in heard] or [chunks]
    which = draw(st.sampled_from(left))
    return _arrived(number, room.epoch, source, part, (which, which == chunks - 1))


def again(draw: Draw, state: TransferState) -> Call:
    """Tell of a chunk that was told of."""
    number, room = _a_room(draw, state)
    if not room.heard:
        return news(draw, state)
    message = draw(st.sampled_from(room.heard))
    return _arrived(number, room.epoch, message.source, message.part, (message.chunk, message.is_last))


def stranger(draw: Draw, state: TransferState) -> Call:
    """Tell of what the room does not wait for: another epoch, source, part or number, or a chunk behind the last."""
    number, room = _a_room(draw, state)
    earlier = sorted(state.epochs.get(number, set()) - {room.epoch})
    source, part = draw(st.sampled_from([(source, part) for source in room.sources for part in room.parts]))
    missing = room.missing()
    if missing:
        source, part = draw(st.sampled_from(missing))
    kinds = ["source", "part", "room", "behind", "below", *(["epoch"] * 4 if earlier else [])]
    kind = draw(st.sampled_from(kinds))
    chunk_told = (0, True)
    if kind == "source":
        source = max(room.sources) + 5
    elif kind == "part":
        part = "state"
    elif kind == "room":
        number = 99
    elif kind == "behind":
        chunk_told = (MOST_CHUNKS + 2, False) if any(m.is_last for m in room.of(source, part)) else (0, False)
    elif kind == "below":
        chunk_told = (-1, True)
    epoch = draw(st.sampled_from(earlier)) if kind == "epoch" else room.epoch
    return _arrived(number, epoch, source, part, chunk_told)


def give_up(draw: Draw, state: TransferState) -> Call:
    """Let a source give up; rarely, for then the room has ended. A stranger may give up at any time."""
    number, room = _a_room(draw, state)
    kind = draw(st.sampled_from(("own", "stranger", "epoch")))
    epochs = sorted(state.epochs.get(number, set()) - {room.epoch})
    epoch = draw(st.sampled_from(epochs)) if kind == "epoch" and epochs else room.epoch
    source = max(room.sources) + 5 if kind == "stranger" else draw(st.sampled_from(room.sources))
    return Call(op=FAILED, args={"room": number, "epoch": epoch, "source": source})


def close(draw: Draw, state: TransferState) -> Call:
    """Close a room that has ended, sometimes one that has not or is not there."""
    ended = [room for room in sorted(state.rooms) if state.has_ended(room)]
    others = (*sorted(state.rooms), *state.closed[-1:], 99)
    return Call(op=CLOSE, args={"room": draw(st.sampled_from((*ended, *ended, *ended, *others)))})


def yesterday(draw: Draw, state: TransferState) -> Call:
    """Ask for a room that was closed."""
    room = draw(st.sampled_from(state.closed[-2:]))
    return Call(op=draw(st.sampled_from((STATUS, STATUS, CLOSE))), args={"room": room})


def late(draw: Draw, state: TransferState) -> Call:
    """Tell of a chunk of a room that was closed."""
    shut = [room for room in state.closed if not state.is_open(room)]
    if not shut:
        return stranger(draw, state)
    room = draw(st.sampled_from(shut))
    return _arrived(room, draw(st.sampled_from(sorted(state.epochs[room]))), 0, "kv", (0, True))


def status(draw: Draw, state: TransferState) -> Call:
    """Ask for any room."""
    rooms: Sequence[int] = (*sorted(state.rooms), *state.closed[-1:])
    return Call(op=STATUS, args={"room": draw(st.sampled_from(rooms))})


def _arrived(room: int, epoch: int, source: int, part: str, told: tuple[int, bool]) -> Call:
    number, is_last = told
    args = {"room": room, "epoch": epoch, "source": source, "part": part, "chunk": number, "is_last": is_last}
    return Call(op=ARRIVED, args=args)

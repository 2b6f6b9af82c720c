"""What decode and prefill tell one another about transfers, and its form as bytes.

Knows the messages. Does not know sockets, nor what follows from a message. Whatever bytes come, decoding ends in a
message or in a refusal.

    decode ──Registration, RoomOpened, RoomAborted────────> each prefill rank
    decode <──ChunkArrived, SourceFailed, SourceDrained── each prefill rank, once the engine says that bytes are there

A room is always named with its epoch, and with the decode rank that it is about (`destination`).
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

_FORM = 2
_LIMIT = 1 << 63


@dataclass(frozen=True, kw_only=True)
class BufferPlace:
    """Where a buffer of a layer begins in the memory of decode, and the bytes of a page of it."""

    address: int
    page_bytes: int


@dataclass(frozen=True, kw_only=True)
class Registration:
    """A decode rank as a prefill rank needs it: what has to be the same, its engine, its buffers, where it listens.

    `buffers` are those of each layer of target and draft in turn, in the order of the layout. No room of it has an
    epoch before `first_epoch`: what an earlier process of this rank said is told apart by that.
    """

    fingerprint: Mapping[str, str]
    engine: bytes
    buffers: tuple[BufferPlace, ...]
    reply_to: str
    rank: int
    first_epoch: int = 0


@dataclass(frozen=True, kw_only=True)
class RoomOpened:
    """A decode rank waits for a request: its page for each position, where its metadata goes, and how much fits there.

    The request goes to `num_destinations` decode ranks, each of which says so itself.
    """

    room: int
    epoch: int
    destination: int
    num_destinations: int
    pages: tuple[int, ...]
    slot_address: int
    aux_bytes: int


@dataclass(frozen=True, kw_only=True)
class ChunkArrived:
    """Every byte of one chunk of one part of one source is in the memory of a decode rank."""

    room: int
    epoch: int
    source: int
    destination: int
    part: str
    chunk: int
    is_last: bool


@dataclass(frozen=True, kw_only=True)
class SourceFailed:
    """A prefill rank gave up; bytes of it may still land."""

    room: int
    epoch: int
    source: int
    destination: int


@dataclass(frozen=True, kw_only=True)
class RoomAborted:
    """A decode rank gave up, and wants to know when nothing lands any more."""

    room: int
    epoch: int
    destination: int


@dataclass(frozen=True, kw_only=True)
class SourceDrained:
    """Nothing of a prefill rank lands in a room of a decode rank any more."""

    room: int
    epoch: int
    source: int
    destination: int


Message = Registration | RoomOpened | ChunkArrived | SourceFailed | RoomAborted | SourceDrained


class MessageMalformedError(Exception):
    """Bytes that are no message."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"no message: {self.what}"


def encode(message: Message) -> bytes:
    """Return a message as bytes."""
    values = {each.name: _plain(getattr(message, each.name)) for each in fields(message)}
    return json.dumps({"form": _FORM, "kind": type(message).__name__, "fields": values}).encode()


def decode(data: bytes) -> Message:
    """Return the message that bytes say. `MessageMalformedError` where they say none."""
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MessageMalformedError(f"not JSON: {error}") from error
    match parsed:
        case {"form": int(form), "kind": str(kind), "fields": dict(given), **others} if not others and form == _FORM:
            pass
        case _:
            raise MessageMalformedError(f"not of form {_FORM}, with a kind and fields")
    if kind not in _KINDS:
        raise MessageMalformedError(f"kind {kind!r}, there are {sorted(_KINDS)}")
    made, readers = _KINDS[kind]
    if given.keys() != readers.keys():
        raise MessageMalformedError(f"{kind} with the fields {sorted(given)}, wanted {sorted(readers)}")
    try:
        return made(**{name: read(given[name]) for name, read in readers.items()})
    except ValueError as error:
        raise MessageMalformedError(f"{kind}: {error}") from error


def _plain(value: object) -> object:
    match value:
        case bytes():
            return b64encode(value).decode()
        case tuple():
            return [_plain(each) for each in value]
        case BufferPlace():
            return [value.address, value.page_bytes]
        case Mapping():
            return dict(value)
    return value


def _count(given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < _LIMIT:
        raise ValueError(f"wanted a number from 0 to 2^63, found {given!r:.100}")
    return given


def _counts(given: object) -> tuple[int, ...]:
    return tuple(_count(each) for each in _list(given))


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise ValueError(f"wanted text, found {given!r:.100}")  # noqa: TRY004 - one error for all that is wrong
    return given


def _claim(given: object) -> bool:
    if not isinstance(given, bool):
        raise ValueError(f"wanted true or false, found {given!r:.100}")  # noqa: TRY004 - one error for all that is wrong
    return given


def _list(given: object) -> list[object]:
    if not isinstance(given, list):
        raise ValueError(f"wanted a list, found {given!r:.100}")  # noqa: TRY004 - one error for all that is wrong
    return given


def _names(given: object) -> dict[str, str]:
    if not isinstance(given, dict):
        raise ValueError(f"wanted names and values, found {given!r:.100}")  # noqa: TRY004 - one error for all that is wrong
    return {_text(name): _text(value) for name, value in given.items()}


def _places(given: object) -> tuple[BufferPlace, ...]:
    pairs = [_counts(each) for each in _list(given)]
    try:
        return tuple(BufferPlace(address=address, page_bytes=page_bytes) for address, page_bytes in pairs)
    except ValueError as error:
        raise ValueError("a buffer is an address and the bytes of a page") from error


def _bytes(given: object) -> bytes:
    return b64decode(_text(given), validate=True)


_ROOM: dict[str, Callable[[object], Any]] = {"room": _count, "epoch": _count, "destination": _count}
_ROOM_OF_SOURCE = {**_ROOM, "source": _count}
_KINDS: dict[str, tuple[Callable[..., Message], dict[str, Callable[[object], Any]]]] = {
    "Registration": (
        Registration,
        {
            "fingerprint": _names,
            "engine": _bytes,
            "buffers": _places,
            "reply_to": _text,
            "rank": _count,
            "first_epoch": _count,
        },
    ),
    "RoomOpened": (
        RoomOpened,
        {**_ROOM, "num_destinations": _count, "pages": _counts, "slot_address": _count, "aux_bytes": _count},
    ),
    "ChunkArrived": (ChunkArrived, {**_ROOM_OF_SOURCE, "part": _text, "chunk": _count, "is_last": _claim}),
    "SourceFailed": (SourceFailed, _ROOM_OF_SOURCE),
    "RoomAborted": (RoomAborted, _ROOM),
    "SourceDrained": (SourceDrained, _ROOM_OF_SOURCE),
}

"""What decode has heard of the transfers that it waits for.

Knows which chunk of which part of which source has arrived. Does not know bytes, engines, nor how messages come.

    waiting ──a chunk arrives──> transferring ──the last one──> success
       └────────────── a source gives up ──────────────┴──────> failed

Messages may come in any order, twice, or after their room is gone: what is not waited for changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sharedkv.errors import Refusal, RefusedError

Source = int | tuple[int, int]
"""A prefill rank; or one with the decode rank that it writes to, where several wait for one room."""


class RoomState(StrEnum):
    """How far a room is."""

    WAITING = "waiting"
    TRANSFERRING = "transferring"
    SUCCESS = "success"
    FAILED = "failed"


@dataclass(eq=False, slots=True)
class _Stream:
    """The chunks of one part of one source; `num_chunks` is None until the last one was heard of."""

    arrived: set[int] = field(default_factory=set)
    num_chunks: int | None = None

    @property
    def is_complete(self) -> bool:
        return self.num_chunks == len(self.arrived)

    def hear(self, chunk: int, *, is_last: bool) -> bool:
        """Note a chunk, and say whether it was one to wait for."""
        if (
            chunk < 0
            or chunk in self.arrived
            or (self.num_chunks is not None and (is_last or chunk >= self.num_chunks))
        ):
            return False
        if is_last:
            if self.arrived and max(self.arrived) > chunk:
                return False
            self.num_chunks = chunk + 1
        self.arrived.add(chunk)
        return True


@dataclass(eq=False, slots=True)
class _Room:
    epoch: int
    streams: dict[tuple[Source, str], _Stream]
    sources: frozenset[Source]
    num_open: int
    has_begun: bool = False
    has_failed: bool = False

    @property
    def state(self) -> RoomState:
        if self.has_failed:
            return RoomState.FAILED
        if not self.num_open:
            return RoomState.SUCCESS
        return RoomState.TRANSFERRING if self.has_begun else RoomState.WAITING


class Rooms:
    """The rooms of one decode rank. Numbers may be used again; epochs never are.

    A process that may be started again begins at an epoch that none before it can have come to.
    """

    def __init__(self, first_epoch: int = 0) -> None:
        self.first_epoch = first_epoch
        self._rooms: dict[int, _Room] = {}
        self._next_epoch = first_epoch

    def open(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        """Wait for every part of every source, and return the epoch."""
        self.require_closed(room)
        for named in (sources, parts):
            if not named or len(set(named)) < len(named):
                raise RefusedError(Refusal.ROOM_INVALID, f"room {room}: sources {list(sources)}, parts {list(parts)}")
        return self.wait_for(room, [(source, part) for source in sources for part in parts])

    def require_closed(self, room: int) -> None:
        """Refuse a room that is open."""
        if room in self._rooms:
            raise RefusedError(Refusal.ROOM_IN_USE, room)

    def wait_for(self, room: int, streams: Iterable[tuple[Source, str]]) -> int:
        """Wait for some parts of some sources, each named once, and return the epoch."""
        self.require_closed(room)
        waiting = {stream: _Stream() for stream in streams}
        epoch = self._next_epoch
        sources = frozenset(source for source, _ in waiting)
        self._rooms[room] = _Room(epoch=epoch, streams=waiting, sources=sources, num_open=len(waiting))
        self._next_epoch += 1
        return epoch

    def arrived(self, room: int, epoch: int, source: Source, part: str, chunk: int, *, is_last: bool) -> None:
        """Hear that a chunk is there."""
        waiting = self._live(room, epoch)
        stream = waiting.streams.get((source, part)) if waiting else None
        if waiting is None or stream is None or not stream.hear(chunk, is_last=is_last):
            return
        waiting.has_begun = True
        waiting.num_open -= stream.is_complete

    def failed(self, room: int, epoch: int, source: Source) -> None:
        """Hear that a source gave up."""
        waiting = self._live(room, epoch)
        if waiting is not None and source in waiting.sources:
            waiting.has_failed = True

    def give_up(self, room: int) -> None:
        """Let a room be failed, however far it was."""
        self._require(room).has_failed = True

    def is_open(self, room: int) -> bool:
        """Say whether there is such a room."""
        return room in self._rooms

    def state(self, room: int) -> RoomState:
        """Say how far a room is."""
        return self._require(room).state

    def close(self, room: int) -> None:
        """Forget a room that has ended."""
        if self._require(room).state not in {RoomState.SUCCESS, RoomState.FAILED}:
            raise RefusedError(Refusal.ROOM_IN_USE, room)
        del self._rooms[room]

    def _require(self, room: int) -> _Room:
        if room not in self._rooms:
            raise RefusedError(Refusal.ROOM_UNKNOWN, room)
        return self._rooms[room]

    def _live(self, room: int, epoch: int) -> _Room | None:
        """Return the room that a message speaks of, unless it is gone, another one or at its end."""
        found = self._rooms.get(room)
        if found is None or found.epoch != epoch or found.state in {RoomState.SUCCESS, RoomState.FAILED}:
            return None
        return found

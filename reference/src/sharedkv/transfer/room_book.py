"""The rooms that prefill knows, what it hears of them, and what is to be told.

Knows epochs, endings and messages. Does not know engines, jobs, nor what chunks hold.

A room fails on all ranks of this process at once, and stays so. What waits of it is dropped, and its pages are let go
as far as nothing in flight needs them; each rank tells each decode rank once.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from threading import RLock

from sharedkv.control_messages import ChunkArrived, Message, RoomAborted, RoomOpened, SourceDrained, SourceFailed
from sharedkv.errors import Refusal, RefusedError
from sharedkv.transfer.chunks import ChunkProgress
from sharedkv.transfer.destinations import Destination
from sharedkv.transfer.heard_epochs import HeardEpochs
from sharedkv.transfer.ports import PrefillPorts
from sharedkv.transfer.prefill_rooms import FailureReason, PrefillRoom
from sharedkv.transfer.send_flights import FlightBook

_LOGGER = logging.getLogger(__name__)


class RoomBook:
    """The rooms of all ranks of this process. Whoever changes one holds `lock`; messages and pins wait for `flush`."""

    def __init__(self, ranks: Sequence[int], flights: FlightBook, ports: PrefillPorts) -> None:
        self.lock = RLock()
        self._ranks = tuple(ranks)
        self._flights = flights
        self._ports = ports
        self._rooms: dict[int, PrefillRoom] = {}
        self._epochs = HeardEpochs()
        self._outgoing: deque[tuple[int, int, Message]] = deque()
        self._unpinned: deque[Sequence[int]] = deque()

    def find(self, room: int) -> PrefillRoom:
        """Return a room, or refuse one that no rank knows."""
        if room not in self._rooms:
            raise RefusedError(Refusal.ROOM_UNKNOWN, room)
        return self._rooms[room]

    def get(self, room: int) -> PrefillRoom | None:
        """Return a room, if any rank knows it."""
        return self._rooms.get(room)

    def forget(self, room: int) -> None:
        """Forget a room that has ended; its epoch is never heard of again."""
        if not self.find(room).has_ended:
            raise RefusedError(Refusal.ROOM_IN_USE, room)
        del self._rooms[room]

    def hear_opened(self, rank: int, opened: RoomOpened, destination: Destination) -> None:
        """Hear that a decode rank waits for a room. An epoch that is old, or given up, is not waited for."""
        known = self._rooms.get(opened.room)
        dead = self._epochs.dead(opened.room, opened.epoch)
        if dead is not None:
            if (rank, opened.destination) not in dead.told:
                dead.told.add((rank, opened.destination))
                self._tell_failed(rank, opened)
            return
        if self._epochs.is_new(opened.room, opened.epoch, opened.destination):
            known = self._begin(opened, known)
        elif known is None or known.epoch != opened.epoch:
            return
        if opened.destination in known.heard[rank]:
            return
        if not known.fits(opened):
            _LOGGER.warning("%s does not agree with what was heard of the room before", opened)
            return
        self._epochs.note(opened.room, opened.epoch, opened.destination)
        known.heard[rank][opened.destination] = opened
        known.reached.setdefault(opened.destination, destination)
        if known.reason is not None:
            self._tell_failed(rank, opened)

    def hear_aborted(self, rank: int, notice: RoomAborted) -> None:
        """Hear that decode gave a room up; it is told when nothing of this rank lands there any more."""
        known = self._rooms.get(notice.room)
        if known is not None and known.epoch == notice.epoch:
            self.fail(known, FailureReason.PEER)
        else:
            self._epochs.kill(notice.room, notice.epoch, notice.destination)
        self._flights.owe((rank, notice.destination, notice.room, notice.epoch))

    def lose(self, destination: int, first_epoch: int) -> None:
        """Take a decode rank for another one, whose epochs begin there: what the one before waited for fails."""
        self._epochs.begin(destination, first_epoch)
        for room in self._rooms.values():
            if destination in room.reached:
                self.fail(room, FailureReason.PEER)

    def fail(self, room: PrefillRoom, reason: FailureReason) -> None:
        """Let a room that has not ended fail on every rank."""
        if room.has_ended:
            return
        room.reason = reason
        for chunk in room.chunks:
            dropped, chunk.num_queued = chunk.num_queued, 0
            room.num_open -= dropped
            self.let_go(chunk, dropped + chunk.has_context)
            chunk.has_context = False
        room.contexts.clear()
        for rank in self._ranks:
            for opened in room.heard[rank].values():
                self._tell_failed(rank, opened)

    def fail_all(self, reason: FailureReason) -> None:
        """Let every room fail that has not ended."""
        for room in self._rooms.values():
            self.fail(room, reason)

    def let_go(self, chunk: ChunkProgress, num_holds: int = 1) -> None:
        """Take so many holds from a chunk; its pages are free to go after the last."""
        if not num_holds:
            return
        chunk.holds -= num_holds
        if not chunk.holds:
            self._unpinned.extend(chunk.pinned)
            chunk.pinned.clear()

    def tell_arrived(self, room: PrefillRoom, arrived: ChunkArrived) -> None:
        """Let a decode rank know what is there, unless the room has failed."""
        if room.reason is None:
            self._outgoing.append((arrived.source, arrived.destination, arrived))

    def flush(self) -> bool:
        """Hand out messages, and let pages go; say whether there was anything. What raises is not done again."""
        with self.lock:
            for source, destination, room, epoch in self._flights.drained():
                drained = SourceDrained(room=room, epoch=epoch, source=source, destination=destination)
                self._outgoing.append((source, destination, drained))
            has_any = bool(self._outgoing or self._unpinned)
        while self._unpinned:
            self._ports.pins.unpin(self._unpinned.popleft())
        while self._outgoing:
            self._ports.send(*self._outgoing.popleft())
        return has_any

    def _begin(self, opened: RoomOpened, known: PrefillRoom | None) -> PrefillRoom:
        """Take up an epoch in place of the one before."""
        if known is not None:
            self.fail(known, FailureReason.PEER)
        room = PrefillRoom(room=opened.room, epoch=opened.epoch, heard={rank: {} for rank in self._ranks})
        self._rooms[opened.room] = room
        return room

    def _tell_failed(self, rank: int, opened: RoomOpened) -> None:
        failed = SourceFailed(room=opened.room, epoch=opened.epoch, source=rank, destination=opened.destination)
        self._outgoing.append((rank, opened.destination, failed))

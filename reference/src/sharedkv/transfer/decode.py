"""Rooms as decode sees them, over all decode ranks of this process.

Knows rooms, what was set aside for them, and whom to tell. Does not know sockets, engines, nor the bytes of pages.

    reserve ──> waiting ──> transferring ──> success ──commit──> close_room: free
                   └────────────┴─────────────> failed: every prefill rank is told, once a decode rank
                                                  └─close_room──> quarantined ──drained, or in time──> free

Used from one thread. Messages leave in `pump` alone.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence

from sharedkv.control_messages import ChunkArrived, Message, RoomAborted, RoomOpened, SourceDrained, SourceFailed
from sharedkv.errors import CapacityWaitError, Refusal, RefusedError
from sharedkv.rooms import Rooms, RoomState
from sharedkv.transfer.decode_memory import DecodeCounts, DecodeMemory
from sharedkv.transfer.decode_rooms import Reservation, ReservedRoom, pairs
from sharedkv.transfer.ports import AUX, DecodeLimits, DecodePorts

_LOGGER = logging.getLogger(__name__)
_ENDED = {RoomState.SUCCESS, RoomState.FAILED}
_AUX_SOURCE = 0
"""The prefill rank that sends metadata."""


class DecodeReceiver:
    """All decode ranks that this process plays. `sources` are the prefill ranks, `parts` what each of them sends.

    Rooms are numbered together with those that `rooms` has from elsewhere. Without `rooms`, epochs begin with the time
    of day in nanoseconds: one that is started again, later, uses none again.
    """

    def __init__(
        self,
        memories: Sequence[DecodeMemory],
        sources: Sequence[int],
        parts: Sequence[str],
        ports: DecodePorts,
        limits: DecodeLimits,
        rooms: Rooms | None = None,
    ) -> None:
        self._memories = {memory.rank: memory for memory in memories}
        self._sources = tuple(sources)
        self._parts = tuple(parts)
        self._ports = ports
        self._limits = limits
        self._rooms = Rooms(time.time_ns()) if rooms is None else rooms
        self._reserved: dict[int, ReservedRoom] = {}
        self._undrained: OrderedDict[int, ReservedRoom] = OrderedDict()
        self._unread: dict[int, None] = {}
        self._by_age: OrderedDict[int, ReservedRoom] = OrderedDict()
        self._outgoing: deque[tuple[int, int, Message]] = deque()

    @property
    def first_epoch(self) -> int:
        """Return the epoch that no room here is before; prefill is to know it from the registration."""
        return self._rooms.first_epoch

    def reserve(self, room: int, num_pages: int, ranks: Sequence[int]) -> Reservation:
        """Set aside pages and a cleared slot on some decode ranks, and tell every prefill rank.

        Raises `RefusedError` for a room that is open, no page, and ranks that are none, twice or not there;
        `CapacityWaitError`, with one count a rank, where pages are missing, or else slots.
        """
        self._rooms.require_closed(room)
        if num_pages < 1 or not ranks or len(set(ranks)) < len(ranks) or not set(ranks) <= self._memories.keys():
            raise RefusedError(Refusal.ROOM_INVALID, f"room {room}: {num_pages} pages on ranks {list(ranks)}")
        memories = [self._memories[rank] for rank in ranks]
        _require_room(num_pages, [memory.num_free for memory in memories])
        _require_room(1, [memory.num_free_slots for memory in memories])
        places = tuple(memory.take(num_pages) for memory in memories)
        epoch = self._rooms.wait_for(room, self._streams(ranks))
        reserved = ReservedRoom(
            room=room,
            epoch=epoch,
            places=places,
            opened_at=self._ports.now(),
            undrained=pairs(self._sources, places),
        )
        self._reserved[room] = reserved
        self._by_age[epoch] = reserved
        self._tell_opened(reserved)
        return Reservation(epoch=epoch, places=places)

    def hear(self, message: Message) -> None:
        """Hear what a prefill rank says; what is of no room that is waited for, or drained, changes nothing."""
        match message:
            case ChunkArrived():
                self._rooms.arrived(
                    message.room,
                    message.epoch,
                    (message.source, message.destination),
                    message.part,
                    message.chunk,
                    is_last=message.is_last,
                )
                self._look(message.room)
            case SourceFailed():
                self._rooms.failed(message.room, message.epoch, (message.source, message.destination))
                self._look(message.room)
            case SourceDrained():
                self._note_drained(message)
            case _:
                _LOGGER.warning("decode hears %s, which is not for it", type(message).__name__)

    def abort(self, room: int) -> None:
        """Give up a room that was reserved and has not ended; another one stays as it is."""
        if room in self._reserved and self.state(room) not in _ENDED:
            self._fail(self._reserved[room])

    def state(self, room: int) -> RoomState:
        """Say how far a room is, whoever opened it. Refuses one that is not open."""
        self._look(room)
        return self._rooms.state(room)

    def commit(self, room: int) -> tuple[bytes, ...]:
        """Return the metadata of each place, by copy, and free the slots.

        Refuses a room that was not reserved, has not succeeded, or was committed.
        """
        reserved = self._reserved.get(room)
        if reserved is None:
            raise RefusedError(Refusal.ROOM_UNKNOWN, room)
        if self.state(room) is not RoomState.SUCCESS or reserved.is_committed:
            raise RefusedError(Refusal.ROOM_NOT_READY, room)
        found = tuple(self._memories[each.rank].slots.read(each.slot).data for each in reserved.places)
        reserved.is_committed = True
        self._unread.pop(room, None)
        for each in reserved.places:
            self._memories[each.rank].give_slot(each.slot)
        return found

    def close_room(self, room: int) -> None:
        """Forget a room that has ended, and free its pages when nobody writes there any more."""
        self._look(room)
        self.end_quarantines()
        self._rooms.close(room)
        reserved = self._reserved.pop(room, None)
        if reserved is None:
            return
        reserved.is_closed = True
        self._unread.pop(room, None)
        self._by_age.pop(reserved.epoch, None)
        if reserved.epoch in self._undrained:
            reserved.quarantine(self._memories)
        else:
            reserved.give(self._memories)

    def pools(self) -> tuple[DecodeCounts, ...]:
        """Count the pages and slots of each rank."""
        return tuple(memory.counts() for memory in self._memories.values())

    def step(self) -> bool:
        """Let time do what it does, and pump."""
        self.expire_rooms()
        self.end_quarantines()
        return self.pump()

    def pump(self) -> bool:
        """Look at slots, and hand out messages; say whether there were any."""
        for room in list(self._unread):
            self._look(room)
        has_any = bool(self._outgoing)
        while self._outgoing:
            self._ports.send(*self._outgoing.popleft())
        return has_any

    def expire_rooms(self) -> None:
        """Fail the rooms that have not ended in time."""
        latest = self._ports.now() - self._limits.patience
        while (oldest := _first(self._by_age)) is not None and oldest.opened_at <= latest:
            del self._by_age[oldest.epoch]
            if self.state(oldest.room) not in _ENDED:
                self._fail(oldest)

    def end_quarantines(self) -> None:
        """Take nobody for a writer any more where a room failed long enough ago."""
        latest = self._ports.now() - self._limits.quarantine
        while (oldest := _first(self._undrained)) is not None and oldest.failed_at is not None:
            if oldest.failed_at > latest:
                return
            self._note_nobody_writes(oldest)

    def _streams(self, ranks: Sequence[int]) -> list[tuple[tuple[int, int], str]]:
        """List what has to arrive at some decode ranks."""
        return [
            ((source, rank), part)
            for rank in ranks
            for source in self._sources
            for part in (*self._parts, *([AUX] if source == _AUX_SOURCE else []))
        ]

    def _tell_opened(self, reserved: ReservedRoom) -> None:
        for place in reserved.places:
            opened = RoomOpened(
                room=reserved.room,
                epoch=reserved.epoch,
                destination=place.rank,
                num_destinations=len(reserved.places),
                pages=place.pages,
                slot_address=self._memories[place.rank].slots.address(place.slot),
                aux_bytes=self._memories[place.rank].slots.aux_bytes,
            )
            self._outgoing.extend((place.rank, source, opened) for source in self._sources)

    def _look(self, room: int) -> None:
        """See whether a reserved room has failed: a source told so, or a slot names another room."""
        reserved = self._reserved.get(room)
        if reserved is None or reserved.has_failed:
            return
        state = self._rooms.state(room)
        if state is RoomState.SUCCESS and not reserved.is_committed:
            self._unread[room] = None
            if reserved.slots_are_ours(self._memories):
                return
            state = RoomState.FAILED
        if state is RoomState.FAILED:
            self._fail(reserved)

    def _fail(self, reserved: ReservedRoom) -> None:
        self._rooms.give_up(reserved.room)
        self._unread.pop(reserved.room, None)
        reserved.failed_at = self._ports.now()
        self._undrained[reserved.epoch] = reserved
        for place in reserved.places:
            notice = RoomAborted(room=reserved.room, epoch=reserved.epoch, destination=place.rank)
            self._outgoing.extend((place.rank, source, notice) for source in self._sources)

    def _note_drained(self, message: SourceDrained) -> None:
        failed = self._undrained.get(message.epoch)
        if failed is None or failed.room != message.room:
            return
        failed.undrained.discard((message.source, message.destination))
        if not failed.undrained:
            self._note_nobody_writes(failed)

    def _note_nobody_writes(self, failed: ReservedRoom) -> None:
        """Free what a room that failed had, now or when it is closed."""
        del self._undrained[failed.epoch]
        if failed.is_closed:
            failed.give(self._memories)


def _first(rooms: Mapping[int, ReservedRoom]) -> ReservedRoom | None:
    return next(iter(rooms.values()), None)


def _require_room(wanted: int, available: Sequence[int]) -> None:
    deficit = [max(0, wanted - have) for have in available]
    if any(deficit):
        raise CapacityWaitError([wanted] * len(available), available, deficit)

"""Both sides of transfers in one process, in which nothing happens by itself: no message, no write, no job, no time.

Knows how the classes under test are put together, and keeps the ledgers of pages beside them. Does not know which
requests there are.

The network keeps one promise: what a room may still write has landed or is lost for good when its quarantine ends, and
so has what is in doubt when the quarantine of its source pages ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from sharedkv import control_messages
from sharedkv.allocation import FreeRoom, OwnerLaneAllocator
from sharedkv.control_messages import BufferPlace, Message, Registration, RoomAborted, RoomOpened, SourceDrained
from sharedkv.engines.engine import Timing
from sharedkv.engines.engine_of import CarriedEngine
from sharedkv.engines.regions import Region
from sharedkv.geometry import Geometry, PageId
from sharedkv.layouts import INDEX
from sharedkv.rooms import RoomState
from sharedkv.transfer.decode import DecodeReceiver
from sharedkv.transfer.decode_memory import DecodeMemory, decode_memory, slot_memory_bytes
from sharedkv.transfer.decode_rooms import Reservation
from sharedkv.transfer.jobs import JobQueue
from sharedkv.transfer.ports import (
    KV,
    DecodeLimits,
    DecodePorts,
    NoPins,
    PlacedBuffer,
    PrefillPorts,
    RankSource,
    SendLimits,
)
from sharedkv.transfer.prefill import PrefillSender
from tests.transfer.held_carrier import HeldBatch, HeldCarrier, HeldNetwork, Row
from tests.transfer.page_ledger import STAMP, Hold, PageBrokenError, PageLedger, Pool
from tests.transfer.write_ledger import WriteLedger

GEOMETRY = Geometry(cp_size=2, page_size=4, pages=32)
LAYERS = 3
GROUP = 2
PARTS = (KV, INDEX)
DECODE_RANKS = 2
DECODE_PAGES = 20
SLOTS = 4
AUX_BYTES = 8
DEADLINE = 6.0
QUARANTINE = 8.0
PATIENCE = 20.0
SLOT_BYTES = slot_memory_bytes(1, AUX_BYTES)
FOREVER = 1e9


@dataclass(frozen=True, kw_only=True)
class Faulty:
    """What is wrong on purpose, so that a test sees it found."""

    frees_on_close: bool = False
    answers_at_once: bool = False
    pins_nothing: bool = False


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Whether each prefill rank is a process of its own, as one by one, and what is wrong on purpose."""

    is_one_by_one: bool = False
    faulty: Faulty = Faulty()


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A message on the way to a rank of one side."""

    to_prefill: bool
    rank: int
    data: bytes


@dataclass(eq=False, kw_only=True)
class Lease:
    """A room as the ledgers know it: from its reservation until nobody writes for it any more."""

    serial: int
    room: int
    reservation: Reservation
    slot_addresses: list[int]
    failed_at: float | None = None
    is_closed: bool = False
    drained: set[tuple[int, int]] = field(default_factory=set)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the decode ranks of the room."""
        return tuple(place.rank for place in self.reservation.places)


class Cluster:
    """All prefill ranks and all decode ranks, the network, the clock, and what is true of every page."""

    def __init__(self, chance: Random, shape: Shape) -> None:
        self.now = 0.0
        self.seen: Counter[str] = Counter()
        self.letters: list[Letter] = []
        self.leases: dict[int, Lease] = {}
        self._chance = chance
        self._faulty = shape.faulty
        self._serials: dict[tuple[int, int], int] = {}
        num_buffers = LAYERS * len(PARTS)
        self.sources = [Pool(num_buffers, GEOMETRY.lane_capacity, STAMP.size) for _ in range(GEOMETRY.cp_size)]
        self.pools = [Pool(num_buffers, DECODE_PAGES, STAMP.size) for _ in range(DECODE_RANKS)]
        self.ledgers = [PageLedger(pool) for pool in self.pools]
        self._writes = WriteLedger(self.sources, self.pools, DEADLINE)
        self.slots = [np.zeros(slot_memory_bytes(SLOTS, AUX_BYTES), dtype=np.uint8) for _ in range(DECODE_RANKS)]
        self.network = HeldNetwork(self._posted, self._landed)
        self.allocator = OwnerLaneAllocator(GEOMETRY, FreeRoom())
        ranks = range(GEOMETRY.cp_size)
        processes = [[rank] for rank in ranks] if shape.is_one_by_one else [[*ranks]]
        self.jobs = [JobQueue() for _ in processes]
        self.senders = [self._sender(each, jobs) for each, jobs in zip(processes, self.jobs, strict=True)]
        self._sender_of = {rank: self.senders[at] for at, each in enumerate(processes) for rank in each}
        self.receiver = self._receiver()
        for rank in range(DECODE_RANKS):
            registration = self._registration(rank)
            for sender in self.senders:
                sender.connect(registration)

    def _engine(self, name: str, pools: Sequence[Pool]) -> CarriedEngine:
        timing = Timing(deadline_s=FOREVER, now=lambda: self.now)
        engine = CarriedEngine(HeldCarrier(self.network, name), timing)
        for pool in pools:
            engine.register(Region(address=pool.address, num_bytes=pool.bytes.nbytes))
        return engine

    def _sender(self, ranks: Sequence[int], jobs: JobQueue) -> PrefillSender:
        ports = PrefillPorts(
            send=lambda rank, destination, message: self._post_letter(message, rank=destination, to_prefill=False),  # noqa: ARG005 - the message names its source
            record=Written,
            pins=NoPins() if self._faulty.pins_nothing else self.allocator,
            now=lambda: self.now,
        )
        pools = {rank: self.sources[rank] for rank in ranks}
        sources = [
            RankSource(rank=rank, buffers=tuple(_placed(pool, number) for number in range(len(pool.bytes))))
            for rank, pool in pools.items()
        ]
        limits = SendLimits(deadline=DEADLINE, quarantine=QUARANTINE, group=GROUP, aux_bytes=AUX_BYTES)
        return PrefillSender(
            GEOMETRY, sources, self._engine(f"prefill {ranks}", [*pools.values()]), jobs, ports, limits
        )

    def _receiver(self) -> DecodeReceiver:
        self._memories: list[DecodeMemory] = [
            decode_memory(rank, DECODE_PAGES, SLOTS, AUX_BYTES, self.slots[rank]) for rank in range(DECODE_RANKS)
        ]
        ports = DecodePorts(
            send=lambda rank, source, message: self._post_letter(message, rank=source, to_prefill=True),  # noqa: ARG005 - the message names its destination
            now=lambda: self.now,
        )
        limits = DecodeLimits(patience=PATIENCE, quarantine=0 if self._faulty.frees_on_close else QUARANTINE)
        return DecodeReceiver(self._memories, range(GEOMETRY.cp_size), PARTS, ports, limits)

    def _registration(self, rank: int) -> Registration:
        pool, slots = self.pools[rank], self.slots[rank]
        engine = self._engine(f"decode {rank}", [pool])
        engine.register(Region(address=int(slots.ctypes.data), num_bytes=slots.nbytes))
        buffers = tuple(
            BufferPlace(address=pool.buffer_address(number), page_bytes=pool.page_bytes)
            for number in range(len(pool.bytes))
        )
        return Registration(fingerprint={}, engine=engine.describe(), buffers=buffers, reply_to="", rank=rank)

    def reserve(self, serial: int, room: int, num_pages: int, ranks: Sequence[int]) -> Lease:
        """Have decode reserve a room, and see that nobody may write what it got."""
        reservation = self.receiver.reserve(room, num_pages, ranks)
        addresses = [self._memories[place.rank].slots.address(place.slot) for place in reservation.places]
        lease = Lease(serial=serial, room=room, reservation=reservation, slot_addresses=addresses)
        for place, address in zip(reservation.places, addresses, strict=True):
            self.ledgers[place.rank].reserved(serial, place.pages, self._writes.written_pages(place.rank))
            self._writes.require_unwritten(address, SLOT_BYTES)
        self.leases[serial] = lease
        self._serials[room, reservation.epoch] = serial
        return lease

    def commit(self, lease: Lease) -> tuple[bytes, ...]:
        """Have decode commit a room, of which every byte has to be there."""
        for place in lease.reservation.places:
            self.ledgers[place.rank].require_whole(lease.serial)
        lease.slot_addresses.clear()
        return self.receiver.commit(lease.room)

    def close_room(self, lease: Lease) -> None:
        """Have decode close a room."""
        self.receiver.close_room(lease.room)
        lease.is_closed = True
        for rank in lease.ranks:
            self.ledgers[rank].closed(lease.serial)

    def deliver(self, letter: Letter, *, again: bool = False) -> None:
        """Bring a message to its rank; one that comes `again` stays on the way."""
        if not again:
            self.letters.remove(letter)
        message = control_messages.decode(letter.data)
        if letter.to_prefill:
            self._sender_of[letter.rank].hear(letter.rank, message)
            if self._faulty.answers_at_once and isinstance(message, RoomAborted):
                self._post_letter(
                    SourceDrained(
                        room=message.room, epoch=message.epoch, source=letter.rank, destination=message.destination
                    ),
                    rank=message.destination,
                    to_prefill=False,
                )
            return
        if isinstance(message, SourceDrained):
            self._note_drained(message)
        self.receiver.hear(message)

    def tick(self) -> None:
        """Let time go on by one, after the network has done what it promised."""
        self._keep_promises()
        self.now += 1
        for sender in self.senders:
            sender.expire_flights()
            sender.expire_chunks()
        self.receiver.expire_rooms()
        for sender in self.senders:
            sender.end_doubts()
        self.receiver.end_quarantines()

    def look(self) -> None:
        """Let both sides look around, and hold what they say against the ledgers."""
        for sender in self.senders:
            sender.pump()
        self.receiver.pump()
        for lease in [*self.leases.values()]:
            if not lease.is_closed and lease.failed_at is None and self.state(lease) is RoomState.FAILED:
                lease.failed_at = self.now
            if lease.is_closed and self._is_free(lease):
                self.seen["freed in time" if lease.failed_at is None or self._is_drained(lease) else "freed late"] += 1
                for rank in lease.ranks:
                    self.ledgers[rank].freed(lease.serial)
                del self.leases[lease.serial]
        for counts, ledger in zip(self.receiver.pools(), self.ledgers, strict=True):
            ledger.require_accounted()
            reserved, quarantined = ledger.count(Hold.OPEN), ledger.count(Hold.QUARANTINED)
            wanted = (DECODE_PAGES - reserved - quarantined, reserved, quarantined)
            if (counts.free, counts.reserved, counts.quarantined) != wanted:
                raise PageBrokenError(f"decode counts {counts}, free, reserved and quarantined are {wanted}")

    def state(self, lease: Lease) -> RoomState:
        """Return what decode says of a room."""
        return self.receiver.state(lease.room)

    def require_unread(self, pages: Sequence[int]) -> None:
        """Raise `PageBrokenError` where a write that may still land reads one of these logical pages."""
        for page in pages:
            self._writes.require_unread(GEOMETRY.lane(PageId(page)), GEOMETRY.physical_page(PageId(page)))

    def land(self, batch: HeldBatch) -> None:
        """Let a batch land."""
        is_late = self._writes.is_late(batch, self.now)
        self.seen["landed late" if is_late else "landed"] += 1
        self.network.land(batch)
        self._writes.ended(batch, is_known=not is_late)

    def fail(self, batch: HeldBatch, num_rows: int, *, is_definite: bool) -> None:
        """Let a batch fail; unless that is definite, the rest of it may land later."""
        self.network.fail(batch, num_rows, is_definite=is_definite)
        if is_definite:
            self._writes.ended(batch, is_known=True)
        else:
            self._writes.doubtful(batch, self.now)

    def _is_free(self, lease: Lease) -> bool:
        """Say whether nobody writes for a closed room any more, as far as decode was told."""
        if lease.failed_at is None:
            return True
        return self._is_drained(lease) or self.now >= lease.failed_at + QUARANTINE

    def _is_drained(self, lease: Lease) -> bool:
        return len(lease.drained) == GEOMETRY.cp_size * len(lease.ranks)

    def _note_drained(self, message: SourceDrained) -> None:
        for lease in self.leases.values():
            if (lease.room, lease.reservation.epoch) == (message.room, message.epoch) and lease.failed_at is not None:
                lease.drained.add((message.source, message.destination))

    def _post_letter(self, message: Message, *, rank: int, to_prefill: bool) -> None:
        if isinstance(message, SourceDrained) and not self._faulty.answers_at_once:
            serial = self._serials[message.room, message.epoch]
            self._writes.require_drained(serial, message.source, message.destination)
        self.letters.append(Letter(to_prefill=to_prefill, rank=rank, data=control_messages.encode(message)))

    def _posted(self, batch: HeldBatch) -> None:
        row = batch.rows[0]
        serial = self._serial_of(row)
        self._writes.begun(batch, serial, self._slot_rank(row), self.now)

    def _slot_rank(self, row: Row) -> int:
        """Return the decode rank to whose slots a write goes, and -1 for one that goes elsewhere."""
        for rank, slots in enumerate(self.slots):
            if 0 <= row.destination - slots.ctypes.data < slots.nbytes:
                return rank
        return -1

    def _serial_of(self, row: Row) -> int:
        """Return the request that has the place of a write."""
        for pool, ledger in zip(self.pools, self.ledgers, strict=True):
            if pool.holds(row.destination):
                (_, page), *_ = pool.places(row.destination, row.num_bytes)
                owner = ledger.owner(page)
                if owner is None:
                    raise PageBrokenError(f"a write to page {page}, which is nobody's, was begun")
                return owner
        for lease in self.leases.values():
            if row.destination in lease.slot_addresses:
                return lease.serial
        raise PageBrokenError("a write to a slot that is nobody's was begun")

    def _landed(self, batch: HeldBatch, row: Row) -> None:
        serial = self._writes.serial(batch)
        if self._serial_of(row) != serial:
            raise PageBrokenError(f"a write of request {serial} landed in a place of {self._serial_of(row)}")
        for pool, ledger in zip(self.pools, self.ledgers, strict=True):
            if pool.holds(row.destination):
                ledger.landed(row.destination, row.num_bytes)

    def _keep_promises(self) -> None:
        ending = {
            lease.serial
            for lease in self.leases.values()
            if lease.failed_at is not None and self.now + 1 >= lease.failed_at + QUARANTINE
        }
        told = {(self.leases[serial].room, self.leases[serial].reservation.epoch) for serial in ending}
        for letter in [*self.letters]:
            message = control_messages.decode(letter.data)
            if isinstance(message, RoomOpened | RoomAborted) and (message.room, message.epoch) in told:
                self.deliver(letter)
        for batch in [*self.network.live.values()]:
            is_over = self.now + 1 >= self._writes.is_lost_at(batch) + QUARANTINE
            if self._writes.serial(batch) in ending or is_over:
                if self._chance.random() < 0.5:
                    self.land(batch)
                else:
                    self.network.lose(batch)
                    self._writes.ended(batch, is_known=False)


class Written:
    """The event of rows that are in memory already."""

    def synchronize(self) -> None:
        """Return at once."""


def _placed(pool: Pool, number: int) -> PlacedBuffer:
    layer, part = divmod(number, len(PARTS))
    return PlacedBuffer(layer=layer, part=PARTS[part], address=pool.buffer_address(number), page_bytes=pool.page_bytes)

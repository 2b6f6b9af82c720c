"""Prefill and decode in one process: pools that can be looked at, a clock that stands still, and a network by hand.

Every page of every buffer of prefill holds bytes of its own, so that a byte at decode says where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.control_messages import BufferPlace, Message, Registration, decode, encode
from sharedkv.engines.engine import Timing
from sharedkv.engines.holding import HoldingEngine
from sharedkv.engines.memory import Memory, memory_engine
from sharedkv.engines.regions import Region
from sharedkv.geometry import Geometry, PageId
from sharedkv.transfer.chunks import Chunk
from sharedkv.transfer.decode import DecodeReceiver
from sharedkv.transfer.decode_memory import decode_memory, slot_memory_bytes
from sharedkv.transfer.jobs import JobQueue
from sharedkv.transfer.ports import (
    INDEX,
    KV,
    DecodeLimits,
    DecodePorts,
    PlacedBuffer,
    PrefillPorts,
    RankSource,
    SendLimits,
    WriteEvent,
)
from sharedkv.transfer.prefill import PrefillSender

Bytes = NDArray[np.uint8]
PAGE_BYTES = {KV: 8, INDEX: 4}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How large a world is, and how long it waits."""

    cp_size: int = 2
    pages: int = 24
    layers: int = 3
    parts: tuple[str, ...] = (KV, INDEX)
    decode_ranks: int = 1
    decode_pages: int = 16
    slots: int = 4
    aux_bytes: int = 16
    group: int = 2
    deadline: int = 10
    patience: int = 100
    quarantine: int = 20


class Done:
    """An event of work that is done."""

    def synchronize(self) -> None:
        """Wait for nothing."""


@dataclass
class Heard:
    """What a listener heard."""

    boundaries: list[int] = field(default_factory=list)
    declined: int = 0

    def on_boundary(self, layer: int) -> None:
        self.boundaries.append(layer)

    def on_declined(self) -> None:
        self.declined += 1


@dataclass(frozen=True, kw_only=True)
class Posted:
    """A message on its way, as bytes; `to_prefill` says to which side."""

    to_prefill: bool
    rank: int
    data: bytes

    @property
    def message(self) -> Message:
        return decode(self.data)


class World:
    """Both sides. `run` lets everything happen that nothing holds back."""

    def __init__(self, shape: Shape | None = None) -> None:
        self.shape = shape = shape or Shape()
        self.now = 0
        self.geometry = Geometry(cp_size=shape.cp_size, page_size=4, pages=shape.pages)
        self.allocator = OwnerLaneAllocator(self.geometry, FreeRoom())
        self.on_the_way: list[Posted] = []
        self.sent: list[Posted] = []
        self.are_messages_held = False
        self.are_jobs_held = False
        self.heard = Heard()
        self.num_events = 0
        self.memory = memory = Memory()
        self.engine = HoldingEngine(memory_engine(memory, Timing()))
        self._receiving = memory_engine(memory, Timing())
        self.pools = [self._pool(shape.pages // shape.cp_size, rank + 1) for rank in range(shape.cp_size)]
        self.decode_pools = [self._pool(shape.decode_pages, 0) for _ in range(shape.decode_ranks)]
        self.jobs = JobQueue()
        self._make_sides()

    def _make_sides(self) -> None:
        shape = self.shape
        ports = PrefillPorts(
            send=lambda _rank, destination, message: self._post(message, rank=destination, to_prefill=False),
            record=self._record,
            pins=self.allocator,
            now=lambda: self.now,
            listener=self.heard,
        )
        limits = SendLimits(
            deadline=shape.deadline, quarantine=shape.quarantine, group=shape.group, aux_bytes=shape.aux_bytes
        )
        for pool in self.pools:
            self.engine.register(_region(pool))
        sources = [RankSource(rank=rank, buffers=self._buffers(pool)) for rank, pool in enumerate(self.pools)]
        self.sender = PrefillSender(self.geometry, sources, self.engine, self.jobs, ports, limits)
        memories = []
        for rank in range(shape.decode_ranks):
            slots = np.zeros(slot_memory_bytes(shape.slots, shape.aux_bytes) + 8, dtype=np.uint8)
            self._receiving.register(_region(slots))
            self._receiving.register(_region(self.decode_pools[rank]))
            memories.append(decode_memory(rank, shape.decode_pages, shape.slots, shape.aux_bytes, slots))
        self.memories = memories
        self.receiver = DecodeReceiver(
            memories,
            range(shape.cp_size),
            shape.parts,
            DecodePorts(
                send=lambda _rank, source, message: self._post(message, rank=source, to_prefill=True),
                now=lambda: self.now,
            ),
            DecodeLimits(patience=shape.patience, quarantine=shape.quarantine),
        )
        for rank, pool in enumerate(self.decode_pools):
            buffers = tuple(
                BufferPlace(address=each.address, page_bytes=each.page_bytes) for each in self._buffers(pool)
            )
            self.sender.connect(
                Registration(fingerprint={}, engine=self._receiving.describe(), buffers=buffers, reply_to="", rank=rank)
            )

    def _pool(self, num_pages: int, rank: int) -> Bytes:
        """Return the buffers of one rank, one behind another; every byte of a page says which it is."""
        rows = []
        for layer in range(self.shape.layers):
            for part in self.shape.parts:
                for page in range(num_pages + 1):
                    row = np.array([rank, layer, self.shape.parts.index(part) + 1, page], dtype=np.uint8)
                    rows.append(np.resize(row if rank else row * 0, PAGE_BYTES[part]))
        return np.concatenate(rows)

    def _buffers(self, pool: Bytes) -> tuple[PlacedBuffer, ...]:
        placed = []
        address = int(pool.ctypes.data)
        num_pages = len(pool) // (self.shape.layers * sum(PAGE_BYTES[part] for part in self.shape.parts))
        for layer in range(self.shape.layers):
            for part in self.shape.parts:
                placed.append(PlacedBuffer(layer=layer, part=part, address=address, page_bytes=PAGE_BYTES[part]))
                address += num_pages * PAGE_BYTES[part]
        return tuple(placed)

    def page(self, layer: int, part: str, page: int, rank: int = 0) -> tuple[int, ...]:
        """Return what the first bytes of a page of decode say: rank + 1, layer, part + 1, physical page."""
        return self._first_bytes(self.decode_pools[rank], layer, part, page)

    def _first_bytes(self, pool: Bytes, layer: int, part: str, page: int) -> tuple[int, ...]:
        at = layer * len(self.shape.parts) + self.shape.parts.index(part)
        first = self._buffers(pool)[at].address - int(pool.ctypes.data) + page * PAGE_BYTES[part]
        found = pool[first : first + PAGE_BYTES[part]]
        return tuple(found[:4].tolist())

    def holds(self, pages: Sequence[int], places: Sequence[int], part: str = KV, rank: int = 0) -> bool:
        """Say whether pages of decode hold the bytes of these logical pages in every layer."""
        return all(
            self.page(layer, part, place, rank)
            == (
                (page - 1) % self.shape.cp_size + 1,
                layer,
                self.shape.parts.index(part) + 1,
                (page - 1) // self.shape.cp_size + 1,
            )
            for layer in range(self.shape.layers)
            for page, place in zip(pages, places, strict=True)
        )

    def allocate(self, num_pages: int) -> tuple[PageId, ...]:
        """Return pages in use."""
        given = self.allocator.extend([ExtendRequest(request="r", prefix_tokens=0, extend_tokens=4 * num_pages)])
        return tuple(given.pages)

    def chunk(
        self, room: int, pages: Sequence[int], first: int, *, is_last: bool, whole: Sequence[int] = (), aux: bytes = b""
    ) -> None:
        """Send a chunk; `whole` are the pages of the request, for the last one."""
        state = whole if is_last and INDEX in self.shape.parts else ()
        self.sender.send(Chunk(room=room, pages=pages, first_position=first, is_last=is_last, state=state, aux=aux))
        self.run()

    def open(self, room: int, num_pages: int) -> tuple[tuple[int, ...], ...]:
        """Reserve a room on every decode rank, and return its pages there."""
        reserved = self.receiver.reserve(room, num_pages, range(self.shape.decode_ranks))
        self.run()
        return tuple(place.pages for place in reserved.places)

    def send_whole(self, room: int, num_pages: int, aux: bytes = b"aux") -> tuple[tuple[PageId, ...], tuple[int, ...]]:
        """Reserve a room and send all of it at once; return the pages of both sides."""
        (places,) = self.open(room, num_pages)
        pages = self.allocate(num_pages)
        self.chunk(room, pages, 0, is_last=True, whole=pages, aux=aux)
        return pages, places

    def run(self) -> None:
        """Let everything happen that nothing holds back."""
        while True:
            has_any = not self.are_jobs_held and self.jobs.run_all()
            has_any |= self.sender.pump()
            has_any |= self.receiver.pump()
            while self.on_the_way and not self.are_messages_held:
                has_any = True
                self.deliver(self.on_the_way.pop(0))
            if not has_any:
                return

    def deliver(self, posted: Posted) -> None:
        """Let one message come."""
        if posted.to_prefill:
            self.sender.hear(posted.rank, posted.message)
        else:
            self.receiver.hear(posted.message)

    def advance(self, ticks: int) -> None:
        """Let time go on, tick by tick."""
        for _ in range(ticks):
            self.now += 1
            for expire in (
                self.sender.expire_flights,
                self.sender.expire_chunks,
                self.receiver.expire_rooms,
                self.receiver.end_quarantines,
                self.sender.end_doubts,
            ):
                expire()
                self.run()

    def kinds(self) -> list[str]:
        """List the kinds of all messages that were sent, in order."""
        return [type(posted.message).__name__ for posted in self.sent]

    def in_use(self) -> set[int]:
        """Return the pages of prefill that are in use."""
        return {page for pages in self.allocator.pages().in_use for page in pages}

    def is_clean(self) -> bool:
        """Say whether nothing is left at decode, and nothing is pinned or in flight."""
        counts = self.receiver.pools()
        are_free = all((each.free, each.free_slots) == (self.shape.decode_pages, self.shape.slots) for each in counts)
        return are_free and not self.sender.flights() and not self.allocator.invariants()

    def close(self) -> None:
        """Give up the engines."""
        self.engine.close()
        self._receiving.close()

    def _record(self) -> WriteEvent:
        self.num_events += 1
        return Done()

    def _post(self, message: Message, *, rank: int, to_prefill: bool) -> None:
        posted = Posted(to_prefill=to_prefill, rank=rank, data=encode(message))
        self.sent.append(posted)
        self.on_the_way.append(posted)


def _region(memory: Bytes) -> Region:
    return Region(address=int(memory.ctypes.data), num_bytes=memory.nbytes)

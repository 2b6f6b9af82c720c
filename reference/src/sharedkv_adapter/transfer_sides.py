"""Both sides of the transfers of one session: all prefill ranks, all decode ranks, an engine and messages between them.

Knows how the parts are put together and how they go on. Does not know the calls of the contract. Needs torch.

    pools of ranks ──engine, whose flights may be held──> pools of decode ranks, slots
    PrefillSender  <──Network, whose messages may stay on the way──>  DecodeReceiver

Everything runs on the caller's thread: after a call all goes on that is not stalled, until nothing does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from sharedkv.allocation import OwnerLaneAllocator
from sharedkv.control_messages import BufferPlace, Message, Registration, decode, encode
from sharedkv.engines.engine import Engine, Timing
from sharedkv.engines.holding import HoldingEngine
from sharedkv.engines.memory import Memory, memory_engine
from sharedkv.engines.regions import Region
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.layouts import INDEX
from sharedkv.pools import Pool
from sharedkv.rooms import Rooms
from sharedkv.streams import Event
from sharedkv.tiers import load_stream
from sharedkv.transfer.decode import DecodeReceiver
from sharedkv.transfer.decode_memory import decode_memory, slot_memory_bytes
from sharedkv.transfer.jobs import JobQueue
from sharedkv.transfer.metadata_slots import Bytes, Metadata
from sharedkv.transfer.ports import INDEX as INDEX_PART
from sharedkv.transfer.ports import KV, DecodeLimits, DecodePorts, PlacedBuffer, PrefillPorts, RankSource, SendLimits
from sharedkv.transfer.prefill import PrefillSender
from sharedkv.transfer.send_flights import FlightView
from sharedkv.writing import compute_stream
from sharedkv_adapter.data_plane import WORKER_CRASH, DataPlane, as_bytes
from sharedkv_adapter.network import Network
from sharedkv_adapter.session_clock import SessionClock
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract


@dataclass(frozen=True, kw_only=True)
class SessionParts:
    """What transfers share with the rest of their session."""

    transfer: contract.TransferConfig
    fingerprint: Mapping[str, str]
    plane: DataPlane
    allocator: OwnerLaneAllocator
    rooms: Rooms
    clock: SessionClock


@dataclass(frozen=True, kw_only=True)
class Joined:
    """What was recorded on several streams, as one event."""

    events: Sequence[Event]

    def synchronize(self) -> None:
        """Return when all before each of them is done."""
        for event in self.events:
            event.synchronize()


class TransferSides:
    """All ranks of one session."""

    def __init__(self, parts: SessionParts) -> None:
        config, plane = parts.transfer, parts.plane
        self._parts = parts
        self._are_workers_stalled = False
        ranks = range(config.decode_ranks)
        self._decode_pools = tuple(_decode_pool(plane, config.decode_pages) for _ in ranks)
        self._slot_memories = tuple(_slot_memory(config) for _ in ranks)
        self._memories = tuple(
            decode_memory(
                rank,
                self._decode_pools[rank].physical_pages - 1,
                config.slots,
                config.aux_bytes,
                self._slot_memories[rank],
            )
            for rank in ranks
        )
        self._jobs = JobQueue()
        self.network = Network()
        world = Memory()
        self._engine = HoldingEngine(memory_engine(world, _timeless()))
        self.sender = self._made_sender()
        self.receiver = self._made_receiver()
        self._targets = tuple(memory_engine(world, _timeless()) for _ in self._decode_pools)
        for rank in range(len(self._decode_pools)):
            self._introduce(rank)
        plane.on_fault.append(self._hear_fault)
        for fault in plane.faults:
            self._hear_fault(fault)

    def settle(self) -> None:
        """Let everything happen that can."""
        while any((self._run_jobs(), self.sender.pump(), self.receiver.pump(), self.network.deliver_all())):
            pass

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Let everything happen that can once a call is answered; a call that raises changes nothing."""
        with contract_errors():
            yield
        self.settle()

    def stall(self, what: str) -> None:
        """Let nothing of a kind go on by itself from now on."""
        self._switch(what, is_on=True)

    def resume(self, what: str) -> None:
        """Let a kind go on, and all that waits for it."""
        self._switch(what, is_on=False)
        if what == "writes":
            for flight in self.sender.flights():
                if not flight.is_in_doubt:
                    self._engine.land(flight.transfer)
        self.settle()

    def tick(self) -> None:
        """Do what is due at this tick of the clock, in the order of the contract."""
        for expire in (
            self.sender.expire_flights,
            self.sender.expire_chunks,
            self.receiver.expire_rooms,
            self.sender.end_doubts,
            self.receiver.end_quarantines,
        ):
            expire()
            self.settle()

    def flights(self) -> tuple[contract.Flight, ...]:
        """Return the flights that have not settled."""
        return tuple(
            contract.Flight(
                flight=each.flight,
                room=each.room,
                epoch=each.epoch,
                source=each.source,
                destination=each.destination,
                part=each.part,
                layers=tuple(each.layers),
                pages=tuple(each.pages),
                is_in_doubt=each.is_in_doubt,
            )
            for each in self.sender.flights()
        )

    def land(self, number: int) -> None:
        """Let all bytes of a flight land. Refuses one that is not there."""
        flight = self._flight(number)
        self._engine.land(flight.transfer)
        self.settle()

    def fail(self, number: int, pages: int, *, is_definite: bool) -> None:
        """Let the first pages of a flight land and the rest fail. Refuses one that is not there, or is in doubt."""
        flight = self._flight(number)
        if flight.is_in_doubt:
            raise RefusedError(Refusal.FLIGHT_UNKNOWN, number)
        self._engine.fail(flight.transfer, flight.first(max(0, pages)), is_definite=is_definite)
        self.settle()

    def scribble(self, rank: int, slot: int, room: int, epoch: int, data: bytes) -> None:
        """Let metadata land in a slot, as much as it holds. Refuses a slot that is not there."""
        if rank not in range(len(self._memories)) or slot not in range(self._memories[rank].slots.num_slots):
            raise RefusedError(Refusal.SLOT_UNKNOWN, f"slot {slot} of decode rank {rank}")
        self._memories[rank].slots.write(
            slot, Metadata(room=room, epoch=epoch, data=data[: self._parts.transfer.aux_bytes])
        )
        self.settle()

    def shown(self, rank: int, layer: int) -> tuple[contract.PoolBuffer, ...]:
        """Return every buffer of a layer of a decode rank. Refuses a layer or a rank that is not there."""
        self._parts.plane.require_layer(layer)
        if rank not in range(len(self._decode_pools)):
            raise RefusedError(Refusal.ROOM_INVALID, f"decode rank {rank}")
        pool = self._decode_pools[rank]
        return tuple(
            contract.PoolBuffer(rank=rank, buffer=buffer.name, data=as_bytes(pool.buffer(layer, buffer.name)))
            for buffer in pool.layout.buffers
        )

    def close(self) -> None:
        """Give up engines and what is in flight."""
        self._engine.close()
        for engine in self._targets:
            engine.close()

    def _made_sender(self) -> PrefillSender:
        plane, limits = self._parts.plane, self._parts.transfer
        sources = [RankSource(rank=rank, buffers=_placed(pool)) for rank, pool in enumerate(plane.pools)]
        _register(self._engine, [region for pool in plane.pools for region in _regions(pool)])
        ports = PrefillPorts(
            send=self._to_decode,
            record=self._record,
            pins=self._parts.allocator,
            now=self._now,
            listener=self,
            fingerprint=self._parts.fingerprint,
        )
        return PrefillSender(
            plane.geometry,
            sources,
            self._engine,
            self._jobs,
            ports,
            SendLimits(
                deadline=limits.deadline,
                quarantine=limits.quarantine,
                group=limits.group,
                aux_bytes=limits.aux_bytes,
            ),
        )

    def _made_receiver(self) -> DecodeReceiver:
        plane, limits = self._parts.plane, self._parts.transfer
        has_index = any(buffer.name == INDEX for buffer in plane.layout.buffers)
        return DecodeReceiver(
            self._memories,
            range(plane.geometry.cp_size),
            (KV, INDEX_PART) if has_index else (KV,),
            DecodePorts(send=self._to_prefill, now=self._now),
            DecodeLimits(patience=limits.patience, quarantine=limits.quarantine),
            self._parts.rooms,
        )

    def _introduce(self, rank: int) -> None:
        """Let senders know a decode rank, from bytes as everything else that they hear of it."""
        engine, pool = self._targets[rank], self._decode_pools[rank]
        _register(engine, [*_regions(pool), _region_of(self._slot_memories[rank])])
        registration = Registration(
            fingerprint=self._parts.fingerprint,
            engine=engine.describe(),
            buffers=tuple(BufferPlace(address=each.address, page_bytes=each.page_bytes) for each in _placed(pool)),
            reply_to="",
            rank=rank,
        )
        self.sender.hear(0, decode(encode(registration)))

    def _now(self) -> int:
        return self._parts.clock.ticks

    def _record(self) -> Joined:
        """Record what was enqueued for the pools of all ranks: writes and loads."""
        backend, ranks = self._parts.plane.backend, range(self._parts.plane.geometry.cp_size)
        return Joined(
            events=[backend.stream(name(rank)).record() for rank in ranks for name in (compute_stream, load_stream)]
        )

    def _to_decode(self, rank: int, destination: int, message: Message) -> None:
        self.network.send(rank, destination, message, self.receiver.hear)

    def _to_prefill(self, rank: int, source: int, message: Message) -> None:
        self.network.send(source, rank, message, partial(self.sender.hear, source))

    def _run_jobs(self) -> bool:
        has_run = False
        while not self._are_workers_stalled and self._jobs.run_next():
            has_run = True
        return has_run

    def _switch(self, what: str, *, is_on: bool) -> None:
        match what:
            case "workers":
                self._are_workers_stalled = is_on
            case "writes":
                self._engine.is_holding = is_on
            case "messages":
                self.network.is_stalled = is_on
            case _:
                raise RefusedError(Refusal.FAULT_UNKNOWN, what)

    def _flight(self, number: int) -> FlightView:
        for flight in self.sender.flights():
            if flight.flight == number:
                return flight
        raise RefusedError(Refusal.FLIGHT_UNKNOWN, number)

    def _hear_fault(self, fault: str) -> None:
        if fault == WORKER_CRASH:
            self._jobs.crash_next()

    def on_boundary(self, layer: int) -> None:
        """Leave the event that one was recorded at the end of a layer."""
        self._parts.plane.note(contract.Event(kind="boundary", reason="", layer=layer))

    def on_declined(self) -> None:
        """Leave the event that a chunk goes as a whole."""
        self._parts.plane.note(contract.Event(kind="fallback", reason="overlap_declined"))


def _timeless() -> Timing:
    """Return the timing of an engine that never gives up: deadlines are those of the session's clock."""
    return Timing(deadline_s=math.inf, now=lambda: 0.0)


def _decode_pool(plane: DataPlane, num_pages: int) -> Pool:
    """Return the pool of a decode rank: one lane of a geometry that has so many pages a lane."""
    own = plane.geometry
    geometry = Geometry(cp_size=own.cp_size, page_size=own.page_size, pages=num_pages * own.cp_size)
    return Pool(geometry, plane.layout, plane.layers)


def _placed(pool: Pool) -> tuple[PlacedBuffer, ...]:
    """Return where the buffers of a pool lie, layer by layer."""
    return tuple(
        PlacedBuffer(
            layer=layer,
            part=INDEX_PART if buffer.name == INDEX else KV,
            address=pool.buffer(layer, buffer.name).data_ptr(),
            page_bytes=pool.geometry.page_size * buffer.stored_row_bytes,
        )
        for layer in range(pool.layers)
        for buffer in pool.layout.buffers
    )


def _regions(pool: Pool) -> list[Region]:
    return [Region(address=each.address, num_bytes=pool.physical_pages * each.page_bytes) for each in _placed(pool)]


def _slot_memory(transfer: contract.TransferConfig) -> Bytes:
    """Return memory for the slots of a decode rank; never none at all, which no engine registers."""
    return np.zeros(max(1, slot_memory_bytes(transfer.slots, transfer.aux_bytes)), dtype=np.uint8)


def _region_of(memory: Bytes) -> Region:
    return Region(address=int(memory.ctypes.data), num_bytes=memory.nbytes)


def _register(engine: Engine, regions: Sequence[Region]) -> None:
    for region in regions:
        engine.register(region)

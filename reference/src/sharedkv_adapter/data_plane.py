"""What the data-plane facets of one session share: the pools of all ranks on both tiers, streams, faults and events.

Knows the reference's pools and how rows cross the contract as bytes. Does not know what a facet does with them. Needs
torch: nothing that plans or allocates imports this.

Whoever reads pools or host memory directly asks for what is settled: ordered after everything that was enqueued.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import torch

from sharedkv.collectives import Exchange, LocalGroup
from sharedkv.copying import PageCopyEngine
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.host_memory import HostMemory, HostShape
from sharedkv.layer_fences import LayerFences
from sharedkv.layouts import Layout
from sharedkv.pools import Pool
from sharedkv.prefetching import SIDE_STREAM
from sharedkv.reading import GroupReader
from sharedkv.streams import RecordingBackend
from sharedkv.tiers import Tiers, backup_stream, load_stream
from sharedkv.writing import ComputedRows, GroupWriter, compute_stream
from sharedkv_conformance import contract

LATE_WRITES = "late_writes"
LATE_COPIES = "late_copies"
PREFETCH_LOST = "prefetch_lost"
NO_KERNELS = "no_kernels"
LATE_BACKUPS = "late_backups"
LATE_LOADS = "late_loads"
WORKER_CRASH = "worker_crash"
FAULTS = (LATE_WRITES, LATE_COPIES, PREFETCH_LOST, NO_KERNELS, LATE_BACKUPS, LATE_LOADS, WORKER_CRASH)
_LATE_STREAMS = {LATE_WRITES: compute_stream, LATE_BACKUPS: backup_stream, LATE_LOADS: load_stream}

NoteEvent = Callable[[contract.Event], None]


class DataPlane:
    """All ranks in one process, on the CPU. Pools are made when a row of them is first needed."""

    def __init__(self, geometry: Geometry, layout: Layout, config: contract.OpenConfig, note: NoteEvent) -> None:
        self.geometry = geometry
        self.layout = layout
        self.layers = config.pool.all_layers
        self.fences = LayerFences()
        self._config = config
        self.backend = RecordingBackend()
        self.note = note
        self.faults: set[str] = set()
        self.collectives: list[contract.Collective] = []
        self.on_fault: list[Callable[[str], None]] = []

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """Return the pool of each rank, as one sees it who waits for nothing."""
        return tuple(Pool(self.geometry, self.layout, self.layers) for _ in range(self.geometry.cp_size))

    @cached_property
    def group(self) -> LocalGroup:
        """Return the ranks, which exchange within this process."""
        return LocalGroup(self.geometry.cp_size, self._note_exchange)

    @cached_property
    def writer(self) -> GroupWriter:
        """Return who writes the rows of all ranks."""
        return GroupWriter(self.geometry, self.pools, self.backend, listener=self)

    @cached_property
    def reader(self) -> GroupReader:
        """Return who reads them."""
        return GroupReader(self.geometry, self.pools, self.backend, self.fences.events)

    @cached_property
    def memories(self) -> tuple[HostMemory, ...]:
        """Return the host memory of each rank, as one sees it who waits for nothing."""
        pool, order = self._config.pool, self._config.host.layout
        shape = HostShape(
            layout=self.layout,
            page_size=self.geometry.page_size,
            layers=pool.layers,
            draft_layers=pool.draft_layers,
            order=order,
        )
        num_pages = max(self._config.host_pages, 0)
        return tuple(HostMemory(shape, num_pages) for _ in range(self.geometry.cp_size))

    @cached_property
    def copy_engine(self) -> PageCopyEngine:
        """Return who copies between the tiers of all ranks."""
        tiers = Tiers(
            ranks=range(self.geometry.cp_size),
            pools=self.pools,
            memories=self.memories,
            backend=self.backend,
            fences=self.fences,
            other_readers=(SIDE_STREAM,),
            count_writes=self.writer.count_writes,
        )
        engine = PageCopyEngine(tiers, listener=self)
        self.writer.after_users(engine.users_of)
        return engine

    def settled_pools(self) -> tuple[Pool, ...]:
        """Return the pools after all rows that were enqueued, by whomever."""
        self._settle(compute_stream, load_stream)
        return self.pools

    def settled_memories(self) -> tuple[HostMemory, ...]:
        """Return the host memories after all copies that were enqueued."""
        self._settle(backup_stream)
        return self.memories

    def require_layer(self, layer: int) -> None:
        """Refuse a layer that pools do not hold; makes none."""
        if layer not in range(self.layers):
            raise RefusedError(Refusal.LAYER_OUTSIDE_POOL, layer)

    def inject(self, fault: str) -> None:
        """Bring about a fault from now on, and tell those who asked to hear of it."""
        if fault not in FAULTS:
            raise RefusedError(Refusal.FAULT_UNKNOWN, fault)
        self.faults.add(fault)
        if fault in _LATE_STREAMS:
            for rank in range(self.geometry.cp_size):
                self.backend.stream(_LATE_STREAMS[fault](rank)).is_late = True
        for hear in self.on_fault:
            hear(fault)

    def shown(self, layer: int) -> tuple[contract.PoolBuffer, ...]:
        """Return every buffer of a layer, rank by rank."""
        self.require_layer(layer)
        return tuple(
            contract.PoolBuffer(rank=rank, buffer=buffer.name, data=as_bytes(pool.buffer(layer, buffer.name)))
            for rank, pool in enumerate(self.settled_pools())
            for buffer in self.layout.buffers
        )

    def shown_host(self, layer: int) -> tuple[contract.HostBuffer, ...]:
        """Return the host pages of a layer, lane by lane."""
        self.require_layer(layer)
        return tuple(
            contract.HostBuffer(
                lane=lane, buffer=buffer.name, data=as_bytes(memory.pages(layer, buffer.name).contiguous())
            )
            for lane, memory in enumerate(self.settled_memories())
            for buffer in self.layout.buffers
        )

    def _settle(self, *streams: Callable[[int], str]) -> None:
        for rank in range(self.geometry.cp_size):
            for name in streams:
                self.backend.stream(name(rank)).record().synchronize()

    def _note_exchange(self, exchange: Exchange) -> None:
        purpose = exchange.purpose
        spans = tuple(contract.Span(start=start, end=end) for start, end in purpose.spans)
        self.collectives.append(
            contract.Collective(kind=exchange.kind, layer=purpose.layer, buffer=purpose.buffer, spans=spans)
        )

    def on_written(self, layer: int, buffer: str) -> None:
        """Leave the event that rows of one buffer are enqueued."""
        self.note(contract.Event(kind="written", reason=buffer, layer=layer))

    def on_layer_end(self, layer: int) -> None:
        """Leave the event that every buffer of a layer is."""
        self.note(contract.Event(kind="layer_end", reason="", layer=layer))

    def on_backup_submitted(self, layer: int, source: str) -> None:
        """Leave the event that the backup of a layer is enqueued."""
        self.note(contract.Event(kind="backup_submitted", reason=source, layer=layer))

    def on_load_submitted(self, layer: int, source: str) -> None:
        """Leave the event that the load of a layer is."""
        self.note(contract.Event(kind="load_submitted", reason=source, layer=layer))


def computed_rows(layout: Layout, rows: Sequence[contract.RankRows]) -> list[ComputedRows]:
    """Read what ranks computed.

    Raises:
        RefusedError: a buffer that the layout does not have, or one that is given twice.

    """
    read = []
    for given in rows:
        buffers = {
            each.buffer: as_rows(each.data, layout.buffer(each.buffer).computed_row_bytes) for each in given.buffers
        }
        if len(buffers) != len(given.buffers):
            raise RefusedError(Refusal.BUFFER_UNKNOWN, "a buffer that is given twice")
        read.append(ComputedRows(domain=given.domain, num_rows=given.rows, buffers=buffers))
    return read


def as_rows(data: bytes, row_bytes: int) -> torch.Tensor:
    """Return bytes as rows (n, row_bytes) uint8, or flat where they are not whole rows."""
    flat = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)
    return flat if len(data) % row_bytes else flat.view(-1, row_bytes)


def as_bytes(tensor: torch.Tensor) -> bytes:
    """Return the bytes of a uint8 tensor on the CPU."""
    return tensor.numpy().tobytes()

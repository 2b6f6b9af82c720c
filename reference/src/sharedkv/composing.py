"""Dense views: cached rows of all ranks and the new rows of this batch, in logical order, on every rank.

Knows pools, stored rows, epochs and the one exchange that a buffer of a layer needs. Does not know scores or attention.

    rank 0   | own prefix rows, 0 elsewhere | own new rows, 0 elsewhere | ...
    rank 1   | own prefix rows, 0 elsewhere | own new rows, 0 elsewhere | ...     + over ranks = the dense view

Every position is brought by exactly one rank, so that a single sum merges prefixes and new rows of all requests, and
nothing is summed twice. A view belongs to a layer and an epoch; views of earlier epochs are given up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch

from sharedkv.collectives import Group, Purpose
from sharedkv.dense import fill_current_rows
from sharedkv.dense_positions import DenseBatch, Ints, ReuseRequest, dense_batch
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.layer_fences import PendingLoads, no_loads
from sharedkv.layouts import Buffer
from sharedkv.pool_rows import gather_pool_rows, stored_rows
from sharedkv.pools import Pool
from sharedkv.rows import on_device, write_rows
from sharedkv.streams import Access, Backend, Event
from sharedkv.writing import ComputedRows, compute_stream, require_buffers, rows_of

OnMaterialized = Callable[[int, str], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseView:
    """The dense view of one layer, for each rank that is played.

    `ready` has for each of these ranks the point of its compute stream from which on its rows are there.
    """

    batch: DenseBatch
    ready: tuple[Event, ...]
    made: Mapping[str, Mapping[int, torch.Tensor]]

    def rows(self, buffer: str) -> list[torch.Tensor]:
        """Return the stored rows of a buffer, uint8 (tokens, bytes of a row), for each rank that is played.

        For work that is ordered after `ready`. Nobody may change them.

        Raises:
            RefusedError: the layout has no such buffer.

        """
        if buffer not in self.made:
            raise RefusedError(Refusal.BUFFER_UNKNOWN, buffer)
        return [self.made[buffer][rank] for rank in sorted(self.made[buffer])]

    def synchronize(self) -> None:
        """Make the caller wait until the view is there on each rank that is played."""
        for event in self.ready:
            event.synchronize()


def _ignore(_layer: int, _buffer: str) -> None:
    pass


class DenseViews:
    """The dense views of the latest epoch, of the ranks that this process plays: `pools` has one for each of them.

    Work is enqueued on the compute streams of these ranks, hence after the rows that were written there, and after
    pending loads into the layer.
    `on_materialized` hears of each buffer of a layer whose prefix rows are gathered.
    """

    def __init__(
        self,
        geometry: Geometry,
        pools: Sequence[Pool],
        group: Group,
        backend: Backend,
        on_materialized: OnMaterialized = _ignore,
        pending_loads: PendingLoads = no_loads,
    ) -> None:
        self._geometry = geometry
        self._pools = tuple(pools)
        self._group = group
        self._streams = tuple(backend.stream(compute_stream(rank)) for rank in group.ranks)
        self._on_materialized = on_materialized
        self._pending_loads = pending_loads
        self._epoch: int | None = None
        self._batch: DenseBatch | None = None
        self._slots: tuple[PrefixSlots, ...] = ()
        self._views: dict[int, DenseView] = {}

    def compose(
        self, layer: int, epoch: int, requests: Sequence[ReuseRequest], rows: Sequence[ComputedRows]
    ) -> DenseBatch:
        """Make the dense view of a layer, or find it made. `rows` has one item for each rank that is played.

        Waits for no device.

        Raises:
            RefusedError: an unknown layer, a batch that has no dense view, an epoch before the latest, another batch
                under the same epoch, or rows that are not those of the batch.

        """
        self._pools[0].require_layer(layer)
        batch = self._batch_of(epoch, dense_batch(self._geometry, requests))
        positions = self._positions(batch, rows)
        if epoch != self._epoch:
            self._epoch, self._batch, self._views = epoch, batch, {}
            self._slots = tuple(
                PrefixSlots(host=batch.prefix_slots(rank), device=pool.device)
                for rank, pool in zip(self._group.ranks, self._pools, strict=True)
            )
        if layer not in self._views:
            self._views[layer] = self._composed(layer, batch, rows, positions)
        return batch

    def view(self, layer: int, epoch: int) -> DenseView:
        """Return a view that was composed.

        Raises:
            RefusedError: it was not, or its epoch is over.

        """
        if epoch != self._epoch or layer not in self._views:
            raise RefusedError(Refusal.VIEW_NOT_COMPOSED, f"layer {layer} of epoch {epoch}")
        return self._views[layer]

    def _batch_of(self, epoch: int, batch: DenseBatch) -> DenseBatch:
        """Return the batch of an epoch, which is the given one unless the epoch has one already."""
        if self._epoch is None or self._batch is None or epoch > self._epoch:
            return batch
        if epoch < self._epoch:
            raise RefusedError(Refusal.EPOCH_STALE, epoch)
        if not batch.is_same(self._batch):
            raise RefusedError(Refusal.EPOCH_OF_ANOTHER_BATCH, epoch)
        return self._batch

    def _positions(self, batch: DenseBatch, rows: Sequence[ComputedRows]) -> list[Ints]:
        """Return where the rows of each rank go, or refuse rows that the batch and the layout do not have."""
        if len(rows) != len(self._group.ranks):
            raise RefusedError(Refusal.ROWS_MISMATCH, f"rows of {len(rows)} ranks of {len(self._group.ranks)}")
        for own in rows:
            require_buffers(self._pools[0].layout, own)
        return [
            batch.current_positions(rank, own.domain, own.num_rows)
            for rank, own in zip(self._group.ranks, rows, strict=True)
        ]

    def _composed(
        self, layer: int, batch: DenseBatch, rows: Sequence[ComputedRows], positions: Sequence[Ints]
    ) -> DenseView:
        """Enqueue what each rank brings, buffer by buffer, and the exchange that merges it."""
        if batch.has_prefix:
            for loaded in self._pending_loads(layer):
                for stream in self._streams:
                    stream.wait(loaded)
        made: dict[str, dict[int, torch.Tensor]] = {}
        for buffer in self._pools[0].layout.buffers:
            own = made[buffer.name] = {}
            for played, rank in enumerate(self._group.ranks):
                brought = Contribution(
                    pool=self._pools[played],
                    layer=layer,
                    buffer=buffer,
                    batch=batch,
                    slots=self._slots[played],
                    computed=rows[played].buffers[buffer.name],
                    positions=positions[played],
                )
                self._streams[played].enqueue(
                    partial(_bring, brought, own, rank),
                    f"compose of {buffer.name}, layer {layer}",
                    reads=[rows_of(rank, layer, buffer.name, brought.slots.host)],
                    writes=[_part(rank, layer, buffer.name)],
                )
            if batch.has_prefix:
                self._on_materialized(layer, buffer.name)
            self._enqueue_exchange(own, Purpose(layer=layer, buffer=buffer.name, spans=batch.spans))
        return DenseView(batch=batch, ready=tuple(stream.record() for stream in self._streams), made=made)

    def _enqueue_exchange(self, own: Mapping[int, torch.Tensor], purpose: Purpose) -> None:
        """Merge what the ranks that are played brought, after all of them did and before any of them goes on."""
        first, *others = self._streams
        parts = [_part(rank, purpose.layer, purpose.buffer) for rank in self._group.ranks]
        for stream in others:
            first.wait(stream.record())
        first.enqueue(
            lambda: self._group.all_reduce_sum([own[rank] for rank in self._group.ranks], purpose),
            f"exchange of {purpose.buffer}, layer {purpose.layer}",
            reads=parts,
            writes=parts,
        )
        merged = first.record()
        for stream in others:
            stream.wait(merged)


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixSlots:
    """Where one rank holds prefix rows of a batch, (tokens,) by position, -1 for none; the same for every layer."""

    host: Ints
    device: torch.device

    @cached_property
    def on_device(self) -> torch.Tensor:
        """Return the slots on the device, where they are brought by the work that needs them first."""
        return on_device(self.host, self.device)


@dataclass(frozen=True, kw_only=True, eq=False)
class Contribution:
    """What one rank brings to one buffer of a dense view.

    `computed` (rows, computed row bytes) has the rows that it computed, `positions` (rows,) where they go, -1 for those
    that go nowhere.
    """

    pool: Pool
    layer: int
    buffer: Buffer
    batch: DenseBatch
    slots: PrefixSlots
    computed: torch.Tensor
    positions: Ints

    def brought(self) -> torch.Tensor:
        """Return the rows that the rank brings, uint8 (tokens, stored row bytes), and zeros wherever it brings none.

        A batch without cached tokens reads no pool.
        """
        current = stored_rows(self.buffer, self.computed)
        at = on_device(self.positions, self.pool.device)
        if not self.batch.has_prefix:
            dense = current.new_empty((self.batch.tokens, self.buffer.stored_row_bytes))
            fill_current_rows(dense, current, at)
            return dense
        dense = gather_pool_rows(self.pool, self.layer, self.buffer, self.slots.on_device)
        write_rows(dense, current, at)
        return dense


def _part(rank: int, layer: int, buffer: str) -> Access:
    """Name what a rank has of one buffer of a view for a stream: one row, for it is brought and exchanged whole."""
    return Access(buffer=("dense view", rank, layer, buffer), slots=np.zeros(1, dtype=np.int64))


def _bring(contribution: Contribution, own: dict[int, torch.Tensor], rank: int) -> None:
    own[rank] = contribution.brought()

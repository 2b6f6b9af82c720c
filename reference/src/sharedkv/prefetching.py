"""Prefetch: the dense prefix of a later layer is made on a side stream while an earlier layer computes.

Knows pools, streams and two buffers. Does not know attention, or who computes what when.

    compute    | layer 0 ......... | layer 1 ......... | layer 2          reads buffer A    B    A
    prefetch     | 1 into A |        | 2 into B |        | 3 into A       each waits for the writes before it and, where
                                                                          a buffer is used again, for its last reader

A dense prefix has the tokens of all prefixes in logical order, requests one after another, on every rank. A fill is
good as long as it is of the same layer, epoch and batch, and no page of it was written since; else a consume makes the
prefix itself. What a consume answers never depends on prefetching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from sharedkv.collectives import Group, Purpose
from sharedkv.dense_positions import DenseBatch, ReuseRequest, dense_batch
from sharedkv.errors import Refusal, RefusedError
from sharedkv.layer_fences import PendingLoads, no_loads
from sharedkv.pool_rows import gather_pool_rows
from sharedkv.pools import Pool
from sharedkv.row_domains import NOWHERE
from sharedkv.rows import on_device
from sharedkv.streams import Access, Backend, Event, Stream
from sharedkv.writing import compute_stream, rows_of

SIDE_STREAM = "prefetch"
NUM_BUFFERS = 2
FIRST_LAYER = 0
SKIPPED = "prefetch_skip"
MISSED = "prefetch_miss"

Ints = NDArray[np.int64]
PageWrites = Callable[[int, Ints], Ints]


class Listener(Protocol):
    """Who hears what prefetching could not do. Nothing is said of what went well: that would be a line a layer."""

    def on_fallback(self, reason: str, layer: int) -> None:
        """Hear that a start was skipped or that a consume found nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DensePrefix:
    """The prefix pages of a batch, requests one after another; which rank holds a page is read from its id."""

    batch: DenseBatch
    pages: Ints

    @property
    def num_tokens(self) -> int:
        """Count the prefix tokens."""
        return len(self.pages) * self.batch.geometry.page_size

    def slots(self, rank: int) -> Ints:
        """Return for each prefix token (tokens,) its physical slot on a rank, -1 where another rank has it."""
        size = self.batch.geometry.page_size
        lanes, physical = self.batch.geometry.places(self.pages)
        slots = physical[:, None] * size + np.arange(size)
        return np.where(lanes[:, None] == rank, slots, NOWHERE).ravel()


class PrefixBuffer:
    """Memory for one dense prefix on every rank that is played; kept and grown, never shrunk."""

    def __init__(self, name: int) -> None:
        self.name = name
        self._storage: dict[tuple[int, str], torch.Tensor] = {}

    @property
    def access(self) -> Access:
        """Name the buffer, as a whole, for a stream."""
        return Access(buffer=(SIDE_STREAM, self.name), slots=np.zeros(1, dtype=np.int64))

    def rows(self, rank: int, buffer: str, shape: tuple[int, int], device: torch.device) -> torch.Tensor:
        """Return memory for rows of one pool buffer on one rank: uint8 of a shape; whatever it held before."""
        size = shape[0] * shape[1]
        storage = self._storage.get((rank, buffer))
        if storage is None or storage.numel() < size:
            storage = torch.empty(size, dtype=torch.uint8, device=device)
            self._storage[rank, buffer] = storage
        return storage[:size].view(shape)


@dataclass(kw_only=True, eq=False)
class Fill:
    """A dense prefix in a buffer, made or being made; `is_lost` says that it never will be."""

    layer: int
    epoch: int
    prefix: DensePrefix
    buffer: PrefixBuffer
    page_writes: Ints
    rows: Mapping[str, tuple[torch.Tensor, ...]]
    done: Event
    is_lost: bool = False


@dataclass(kw_only=True, eq=False)
class Plumbing:
    """What a prefetcher works with, of the ranks that this process plays: `pools` has one for each rank of the group.

    `page_writes` counts writes of logical pages of a layer, loads among them, and `pending_loads` has the events of
    loads into a layer.
    """

    pools: Sequence[Pool]
    group: Group
    backend: Backend
    page_writes: PageWrites
    pending_loads: PendingLoads = field(default=no_loads)


def dense_prefix(batch: DenseBatch) -> DensePrefix:
    """Return the prefix of a batch."""
    size = batch.geometry.page_size
    pages = [pages[: request.prefix_tokens // size] for request, pages in zip(batch.requests, batch.pages, strict=True)]
    return DensePrefix(batch=batch, pages=np.concatenate(pages))


class Prefetcher:
    """Dense prefixes on two buffers, under leases. `allows_batches` lets batches of several requests be prefetched."""

    def __init__(self, plumbing: Plumbing, listener: Listener, *, is_on: bool, allows_batches: bool = False) -> None:
        self._plumbing = plumbing
        self._listener = listener
        self._is_on = is_on
        self._allows_batches = allows_batches
        self._geometry = plumbing.pools[0].geometry
        self._layout = plumbing.pools[0].layout
        self._free = [PrefixBuffer(name) for name in range(NUM_BUFFERS)]
        self._num_buffers = NUM_BUFFERS
        self._fills: dict[int, Fill] = {}
        self._leases: dict[int, Fill] = {}
        self._unordered: list[Fill] = []
        self._next_lease = 1
        self._loses_next = False

    def start(self, layer: int, epoch: int, requests: Sequence[ReuseRequest]) -> bool:
        """Begin to make a layer's dense prefix; false when off, or skipped, which the listener hears.

        Skipped is a batch of several requests unless they are allowed, and a start while no buffer is free. Waits for
        nothing.

        Raises:
            RefusedError: an unknown layer, or a batch that has no dense view.

        """
        prefix = self._checked(layer, requests)
        if not self._is_on:
            return False
        self._give_up_old(epoch)
        if self._good_fill(layer, epoch, prefix) is not None and not self._loses_next:
            return True
        self._give_up(layer)
        if not self._free or (len(requests) > 1 and not self._allows_batches):
            self._listener.on_fallback(SKIPPED, layer)
            return False
        self._fills[layer] = self._filled(layer, epoch, prefix, self._free.pop(0), is_lost=self._loses_next)
        self._loses_next = False
        return True

    def consume(self, layer: int, epoch: int, requests: Sequence[ReuseRequest]) -> int:
        """Return a lease on a layer's dense prefix; made now where it was not prefetched, which the listener hears.

        Work that is enqueued on the compute streams from now on finds the rows. The first layer, which nothing could
        prefetch, is never told of. Waits for nothing.

        Raises:
            RefusedError: as for `start`.

        """
        prefix = self._checked(layer, requests)
        self._give_up_old(epoch)
        fill = self._good_fill(layer, epoch, prefix)
        if fill is None:
            self._give_up(layer)
            if self._is_on and layer != FIRST_LAYER:
                self._listener.on_fallback(MISSED, layer)
            fill = self._filled(layer, epoch, prefix, self._any_buffer())
        self._fills.pop(layer, None)
        for stream in self._compute_streams():
            stream.wait(fill.done)
        if fill in self._unordered:  # else a later fill was consumed before, and this one came before it
            self._unordered = self._unordered[self._unordered.index(fill) + 1 :]
        lease, self._next_lease = self._next_lease, self._next_lease + 1
        self._leases[lease] = fill
        return lease

    def rows(self, lease: int, buffer: str) -> tuple[torch.Tensor, ...]:
        """Return the rows under a lease, for each rank played: uint8 (prefix tokens, stored row bytes).

        They are there for work of the compute streams, and stay until the lease is given up.

        Raises:
            RefusedError: a lease that is not held, or an unknown buffer.

        """
        self._layout.buffer(buffer)
        return self._held(lease).rows[buffer]

    def access(self, lease: int) -> Access:
        """Name the memory under a lease for a stream that reads it."""
        return self._held(lease).buffer.access

    def release(self, lease: int) -> None:
        """Give up a lease. Its buffer is used again once all that the compute streams were given has run.

        Raises:
            RefusedError: a lease that is not held.

        """
        fill = self._held(lease)
        del self._leases[lease]
        self._return(fill.buffer)

    def live_bytes(self) -> int:
        """Return the bytes of all dense prefixes under a lease or being made, summed over the ranks played."""
        tokens = sum(fill.prefix.num_tokens for fill in (*self._fills.values(), *self._leases.values()))
        return tokens * self._layout.stored_token_bytes * len(self._plumbing.pools)

    def readers_of(self, layer: int, pages: Ints) -> tuple[Event, ...]:
        """Return what a write of a layer's pages has to wait for: fills that read them and may not be done."""
        reading = [fill for fill in self._unordered if fill.layer == layer and np.isin(fill.prefix.pages, pages).any()]
        return tuple(fill.done for fill in reading[-1:])

    def lose_next(self) -> None:
        """Let the next start be in vain, as when its launch fails: whoever consumes it misses.

        It counts as a start of its own even where the same prefix is being made already.
        """
        self._loses_next = True

    def _checked(self, layer: int, requests: Sequence[ReuseRequest]) -> DensePrefix:
        self._plumbing.pools[0].require_layer(layer)
        return dense_prefix(dense_batch(self._geometry, requests))

    def _good_fill(self, layer: int, epoch: int, prefix: DensePrefix) -> Fill | None:
        """Return the fill of a layer if it is of this epoch and batch, and not older than its pages."""
        fill = self._fills.get(layer)
        if fill is None or fill.is_lost or fill.epoch != epoch or not fill.prefix.batch.is_same(prefix.batch):
            return None
        is_old = (self._plumbing.page_writes(layer, prefix.pages) != fill.page_writes).any()
        return None if is_old else fill

    def _give_up_old(self, epoch: int) -> None:
        for layer in [layer for layer, fill in self._fills.items() if fill.epoch != epoch]:
            self._give_up(layer)

    def _give_up(self, layer: int) -> None:
        fill = self._fills.pop(layer, None)
        if fill is not None:
            self._return(fill.buffer)

    def _return(self, buffer: PrefixBuffer) -> None:
        """Let a buffer be used again, unless it is one beyond the two."""
        if buffer.name < NUM_BUFFERS:
            self._free.append(buffer)

    def _any_buffer(self) -> PrefixBuffer:
        """Return a free buffer, or one more: a consume always has its answer."""
        if self._free:
            return self._free.pop(0)
        self._num_buffers += 1
        return PrefixBuffer(self._num_buffers - 1)

    def _filled(
        self, layer: int, epoch: int, prefix: DensePrefix, buffer: PrefixBuffer, *, is_lost: bool = False
    ) -> Fill:
        """Enqueue the making of a dense prefix on the side stream.

        It comes after all that the compute streams were given so far, among which are the writes of its pages and the
        readers that its buffer had before, and after pending loads into the layer.
        """
        side = self._plumbing.backend.stream(SIDE_STREAM)
        for event in (*self._compute_events(), *self._plumbing.pending_loads(layer)):
            side.wait(event)
        rows = {each.name: self._memory(buffer, each.name, prefix.num_tokens) for each in self._layout.buffers}
        slots = tuple(prefix.slots(rank) for rank in self._plumbing.group.ranks)
        if prefix.num_tokens and not is_lost:
            side.enqueue(
                lambda: self._make(layer, slots, rows),
                f"prefetch of layer {layer}",
                reads=self._reads(layer, slots),
                writes=[buffer.access],
            )
        fill = Fill(
            layer=layer,
            epoch=epoch,
            prefix=prefix,
            buffer=buffer,
            page_writes=self._plumbing.page_writes(layer, prefix.pages),
            rows=rows,
            done=side.record(),
            is_lost=is_lost,
        )
        self._unordered.append(fill)
        return fill

    def _make(self, layer: int, slots: Sequence[Ints], rows: Mapping[str, tuple[torch.Tensor, ...]]) -> None:
        """Gather each rank's own prefix rows, zeros elsewhere, and merge them; one exchange a buffer."""
        for buffer in self._layout.buffers:
            own = rows[buffer.name]
            for pool, at, out in zip(self._plumbing.pools, slots, own, strict=True):
                gather_pool_rows(pool, layer, buffer, on_device(at, pool.device), out)
            purpose = Purpose(layer=layer, buffer=buffer.name, spans=((0, len(slots[0])),))
            self._plumbing.group.all_reduce_sum(own, purpose)

    def _memory(self, buffer: PrefixBuffer, name: str, num_tokens: int) -> tuple[torch.Tensor, ...]:
        shape = (num_tokens, self._layout.buffer(name).stored_row_bytes)
        ranks_and_pools = zip(self._plumbing.group.ranks, self._plumbing.pools, strict=True)
        return tuple(buffer.rows(rank, name, shape, pool.device) for rank, pool in ranks_and_pools)

    def _reads(self, layer: int, slots: Sequence[Ints]) -> list[Access]:
        return [
            rows_of(rank, layer, buffer.name, at)
            for rank, at in zip(self._plumbing.group.ranks, slots, strict=True)
            for buffer in self._layout.buffers
        ]

    def _compute_streams(self) -> list[Stream]:
        return [self._plumbing.backend.stream(compute_stream(rank)) for rank in self._plumbing.group.ranks]

    def _compute_events(self) -> list[Event]:
        return [stream.record() for stream in self._compute_streams()]

    def _held(self, lease: int) -> Fill:
        if lease not in self._leases:
            raise RefusedError(Refusal.LEASE_UNKNOWN, lease)
        return self._leases[lease]

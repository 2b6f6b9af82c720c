"""Both tiers of the ranks that a process plays: pools and host memory side by side, and how one layer is copied.

Knows pools, host memory and streams by name. Does not know who copies what when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sharedkv.copy_engine import DRAFT, TARGET
from sharedkv.copy_flights import Descriptors, Ints
from sharedkv.host_memory import HostMemory, device_pages
from sharedkv.layer_fences import LayerFences
from sharedkv.page_moves import move_pages
from sharedkv.pools import Pool
from sharedkv.streams import Access, Backend, Stream
from sharedkv.writing import pool_rows_of


def backup_stream(rank: int) -> str:
    """Return the name of the stream on which a rank copies to the host."""
    return f"backup {rank}"


def load_stream(rank: int) -> str:
    """Return the name of the stream on which a rank copies from the host."""
    return f"load {rank}"


def _count_nothing(_layer: int, _pages: Ints) -> None:
    pass


@dataclass(kw_only=True, eq=False)
class Tiers:
    """Both tiers of the ranks that this process plays: `pools` and `memories` have one for each of `ranks`.

    Raises TensorMismatchError for a pool whose pages are not those of the memory beside it. `other_readers` names
    streams, beside those of computing, whose work reads pools. `count_writes` hears which logical pages of a layer get
    other bytes.
    """

    ranks: Sequence[int]
    pools: Sequence[Pool]
    memories: Sequence[HostMemory]
    backend: Backend
    fences: LayerFences
    other_readers: Sequence[str] = ()
    count_writes: Callable[[int, Ints], None] = _count_nothing

    def __post_init__(self) -> None:
        for pool, memory in zip(self.pools, self.memories, strict=True):
            memory.require_pair(pool)

    @property
    def layers(self) -> range:
        """Return the layers of target and draft."""
        return range(self.memories[0].shape.all_layers)

    def source(self, layer: int) -> str:
        """Say whose layer it is."""
        return TARGET if layer < self.memories[0].shape.layers else DRAFT

    def enqueue_copy(self, stream: Stream, layer: int, pages: Descriptors, *, to_host: bool) -> None:
        """Enqueue the copy of all buffers of a layer on one rank, in one piece of work."""
        pool, memory = self.pools[pages.played], self.memories[pages.played]
        names = [buffer.name for buffer in pool.layout.buffers]
        device = [pool_rows_of(pages.rank, layer, name, pages.slots) for name in names]
        host = [host_rows_of(pages.rank, layer, name, pages.host) for name in names]
        stream.enqueue(
            partial(_copy_layer, pool, memory, layer, pages, to_host=to_host),
            f"{'backup' if to_host else 'load'} of layer {layer}",
            reads=device if to_host else host,
            writes=host if to_host else device,
        )


def host_rows_of(rank: int, layer: int, buffer: str, pages: Ints) -> Access:
    """Name host pages of a lane for a stream."""
    return Access(buffer=("host", rank, layer, buffer), slots=pages)


def _copy_layer(pool: Pool, memory: HostMemory, layer: int, pages: Descriptors, *, to_host: bool) -> None:
    physical, host_pages = pages.on_device
    for buffer in pool.layout.buffers:
        device, host = device_pages(pool, layer, buffer), memory.pages(layer, buffer.name)
        if to_host:
            move_pages(device, host, physical, host_pages)
        else:
            move_pages(host, device, host_pages, physical)

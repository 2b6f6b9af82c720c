"""Direct read: stored rows of logical locations, each from its owner.

Knows pools, streams and what a read comes after. Does not know why somebody reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from sharedkv.geometry import Geometry
from sharedkv.layer_fences import PendingLoads, no_loads
from sharedkv.layouts import Buffer
from sharedkv.pool_rows import gather_pool_rows
from sharedkv.pools import Pool
from sharedkv.rows import on_device
from sharedkv.streams import Backend
from sharedkv.writing import compute_stream, rows_of

Ints = NDArray[np.int64]


class GroupReader:
    """Reads the pools of all ranks on their compute streams, hence after what was written there, and after loads."""

    def __init__(
        self, geometry: Geometry, pools: Sequence[Pool], backend: Backend, pending_loads: PendingLoads = no_loads
    ) -> None:
        self._geometry = geometry
        self._pools = tuple(pools)
        self._backend = backend
        self._pending_loads = pending_loads

    def rows(self, layer: int, buffer: Buffer, locations: Ints) -> torch.Tensor:
        """Return the stored rows, uint8 (n, stored row bytes), of logical locations (n,) on the CPU. Waits for them."""
        pages, offsets = np.divmod(locations, self._geometry.page_size)
        lanes, physical = self._geometry.places(pages)
        slots = physical * self._geometry.page_size + offsets
        rows = torch.empty((len(locations), buffer.stored_row_bytes), dtype=torch.uint8)
        for rank in range(len(self._pools)):
            own = np.flatnonzero(lanes == rank)
            rows[torch.from_numpy(own)] = self._rows_of(rank, layer, buffer, slots[own])
        return rows

    def _rows_of(self, rank: int, layer: int, buffer: Buffer, slots: Ints) -> torch.Tensor:
        pool, stream = self._pools[rank], self._backend.stream(compute_stream(rank))
        for loaded in self._pending_loads(layer):
            stream.wait(loaded)
        found: list[torch.Tensor] = []
        stream.enqueue(
            lambda: found.append(gather_pool_rows(pool, layer, buffer, on_device(slots, pool.device))),
            f"read of {buffer.name}, layer {layer}",
            reads=[rows_of(rank, layer, buffer.name, slots)],
        )
        stream.record().synchronize()
        return found[0].cpu()

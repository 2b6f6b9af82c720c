"""The pool of one rank: for each layer and buffer the bytes of its physical pages.

Knows storage. Does not know which rows are valid, which logical page lies where, or who writes.

    row buffer    (physical rows, stored row bytes)             row = physical page * page size + offset
    index buffer  (physical pages, page size * 132)             a page is all its keys, then all its scales

Physical page 0 is the rank's dummy page; rows of it mean nothing.
"""

from __future__ import annotations

import torch

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.layouts import Buffer, Layout
from sharedkv.memory import zeroed


class Pool:
    """Zeroed storage of all layers of one rank, dtype uint8 throughout, each buffer a tensor of its own."""

    def __init__(self, geometry: Geometry, layout: Layout, layers: int, device: torch.device | str = "cpu") -> None:
        self.geometry = geometry
        self.layout = layout
        self.layers = layers
        self.device = torch.device(device)
        self._buffers = tuple({buffer.name: self._storage(buffer) for buffer in layout.buffers} for _ in range(layers))

    @property
    def physical_pages(self) -> int:
        """Count the physical pages, the dummy among them."""
        return 1 + self.geometry.lane_capacity

    def buffer(self, layer: int, name: str) -> torch.Tensor:
        """Return the bytes of a buffer: (physical rows, stored row bytes), or (physical pages, page bytes) where paged.

        Raises:
            RefusedError: the pool has no such layer, or the layout no such buffer.

        """
        self.require_layer(layer)
        self.layout.buffer(name)
        return self._buffers[layer][name]

    def require_layer(self, layer: int) -> None:
        """Refuse a layer that the pool does not hold."""
        if layer not in range(self.layers):
            raise RefusedError(Refusal.LAYER_OUTSIDE_POOL, layer)

    def _storage(self, buffer: Buffer) -> torch.Tensor:
        pages, page_size = self.physical_pages, self.geometry.page_size
        shape = (
            (pages, page_size * buffer.stored_row_bytes)
            if buffer.is_paged
            else (pages * page_size, buffer.stored_row_bytes)
        )
        return zeroed(shape, self.device)

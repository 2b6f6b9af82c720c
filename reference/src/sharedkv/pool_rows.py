"""Rows of a pool by physical slot, whichever way their buffer is addressed and whatever form they are stored in.

Knows pools and stored form. Does not know requests, lanes or streams. Writing, prefetching and composing move rows
through these two functions, so that bytes of all of them agree.
"""

from __future__ import annotations

import torch

from sharedkv.layouts import Buffer
from sharedkv.pools import Pool
from sharedkv.quantization import quantize_latent
from sharedkv.rows import gather_index_rows, gather_rows, write_index_rows, write_rows


def stored_rows(buffer: Buffer, computed: torch.Tensor) -> torch.Tensor:
    """Return computed rows (n, computed row bytes) uint8 in the form in which pools keep them (n, stored row bytes)."""
    return quantize_latent(computed) if buffer.is_quantized else computed


def write_pool_rows(pool: Pool, layer: int, buffer: Buffer, computed: torch.Tensor, slots: torch.Tensor) -> None:
    """Bring computed rows (n, computed row bytes) into slots (n,) of a pool; negative slots are dropped.

    Mutates the pool. Waits for no device.

    Raises:
        TensorMismatchError: a tensor that does not fit the buffer.

    """
    target, rows = pool.buffer(layer, buffer.name), stored_rows(buffer, computed)
    if buffer.is_paged:
        write_index_rows(target, rows, slots, pool.geometry.page_size)
    else:
        write_rows(target, rows, slots)


def gather_pool_rows(
    pool: Pool, layer: int, buffer: Buffer, slots: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return stored rows (n, stored row bytes) at slots (n,) of a pool, zeros for negative ones.

    They are in `out` where it is given. Waits for no device.

    Raises:
        TensorMismatchError: a tensor that does not fit the buffer.

    """
    source = pool.buffer(layer, buffer.name)
    if buffer.is_paged:
        return gather_index_rows(source, slots, pool.geometry.page_size, out)
    return gather_rows(source, slots, out)

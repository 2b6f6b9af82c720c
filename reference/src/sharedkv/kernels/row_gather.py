"""Gather: rows of a pool buffer at slots, in the order asked for."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sharedkv.kernels.arguments import require_rows
from sharedkv.kernels.chunks import chunks_of, row_words
from sharedkv.kernels.launching import Launch


def gather_rows(buffer: torch.Tensor, slots: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return rows (n, B) uint8 of a buffer (N, B) uint8 at slots (n,) int64; in `out` where it is given.

    Negative slots, and slots beyond the buffer, give rows of zeros.

    Raises:
        TensorMismatchError: a type, device, shape or stride is wrong.

    """
    out = buffer.new_empty((len(slots), buffer.shape[-1])) if out is None else out
    gather_launch(buffer, slots, out).run()
    return out


def gather_launch(buffer: torch.Tensor, slots: torch.Tensor, out: torch.Tensor) -> Launch:
    """Return the launch of `gather_rows` into `out`."""
    require_rows(buffer, out, slots)
    num_rows, row_bytes = out.shape
    chunks = chunks_of(row_bytes, buffer, out)
    return Launch(
        kernel=gather_kernel,
        programs=chunks.programs(num_rows),
        arguments=(chunks.words(buffer), slots, chunks.words(out), num_rows, buffer.shape[0]),
        constants=chunks.constants,
    )


@triton.jit(do_not_specialize=["num_rows", "num_slots"])
def gather_kernel(
    buffer: tl.tensor,
    slots: tl.tensor,
    out: tl.tensor,
    num_rows: tl.tensor,
    num_slots: tl.tensor,
    ROW_CHUNKS: tl.constexpr,
    CHUNK_WORDS: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Copy ROWS rows a program, by chunks."""
    row, word, is_row = row_words(num_rows, ROW_CHUNKS, CHUNK_WORDS, ROWS, BLOCK)
    slot = tl.load(slots + row, mask=is_row, other=-1)
    is_kept = ((slot >= 0) & (slot < num_slots))[:, None]
    words = tl.load(buffer + slot[:, None] * (ROW_CHUNKS * CHUNK_WORDS) + word, mask=is_kept, other=0)
    tl.store(out + row[:, None] * (ROW_CHUNKS * CHUNK_WORDS) + word, words, mask=is_row[:, None])

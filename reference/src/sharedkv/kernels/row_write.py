"""Paged write: rows to slots of a pool buffer, rows of any number of bytes."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sharedkv.kernels.arguments import require_rows
from sharedkv.kernels.chunks import chunks_of, row_words
from sharedkv.kernels.launching import Launch


def write_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    """Write rows (n, B) uint8 to slots (n,) int64 of a buffer (N, B) uint8. Mutates the buffer; no other row changes.

    Slots are distinct; rows of negative slots, and of slots beyond the buffer, are dropped.

    Raises:
        TensorMismatchError: a type, device, shape or stride is wrong.

    """
    write_launch(buffer, rows, slots).run()


def write_launch(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> Launch:
    """Return the launch of `write_rows`; nothing is written before it runs."""
    require_rows(buffer, rows, slots)
    num_rows, row_bytes = rows.shape
    chunks = chunks_of(row_bytes, buffer, rows)
    return Launch(
        kernel=write_kernel,
        programs=chunks.programs(num_rows),
        arguments=(chunks.words(buffer), chunks.words(rows), slots, num_rows, buffer.shape[0]),
        constants=chunks.constants,
    )


@triton.jit(do_not_specialize=["num_rows", "num_slots"])
def write_kernel(
    buffer: tl.tensor,
    rows: tl.tensor,
    slots: tl.tensor,
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
    words = tl.load(rows + row[:, None] * (ROW_CHUNKS * CHUNK_WORDS) + word, mask=is_kept)
    tl.store(buffer + slot[:, None] * (ROW_CHUNKS * CHUNK_WORDS) + word, words, mask=is_kept)

"""Index gather: rows of key and scale out of pages that keep keys and scales apart."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sharedkv.kernels.arguments import require, require_index_rows
from sharedkv.kernels.chunks import chunks_of, row_words
from sharedkv.kernels.index_pages import ROW_WORDS, WORD_BYTES, page_word
from sharedkv.kernels.launching import Launch
from sharedkv.layouts import INDEX_ROW_BYTES


def gather_index_rows(
    buffer: torch.Tensor, slots: torch.Tensor, page_size: int, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return index rows (n, 132) uint8 at slots (n,) int64 of a paged buffer (P, page_size * 132) uint8.

    Negative slots, and slots beyond the buffer, give rows of zeros.

    Raises:
        TensorMismatchError: a type, device, shape, stride or start is wrong.

    """
    out = buffer.new_empty((len(slots), INDEX_ROW_BYTES)) if out is None else out
    index_gather_launch(buffer, slots, page_size, out).run()
    return out


def index_gather_launch(buffer: torch.Tensor, slots: torch.Tensor, page_size: int, out: torch.Tensor) -> Launch:
    """Return the launch of `gather_index_rows` into `out`."""
    require_index_rows(buffer, out, slots, page_size)
    chunks = chunks_of(INDEX_ROW_BYTES, buffer, out)
    require("bytes at which rows and pages are aligned", WORD_BYTES, chunks.word_bytes)
    num_rows = out.shape[0]
    return Launch(
        kernel=index_gather_kernel,
        programs=chunks.programs(num_rows),
        arguments=(chunks.words(buffer), slots, chunks.words(out), num_rows, buffer.shape[0] * page_size),
        constants={**chunks.constants, "PAGE_SIZE": page_size},
    )


@triton.jit(do_not_specialize=["num_rows", "num_slots"])
def index_gather_kernel(
    buffer: tl.tensor,
    slots: tl.tensor,
    out: tl.tensor,
    num_rows: tl.tensor,
    num_slots: tl.tensor,
    ROW_CHUNKS: tl.constexpr,
    CHUNK_WORDS: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    PAGE_SIZE: tl.constexpr,
) -> None:
    """Copy ROWS rows a program, a word a time."""
    row, word, is_row = row_words(num_rows, ROW_CHUNKS, CHUNK_WORDS, ROWS, BLOCK)
    slot = tl.load(slots + row, mask=is_row, other=-1)
    is_kept = ((slot >= 0) & (slot < num_slots))[:, None]
    words = tl.load(buffer + page_word(slot[:, None], word, PAGE_SIZE), mask=is_kept, other=0)
    tl.store(out + row[:, None] * ROW_WORDS + word, words, mask=is_row[:, None])

"""Index write: rows of key and scale into pages that keep keys and scales apart."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sharedkv.kernels.arguments import require, require_index_rows
from sharedkv.kernels.chunks import chunks_of, row_words
from sharedkv.kernels.index_pages import ROW_WORDS, WORD_BYTES, page_word
from sharedkv.kernels.launching import Launch
from sharedkv.layouts import INDEX_ROW_BYTES


def write_index_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor, page_size: int) -> None:
    """Write index rows (n, 132) uint8 to slots (n,) int64 of a paged buffer (P, page_size * 132) uint8.

    Mutates the buffer; no other row changes. Slots are distinct; rows of negative slots, and of slots beyond the
    buffer, are dropped.

    Raises:
        TensorMismatchError: a type, device, shape, stride or start is wrong.

    """
    index_write_launch(buffer, rows, slots, page_size).run()


def index_write_launch(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor, page_size: int) -> Launch:
    """Return the launch of `write_index_rows`; nothing is written before it runs."""
    require_index_rows(buffer, rows, slots, page_size)
    chunks = chunks_of(INDEX_ROW_BYTES, buffer, rows)
    require("bytes at which rows and pages are aligned", WORD_BYTES, chunks.word_bytes)
    num_rows = rows.shape[0]
    return Launch(
        kernel=index_write_kernel,
        programs=chunks.programs(num_rows),
        arguments=(chunks.words(buffer), chunks.words(rows), slots, num_rows, buffer.shape[0] * page_size),
        constants={**chunks.constants, "PAGE_SIZE": page_size},
    )


@triton.jit(do_not_specialize=["num_rows", "num_slots"])
def index_write_kernel(
    buffer: tl.tensor,
    rows: tl.tensor,
    slots: tl.tensor,
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
    words = tl.load(rows + row[:, None] * ROW_WORDS + word, mask=is_kept)
    tl.store(buffer + page_word(slot[:, None], word, PAGE_SIZE), words, mask=is_kept)

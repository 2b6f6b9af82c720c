"""Move pages: from pages of one buffer to pages of another, on the device or in pinned memory of the host."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sharedkv.kernels.arguments import ANY, require, require_tensor
from sharedkv.kernels.chunks import WIDEST_ACCESS_BYTES, chunks_of, row_words
from sharedkv.kernels.launching import Launch

LARGEST_ROW_BYTES = 8192


def move_pages(
    source: torch.Tensor, target: torch.Tensor, source_pages: torch.Tensor, target_pages: torch.Tensor
) -> None:
    """Copy pages (n,) int64 of source (P, R, B) uint8 to pages (n,) int64 of target (Q, R, B) uint8. Mutates target.

    Rows of B bytes are contiguous, pages and rows may lie apart. Target pages are distinct; pairs with a negative page,
    or one beyond its buffer, are dropped. Source or target may be pinned memory of the host.

    Raises:
        TensorMismatchError: a type, device, shape or stride is wrong.

    """
    move_launch(source, target, source_pages, target_pages).run()


def move_launch(
    source: torch.Tensor, target: torch.Tensor, source_pages: torch.Tensor, target_pages: torch.Tensor
) -> Launch:
    """Return the launch of `move_pages`; nothing is moved before it runs."""
    _require(source, target, source_pages, target_pages)
    source, target = _cut(source), _cut(target)
    _, page_rows, row_bytes = source.shape
    strides = (source.stride(0), source.stride(1), target.stride(0), target.stride(1))
    chunks = chunks_of(row_bytes, source, target, strides=strides)
    steps = [stride // (chunks.chunk_words * chunks.word_bytes) for stride in strides]
    num_rows = len(source_pages) * page_rows
    return Launch(
        kernel=move_kernel,
        programs=chunks.programs(num_rows),
        arguments=(
            *(chunks.words(source), chunks.words(target), source_pages, target_pages),
            *(num_rows, page_rows, source.shape[0], target.shape[0], *steps),
        ),
        constants=chunks.constants,
    )


@triton.jit(do_not_specialize=["num_rows", "page_rows", "num_source", "num_target"])
def move_kernel(
    source: tl.tensor,
    target: tl.tensor,
    source_pages: tl.tensor,
    target_pages: tl.tensor,
    num_rows: tl.tensor,
    page_rows: tl.tensor,
    num_source: tl.tensor,
    num_target: tl.tensor,
    source_page: tl.tensor,
    source_row: tl.tensor,
    target_page: tl.tensor,
    target_row: tl.tensor,
    ROW_CHUNKS: tl.constexpr,
    CHUNK_WORDS: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Copy ROWS rows a program, by chunks; pages and rows lie so many chunks apart."""
    row, word, is_row = row_words(num_rows, ROW_CHUNKS, CHUNK_WORDS, ROWS, BLOCK)
    pair, offset = row // page_rows, row % page_rows
    read = tl.load(source_pages + pair, mask=is_row, other=-1)
    written = tl.load(target_pages + pair, mask=is_row, other=-1)
    is_kept = ((read >= 0) & (read < num_source) & (written >= 0) & (written < num_target))[:, None]
    from_chunk = (read * source_page + offset * source_row)[:, None]
    to_chunk = (written * target_page + offset * target_row)[:, None]
    words = tl.load(source + from_chunk * CHUNK_WORDS + word, mask=is_kept)
    tl.store(target + to_chunk * CHUNK_WORDS + word, words, mask=is_kept)


def _cut(pages: torch.Tensor) -> torch.Tensor:
    """Return pages of one row with that row in parts which a program can hold."""
    parts, row_bytes = 1, pages.shape[2]
    while row_bytes // parts > LARGEST_ROW_BYTES and row_bytes % (2 * parts * WIDEST_ACCESS_BYTES) == 0:
        parts *= 2
    return pages.select(1, 0).unflatten(1, (parts, -1)) if pages.shape[1] == 1 else pages


def _require(
    source: torch.Tensor, target: torch.Tensor, source_pages: torch.Tensor, target_pages: torch.Tensor
) -> None:
    for name, pages in (("source", source), ("target", target)):
        require(f"dtype of {name}", torch.uint8, pages.dtype)
        require(f"dimensions of {name}", 3, pages.dim())
        require(f"stride of bytes of {name}", 1, pages.stride(2))
        if source_pages.is_cuda and not pages.is_cuda:
            require(f"pinned memory of {name}", True, pages.is_pinned())  # noqa: FBT003 - what is wanted
    require("rows of a page and bytes of a row", source.shape[1:], target.shape[1:])
    require_tensor("source_pages", source_pages, torch.int64, ANY)
    require_tensor("target_pages", target_pages, torch.int64, source_pages.shape[0])
    require("device of target_pages", source_pages.device, target_pages.device)

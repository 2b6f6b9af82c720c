"""Top-k emission: positions within a request become positions of the batch's dense view."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sharedkv.kernels.arguments import ANY, require_same_device, require_tensor
from sharedkv.kernels.chunks import chunks_of, row_words
from sharedkv.kernels.launching import Launch

_WORD_BYTES = 8


def emit_top_k(
    selected: torch.Tensor, requests: torch.Tensor, bases: torch.Tensor, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return dense positions (n, k) int64 of what each row selected; in `out`, which may be `selected`, where given.

    `selected` (n, k) int64 are positions within the row's request, negative where there is none; `requests` (n,) int64
    the request of each row, negative for a dummy row; `bases` (R,) int64 the first dense position of each request. A
    missing position, and each one of a dummy row or of a request beyond R, is -1.

    Raises:
        TensorMismatchError: a type, device, shape or stride is wrong.

    """
    out = torch.empty_like(selected) if out is None else out
    emission_launch(selected, requests, bases, out).run()
    return out


def emission_launch(selected: torch.Tensor, requests: torch.Tensor, bases: torch.Tensor, out: torch.Tensor) -> Launch:
    """Return the launch of `emit_top_k` into `out`."""
    require_tensor("selected", selected, torch.int64, ANY, ANY)
    num_rows, count = selected.shape
    require_tensor("requests", requests, torch.int64, num_rows)
    require_tensor("bases", bases, torch.int64, ANY)
    require_tensor("out", out, torch.int64, num_rows, count)
    require_same_device(selected=selected, requests=requests, bases=bases, out=out)
    chunks = chunks_of(count * _WORD_BYTES, selected, out, widest_word=_WORD_BYTES)
    return Launch(
        kernel=emission_kernel,
        programs=chunks.programs(num_rows) if count else 0,
        arguments=(selected, requests, bases, out, num_rows, bases.shape[0]),
        constants=chunks.constants,
    )


@triton.jit(do_not_specialize=["num_rows", "num_requests"])
def emission_kernel(
    selected: tl.tensor,
    requests: tl.tensor,
    bases: tl.tensor,
    out: tl.tensor,
    num_rows: tl.tensor,
    num_requests: tl.tensor,
    ROW_CHUNKS: tl.constexpr,
    CHUNK_WORDS: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Move ROWS rows a program, by chunks."""
    row, word, is_row = row_words(num_rows, ROW_CHUNKS, CHUNK_WORDS, ROWS, BLOCK)
    request = tl.load(requests + row, mask=is_row, other=-1)
    is_real = (request >= 0) & (request < num_requests)
    base = tl.load(bases + request, mask=is_real, other=0)
    place = row[:, None] * (ROW_CHUNKS * CHUNK_WORDS) + word
    position = tl.load(selected + place, mask=is_row[:, None], other=-1)
    is_position = is_real[:, None] & (position >= 0)
    tl.store(out + place, tl.where(is_position, position + base[:, None], -1), mask=is_row[:, None])

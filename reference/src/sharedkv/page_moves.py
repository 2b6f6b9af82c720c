"""Whole pages from one buffer to another, by page number: between the pool of a device and the memory of the host.

Knows bytes and pages. Does not know layers, lanes, or which side is the host.

    P, Q  pages of source and target      n  pages moved      R  rows of a page      B  bytes of a row

Buffers are uint8 (P, R, B), the bytes of a row one after another; rows and pages may lie apart. Pages are int64 (n,),
those of the target distinct. Three ways give equal bytes: the plain function, which is normative; numpy on the CPU;
a kernel wherever one side is on CUDA, the other being there too or pinned.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from sharedkv.errors import TensorMismatchError


def move_pages(
    source: torch.Tensor, target: torch.Tensor, source_pages: torch.Tensor, target_pages: torch.Tensor
) -> None:
    """Copy pages (n,) of source (P, R, B) to pages (n,) of target (Q, R, B). Mutates the target; waits for no device.

    Raises:
        TensorMismatchError: a type, shape, device or stride is wrong, or, on the CPU, a page is beyond its buffer.

    """
    if source.is_cuda or target.is_cuda:
        from sharedkv import kernels  # noqa: PLC0415 - Triton is not everywhere

        kernels.move_pages(source, target, source_pages, target_pages)
        return
    _require_pages(source, target, source_pages, target_pages)
    if source.device.type == "cpu":
        _numpy_move(source, target, source_pages.numpy(), target_pages.numpy())
    else:
        plain_move_pages(source, target, source_pages, target_pages)


def plain_move_pages(
    source: torch.Tensor, target: torch.Tensor, source_pages: torch.Tensor, target_pages: torch.Tensor
) -> None:
    """Do what `move_pages` does with plain torch."""
    target.index_copy_(0, target_pages, source.index_select(0, source_pages))


def _numpy_move(
    source: torch.Tensor, target: torch.Tensor, source_pages: NDArray[np.int64], target_pages: NDArray[np.int64]
) -> None:
    """Copy row by row, or page by page where rows follow one another on both sides."""
    read, written = _void_rows(source), _void_rows(target)
    if _is_run(source) and _is_run(target):
        read, written = _void_rows(_joined(source)), _void_rows(_joined(target))
    written[target_pages] = read[source_pages]


def _is_run(pages: torch.Tensor) -> bool:
    """Say whether each page is one run of bytes."""
    return pages.shape[1] == 1 or pages.stride(1) == pages.shape[2]


def _joined(pages: torch.Tensor) -> torch.Tensor:
    """Return pages of one run each with the run as one row: (P, 1, R * B)."""
    return pages.view(pages.shape[0], 1, -1)


def _void_rows(pages: torch.Tensor) -> NDArray[np.void]:
    """Return a view with one item a row, which numpy copies whole: (P, R)."""
    array: NDArray[np.uint8] = pages.numpy()
    return array.view(f"V{array.shape[2]}")[:, :, 0]


def _require_pages(
    source: torch.Tensor, target: torch.Tensor, source_pages: torch.Tensor, target_pages: torch.Tensor
) -> None:
    for name, tensor, dims in (
        *(("source", source, 3), ("target", target, 3)),
        *(("source_pages", source_pages, 1), ("target_pages", target_pages, 1)),
    ):
        _require(f"dimensions of {name}", dims, tensor.dim())
        _require(f"dtype of {name}", torch.uint8 if dims > 1 else torch.int64, tensor.dtype)
        _require(f"device of {name}", source.device, tensor.device)
    _require("rows of a page and bytes of a row", tuple(source.shape[1:]), tuple(target.shape[1:]))
    _require("number of pages", len(source_pages), len(target_pages))
    for name, buffer, pages in (("source", source, source_pages), ("target", target, target_pages)):
        _require(f"stride of bytes of {name}", 1, buffer.stride(2))
        if pages.device.type == "cpu" and len(pages):
            found = int(pages.numpy().min()), int(pages.numpy().max())
            if found[0] < 0 or found[1] >= buffer.shape[0]:
                raise TensorMismatchError(f"pages of {name}", f"0 to {buffer.shape[0] - 1}", found)


def _require(what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise TensorMismatchError(what, wanted, found)

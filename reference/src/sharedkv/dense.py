"""Into the dense view of a batch: what a rank contributes, and where selected tokens lie.

Knows positions of the dense view. Does not know pools, pages or who the ranks are. The plain functions are normative;
the device of the tensors decides whether a kernel takes their place.

    T  tokens of the dense view    n  rows    k  tokens selected a row    R  requests    B  bytes of a row
"""

from __future__ import annotations

import torch

from sharedkv.rows import plain_write_rows, write_rows


def fill_current_rows(dense: torch.Tensor, rows: torch.Tensor, positions: torch.Tensor) -> None:
    """Make a dense view (T, B) uint8 of zeros and of rows (n, B) uint8 at positions (n,) int64. Mutates the view.

    Positions are distinct; rows of negative positions are dropped.

    Raises:
        TensorMismatchError: a type, device, shape or stride is wrong, or, on the CPU, a position is beyond the view.

    """
    if dense.is_cuda:
        from sharedkv import kernels  # noqa: PLC0415 - Triton is not everywhere

        kernels.fill_current_rows(dense, rows, positions)
        return
    dense.zero_()
    write_rows(dense, rows, positions)


def plain_fill_current_rows(dense: torch.Tensor, rows: torch.Tensor, positions: torch.Tensor) -> None:
    """Do what `fill_current_rows` does with plain torch."""
    dense.zero_()
    plain_write_rows(dense, rows, positions)


def emit_top_k(selected: torch.Tensor, requests: torch.Tensor, bases: torch.Tensor) -> torch.Tensor:
    """Return dense positions (n, k) int64 of what each row selected.

    `selected` (n, k) int64 are positions within the row's request, negative where there is none; `requests` (n,) int64
    the request of each row, negative for a dummy row; `bases` (R,) int64 the first dense position of each request. A
    missing position, and each one of a dummy row or of a request beyond R, is -1.
    """
    if selected.is_cuda:
        from sharedkv import kernels  # noqa: PLC0415 - Triton is not everywhere

        emitted: torch.Tensor = kernels.emit_top_k(selected, requests, bases)
        return emitted
    return plain_emit_top_k(selected, requests, bases)


def plain_emit_top_k(selected: torch.Tensor, requests: torch.Tensor, bases: torch.Tensor) -> torch.Tensor:
    """Do what `emit_top_k` does with plain torch."""
    is_real = (requests >= 0) & (requests < bases.shape[0])
    padded = torch.cat((bases, bases.new_zeros(1)))
    base = padded.index_select(0, torch.where(is_real, requests, bases.shape[0]))
    is_position = is_real.unsqueeze(1) & (selected >= 0)
    return torch.where(is_position, selected + base.unsqueeze(1), -1)

"""Current fill: what one rank contributes to a dense view, its own rows and zeros everywhere else."""

from __future__ import annotations

import torch

from sharedkv.kernels.row_write import write_launch


def fill_current_rows(dense: torch.Tensor, rows: torch.Tensor, positions: torch.Tensor) -> None:
    """Make a dense view (T, B) uint8 of zeros and of rows (n, B) uint8 at positions (n,) int64. Mutates the view.

    Positions are distinct; rows of negative positions, and of positions beyond the view, are dropped. Two passes on
    one stream, a fill and a write: for one rank of eight they move about a tenth more bytes than one pass that would
    have to be told, or find out first, which row each position takes.

    Raises:
        TensorMismatchError: a type, device, shape or stride is wrong.

    """
    launch = write_launch(dense, rows, positions)
    launch.device()
    dense.zero_()
    launch.run()

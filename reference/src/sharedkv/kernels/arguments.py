"""What a wrapper demands of its tensors before it launches: type, device, shape, stride.

Knows tensors. Does not know kernels. Values on the device are not looked at: that would be to wait for it.
"""

from __future__ import annotations

import torch

from sharedkv.errors import TensorMismatchError
from sharedkv.layouts import INDEX_ROW_BYTES

ANY = -1
"""A size that may be any."""


def require_tensor(name: str, tensor: torch.Tensor, dtype: torch.dtype, *shape: int) -> None:
    """Raise TensorMismatchError unless the tensor has the type and the shape and is contiguous."""
    require(f"dtype of {name}", dtype, tensor.dtype)
    require(f"dimensions of {name}", len(shape), tensor.dim())
    for axis, size in enumerate(shape):
        if size != ANY:
            require(f"size of axis {axis} of {name}", size, tensor.shape[axis])
    require(f"contiguity of {name}", True, tensor.is_contiguous())  # noqa: FBT003 - what is wanted


def require_same_device(**tensors: torch.Tensor) -> None:
    """Raise TensorMismatchError unless all tensors lie on the device of the first."""
    (_, first), *rest = tensors.items()
    for name, tensor in rest:
        require(f"device of {name}", first.device, tensor.device)


def require_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    """Raise TensorMismatchError unless rows (n, B) and slots (n,) fit a buffer (N, B)."""
    require_tensor("buffer", buffer, torch.uint8, ANY, ANY)
    require_tensor("rows", rows, torch.uint8, ANY, buffer.shape[1])
    require_tensor("slots", slots, torch.int64, rows.shape[0])
    require_same_device(buffer=buffer, rows=rows, slots=slots)


def require_index_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor, page_size: int) -> None:
    """Raise TensorMismatchError unless rows (n, 132) and slots (n,) fit a paged buffer (P, S * 132) of whole words."""
    require_tensor("buffer", buffer, torch.uint8, ANY, page_size * INDEX_ROW_BYTES)
    require_tensor("rows", rows, torch.uint8, ANY, INDEX_ROW_BYTES)
    require_tensor("slots", slots, torch.int64, rows.shape[0])
    require_same_device(buffer=buffer, rows=rows, slots=slots)


def require(what: str, wanted: object, found: object) -> None:
    """Raise TensorMismatchError unless what was found is what was wanted."""
    if wanted != found:
        raise TensorMismatchError(what, wanted, found)

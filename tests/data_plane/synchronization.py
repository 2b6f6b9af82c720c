"""A guard that fails where a GPU would make the host wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

WAITING = frozenset(
    {
        "__bool__",
        "__float__",
        "__index__",
        "__int__",
        "cpu",
        "equal",
        "is_nonzero",
        "item",
        "masked_select",
        "nonzero",
        "numpy",
        "tolist",
        "unique",
    }
)
INDEXING = frozenset({"__getitem__", "__setitem__", "index_put", "index_put_"})


class WaitsError(Exception):
    """An operation whose answer, or its shape, the host has to wait for."""


class _NoWaiting(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        del types
        name = getattr(func, "__name__", "")
        if name in WAITING or (name in INDEXING and _has_mask(args[1])):
            raise WaitsError(name)
        return func(*args, **(kwargs or {}))


@contextmanager
def no_waiting() -> Iterator[None]:
    """Let operations that synchronize a GPU raise: reading a value, masks, counting what is not zero."""
    with _NoWaiting():
        yield


def _has_mask(index: Any) -> bool:  # noqa: ANN401 - whatever may stand between brackets
    indices = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, torch.Tensor) and part.dtype == torch.bool for part in indices)

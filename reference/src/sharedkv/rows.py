"""Rows to and from pool buffers by physical slot: what kernels do on a GPU, here for every device.

Knows bytes and slots. Does not know lanes, requests or what a row means.

    N  rows of a buffer      n  rows given      B  bytes of a row      P  physical pages      S  tokens a page

Every tensor is uint8 but for `slots`, which are int64: physical token slots, each named at most once by a write;
negative ones are dropped by a write and give zeros to a gather. Three ways give equal bytes: the plain functions, which
are normative and run on any device without waiting for it; numpy on the CPU, where copies of whole rows are an order of
magnitude faster; kernels on CUDA. The device of the buffer decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import torch
from numpy.typing import NDArray

from sharedkv.errors import TensorMismatchError
from sharedkv.layouts import INDEX_KEY_BYTES, INDEX_ROW_BYTES

_WORDS = ((8, torch.int64), (4, torch.int32), (2, torch.int16))
_PROPERTIES = ("dimensions", "device", "contiguity", "dtype")
# Rows that lie side by side, from a multiple of so many on, are copied as one.
_RUN_ROWS = 16


def write_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    """Write rows (n, B) to slots (n,) of a buffer (N, B). Mutates the buffer; no other row of it changes.

    Raises:
        TensorMismatchError: a type, device, shape or stride is wrong, or, on the CPU, a slot is beyond the buffer.

    """
    _require_rows(buffer, rows, slots)
    if buffer.is_cuda:
        _kernels().write_rows(buffer, rows, slots)
    elif buffer.device.type == "cpu":
        _numpy_write(_void_rows(buffer), _void_rows(rows), slots.numpy())
    else:
        plain_write_rows(buffer, rows, slots)


def gather_rows(buffer: torch.Tensor, slots: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return rows (n, B) of a buffer (N, B) at slots (n,), in their order; in `out` where it is given.

    Raises:
        TensorMismatchError: as for `write_rows`.

    """
    out = _output(buffer, slots, buffer.shape[-1], out)
    _require_rows(buffer, out, slots)
    if buffer.is_cuda:
        _kernels().gather_rows(buffer, slots, out)
    elif buffer.device.type == "cpu":
        _numpy_gather(_void_rows(buffer), _void_rows(out), slots.numpy())
    else:
        out.copy_(plain_gather_rows(buffer, slots))
    return out


def write_index_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor, page_size: int) -> None:
    """Write index rows (n, 132) to slots (n,) of a paged buffer (P, S * 132): keys of a page first, then its scales.

    Mutates the buffer; no other row of it changes.

    Raises:
        TensorMismatchError: as for `write_rows`.

    """
    _require_index(buffer, rows, slots, page_size)
    if buffer.is_cuda:
        _kernels().write_index_rows(buffer, rows, slots, page_size)
    elif buffer.device.type == "cpu":
        _numpy_write_index(buffer, rows, slots.numpy(), page_size)
    else:
        plain_write_index_rows(buffer, rows, slots, page_size)


def gather_index_rows(
    buffer: torch.Tensor, slots: torch.Tensor, page_size: int, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return index rows (n, 132), key then scale, at slots (n,) of a paged buffer (P, S * 132).

    Raises:
        TensorMismatchError: as for `write_rows`.

    """
    out = _output(buffer, slots, INDEX_ROW_BYTES, out)
    _require_index(buffer, out, slots, page_size)
    if buffer.is_cuda:
        _kernels().gather_index_rows(buffer, slots, page_size, out)
    elif buffer.device.type == "cpu":
        _numpy_gather_index(buffer, out, slots.numpy(), page_size)
    else:
        out.copy_(plain_gather_index_rows(buffer, slots, page_size))
    return out


def on_device(values: NDArray[np.int64], device: torch.device) -> torch.Tensor:
    """Return host numbers on a device, without waiting for the copy; on the CPU they may share memory."""
    host = torch.from_numpy(np.ascontiguousarray(values))
    if device.type == "cuda":
        host = host.pin_memory()
    return host.to(device, non_blocking=True)


def plain_write_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    """Do what `write_rows` does with plain torch: normative, and without waiting for the device."""
    if len(rows):
        kept, at = _instead_of_dropped(slots)
        target = _words(buffer)
        source = torch.where(_column(at < 0, target), target[:1], _words(rows).index_select(0, kept))
        target.index_copy_(0, at.clamp_min(0), source)


def plain_gather_rows(buffer: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
    """Do what `gather_rows` does with plain torch."""
    return buffer.index_select(0, slots.clamp_min(0)).mul_((slots >= 0).view(-1, 1))


def plain_write_index_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor, page_size: int) -> None:
    """Do what `write_index_rows` does with plain torch."""
    if len(rows):
        kept, at = _instead_of_dropped(slots)
        page, offset = at.clamp_min(0) // page_size, at.clamp_min(0) % page_size
        is_dropped = (at < 0).view(-1, 1)
        chosen = rows.index_select(0, kept)
        parts = (chosen[:, :INDEX_KEY_BYTES], chosen[:, INDEX_KEY_BYTES:])
        for target, source in zip(_plain_index_parts(buffer, page_size), parts, strict=True):
            target.index_put_((page, offset), torch.where(is_dropped, target[0, :1], source))


def plain_gather_index_rows(buffer: torch.Tensor, slots: torch.Tensor, page_size: int) -> torch.Tensor:
    """Do what `gather_index_rows` does with plain torch."""
    at = slots.clamp_min(0)
    page, offset = at // page_size, at % page_size
    keys, scales = (part[page, offset] for part in _plain_index_parts(buffer, page_size))
    return torch.cat((keys, scales), dim=1).mul_((slots >= 0).view(-1, 1))


def _instead_of_dropped(slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for each row which row to write and where: a dropped one repeats a kept one, so that nothing is masked.

    Where no row is kept, slots stay negative. Shapes (n,) and (n,), on the device, whose answer nobody waits for.
    """
    is_kept = slots >= 0
    one_kept = is_kept.to(torch.int64).argmax(dim=0, keepdim=True)
    kept = torch.where(is_kept, torch.arange(len(slots), device=slots.device), one_kept)
    return kept, slots.index_select(0, kept)


def _numpy_write(target: NDArray[np.void], source: NDArray[np.void], at: NDArray[np.int64]) -> None:
    if _has_dropped(at, len(target)):
        source, at = source[at >= 0], at[at >= 0]
    # Slots were looked at; clipping them spares numpy another look, and with it a third of the time.
    for places, pool, rows in _pieces(at, target, source):
        pool.put(places, rows, "clip")


def _numpy_gather(source: NDArray[np.void], target: NDArray[np.void], at: NDArray[np.int64]) -> None:
    has_dropped = _has_dropped(at, len(source))
    for places, pool, rows in _pieces(at, source, target):
        pool.take(places, out=rows, mode="clip")
    if has_dropped:
        target[at < 0] = np.zeros((), dtype=target.dtype)


def _pieces(
    at: NDArray[np.int64], pool: NDArray[np.void], rows: NDArray[np.void]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.void], NDArray[np.void]]]:
    """Yield places, pool and rows to copy one by one: runs as one item each as far as they go, then single rows."""
    grouped = _num_in_runs(at)
    if grouped:
        run, whole = f"V{_RUN_ROWS * pool.itemsize}", len(pool) // _RUN_ROWS * _RUN_ROWS
        yield at[:grouped:_RUN_ROWS] // _RUN_ROWS, pool[:whole].view(run), rows[:grouped].view(run)
    if grouped < len(at):
        yield at[grouped:], pool, rows[grouped:]


def _num_in_runs(at: NDArray[np.int64]) -> int:
    """Count the leading rows that are whole runs, each from a slot on that is a multiple of the run's length."""
    last = _RUN_ROWS - 1
    if len(at) < _RUN_ROWS or at[last] - at[0] != last or at[0] % _RUN_ROWS:
        return 0
    first = np.flatnonzero(at[1:] - at[:-1] != 1) + 1
    is_within = (first | at[first]) % _RUN_ROWS != 0
    grouped = int(first[is_within.argmax()]) if is_within.any() else len(at)
    return grouped // _RUN_ROWS * _RUN_ROWS


def _numpy_write_index(buffer: torch.Tensor, rows: torch.Tensor, at: NDArray[np.int64], page_size: int) -> None:
    kept = at >= 0 if _has_dropped(at, len(buffer) * page_size) else slice(None)
    places = np.divmod(at[kept], page_size)
    for target, source in zip(_index_parts(buffer, page_size), _row_parts(rows), strict=True):
        target[places] = source[kept]


def _numpy_gather_index(buffer: torch.Tensor, rows: torch.Tensor, at: NDArray[np.int64], page_size: int) -> None:
    has_dropped = _has_dropped(at, len(buffer) * page_size)
    places = np.divmod(np.maximum(at, 0), page_size)
    for source, target in zip(_index_parts(buffer, page_size), _row_parts(rows), strict=True):
        target[:] = source[places]
        if has_dropped:
            target[at < 0] = np.zeros((), dtype=target.dtype)


def _void_rows(tensor: torch.Tensor) -> NDArray[np.void]:
    """Return a view with one item a row, which numpy copies whole: (rows,) of as many bytes."""
    array: NDArray[np.uint8] = tensor.numpy()
    return array.view(f"V{array.shape[1]}")[:, 0]


def _index_parts(buffer: torch.Tensor, page_size: int) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Return views of the keys and of the scales of every page: each (P, S), one item a token."""
    array: NDArray[np.uint8] = buffer.numpy()
    first_scale = page_size * INDEX_KEY_BYTES
    keys, scales = array[:, :first_scale], array[:, first_scale:]
    return keys.view(f"V{INDEX_KEY_BYTES}"), scales.view(f"V{INDEX_ROW_BYTES - INDEX_KEY_BYTES}")


def _row_parts(rows: torch.Tensor) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Return views of the keys and of the scales of rows (n, 132): each (n,)."""
    keys, scales = _index_parts(rows, 1)
    return keys[:, 0], scales[:, 0]


def _plain_index_parts(buffer: torch.Tensor, page_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return views of the keys (P, S, 128) and of the scales (P, S, 4) of every page."""
    pages, first_scale = buffer.shape[0], page_size * INDEX_KEY_BYTES
    keys = buffer[:, :first_scale].view(pages, page_size, INDEX_KEY_BYTES)
    scales = buffer[:, first_scale:].view(pages, page_size, INDEX_ROW_BYTES - INDEX_KEY_BYTES)
    return keys, scales


def _words(tensor: torch.Tensor) -> torch.Tensor:
    """Return a view in the widest words that the row has: copies by byte are many times slower."""
    for size, dtype in _WORDS:
        if tensor.shape[1] % size == 0:
            return tensor.view(dtype)
    return tensor


def _column(is_dropped: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return is_dropped.view(-1, *(1,) * (target.dim() - 1))


def _output(buffer: torch.Tensor, slots: torch.Tensor, row_bytes: int, out: torch.Tensor | None) -> torch.Tensor:
    return buffer.new_empty((len(slots), row_bytes)) if out is None else out


def _require_rows(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    _require_common(buffer, rows, slots)
    _require("bytes of a row", buffer.shape[1], rows.shape[1])


def _require_index(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor, page_size: int) -> None:
    _require_common(buffer, rows, slots)
    _require("bytes of a page", page_size * INDEX_ROW_BYTES, buffer.shape[1])
    _require("bytes of a row", INDEX_ROW_BYTES, rows.shape[1])


def _require_common(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    for name, tensor, dims, dtype in (
        ("buffer", buffer, 2, torch.uint8),
        ("rows", rows, 2, torch.uint8),
        ("slots", slots, 1, torch.int64),
    ):
        wanted = (dims, buffer.device, True, dtype)
        found = (tensor.dim(), tensor.device, tensor.is_contiguous(), tensor.dtype)
        if wanted != found:
            what = next(place for place in range(len(wanted)) if wanted[place] != found[place])
            raise TensorMismatchError(f"{_PROPERTIES[what]} of {name}", wanted[what], found[what])
    _require("number of slots", rows.shape[0], slots.shape[0])


def _has_dropped(at: NDArray[np.int64], num_slots: int) -> bool:
    """Say whether a slot is negative, and raise for one beyond the buffer; unsigned, both are the largest."""
    if not len(at) or at.view(np.uint64).max() < num_slots:
        return False
    if (largest := int(at.max())) >= num_slots:
        raise TensorMismatchError("slot", f"less than {num_slots}", largest)
    return True


def _require(what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise TensorMismatchError(what, wanted, found)


def _kernels() -> ModuleType:
    """Return the kernels, imported when the first CUDA tensor comes: Triton is not everywhere."""
    from sharedkv import kernels  # noqa: PLC0415 - see above

    return kernels

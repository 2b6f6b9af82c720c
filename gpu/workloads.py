"""What is timed: each kernel on shapes of a batch, with the bytes that it has to move at least.

Knows kernels and shapes. Does not know clocks. A workload is made when its turn comes, so that memory holds one a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import torch

from sharedkv import kernels
from sharedkv.layouts import FP8_ROW_BYTES, INDEX_ROW_BYTES, LATENT_ROW_BYTES

PAGE_SIZE = 64
SLOT_BYTES = 8
RANKS = 8
LAYERS = 4


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One kernel on one shape. `call` enqueues it; `bytes_moved` are those read and those written, at least."""

    kernel: str
    shape: Mapping[str, int | str]
    bytes_moved: int
    call: Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How large the shapes are: rows of a batch, times so many slots in the pool, tokens selected a row."""

    row_counts: tuple[int, ...]
    pool_factor: int
    selected: int

    @staticmethod
    def full() -> Scale:
        """Return a batch that fits into the cache of a GPU and one that does not."""
        return Scale(row_counts=(8_192, 262_144), pool_factor=4, selected=2_048)

    @staticmethod
    def tiny() -> Scale:
        """Return what an interpreter can bear."""
        return Scale(row_counts=(128,), pool_factor=2, selected=16)


def workloads(scale: Scale, device: torch.device) -> Iterator[Callable[[], Workload]]:
    """Yield a maker of each workload."""
    for num_rows in scale.row_counts:
        num_slots = num_rows * scale.pool_factor
        for order in ("pages", "random"):
            slots = partial(_slots, order, num_rows, num_slots, device)
            for row_bytes in (FP8_ROW_BYTES, LATENT_ROW_BYTES):
                shape = {"rows": num_rows, "row_bytes": row_bytes, "slots": num_slots, "order": order}
                yield partial(_write, shape, slots, device)
                yield partial(_gather, shape, slots, device)
            index_shape = {"rows": num_rows, "row_bytes": INDEX_ROW_BYTES, "slots": num_slots, "order": order}
            yield partial(_write_index, index_shape, slots, device)
            yield partial(_gather_index, index_shape, slots, device)
        yield partial(_move, num_rows // PAGE_SIZE, LAYERS, device)
        yield partial(_fill, num_rows, device)
        yield partial(_emit, min(num_rows, 16_384), scale.selected, device)
        yield partial(_quantize, num_rows, device)


def _slots(order: str, num_rows: int, num_slots: int, device: torch.device) -> torch.Tensor:
    """Return distinct slots (num_rows,): whole pages, in random order, or single rows from anywhere."""
    generator = torch.Generator().manual_seed(num_rows)
    if order == "random":
        return torch.randperm(num_slots, generator=generator)[:num_rows].to(device)
    pages = torch.randperm(num_slots // PAGE_SIZE, generator=generator)[: -(-num_rows // PAGE_SIZE)]
    return (pages[:, None] * PAGE_SIZE + torch.arange(PAGE_SIZE)).view(-1)[:num_rows].contiguous().to(device)


def _bytes(device: torch.device, *shape: int) -> torch.Tensor:
    return torch.randint(0, 256, shape, dtype=torch.uint8, device=device)


def _moved(shape: Mapping[str, int | str]) -> int:
    """Return the bytes of rows that are read and written again, and of their slots."""
    return int(shape["rows"]) * (2 * int(shape["row_bytes"]) + SLOT_BYTES)


def _write(shape: Mapping[str, int | str], slots: Callable[[], torch.Tensor], device: torch.device) -> Workload:
    row_bytes = int(shape["row_bytes"])
    buffer, rows = _bytes(device, int(shape["slots"]), row_bytes), _bytes(device, int(shape["rows"]), row_bytes)
    call = partial(kernels.write_rows, buffer, rows, slots())
    return Workload(kernel="write_rows", shape=shape, bytes_moved=_moved(shape), call=call)


def _gather(shape: Mapping[str, int | str], slots: Callable[[], torch.Tensor], device: torch.device) -> Workload:
    row_bytes = int(shape["row_bytes"])
    buffer, out = _bytes(device, int(shape["slots"]), row_bytes), _bytes(device, int(shape["rows"]), row_bytes)
    call = partial(kernels.gather_rows, buffer, slots(), out)
    return Workload(kernel="gather_rows", shape=shape, bytes_moved=_moved(shape), call=call)


def _write_index(shape: Mapping[str, int | str], slots: Callable[[], torch.Tensor], device: torch.device) -> Workload:
    pages = _bytes(device, int(shape["slots"]) // PAGE_SIZE, PAGE_SIZE * INDEX_ROW_BYTES)
    rows = _bytes(device, int(shape["rows"]), INDEX_ROW_BYTES)
    call = partial(kernels.write_index_rows, pages, rows, slots(), PAGE_SIZE)
    return Workload(kernel="write_index_rows", shape=shape, bytes_moved=_moved(shape), call=call)


def _gather_index(shape: Mapping[str, int | str], slots: Callable[[], torch.Tensor], device: torch.device) -> Workload:
    pages = _bytes(device, int(shape["slots"]) // PAGE_SIZE, PAGE_SIZE * INDEX_ROW_BYTES)
    out = _bytes(device, int(shape["rows"]), INDEX_ROW_BYTES)
    call = partial(kernels.gather_index_rows, pages, slots(), PAGE_SIZE, out)
    return Workload(kernel="gather_index_rows", shape=shape, bytes_moved=_moved(shape), call=call)


def _move(num_pages: int, layers: int, device: torch.device) -> Workload:
    """Pages of one layer of a device pool to where pages come first: those of other layers lie between them."""
    source = _bytes(device, 2 * num_pages, PAGE_SIZE, FP8_ROW_BYTES)
    target = _bytes(device, 2 * num_pages, layers, PAGE_SIZE, FP8_ROW_BYTES)[:, 1]
    generator = torch.Generator().manual_seed(num_pages)
    read, written = (torch.randperm(2 * num_pages, generator=generator)[:num_pages].to(device) for _ in range(2))
    return Workload(
        kernel="move_pages",
        shape={"pages": num_pages, "page_rows": PAGE_SIZE, "row_bytes": FP8_ROW_BYTES, "layers": layers},
        bytes_moved=2 * num_pages * (PAGE_SIZE * FP8_ROW_BYTES + SLOT_BYTES),
        call=partial(kernels.move_pages, source, target, read, written),
    )


def _fill(num_tokens: int, device: torch.device) -> Workload:
    """One rank of eight: an eighth of the tokens are its own."""
    num_rows = num_tokens // RANKS
    dense, rows = _bytes(device, num_tokens, FP8_ROW_BYTES), _bytes(device, num_rows, FP8_ROW_BYTES)
    positions = _slots("random", num_rows, num_tokens, device)
    return Workload(
        kernel="fill_current_rows",
        shape={"tokens": num_tokens, "rows": num_rows, "row_bytes": FP8_ROW_BYTES},
        bytes_moved=(num_tokens + num_rows) * FP8_ROW_BYTES + num_rows * SLOT_BYTES,
        call=partial(kernels.fill_current_rows, dense, rows, positions),
    )


def _emit(num_rows: int, count: int, device: torch.device) -> Workload:
    num_requests = 10
    selected = torch.randint(-1, 100_000, (num_rows, count), device=device)
    requests = torch.randint(-1, num_requests, (num_rows,), device=device)
    bases = torch.arange(num_requests, device=device) * 100_000
    return Workload(
        kernel="emit_top_k",
        shape={"rows": num_rows, "selected": count, "requests": num_requests},
        bytes_moved=2 * selected.nbytes + requests.nbytes,
        call=partial(kernels.emit_top_k, selected, requests, bases, torch.empty_like(selected)),
    )


def _quantize(num_rows: int, device: torch.device) -> Workload:
    rows = torch.randn((num_rows, LATENT_ROW_BYTES // 2), device=device).to(torch.bfloat16)
    out = _bytes(device, num_rows, FP8_ROW_BYTES)
    return Workload(
        kernel="quantize_latent",
        shape={"rows": num_rows, "row_bytes": LATENT_ROW_BYTES, "stored_row_bytes": FP8_ROW_BYTES},
        bytes_moved=rows.nbytes + out.nbytes,
        call=partial(kernels.quantize_latent, rows, out),
    )

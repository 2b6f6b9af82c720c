"""Host memory of one rank: the host pages of its lane, with every buffer of every layer.

Knows bytes, layers and how host memory is laid out. Does not know which pages are free, who copies, or when.

    P  host pages      R  rows of a page      B  bytes of a row: that of the device pool, in stored form

    order               a row buffer of one part                    a paged buffer of one part
    layer_first         for each layer (P, R, B)                    for each layer (P, 1, B)
    page_first          (P, R, layers, B)                           (P, layers, 1, B)
    page_first_direct   (P, layers, R, B)                           (P, layers, 1, B)

A page of a paged buffer is one row: all its keys, then all its scales. A *part* is what becomes one object of storage:
`kv` (every buffer of the target but the index), `index`, and `draft` (every buffer of the draft). Where pages come
first, a page of a part is one run of memory: its buffers one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from sharedkv.errors import Refusal, RefusedError, TensorMismatchError
from sharedkv.layouts import INDEX, Buffer, Layout
from sharedkv.memory import zeroed
from sharedkv.pools import Pool

LAYER_FIRST = "layer_first"
PAGE_FIRST = "page_first"
PAGE_FIRST_DIRECT = "page_first_direct"
ORDERS = (LAYER_FIRST, PAGE_FIRST, PAGE_FIRST_DIRECT)

KV, INDEX_PART, DRAFT_PART = "kv", "index", "draft"


@dataclass(frozen=True, kw_only=True)
class HostShape:
    """What host memory holds: rows of a layout, `layers` of the target, then `draft_layers`, in one of three orders."""

    layout: Layout
    page_size: int
    layers: int
    draft_layers: int = 0
    order: str = LAYER_FIRST

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise RefusedError(Refusal.HOST_CONFIG_INVALID, self.order)

    @property
    def all_layers(self) -> int:
        """Count the layers of target and draft."""
        return self.layers + self.draft_layers

    @cached_property
    def parts(self) -> dict[str, tuple[Run, ...]]:
        """Return the runs that a page of each part is made of, in order."""
        target, draft = range(self.layers), range(self.layers, self.all_layers)
        kv = [buffer for buffer in self.layout.buffers if buffer.name != INDEX]
        index = [buffer for buffer in self.layout.buffers if buffer.name == INDEX]
        made = {KV: self._runs(kv, target), INDEX_PART: self._runs(index, target)}
        made[DRAFT_PART] = self._runs(self.layout.buffers, draft)
        return {part: runs for part, runs in made.items() if runs}

    def part_bytes(self, part: str) -> int:
        """Return the bytes of one page of a part."""
        return sum(run.num_bytes for run in self.parts[part])

    @property
    def page_bytes(self) -> int:
        """Return the bytes of one page, all buffers of all layers."""
        return sum(map(self.part_bytes, self.parts))

    def pages_in(self, num_bytes: int) -> int:
        """Count the pages that fit into so much memory."""
        return num_bytes // self.page_bytes

    def _runs(self, buffers: Sequence[Buffer], layers: range) -> tuple[Run, ...]:
        return tuple(Run(buffer=buffer, layers=layers, page_size=self.page_size) for buffer in buffers if layers)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One buffer of the layers of a part, as a page holds it."""

    buffer: Buffer
    layers: range
    page_size: int

    @property
    def page_rows(self) -> int:
        """Count the rows of a page: a paged buffer has one."""
        return 1 if self.buffer.is_paged else self.page_size

    @property
    def row_bytes(self) -> int:
        """Return the bytes of such a row."""
        return self.buffer.stored_row_bytes * (self.page_size if self.buffer.is_paged else 1)

    @property
    def num_bytes(self) -> int:
        """Return the bytes of one page of all the layers."""
        return len(self.layers) * self.page_rows * self.row_bytes


class HostMemory:
    """Zeroed host pages of one lane.

    Pinned memory, which copies of a GPU need, is there only where CUDA is; torch rounds each piece of it up to a power
    of two, a piece being a buffer of a layer where layers come first, else a part of all pages.
    """

    def __init__(self, shape: HostShape, num_pages: int, *, is_pinned: bool = False) -> None:
        self.shape = shape
        self.num_pages = num_pages
        self._is_pinned = is_pinned
        self._runs: dict[str, torch.Tensor] = {}
        self._views: dict[tuple[int, str], torch.Tensor] = {}
        for part, runs in shape.parts.items():
            if shape.order == LAYER_FIRST:
                self._lay_out_by_layer(runs)
            else:
                self._lay_out_by_page(part, runs)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts that a page has."""
        return tuple(self.shape.parts)

    def pages(self, layer: int, buffer: str) -> torch.Tensor:
        """Return the host pages of one buffer of one layer: uint8 (P, R, B), a view.

        Raises:
            RefusedError: there is no such layer or buffer.

        """
        if layer not in range(self.shape.all_layers):
            raise RefusedError(Refusal.LAYER_OUTSIDE_POOL, layer)
        self.shape.layout.buffer(buffer)
        return self._views[layer, buffer]

    def page_run(self, part: str, page: int) -> torch.Tensor:
        """Return one page of a part as it lies in memory, uint8 (bytes of the part,), a view; pages come first.

        Raises:
            RefusedError: layers come first, and no page is one run.

        """
        if self.shape.order == LAYER_FIRST:
            raise RefusedError(Refusal.HOST_CONFIG_INVALID, f"a page of {part} is no run where layers come first")
        return self._runs[part][page]

    def page_part(self, part: str, page: int) -> torch.Tensor:
        """Return one page of a part as storage has it, uint8 (bytes of the part,); the same in every order.

        Buffer by buffer, layer by layer, as the pages of the device are stored. A view where `page_first_direct` keeps
        it so, else a copy.
        """
        if self.shape.order == PAGE_FIRST_DIRECT:
            return self._runs[part][page]
        return torch.cat([self._views[place][page].reshape(-1) for place in self._places(part)])

    def put_page_part(self, part: str, page: int, data: torch.Tensor) -> None:
        """Set one page of a part from what `page_part` returns.

        Raises:
            TensorMismatchError: another number of bytes.

        """
        if data.shape != (self.shape.part_bytes(part),):
            raise TensorMismatchError(f"bytes of a page of {part}", self.shape.part_bytes(part), tuple(data.shape))
        first = 0
        for place in self._places(part):
            own = self._views[place][page]
            own.copy_(data[first : first + own.numel()].view(own.shape))
            first += own.numel()

    def require_pair(self, pool: Pool) -> None:
        """Refuse a device pool whose pages are not those of this memory.

        Raises:
            TensorMismatchError: page size, layers or bytes of a row differ; it names both numbers.

        """
        own = self.shape
        _require("tokens of a page of host and device", pool.geometry.page_size, own.page_size)
        _require("layers of host and device", pool.layers, own.all_layers)
        wanted, found = ([buffer.name for buffer in layout.buffers] for layout in (pool.layout, own.layout))
        _require("buffers of host and device", wanted, found)
        for device, host in zip(pool.layout.buffers, own.layout.buffers, strict=True):
            what = f"bytes of a row of {device.name} of host and device"
            _require(what, device.stored_row_bytes, host.stored_row_bytes)

    def _places(self, part: str) -> Iterator[tuple[int, str]]:
        """Yield what a page of a part is made of: layer and buffer."""
        return ((layer, run.buffer.name) for run in self.shape.parts[part] for layer in run.layers)

    def _lay_out_by_layer(self, runs: tuple[Run, ...]) -> None:
        for run in runs:
            for layer in run.layers:
                self._views[layer, run.buffer.name] = self._memory(self.num_pages, run.page_rows, run.row_bytes)

    def _lay_out_by_page(self, part: str, runs: tuple[Run, ...]) -> None:
        whole = self._runs[part] = self._memory(self.num_pages, self.shape.part_bytes(part))
        first = 0
        for run in runs:
            own = whole[:, first : first + run.num_bytes]
            first += run.num_bytes
            for at, layer in enumerate(run.layers):
                self._views[layer, run.buffer.name] = self._layer_of(own, run, at)

    def _layer_of(self, own: torch.Tensor, run: Run, at: int) -> torch.Tensor:
        """Return the pages of one layer (P, R, B) of those of all layers of a run (P, bytes)."""
        pages, layers = own.shape[0], len(run.layers)
        if self.shape.order == PAGE_FIRST:
            return own.view(pages, run.page_rows, layers, run.row_bytes)[:, :, at]
        return own.view(pages, layers, run.page_rows, run.row_bytes)[:, at]

    def _memory(self, *shape: int) -> torch.Tensor:
        if self._is_pinned:
            return torch.zeros(shape, dtype=torch.uint8, pin_memory=True)
        return zeroed(shape, torch.device("cpu"))


def device_pages(pool: Pool, layer: int, buffer: Buffer) -> torch.Tensor:
    """Return the physical pages of one buffer of one layer as host memory has its own: uint8 (pages, R, B), a view."""
    rows = 1 if buffer.is_paged else pool.geometry.page_size
    return pool.buffer(layer, buffer.name).view(pool.physical_pages, rows, -1)


def _require(what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise TensorMismatchError(what, wanted, found)

"""A forward whose pages are backed up: layer by layer behind its writes, or all layers when it is done.

Knows one rank: its pool, host memory, streams. Needs torch and the reference alone; the benchmark `backup` runs it on
the CPU. Does not know how a result is shown.

    alone     | layer 0 | layer 1 | ...                    what the forward takes by itself
    layered   | layer 0 | layer 1 | ...                    each layer's backup is enqueued when the layer is
    tail      | layer 0 | layer 1 | ... | all layers       one backup is enqueued behind the forward
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter_ns

import torch

from sharedkv.copy_engine import PageMove
from sharedkv.copying import PageCopyEngine
from sharedkv.geometry import Geometry
from sharedkv.host_memory import HostMemory, HostShape, device_pages
from sharedkv.layer_fences import LayerFences
from sharedkv.layouts import layout
from sharedkv.pool_rows import write_pool_rows
from sharedkv.pools import Pool
from sharedkv.streams import Backend
from sharedkv.tiers import Tiers
from sharedkv.writing import compute_stream

ALONE, LAYERED, TAIL = "forward alone", "layer by layer", "all at the end"
VARIANTS = (ALONE, LAYERED, TAIL)
BACKED_UP = (LAYERED, TAIL)
PAGE_SIZE = 64
RANKS = 8
RANK = 0
REQUEST = "r"
NS_PER_US = 1_000
SEED = 7


@dataclass(frozen=True, kw_only=True)
class OverlapScale:
    """How large: layers of target and draft, values that a token has within the forward, and tokens of each extend."""

    layout: str
    order: str
    layers: int
    draft_layers: int
    values: int
    extends: tuple[int, ...]
    rounds: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """One forward, in microseconds: until it was done, until its backup was too, and of both what submitting took."""

    forward_us: float
    total_us: float
    submit_us: float


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """One extend, medians over the rounds: `pages` of one rank, `page_bytes` of all layers; runs by variant."""

    tokens: int
    pages: int
    page_bytes: int
    layers: int
    runs: dict[str, Run]

    def over_forward_us(self, variant: str) -> float:
        """Return what a variant takes beyond the forward alone."""
        return self.runs[variant].total_us - self.runs[ALONE].total_us

    def submit_us_a_layer(self, variant: str) -> float:
        """Return the host's time to submit one layer."""
        return self.runs[variant].submit_us / self.layers

    @property
    def winner(self) -> str:
        """Return the variant that is done first."""
        return min(BACKED_UP, key=lambda variant: self.runs[variant].total_us)


class UnequalBackupsError(Exception):
    """The host pages of the variants differ, so that there is nothing to compare."""

    def __init__(self, layer: int, buffer: str) -> None:
        super().__init__(layer, buffer)
        self.layer = layer
        self.buffer = buffer

    def __str__(self) -> str:
        return f"host pages of layer {self.layer}, buffer {self.buffer}, differ from those of the device"


class Forward:
    """The forward of one rank: a product of matrices and a write of rows a layer; both variants back it up."""

    def __init__(self, scale: OverlapScale, tokens: int, backend: Backend, device: torch.device) -> None:
        self.pages = max(1, -(-tokens // (PAGE_SIZE * RANKS)))
        geometry = Geometry(cp_size=RANKS, page_size=PAGE_SIZE, pages=RANKS * self.pages)
        rows = layout(scale.layout)
        shape = HostShape(
            layout=rows,
            page_size=PAGE_SIZE,
            layers=scale.layers,
            draft_layers=scale.draft_layers,
            order=scale.order,
        )
        self.pool = Pool(geometry, rows, shape.all_layers, device)
        self.memory = HostMemory(shape, len(BACKED_UP) * self.pages, is_pinned=device.type == "cuda")
        self.layers = range(shape.all_layers)
        tiers = Tiers(ranks=(RANK,), pools=(self.pool,), memories=(self.memory,), backend=backend, fences=LayerFences())
        self.engine = PageCopyEngine(tiers)
        self._compute = backend.stream(compute_stream(RANK))
        self._slots = torch.arange(PAGE_SIZE, PAGE_SIZE * (1 + self.pages), device=device)
        generator = torch.Generator().manual_seed(SEED)
        dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
        own_tokens = self.pages * PAGE_SIZE
        self._hidden = torch.randn((own_tokens, scale.values), generator=generator).to(device, dtype)
        self._weights = torch.randn((scale.values, scale.values), generator=generator).to(device, dtype)
        self._computed = {
            buffer.name: torch.randn((own_tokens, buffer.computed_row_bytes // 2), generator=generator)
            .to(torch.bfloat16)
            .to(device)
            for buffer in rows.buffers
        }

    def moves(self, variant: str) -> tuple[PageMove, ...]:
        """Return the pages of the rank, each beside its host page, of which every variant has its own."""
        first = BACKED_UP.index(variant) * self.pages
        return tuple(
            PageMove(lane=RANK, device_page=page * RANKS + RANK + 1, host_page=first + page)
            for page in range(self.pages)
        )

    def run(self, variant: str) -> Run:
        """Run the forward once and wait for it and its backup."""
        moves = self.moves(variant) if variant != ALONE else ()
        submit_ns = 0
        if variant == LAYERED:
            self.engine.admitted(REQUEST, moves)
        start = perf_counter_ns()
        for layer in self.layers:
            self._compute.enqueue(partial(self._do_layer, layer), f"forward of layer {layer}")
            if variant == LAYERED:
                submitted = perf_counter_ns()
                self.engine.layer_end(layer)
                submit_ns += perf_counter_ns() - submitted
        submitted = perf_counter_ns()
        copies = self.engine.submit_backups([moves] if moves else [], REQUEST if variant == LAYERED else None)
        submit_ns += perf_counter_ns() - submitted
        self._compute.record().synchronize()
        forward_ns = perf_counter_ns() - start
        for copy in copies:
            copy.settle()
        total_ns = perf_counter_ns() - start
        return Run(forward_us=forward_ns / NS_PER_US, total_us=total_ns / NS_PER_US, submit_us=submit_ns / NS_PER_US)

    def require_equal_bytes(self) -> None:
        """Raise unless the host pages of both variants hold what the device pages do, every buffer of every layer.

        Raises:
            UnequalBackupsError: they do not.

        """
        for layer in self.layers:
            for buffer in self.pool.layout.buffers:
                device = device_pages(self.pool, layer, buffer)[1:].cpu()
                host = self.memory.pages(layer, buffer.name)
                for variant in BACKED_UP:
                    own = [move.host_page for move in self.moves(variant)]
                    if not device.any() or not torch.equal(host[own], device):
                        raise UnequalBackupsError(layer, buffer.name)

    def _do_layer(self, layer: int) -> None:
        torch.mm(self._hidden, self._weights)
        for buffer in self.pool.layout.buffers:
            computed = (self._computed[buffer.name] * (layer + 1)).view(torch.uint8)
            write_pool_rows(self.pool, layer, buffer, computed, self._slots)


def overlap_of(scale: OverlapScale, tokens: int, backend: Backend, device: torch.device) -> Overlap:
    """Measure one extend: every variant once a round, after a first one whose bytes are compared."""
    forward = Forward(scale, tokens, backend, device)
    backend.synchronize()
    for variant in VARIANTS:
        forward.run(variant)
    forward.require_equal_bytes()
    rounds = [{variant: forward.run(variant) for variant in VARIANTS} for _ in range(scale.rounds)]
    return Overlap(
        tokens=tokens,
        pages=forward.pages,
        page_bytes=forward.memory.shape.page_bytes,
        layers=len(forward.layers),
        runs={variant: _medians([runs[variant] for runs in rounds]) for variant in VARIANTS},
    )


def _medians(runs: Sequence[Run]) -> Run:
    return Run(
        forward_us=median(run.forward_us for run in runs),
        total_us=median(run.total_us for run in runs),
        submit_us=median(run.submit_us for run in runs),
    )

"""Pools of a small group with host memory behind them: pages are drawn by hand, and bytes of every page are its own.

Shared by the tests of copies. Knows pages and bytes; has no tree and no counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from zlib import crc32

import numpy as np
import torch

from sharedkv.copy_engine import PageMove
from sharedkv.copying import PageCopyEngine
from sharedkv.geometry import Geometry
from sharedkv.host_memory import LAYER_FIRST, HostMemory, HostShape, device_pages
from sharedkv.layer_fences import LayerFences
from sharedkv.layouts import MLA_FP8, layout
from sharedkv.pools import Pool
from sharedkv.prefetching import SIDE_STREAM
from sharedkv.reading import GroupReader
from sharedkv.streams import Backend, RecordingBackend
from sharedkv.tiers import Tiers
from sharedkv.writing import GroupWriter, compute_stream, rows_of

RANKS = 2
PAGE_SIZE = 4
HOST_PAGES = 6


class TwoTiers:
    """Both tiers of all ranks; streams are late, so that a wait that is missing shows."""

    def __init__(
        self,
        *,
        name: str = MLA_FP8,
        order: str = LAYER_FIRST,
        layers: int = 2,
        draft_layers: int = 1,
        backend: Backend | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.geometry = Geometry(cp_size=RANKS, page_size=PAGE_SIZE, pages=16)
        self.layout = layout(name)
        self.layers = range(layers + draft_layers)
        self.backend = backend or RecordingBackend(late=True)
        self.pools = [Pool(self.geometry, self.layout, len(self.layers), device) for _ in range(RANKS)]
        shape = HostShape(
            layout=self.layout, page_size=PAGE_SIZE, layers=layers, draft_layers=draft_layers, order=order
        )
        is_pinned = self.pools[0].device.type == "cuda"
        self.memories = [HostMemory(shape, HOST_PAGES, is_pinned=is_pinned) for _ in range(RANKS)]
        self.fences = LayerFences()
        self.writer = GroupWriter(self.geometry, self.pools, self.backend)
        self.told: list[tuple[str, int, str]] = []
        tiers = Tiers(
            ranks=range(RANKS),
            pools=self.pools,
            memories=self.memories,
            backend=self.backend,
            fences=self.fences,
            other_readers=(SIDE_STREAM,),
            count_writes=self.writer.count_writes,
        )
        self.engine = PageCopyEngine(tiers, self)
        self.writer.after_users(self.engine.users_of)
        self.reader = GroupReader(self.geometry, self.pools, self.backend, self.fences.events)

    def on_backup_submitted(self, layer: int, source: str) -> None:
        self.told.append(("backup", layer, source))

    def on_load_submitted(self, layer: int, source: str) -> None:
        self.told.append(("load", layer, source))

    def moves(self, pairs: Sequence[tuple[int, int]]) -> tuple[PageMove, ...]:
        """Return moves of logical pages and host pages; the lane is that of the logical page."""
        return tuple(
            PageMove(lane=(page - 1) % RANKS, device_page=page, host_page=host_page) for page, host_page in pairs
        )

    def fill(self, layer: int, pages: Sequence[int], seed: int) -> None:
        """Enqueue bytes of a seed into whole pages of one layer, on the compute stream of their rank."""
        self.writer.count_writes(layer, np.array(pages))
        for user in self.engine.users_of(layer, np.array(pages)):
            for rank in range(RANKS):
                self.backend.stream(compute_stream(rank)).wait(user)
        for page in pages:
            rank, physical = (page - 1) % RANKS, (page - 1) // RANKS + 1
            slots = np.arange(physical * PAGE_SIZE, (physical + 1) * PAGE_SIZE)
            self.backend.stream(compute_stream(rank)).enqueue(
                partial(self._put, rank, layer, physical, page, seed),
                f"write of page {page}, layer {layer}",
                writes=[rows_of(rank, layer, buffer.name, slots) for buffer in self.layout.buffers],
            )

    def fill_all(self, pages: Sequence[int], seed: int) -> None:
        """Do so for every layer."""
        for layer in self.layers:
            self.fill(layer, pages, seed)

    def expected(self, layer: int, buffer: str, page: int, seed: int) -> torch.Tensor:
        """Return what `fill` puts there: uint8 (R, B)."""
        rows = device_pages(self.pools[0], layer, self.layout.buffer(buffer))[0].shape
        generator = torch.Generator().manual_seed(crc32(repr((layer, buffer, page, seed)).encode()))
        return torch.randint(0, 256, rows, dtype=torch.uint8, generator=generator)

    def on_device(self, layer: int, buffer: str, page: int) -> torch.Tensor:
        """Return a page as it lies in its pool now."""
        rank, physical = (page - 1) % RANKS, (page - 1) // RANKS + 1
        return device_pages(self.pools[rank], layer, self.layout.buffer(buffer))[physical].cpu()

    def on_host(self, layer: int, buffer: str, page: int, host_page: int) -> torch.Tensor:
        """Return a host page of the lane of a logical page as it lies there now."""
        return self.memories[(page - 1) % RANKS].pages(layer, buffer)[host_page]

    def device_has(self, pages: dict[int, int], seed: int) -> bool:
        """Say whether logical pages hold, in every buffer of every layer, what was filled into others (`pages`: by)."""
        return all(
            torch.equal(self.on_device(layer, buffer.name, page), self.expected(layer, buffer.name, filled, seed))
            for page, filled in pages.items()
            for layer in self.layers
            for buffer in self.layout.buffers
        )

    def host_has(self, moves: Sequence[PageMove], seed: int, layers: Sequence[int] | None = None) -> bool:
        """Say whether the host pages of moves hold what was filled into their device pages."""
        return all(
            torch.equal(
                self.on_host(layer, buffer.name, move.device_page, move.host_page),
                self.expected(layer, buffer.name, move.device_page, seed),
            )
            for move in moves
            for layer in (self.layers if layers is None else layers)
            for buffer in self.layout.buffers
        )

    def backed_up(self, pairs: Sequence[tuple[int, int]], seed: int) -> tuple[PageMove, ...]:
        """Fill pages, back them up, wait for it, and return the moves."""
        moves = self.moves(pairs)
        self.fill_all([page for page, _ in pairs], seed)
        for progress in self.engine.submit_backups([moves], None):
            progress.settle()
        return moves

    def _put(self, rank: int, layer: int, physical: int, page: int, seed: int) -> None:
        for buffer in self.layout.buffers:
            target = device_pages(self.pools[rank], layer, buffer)[physical]
            target.copy_(self.expected(layer, buffer.name, page, seed))

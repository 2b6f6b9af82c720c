"""A small engine over the prefix cache: it serves prompts, and knows what every page of every prompt has to hold.

Shared by the tests of the cache with its bytes. A page's bytes follow from all tokens up to its end, so that whoever
finds it in the tree, wherever it was in between, can tell whether it is what was computed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from zlib import crc32

import numpy as np
import torch

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.collectives import Group, GroupAgreement
from sharedkv.copy_ledger import CopyLedger
from sharedkv.copying import PageCopyEngine
from sharedkv.errors import CapacityWaitError
from sharedkv.geometry import Geometry, PageId
from sharedkv.host_cache import HostCache
from sharedkv.host_memory import HostMemory, HostShape, device_pages
from sharedkv.host_pool import HostPool
from sharedkv.layer_fences import LayerFences
from sharedkv.layouts import MLA_FP8, Buffer, layout
from sharedkv.pools import Pool
from sharedkv.streams import Backend
from sharedkv.tier_values import BackupRequest, CachePolicy
from sharedkv.tiers import Tiers
from sharedkv.tree_node import Node
from sharedkv.writing import compute_stream, pool_rows_of

PAGE_SIZE = 2
PAGES_A_LANE = 5
HOST_PAGES = 7
BLOCKS = ((1, 2), (3, 4), (5, 6))
LONGEST = 5


class Server:
    """One process of an engine: the ranks that it plays, the tree, and a choice of what to do next from a seed."""

    def __init__(self, group: Group, backend: Backend, *, order: str, policy: CachePolicy, seed: int) -> None:
        self.geometry = Geometry(cp_size=group.size, page_size=PAGE_SIZE, pages=PAGES_A_LANE * group.size)
        self.backend = backend
        self.ranks = group.ranks
        self.fences = LayerFences()
        shape = HostShape(layout=layout(MLA_FP8), page_size=PAGE_SIZE, layers=1, draft_layers=1, order=order)
        self.layers = range(shape.all_layers)
        self.pools = [Pool(self.geometry, shape.layout, shape.all_layers) for _ in self.ranks]
        tiers = Tiers(
            ranks=self.ranks,
            pools=self.pools,
            memories=[HostMemory(shape, HOST_PAGES) for _ in self.ranks],
            backend=backend,
            fences=self.fences,
        )
        self.engine = PageCopyEngine(tiers)
        self.allocator = OwnerLaneAllocator(self.geometry, FreeRoom())
        host = HostPool(lanes=group.size, lane_pages=HOST_PAGES, page_size=PAGE_SIZE)
        ledger: CopyLedger[Node] = CopyLedger(self.ranks, GroupAgreement(group))
        self.cache = HostCache(self.allocator, host, policy, self.engine, ledger)
        self.chance = random.Random(seed)  # noqa: S311 - prompts, not secrets
        self.counts: Counter[str] = Counter()
        self.answers: list[object] = []
        self.wrong: list[str] = []

    def step(self) -> None:
        """Serve a prompt, or look after the tiers."""
        tend: list[Callable[[], object]] = [
            self.cache.poll,
            self.cache.poll,
            lambda: self.cache.evict([self.chance.randint(0, 2) for _ in range(self.geometry.cp_size)]),
            lambda: self.cache.evict_host([self.chance.randint(0, 2) for _ in range(self.geometry.cp_size)]),
        ]
        if self.chance.random() < 0.6:
            self._serve()
        elif self.chance.random() < 0.02:
            self.cache.reset()
            self.counts["resets"] += 1
        else:
            self.answers.append(self.chance.choice(tend)())

    def finish(self) -> None:
        """Let every stream come to its end, so that every look has been taken."""
        self.backend.synchronize()

    def _serve(self) -> None:
        tokens = [token for _ in range(self.chance.randint(1, LONGEST)) for token in self.chance.choice(BLOCKS)]
        tokens += [9] * self.chance.randint(0, 1)
        try:
            self.counts["loaded"] += len(self.cache.load_back(tokens).pages)
        except CapacityWaitError:
            self.counts["no room to load"] += 1
        found = self.cache.match(tokens).device
        self.answers.append(found)
        self._look_at(tokens, found)
        cached = PAGE_SIZE * len(found)
        lock = self.cache.lock(tokens[:cached])
        if cached < len(tokens):
            self._compute(tokens, found)
        self.cache.unlock(lock)

    def _compute(self, tokens: Sequence[int], found: Sequence[int]) -> None:
        """Compute what is not cached, where there is room, and give it to the tree or give it up."""
        cached = PAGE_SIZE * len(found)
        asked = [ExtendRequest(request="r", prefix_tokens=cached, extend_tokens=len(tokens) - cached)]
        self.cache.evict(self.allocator.admit(asked).deficit)
        try:
            pages = tuple(self.allocator.extend(asked).pages)
        except CapacityWaitError:
            self.counts["no room to compute"] += 1
            return
        reserved = 0
        if self.chance.random() < 0.7:  # some requests are not admitted
            wanted = BackupRequest(request="r", extend_tokens=len(tokens) - cached, pages=pages)
            (reserved,) = self.cache.admit([wanted]).reserved
        for layer in self.chance.sample(self.layers, len(self.layers)):
            for page in range(len(found), len(tokens) // PAGE_SIZE):
                self._put(layer, pages[page - len(found)], tokens[: PAGE_SIZE * (page + 1)])
            if self.chance.random() < 0.7:  # some layers are not told
                self.engine.layer_end(layer)
        if reserved and self.chance.random() < 0.2:  # some requests are aborted
            self.cache.cancel("r")
            self.allocator.release(pages)
            self.counts["aborted"] += 1
            return
        given = self.cache.insert("r", tokens, (*found, *pages))
        self.allocator.release([PageId(page) for page in given.left])
        self.answers.append((given.adopted, given.backups))
        self.counts["computed"] += len(given.adopted)

    def _put(self, layer: int, page: int, tokens: Sequence[int]) -> None:
        """Enqueue the bytes of a page on its rank, where it is played, behind copies that still use the page."""
        users = self.engine.users_of(layer, np.array([page]))
        self._enqueue(layer, page, tokens, users, self._fill)

    def _look_at(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        """Enqueue a look at cached pages, behind the loads of each layer; what is wrong is noted when it runs."""
        for layer in self.layers:
            for at, page in enumerate(pages):
                self._enqueue(layer, page, tokens[: PAGE_SIZE * (at + 1)], self.fences.events(layer), self._check)

    def _enqueue(
        self,
        layer: int,
        page: int,
        tokens: Sequence[int],
        before: Sequence[object],
        work: Callable[[torch.Tensor, torch.Tensor, str], None],
    ) -> None:
        rank, physical = (page - 1) % self.geometry.cp_size, (page - 1) // self.geometry.cp_size + 1
        if rank not in self.ranks:
            return
        pool = self.pools[self.ranks.index(rank)]
        stream = self.backend.stream(compute_stream(rank))
        for event in before:
            stream.wait(event)  # type: ignore[arg-type]  # events of this backend
        slots = np.arange(physical * PAGE_SIZE, (physical + 1) * PAGE_SIZE)
        for buffer in pool.layout.buffers:
            rows = pool_rows_of(rank, layer, buffer.name, slots)
            place = device_pages(pool, layer, buffer)[physical]
            what = f"page {page}, layer {layer}, {buffer.name}"
            is_write = work == self._fill
            stream.enqueue(
                partial(work, place, _bytes_of(place, layer, buffer, tokens), what),
                f"{'write' if is_write else 'look'} of {what}",
                reads=() if is_write else [rows],
                writes=[rows] if is_write else (),
            )

    def _fill(self, place: torch.Tensor, wanted: torch.Tensor, what: str) -> None:
        del what
        place.copy_(wanted)

    def _check(self, place: torch.Tensor, wanted: torch.Tensor, what: str) -> None:
        self.counts["looks"] += 1
        if not torch.equal(place, wanted):
            self.wrong.append(what)


def _bytes_of(place: torch.Tensor, layer: int, buffer: Buffer, tokens: Sequence[int]) -> torch.Tensor:
    """Return what a page holds whose last token is the last of these."""
    generator = torch.Generator().manual_seed(crc32(repr((layer, buffer.name, list(tokens))).encode()))
    return torch.randint(0, 256, place.shape, dtype=torch.uint8, generator=generator)

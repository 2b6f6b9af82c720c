"""Small batches with cached prefixes: random pages, random rows, and the view that one rank with everything would have.

Shared by the tests of dense views. Knows lengths and bytes; computes expectations token by token.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from sharedkv.dense_positions import ReuseRequest
from sharedkv.geometry import Geometry, PageId
from sharedkv.layouts import Buffer, Layout, layout
from sharedkv.planning import split_request
from sharedkv.pool_rows import stored_rows
from sharedkv.pools import Pool
from sharedkv.rows import write_index_rows, write_rows
from sharedkv.writing import ComputedRows

PAGE_SIZE = 4
LAYERS = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class SmallBatch:
    """Requests on pages of a group's pools.

    `computed` has the computed row of every token of every request, by layer and buffer: uint8 (tokens of the dense
    view, bytes); those of prefixes are in the pools already.
    """

    geometry: Geometry
    layout: Layout
    requests: tuple[ReuseRequest, ...]
    pools: tuple[Pool, ...]
    computed: dict[tuple[int, str], torch.Tensor] = field(default_factory=dict)

    def bases(self) -> list[int]:
        """Return the position of each request's first token."""
        ends = [0]
        for request in self.requests:
            ends.append(ends[-1] + request.prefix_tokens + request.extend_tokens)
        return ends[:-1]

    def expected(self, layer: int, buffer: str) -> torch.Tensor:
        """Return the dense view that one rank with everything has."""
        return stored_rows(self.layout.buffer(buffer), self.computed[layer, buffer])

    def positions_of(self, rank: int) -> list[int]:
        """Return the positions of a rank's valid rows, request by request, `prev` before `next`."""
        positions: list[int] = []
        for base, request in zip(self.bases(), self.requests, strict=True):
            split = split_request(self.geometry, request.prefix_tokens, request.extend_tokens)
            for segment in split.segments:
                if segment.rank == rank:
                    fresh = base + request.prefix_tokens
                    positions += range(fresh + segment.start, fresh + segment.end)
        return positions

    def rows(self, layer: int, domain: str = "valid", static_rows: int = 0) -> list[ComputedRows]:
        """Return what each rank computed for a layer; dummies and padding are bytes 0xEE."""
        return [self._rows_of(rank, layer, domain, static_rows) for rank in range(self.geometry.cp_size)]

    def _rows_of(self, rank: int, layer: int, domain: str, static_rows: int) -> ComputedRows:
        positions = self.positions_of(rank)
        wanted = {"valid": len(positions), "compute": max(len(positions), 1), "static": static_rows}[domain]
        buffers = {}
        for buffer in self.layout.buffers:
            rows = torch.full((wanted, buffer.computed_row_bytes), 0xEE, dtype=torch.uint8)
            rows[: len(positions)] = self.computed[layer, buffer.name][positions]
            buffers[buffer.name] = rows
        return ComputedRows(domain=domain, num_rows=wanted, buffers=buffers)


def small_batch(
    seed: int, *, ranks: int = 2, lengths: Sequence[tuple[int, int]] = ((8, 13), (0, 5)), name: str = "mla_bf16"
) -> SmallBatch:
    """Make a batch of requests (prefix tokens, new tokens) on pages drawn without order, with stale tails behind."""
    chance = random.Random(seed)  # noqa: S311 - rows, not secrets
    generator = torch.Generator().manual_seed(seed)
    counts = [-(-(prefix + extend) // PAGE_SIZE) for prefix, extend in lengths]
    geometry = Geometry(cp_size=ranks, page_size=PAGE_SIZE, pages=(sum(counts) + ranks) // ranks * ranks + ranks)
    pages = chance.sample(range(1, geometry.last_page + 1), sum(counts))
    requests = []
    for number, ((prefix, extend), count) in enumerate(zip(lengths, counts, strict=True)):
        own, pages = pages[:count], pages[count:]
        stale = tuple(chance.choices(range(geometry.last_page + 1), k=3))
        requests.append(
            ReuseRequest(request=f"r{number}", prefix_tokens=prefix, extend_tokens=extend, table=(*own, *stale))
        )
    chosen = layout(name)
    pools = tuple(Pool(geometry, chosen, LAYERS) for _ in range(ranks))
    batch = SmallBatch(geometry=geometry, layout=chosen, requests=tuple(requests), pools=pools)
    for layer in range(LAYERS):
        for buffer in chosen.buffers:
            _fill_pools(batch, layer, buffer, generator)
    return batch


def _fill_pools(batch: SmallBatch, layer: int, buffer: Buffer, generator: torch.Generator) -> None:
    """Draw the rows of every token, put those of prefixes into the pools, and garbage into every other slot."""
    tokens = sum(request.prefix_tokens + request.extend_tokens for request in batch.requests)
    computed = random_rows(buffer, tokens, generator)
    batch.computed[layer, buffer.name] = computed
    stored = stored_rows(buffer, computed)
    for pool in batch.pools:
        pool.buffer(layer, buffer.name).fill_(0xAB)
    for base, request in zip(batch.bases(), batch.requests, strict=True):
        for token in range(request.prefix_tokens):
            page = PageId(request.table[token // PAGE_SIZE])
            pool = batch.pools[batch.geometry.lane(page)]
            slot = torch.tensor([batch.geometry.physical_page(page) * PAGE_SIZE + token % PAGE_SIZE])
            row = stored[base + token : base + token + 1]
            target = pool.buffer(layer, buffer.name)
            if buffer.is_paged:
                write_index_rows(target, row, slot, PAGE_SIZE)
            else:
                write_rows(target, row, slot)


def random_rows(buffer: Buffer, tokens: int, generator: torch.Generator) -> torch.Tensor:
    """Draw computed rows: finite bf16 values, or fp8 keys with scales."""
    if not tokens:
        return torch.empty((0, buffer.computed_row_bytes), dtype=torch.uint8)
    if buffer.is_paged:
        keys = torch.randn((tokens, 128), generator=generator).to(torch.float8_e4m3fn).view(torch.uint8)
        scales = (torch.rand((tokens, 1), generator=generator) + 0.5).view(torch.uint8)
        return torch.cat((keys, scales), dim=1)
    values = torch.randn((tokens, buffer.computed_row_bytes // 2), generator=generator)
    return values.to(torch.bfloat16).view(torch.uint8)

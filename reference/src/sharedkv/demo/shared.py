"""The ranks that share a cache: pages by owner, rows written where they were computed, views composed for everybody.

Knows the reference's parts and in which order a prefill uses them. Does not know whether the outcome is right.

    round:  allocate -> layer 0: project, write, compose, select, attend -> layer 1 ... -> next round

Each rank works on its own rows from the first layer to the last; it sees rows of others in the dense view alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from sharedkv.allocation import FreeRoom, OwnerLaneAllocator
from sharedkv.attention import attend
from sharedkv.collectives import Exchange, LocalGroup
from sharedkv.composing import DenseView, DenseViews
from sharedkv.demo.mistakes import SilentGroup, WrongLanes
from sharedkv.demo.model import LayerRows, TinyModel
from sharedkv.demo.scenario import Chunk
from sharedkv.demo.settings import NO_EXCHANGE, SELECTED_TOKENS, WRONG_LANES, Settings
from sharedkv.dense_positions import DenseBatch, Ints, ReuseRequest, dense_batch
from sharedkv.geometry import Geometry
from sharedkv.indexing import top_k
from sharedkv.layouts import INDEX, LATENT, Layout
from sharedkv.pool_rows import gather_pool_rows
from sharedkv.pools import Pool
from sharedkv.row_domains import COMPUTE
from sharedkv.streams import RecordingBackend
from sharedkv.writing import ComputedRows, GroupWriter

STALE_PAGE = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedLayer:
    """What a layer did in one round, on every rank.

    `view` has the dense view as each rank has it. `selected` int64 (new tokens, count), positions of the dense view,
    and `attention` fp32 (new tokens, heads, 512) are of all ranks, in flattened request-token order.
    """

    view: DenseView
    selected: torch.Tensor
    attention: torch.Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """What happened in one round: its chunks, where their tokens lie in the dense views, each layer, each exchange."""

    chunks: tuple[Chunk, ...]
    batch: DenseBatch
    layers: tuple[SharedLayer, ...]
    exchanges: tuple[Exchange, ...]


class SharingRanks:
    """All ranks of one group, in one process."""

    def __init__(self, settings: Settings, model: TinyModel, layout: Layout, geometry: Geometry) -> None:
        self.geometry = geometry
        self._model = model
        self._layout = layout
        self._tables: dict[str, list[int]] = {}
        self._epoch = 0
        self._exchanges: list[Exchange] = []
        self._allocator = OwnerLaneAllocator(geometry, FreeRoom())
        self._pools = [Pool(geometry, layout, settings.layers) for _ in range(settings.ranks)]
        backend = RecordingBackend()
        self._writer = GroupWriter(geometry, self._pools, backend)
        group_type = SilentGroup if settings.mistake == NO_EXCHANGE else LocalGroup
        group = group_type(settings.ranks, self._exchanges.append)
        reader = WrongLanes.of(geometry) if settings.mistake == WRONG_LANES else geometry
        self._views = DenseViews(reader, self._pools, group, backend)

    def prefill(self, chunks: Sequence[Chunk]) -> Round:
        """Compute one round: chunks of one batch, whose prefixes are in the pools."""
        self._epoch += 1
        self._exchanges.clear()
        locations = self._allocate(chunks)
        requests = self._requests(chunks)
        batch = dense_batch(self.geometry, requests)
        tokens, positions = _flattened(chunks)
        own = [_computed_tokens(batch, rank) for rank in range(self.geometry.cp_size)]
        states = [self._model.embed(tokens[at]) for at in own]
        layers = []
        for layer in range(len(self._model.layers)):
            made = [self._model.project(layer, state, positions[at]) for state, at in zip(states, own, strict=True)]
            computed = [_computed_rows(rows) for rows in made]
            self._writer.write(layer, requests, locations, len(locations), computed)
            self._views.compose(layer, self._epoch, requests, computed)
            view = self._views.view(layer, self._epoch)
            read = [_read(view, batch, rank, rows) for rank, rows in enumerate(made)]
            states = [
                self._model.advance(layer, state, attention) for state, (_, attention) in zip(states, read, strict=True)
            ]
            layers.append(_gathered(view, batch, read))
        return Round(chunks=tuple(chunks), batch=batch, layers=tuple(layers), exchanges=tuple(self._exchanges))

    def pages(self, prompt: str) -> tuple[int, ...]:
        """Return the logical pages of a prompt so far."""
        return tuple(self._tables[prompt])

    def stored(self, prompt: str, num_tokens: int, layer: int, buffer: str) -> torch.Tensor:
        """Return the stored rows of a prompt's tokens, each from the rank that owns its page."""
        rows = torch.empty((num_tokens, self._layout.buffer(buffer).stored_row_bytes), dtype=torch.uint8)
        for token, location in enumerate(self.geometry.locations(self._tables[prompt], [num_tokens]).tolist()):
            pool = self._pools[self.geometry.lane(self.geometry.page_of(location))]
            slot = torch.tensor([self.geometry.physical_location(location)])
            rows[token] = gather_pool_rows(pool, layer, self._layout.buffer(buffer), slot)[0]
        return rows

    def _allocate(self, chunks: Sequence[Chunk]) -> list[int]:
        """Give every new page of a batch to its owner, add the pages to the tables, and return the token locations."""
        given = self._allocator.extend([chunk.extend for chunk in chunks])
        first = 0
        for chunk in chunks:
            count = -(-(chunk.end - chunk.start) // self.geometry.page_size)
            hit = self._tables[chunk.prompt.document] if chunk.prompt.cached_tokens else ()
            self._tables.setdefault(chunk.prompt.name, [*hit]).extend(given.pages[first : first + count])
            first += count
        locations: list[int] = given.locations.tolist()
        return locations

    def _requests(self, chunks: Sequence[Chunk]) -> list[ReuseRequest]:
        """Return the batch with tables as wide as the longest; what stands behind a request's pages means nothing."""
        width = max(len(self._tables[chunk.prompt.name]) for chunk in chunks)
        return [
            ReuseRequest(
                request=chunk.prompt.name,
                prefix_tokens=chunk.start,
                extend_tokens=chunk.end - chunk.start,
                table=(pages := self._tables[chunk.prompt.name]) + [STALE_PAGE] * (width - len(pages)),
            )
            for chunk in chunks
        ]


def _flattened(chunks: Sequence[Chunk]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the new tokens of a batch and their positions in their prompts, in flattened request-token order."""
    tokens = [token for chunk in chunks for token in chunk.prompt.tokens[chunk.start : chunk.end]]
    positions = [position for chunk in chunks for position in range(chunk.start, chunk.end)]
    return torch.tensor(tokens), torch.tensor(positions)


def _computed_tokens(batch: DenseBatch, rank: int) -> torch.Tensor:
    """Return which new token each compute row of a rank computes; a dummy row repeats the first request's last one."""
    tokens: Ints = np.full(batch.plan.compute_rows[rank], batch.requests[0].extend_tokens - 1)
    tokens[batch.plan.compute_row_of_row(rank)] = batch.plan.tokens(rank)
    return torch.from_numpy(tokens)


def _computed_rows(rows: LayerRows) -> ComputedRows:
    return ComputedRows(domain=COMPUTE, num_rows=len(rows.latent), buffers={LATENT: rows.latent, INDEX: rows.index})


def _read(view: DenseView, batch: DenseBatch, rank: int, rows: LayerRows) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what each compute row of a rank selects in its own copy of the view, and its attention over that."""
    view.synchronize()
    windows = batch.windows(rank, COMPUTE, len(rows.latent))
    index, latent = view.rows(INDEX)[rank], view.rows(LATENT)[rank]
    selected = top_k(rows.index_queries, rows.index_weights, index, windows, SELECTED_TOKENS)
    return selected, attend(rows.queries, latent, selected)


def _gathered(view: DenseView, batch: DenseBatch, read: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> SharedLayer:
    """Bring what ranks did into flattened request-token order; dummy rows are left out."""
    own = [batch.valid_rows(rank, COMPUTE) for rank in range(len(read))]
    order = torch.from_numpy(batch.plan.row_of_token.copy())
    selected = torch.cat([selected[rows] for (selected, _), rows in zip(read, own, strict=True)])
    attention = torch.cat([attention[rows] for (_, attention), rows in zip(read, own, strict=True)])
    return SharedLayer(view=view, selected=selected[order], attention=attention[order])

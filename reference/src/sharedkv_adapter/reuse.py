"""Reuse of the reference, call by call, for all ranks of the group.

Knows which call of the contract is which call of the reference, and how queries cross as bytes. Does not know how views
are made or read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from sharedkv.attention import QUERY_VALUES, attend
from sharedkv.composing import DenseViews
from sharedkv.dense_positions import DenseBatch, QueryWindows, ReuseRequest
from sharedkv.errors import Refusal, RefusedError
from sharedkv.indexing import top_k
from sharedkv.layouts import BF16_BYTES, FP32_BYTES, INDEX, INDEX_KEY_BYTES, LATENT
from sharedkv.row_domains import NOWHERE
from sharedkv_adapter.data_plane import NO_KERNELS, DataPlane, as_bytes, as_rows, computed_rows
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract


class ReferenceReuse:
    """The dense views of all ranks, and what indexer and attention read in them."""

    def __init__(self, plane: DataPlane, pool: contract.PoolConfig) -> None:
        self._plane = plane
        self._pool = pool
        self._views = DenseViews(
            plane.geometry, plane.pools, plane.group, plane.backend, self._note_materialized, plane.fences.events
        )

    def compose(
        self, layer: int, epoch: int, batch: Sequence[contract.ReuseRequest], rows: Sequence[contract.RankRows]
    ) -> contract.Composed:
        """Make the dense view of a layer, or find it made."""
        with contract_errors():
            requests = [
                ReuseRequest(
                    request=asked.request,
                    prefix_tokens=asked.prefix_tokens,
                    extend_tokens=asked.extend_tokens,
                    table=asked.table,
                )
                for asked in batch
            ]
            made = self._views.compose(layer, epoch, requests, computed_rows(self._plane.layout, rows))
        self._note_path(layer)
        return contract.Composed(bases=tuple(made.bases.tolist()), tokens=made.tokens)

    def dense(self, layer: int, epoch: int, buffer: str) -> tuple[bytes, ...]:
        """Return the dense view as each rank has it."""
        with contract_errors():
            view = self._views.view(layer, epoch)
            view.synchronize()
            return tuple(as_bytes(rows) for rows in view.rows(buffer))

    def top_k(
        self, layer: int, epoch: int, queries: Sequence[contract.RankQueries], count: int
    ) -> tuple[contract.RankTopK, ...]:
        """Select for each row the visible tokens of its own request with the highest scores."""
        heads = self._pool.index_heads
        with contract_errors():
            view = self._views.view(layer, epoch)
            self._plane.layout.buffer(INDEX)
            windows = _windows(view.batch, queries)
            given = [_query_rows(asked, heads * INDEX_KEY_BYTES, heads * FP32_BYTES) for asked in queries]
        self._note_path(layer)
        view.synchronize()
        answers = []
        for (query, weights), own, rows in zip(given, windows, view.rows(INDEX), strict=True):
            selected = top_k(query, weights.view(torch.float32), rows, own, max(count, 0))
            answers.append(contract.RankTopK(indices=tuple(map(tuple, selected.tolist()))))
        return tuple(answers)

    def attend(
        self,
        layer: int,
        epoch: int,
        queries: Sequence[contract.RankQueries],
        indices: Sequence[contract.RankTopK],
    ) -> tuple[bytes, ...]:
        """Return for each rank the attention of its valid rows over the selected positions."""
        with contract_errors():
            view = self._views.view(layer, epoch)
            self._plane.layout.buffer(INDEX)
            windows = _windows(view.batch, queries)
            row_bytes = self._pool.heads * QUERY_VALUES * BF16_BYTES
            given = [_query_rows(asked, row_bytes, 0)[0] for asked in queries]
            _require_positions(view.batch, windows, indices)
        self._note_path(layer)
        view.synchronize()
        answers = []
        for rank, (query, rows) in enumerate(zip(given, view.rows(LATENT), strict=True)):
            attention = attend(query, rows, _padded(indices[rank].indices))
            kept = torch.from_numpy(view.batch.valid_rows(rank, queries[rank].domain))
            answers.append(as_bytes(attention[kept].view(torch.uint8)))
        return tuple(answers)

    def _note_materialized(self, layer: int, buffer: str) -> None:
        self._plane.note(contract.Event(kind="materialized", reason=buffer, layer=layer))

    def _note_path(self, layer: int) -> None:
        """Tell that kernels are missing; the functions that take their place here give equal results."""
        if NO_KERNELS in self._plane.faults:
            self._plane.note(contract.Event(kind="fallback", reason=NO_KERNELS, layer=layer))


def _windows(batch: DenseBatch, queries: Sequence[contract.RankQueries]) -> list[QueryWindows]:
    """Return what the query rows of each rank may see, or refuse rows that the batch does not have."""
    if len(queries) != batch.plan.cp_size:
        raise RefusedError(Refusal.ROWS_MISMATCH, f"queries of {len(queries)} ranks of {batch.plan.cp_size}")
    return [batch.windows(rank, asked.domain, asked.rows) for rank, asked in enumerate(queries)]


def _query_rows(asked: contract.RankQueries, query_bytes: int, weight_bytes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Read the queries and the weights of one rank, (rows, bytes of a row) uint8 each."""
    found, wanted = (len(asked.query), len(asked.weights)), (asked.rows * query_bytes, asked.rows * weight_bytes)
    if found != wanted:
        raise RefusedError(Refusal.ROW_BYTES_MISMATCH, f"{found} bytes of queries and weights, {wanted} wanted")
    query = as_rows(asked.query, query_bytes)
    return query, as_rows(asked.weights, weight_bytes) if weight_bytes else query[:, :0]


def _require_positions(
    batch: DenseBatch, windows: Sequence[QueryWindows], indices: Sequence[contract.RankTopK]
) -> None:
    """Refuse selections that are not one a row, or that name a position outside the row's own request."""
    if [len(given.indices) for given in indices] != [len(own.request) for own in windows]:
        raise RefusedError(Refusal.ROWS_MISMATCH, "a number of selections that is not the number of rows")
    for given, own in zip(indices, windows, strict=True):
        for selected, tokens in zip(given.indices, _requests_of(batch, own), strict=True):
            for position in selected:
                if position != NOWHERE and position not in tokens:
                    raise RefusedError(Refusal.POSITION_OUTSIDE_REQUEST, position)


def _requests_of(batch: DenseBatch, windows: QueryWindows) -> Iterator[range]:
    """Yield for each query row the positions of its request; a dummy row has none."""
    bases = batch.bases.tolist()
    for number in windows.request.tolist():
        request = batch.requests[number]
        tokens = request.prefix_tokens + request.extend_tokens if number != NOWHERE else 0
        yield range(bases[number], bases[number] + tokens)


def _padded(indices: Sequence[Sequence[int]]) -> torch.Tensor:
    """Return selections as int64 (rows, most selected), -1 where a row selected fewer."""
    width = max(map(len, indices), default=0)
    padded = [[*selected, *[NOWHERE] * (width - len(selected))] for selected in indices]
    return torch.tensor(padded, dtype=torch.int64).view(len(indices), width)

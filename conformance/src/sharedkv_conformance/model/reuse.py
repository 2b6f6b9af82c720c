"""The executable specification of dense views: gathered by owners, combined, placed, and read by indexer and attention.

Every rank contributes the rows that it owns or computes and nothing else; a row of the view is the byte sum of what was
contributed to it. Each decision is a small method; mutants override one of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import BufferRows, RankRows
from sharedkv_conformance.contract.probe import Collective, Event, Span
from sharedkv_conformance.contract.reuse import Composed, RankQueries, RankTopK, ReuseRequest
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes, stored_row, stored_row_bytes
from sharedkv_conformance.model.reuse_batch import Place, Places
from sharedkv_conformance.model.reuse_refusals import Composition, attend_refusals, compose_refusals, query_refusals
from sharedkv_conformance.model.reuse_scores import (
    QUERY_BYTES,
    attention,
    fp32_bytes,
    heads_of,
    score,
    weights_of,
)

Batch = tuple[ReuseRequest, ...]
Rows = dict[int, bytes]
"""Stored rows by their position in the dense view; a position that is not there is zero bytes."""


@dataclass(frozen=True, kw_only=True)
class View:
    """The dense view of one layer: for each buffer the rows that each rank has."""

    tokens: int
    rows: Mapping[str, Sequence[Rows]]


class ReuseModel:
    """The calls of the contract, each by its decisions."""

    feature = "reuse"

    def __init__(self, config: OpenConfig, plane: DataPlane) -> None:
        self.config = config
        self.pool = config.pool
        self.geometry = Geometry.of(config)
        self.plane = plane
        self.ranks = range(config.cp_size)
        self.epoch: int | None = None
        self.batch: Batch = ()
        self.composed_at: set[tuple[int, int]] = set()
        self.views: dict[Hashable, View] = {}

    # -- the calls ---------------------------------------------------------------------------------------------------

    def compose(self, layer: int, epoch: int, batch: Sequence[ReuseRequest], rows: Sequence[RankRows]) -> Composed:
        """Make the dense view of a layer, or find the one that is there."""
        self.refuse_composition(layer, epoch, tuple(batch), rows)
        self.begin(epoch, tuple(batch))
        key = self.scratch(layer, epoch)
        if key not in self.views or self.gathers_again():
            self.views[key] = self.made(layer, rows)
        self.composed_at.add((layer, epoch))
        self.tell_path(layer)
        return self.answered()

    def dense(self, layer: int, epoch: int, buffer: str) -> tuple[bytes, ...]:
        """Return the dense view as each rank has it."""
        view = self.view(layer, epoch)
        if buffer not in buffers_of(self.pool):
            raise Rejected(Reason.BUFFER_UNKNOWN, f"{buffer!r} in {self.pool.layout}")
        return tuple(
            b"".join(self.row(view, buffer, rank, position) for position in range(view.tokens)) for rank in self.ranks
        )

    def top_k(self, layer: int, epoch: int, queries: Sequence[RankQueries], count: int) -> tuple[RankTopK, ...]:
        """Select the best visible tokens for each row."""
        view = self.view(layer, epoch)
        self.refuse_queries("top_k", queries)
        self.tell_path(layer)
        return tuple(
            RankTopK(
                indices=tuple(
                    self.selected(view, rank, place, given, row, count) if place else self.selected_by_dummy(count)
                    for row, place in enumerate(self.query_places(given.domain)[rank])
                )
            )
            for rank, given in enumerate(queries)
        )

    def attend(
        self, layer: int, epoch: int, queries: Sequence[RankQueries], indices: Sequence[RankTopK]
    ) -> tuple[bytes, ...]:
        """Attend from each valid row over its selected positions."""
        view = self.view(layer, epoch)
        self.refuse_queries("attend", queries)
        self.refuse_indices(queries, indices)
        self.tell_path(layer)
        return tuple(
            b"".join(
                self.attended(view, rank, given, row, indices[rank].indices[row], place)
                for row, place in enumerate(self.query_places(given.domain)[rank])
                if self.is_kept(place)
            )
            for rank, given in enumerate(queries)
        )

    # -- epochs ------------------------------------------------------------------------------------------------------

    def begin(self, epoch: int, batch: Batch) -> None:
        """Go to an epoch; the views of earlier ones are gone."""
        if epoch != self.epoch:
            self.forget()
        self.epoch, self.batch = epoch, batch

    def forget(self) -> None:
        """Drop every view."""
        self.composed_at.clear()
        self.views.clear()

    def scratch(self, layer: int, epoch: int) -> Hashable:
        """Choose what a view is kept under."""
        return layer, epoch

    def gathers_again(self) -> bool:
        """Choose whether a view that is there is made once more."""
        return False

    def view(self, layer: int, epoch: int) -> View:
        """Return a view that was composed, or raise `Rejected`."""
        if (layer, epoch) not in self.composed_at:
            raise Rejected(Reason.VIEW_NOT_COMPOSED, f"layer {layer} of epoch {epoch}; the latest is {self.epoch}")
        return self.views[self.scratch(layer, epoch)]

    # -- refusals ----------------------------------------------------------------------------------------------------

    def refuse_composition(self, layer: int, epoch: int, batch: Batch, rows: Sequence[RankRows]) -> None:
        """Raise `Rejected` when this cannot be composed."""
        known = None if self.epoch is None else (self.epoch, self.batch)
        asked = Composition(layer=layer, epoch=epoch, batch=batch, rows=rows)
        _refuse(compose_refusals(self.config, asked, known, self.rows_by_domain(batch)))

    def refuse_queries(self, call: str, queries: Sequence[RankQueries]) -> None:
        """Raise `Rejected` when there is no index, or the queries are not those of a domain."""
        _refuse(query_refusals(self.pool, call, queries, self.rows_by_domain(self.batch)))

    def refuse_indices(self, queries: Sequence[RankQueries], indices: Sequence[RankTopK]) -> None:
        """Raise `Rejected` when a selected position is not one of the row's request."""
        by_rank = [self.query_places(given.domain)[rank] for rank, given in enumerate(queries)]
        _refuse(attend_refusals(self.batch, by_rank, indices))

    def rows_by_domain(self, batch: Batch) -> dict[str, list[int]]:
        """Choose how many rows each rank has in each domain."""
        if reuse_batch.batch_refusals(self.geometry, batch):
            return {"valid": [0 for _ in self.ranks], "compute": [0 for _ in self.ranks]}
        return reuse_batch.counts_of(self.geometry, reuse_batch.layout(self.geometry, reuse_batch.lengths(batch)))

    # -- how a view is made ------------------------------------------------------------------------------------------

    def answered(self) -> Composed:
        """Choose the answer to a composition."""
        return Composed(bases=reuse_batch.bases(self.batch), tokens=reuse_batch.tokens(self.batch))

    def made(self, layer: int, rows: Sequence[RankRows]) -> View:
        """Gather, combine and place the rows of every buffer."""
        made = {buffer: self.made_buffer(layer, buffer, rows) for buffer in buffers_of(self.pool)}
        return View(tokens=reuse_batch.tokens(self.batch), rows=made)

    def made_buffer(self, layer: int, buffer: str, rows: Sequence[RankRows]) -> list[Rows]:
        """Make the rows of one buffer as each rank has them."""
        prefix = self.combined_prefix(buffer, self.prefix_parts(layer, buffer))
        current = self.combined_current(buffer, self.current_parts(buffer, rows))
        self.note(layer, buffer)
        return [self.laid(prefix[rank], current[rank]) for rank in self.ranks]

    def laid(self, prefix: Rows, current: Rows) -> Rows:
        """Choose what lies over what."""
        return {**prefix, **current}

    def prefix_slots(self) -> list[tuple[int, int]]:
        """Choose the position and the location of each prefix token."""
        return list(reuse_batch.prefix_slots(self.geometry, self.batch))

    def place(self, location: int) -> tuple[int, int]:
        """Choose the rank and the physical location of a logical one."""
        return self.plane.pools.place(location)

    def prefix_parts(self, layer: int, buffer: str) -> list[Rows]:
        """Return what each rank contributes to the prefixes: the rows of its own pages."""
        parts: list[Rows] = [{} for _ in self.ranks]
        for position, location in self.prefix_slots():
            rank, physical = self.place(location)
            parts[rank][position] = self.plane.pools.read_row(rank, layer, buffer, physical)
        return parts

    def current_parts(self, buffer: str, rows: Sequence[RankRows]) -> list[Rows]:
        """Return what each rank contributes to the new tokens: the rows that it computed, in stored form."""
        base = reuse_batch.bases(self.batch)
        parts: list[Rows] = [{} for _ in self.ranks]
        for rank, given in enumerate(rows):
            data = _data(given.buffers, buffer)
            for row, place in enumerate(self.row_places(given.domain)[rank]):
                if place:
                    computed = _cut(data, self.row_of(rank, row, place), computed_row_bytes(self.pool, buffer))
                    parts[rank][base[place[0]] + place[1]] = self.stored(buffer, computed)
        return parts

    def row_places(self, domain: str) -> Places:
        """Choose the token of each computed row; rows beyond those are padding."""
        known = "valid" if domain == "valid" else "compute"
        return self.places(known)

    def row_of(self, rank: int, row: int, place: Place) -> int:
        """Choose which of the rows that a rank gave is that of a token: it counts them in its own order."""
        del rank, place
        return row

    def stored(self, buffer: str, row: bytes) -> bytes:
        """Choose the bytes of a current row."""
        return stored_row(self.pool, buffer, row)

    def combined_prefix(self, buffer: str, parts: Sequence[Rows]) -> Sequence[Rows]:
        """Choose how the prefix rows of all ranks become those of each."""
        del buffer
        return [summed(parts)] * len(parts)

    def combined_current(self, buffer: str, parts: Sequence[Rows]) -> Sequence[Rows]:
        """Choose how the current rows of all ranks become those of each."""
        del buffer
        return [summed(parts)] * len(parts)

    # -- what is told ------------------------------------------------------------------------------------------------

    def note(self, layer: int, buffer: str) -> None:
        """Tell what was gathered, and what the ranks exchanged."""
        if self.materializes():
            self.plane.events.append(Event(kind="materialized", reason=buffer, layer=layer))
        for spans in self.exchanges():
            self.plane.collectives.append(Collective(kind="all_reduce", layer=layer, buffer=buffer, spans=spans))

    def materializes(self) -> bool:
        """Choose whether anything is gathered from the pools."""
        return bool(reuse_batch.prefix_spans(self.batch))

    def exchanges(self) -> list[tuple[Span, ...]]:
        """Choose the spans of each collective of a buffer: prefixes, if there are any, and new tokens."""
        prefix = reuse_batch.prefix_spans(self.batch)
        return [*([prefix] if prefix else []), reuse_batch.current_spans(self.batch)]

    def tell_path(self, layer: int) -> None:
        """Tell that the fast kernels are missing."""
        if "no_kernels" in self.plane.faults:
            self.plane.events.append(Event(kind="fallback", reason="no_kernels", layer=layer))

    # -- indexer and attention ---------------------------------------------------------------------------------------

    def places(self, domain: str) -> Places:
        """Return the token of each row of each rank."""
        plain = reuse_batch.lengths(self.batch)
        return reuse_batch.places(self.geometry, plain, reuse_batch.layout(self.geometry, plain), domain)

    def query_places(self, domain: str) -> Places:
        """Choose the token of each query row."""
        return self.places(domain)

    def row(self, view: View, buffer: str, rank: int, position: int) -> bytes:
        """Return a row of a view as a rank has it."""
        return view.rows[buffer][rank].get(position) or bytes(stored_row_bytes(self.pool, buffer))

    def selected(
        self, view: View, rank: int, place: Place, given: RankQueries, row: int, count: int
    ) -> tuple[int, ...]:
        """Return the positions that one row selects, the best first."""
        base = self.score_base(place[0])
        query = heads_of(given.query, row, self.pool.index_heads, QUERY_BYTES["top_k"])
        weights = self.weights(given, row)
        scores = {
            token: self.score(query, weights, self.row(view, "index", rank, base + token))
            for token in self.candidates(place)
        }
        best = sorted(scores, key=lambda token: (-scores[token], token))[:count]
        return self.padded([self.index_base(place[0]) + token for token in best], count)

    def candidates(self, place: Place) -> Iterable[int]:
        """Choose the tokens of the request that a row may see."""
        return range(place[1] + 1)

    def score_base(self, request: int) -> int:
        """Choose where the index rows of a request begin."""
        return reuse_batch.bases(self.batch)[request]

    def index_base(self, request: int) -> int:
        """Choose what is added to a selected token of a request."""
        return reuse_batch.bases(self.batch)[request]

    def weights(self, given: RankQueries, row: int) -> tuple[float, ...]:
        """Choose the weights of a row."""
        return weights_of(given.weights, row, self.pool.index_heads)

    def score(self, query: Sequence[bytes], weights: Sequence[float], row: bytes) -> float:
        """Choose the score of an index row."""
        return score(query, weights, row)

    def padded(self, positions: Sequence[int], count: int) -> tuple[int, ...]:
        """Choose what stands where there are fewer positions than asked for."""
        return (*positions, *[-1] * (count - len(positions)))

    def selected_by_dummy(self, count: int) -> tuple[int, ...]:
        """Choose what a row selects that nobody keeps."""
        return (-1,) * count

    def is_kept(self, place: Place | None) -> bool:
        """Choose whether the attention of a row is part of the answer."""
        return place is not None

    def attended(
        self,
        view: View,
        rank: int,
        given: RankQueries,
        row: int,
        selected: Sequence[int],
        place: Place | None,
    ) -> bytes:
        """Return the attention of one row."""
        del place
        rows = [self.row(view, "latent", rank, position) for position in self.positions(selected)]
        queries = heads_of(given.query, row, self.pool.heads, QUERY_BYTES["attend"])
        return b"".join(fp32_bytes(self.attention(query, rows)) for query in queries)

    def positions(self, selected: Sequence[int]) -> Iterator[int]:
        """Choose the positions that a selection names."""
        return (position for position in selected if position >= 0)

    def attention(self, query: bytes, rows: Sequence[bytes]) -> list[float]:
        """Choose the attention of one head."""
        return attention(query, rows)


def summed(parts: Sequence[Rows]) -> Rows:
    """Return the byte sum of what ranks contributed; what nobody contributed to is not there."""
    total: Rows = {}
    for part in parts:
        for position, row in part.items():
            there = total.get(position)
            total[position] = row if there is None else byte_sum(there, row)
    return total


def byte_sum(one: bytes, other: bytes) -> bytes:
    """Return the sum of each byte modulo 256, as a sum of unsigned bytes gives it."""
    return bytes((a + b) & 0xFF for a, b in zip(one, other, strict=True))


def _data(buffers: Sequence[BufferRows], name: str) -> bytes:
    return next(buffer.data for buffer in buffers if buffer.buffer == name)


def _cut(data: bytes, row: int, row_bytes: int) -> bytes:
    return data[row * row_bytes : (row + 1) * row_bytes]


def _refuse(reasons: Iterable[Reason]) -> None:
    for reason in sorted(reasons):
        raise Rejected(reason)

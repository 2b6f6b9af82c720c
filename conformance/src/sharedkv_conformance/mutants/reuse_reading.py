"""Wrong, and odd but right, variants of what reads dense views, and of what these cost."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from math import nan

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.pool import LATENT_VALUES, RankRows
from sharedkv_conformance.contract.probe import Event, Span
from sharedkv_conformance.contract.reuse import Composed, RankQueries, RankTopK, ReuseRequest
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.reuse import ReuseModel, View
from sharedkv_conformance.model.reuse_batch import Place
from sharedkv_conformance.model.reuse_scores import attention, fp8_values, index_key, score, weights_of

Spans = list[tuple[Span, ...]]


@mutant("reuse.gathered-for-each-request", kills="RFC-0004:C-MATERIALIZATION#S1")
class GatheredForEachRequest(ReuseModel):
    """Gathers a layer once for each request of the batch."""

    def note(self, layer: int, buffer: str) -> None:
        super().note(layer, buffer)
        for _ in self.batch[1:] if self.materializes() else ():
            self.plane.events.append(Event(kind="materialized", reason=buffer, layer=layer))


@mutant("reuse.gathered-again", kills="RFC-0004:C-MATERIALIZATION#S1")
class GatheredAgain(ReuseModel):
    """Gathers a layer anew each time that it is composed."""

    def compose(self, layer: int, epoch: int, batch: Sequence[ReuseRequest], rows: Sequence[RankRows]) -> Composed:
        was_there = (layer, epoch) in self.composed_at
        composed = super().compose(layer, epoch, batch, rows)
        for buffer in buffers_of(self.pool) if was_there and self.materializes() else ():
            self.plane.events.append(Event(kind="materialized", reason=buffer, layer=layer))
        return composed


@mutant("reuse.new-tokens-gathered", kills="RFC-0004:C-MATERIALIZATION#S2")
class NewTokensGathered(ReuseModel):
    """Reads the pools also where every token is new."""

    def materializes(self) -> bool:
        return True


@mutant("reuse.off-for-several-requests", kills="RFC-0004:C-MATERIALIZATION#S3")
class OffForSeveralRequests(ReuseModel):
    """Takes the long way whenever a batch has more than one request."""

    def tell_path(self, layer: int) -> None:
        super().tell_path(layer)
        if len(self.batch) > 1:
            self.plane.events.append(Event(kind="fallback", reason="batch_gt1", layer=layer))


@mutant("reuse.a-collective-a-request", kills="RFC-0004:C-COLLECTIVES#S1")
class ACollectiveARequest(ReuseModel):
    """Exchanges each span in a collective of its own."""

    def exchanges(self) -> Spans:
        return [(span,) for spans in super().exchanges() for span in spans]


@mutant("reuse.bounding-span", kills="RFC-0004:C-COLLECTIVES#S2")
class BoundingSpan(ReuseModel):
    """Exchanges one span from the first cached token to the last, and what lies between."""

    def exchanges(self) -> Spans:
        prefix = reuse_batch.prefix_spans(self.batch)
        if not prefix:
            return super().exchanges()
        return [(Span(start=prefix[0].start, end=prefix[-1].end),), reuse_batch.current_spans(self.batch)]


@mutant("reuse.whole-view-exchanged", kills="RFC-0004:C-COLLECTIVES#S2")
class WholeViewExchanged(ReuseModel):
    """Exchanges the view from its first token to its last."""

    def exchanges(self) -> Spans:
        return [(Span(start=0, end=reuse_batch.tokens(self.batch)),)]


@mutant("reuse.prefix-carried-twice", kills="RFC-0004:C-COLLECTIVES#S3")
class PrefixCarriedTwice(ReuseModel):
    """Exchanges the prefixes, and then the prefixes with the new tokens."""

    def exchanges(self) -> Spans:
        first, *rest = super().exchanges()
        return [first, *((*first, *spans) for spans in rest)]


@mutant("reuse.scale-forgotten", kills="RFC-0004:C-TOP-K#S1")
class ScaleForgotten(ReuseModel):
    """Scores keys without their scales."""

    def score(self, query: Sequence[bytes], weights: Sequence[float], row: bytes) -> float:
        scale = index_key(row)[1]
        return super().score(query, weights, row) / scale if scale else 0.0


@mutant("reuse.negative-products-count", kills="RFC-0004:C-TOP-K#S1")
class NegativeProductsCount(ReuseModel):
    """Adds products below zero to the score."""

    def score(self, query: Sequence[bytes], weights: Sequence[float], row: bytes) -> float:
        key, scale = index_key(row)
        products = (sum(values[at] * value for at, value in key) for values in map(fp8_values, query))
        return scale * sum(weight * product for weight, product in zip(weights, products, strict=True))


@mutant(
    "reuse.weights-of-another-row",
    kills="RFC-0004:C-TOP-K#S1",
    also={"RFC-0004:C-SECOND-PASS#S1": "which row is taken depends on the rows of a rank, and a second pass has fewer"},
)
class WeightsOfAnotherRow(ReuseModel):
    """Takes the weights in the order of all early segments and then all late ones."""

    def weights(self, given: RankQueries, row: int) -> tuple[float, ...]:
        return weights_of(given.weights, (row + given.rows // 2) % given.rows, self.pool.index_heads)


@mutant("reuse.scores-below-zero-reversed", kills="RFC-0004:C-TOP-K#S1")
class ScoresBelowZeroReversed(ReuseModel):
    """Orders scores below zero by their magnitude, the largest first, as their bits are ordered."""

    def score(self, query: Sequence[bytes], weights: Sequence[float], row: bytes) -> float:
        found = super().score(query, weights, row)
        return found if found >= 0 else 1 / found


@mutant("reuse.scores-of-a-compact-buffer", kills="RFC-0004:C-TOP-K#S1")
class ScoresOfACompactBuffer(ReuseModel):
    """Looks scores up as if the index rows of the prefixes had no room in the buffer."""

    def score_base(self, request: int) -> int:
        return sum(earlier.extend_tokens for earlier in self.batch[:request])


@mutant("reuse.first-head-alone", kills="RFC-0004:C-TOP-K#S1")
class FirstHeadAlone(ReuseModel):
    """Scores by the first index head alone."""

    def score(self, query: Sequence[bytes], weights: Sequence[float], row: bytes) -> float:
        return score(query[:1], weights[:1], row)


@mutant("reuse.short-contexts-cut", kills="RFC-0004:C-TOP-K#S2")
class ShortContextsCut(ReuseModel):
    """Gives one token fewer than there are where there are fewer than asked for."""

    def padded(self, positions: Sequence[int], count: int) -> tuple[int, ...]:
        return super().padded(positions if len(positions) == count else positions[:-1], count)


@mutant("reuse.selection-not-padded", kills="RFC-0004:C-TOP-K#S2")
class SelectionNotPadded(ReuseModel):
    """Gives fewer entries than were asked for where fewer tokens are visible."""

    def padded(self, positions: Sequence[int], count: int) -> tuple[int, ...]:
        return tuple(positions)


@mutant("reuse.padded-with-the-last", kills="RFC-0004:C-TOP-K#S2")
class PaddedWithTheLast(ReuseModel):
    """Repeats the last selected token where there are fewer than asked for."""

    def padded(self, positions: Sequence[int], count: int) -> tuple[int, ...]:
        return (*positions, *[positions[-1]] * (count - len(positions)))


@mutant("reuse.one-token-ahead", kills="RFC-0004:C-TOP-K#S3")
class OneTokenAhead(ReuseModel):
    """Lets a row see the token behind it."""

    def candidates(self, place: Place) -> Iterable[int]:
        return range(min(place[1] + 2, reuse_batch.request_tokens(self.batch[place[0]])))


@mutant("reuse.neighbours-visible", kills="RFC-0004:C-TOP-K#S3")
class NeighboursVisible(ReuseModel):
    """Lets a row see all requests before its own."""

    def candidates(self, place: Place) -> Iterable[int]:
        return range(-reuse_batch.bases(self.batch)[place[0]], place[1] + 1)


@mutant("reuse.offset-of-new-tokens", kills="RFC-0004:C-TOP-K#S4")
class OffsetOfNewTokens(ReuseModel):
    """Names selected tokens from the number of query rows of earlier requests on."""

    def index_base(self, request: int) -> int:
        return [0, *accumulate(r.extend_tokens for r in self.batch)][request]


@mutant("reuse.positions-in-the-request", kills="RFC-0004:C-TOP-K#S4")
class PositionsInTheRequest(ReuseModel):
    """Names selected tokens by their positions in their request."""

    def index_base(self, request: int) -> int:
        return 0


@mutant("reuse.dummy-rows-select", kills="RFC-0004:C-TOP-K#S5")
class DummyRowsSelect(ReuseModel):
    """Lets a dummy row select what the token that it repeats would see first."""

    def selected_by_dummy(self, count: int) -> tuple[int, ...]:
        return (0, *[-1] * (count - 1))


@mutant("reuse.always-compute-rows", kills="RFC-0004:C-TOP-K#S6")
class AlwaysComputeRows(ReuseModel):
    """Wants compute rows of every query, also of those that say that they are the valid ones."""

    def refuse_queries(self, call: str, queries: Sequence[RankQueries]) -> None:
        super().refuse_queries(call, queries)
        wanted = self.rows_by_domain(self.batch)["compute"]
        if any(given.rows != wanted[rank] for rank, given in enumerate(queries)):
            raise Rejected(Reason.ROWS_MISMATCH)


@mutant("reuse.queries-uncounted", kills="RFC-0004:C-TOP-K#S6")
class QueriesUncounted(ReuseModel):
    """Answers as many rows as the batch has, whatever it is given."""

    def refuse_queries(self, call: str, queries: Sequence[RankQueries]) -> None:
        try:
            super().refuse_queries(call, queries)
        except Rejected as error:
            if error.reason is Reason.BUFFER_UNKNOWN:
                raise


@mutant("reuse.static-queries-answered", kills="RFC-0004:C-TOP-K#S6")
class StaticQueriesAnswered(ReuseModel):
    """Answers queries of static rows, of which it has no more than it computes."""

    def refuse_queries(self, call: str, queries: Sequence[RankQueries]) -> None:
        known = [replace(q, domain="compute") if q.domain == "static" else q for q in queries]
        super().refuse_queries(call, known)


@mutant("reuse.no-index-no-selection", kills="RFC-0004:C-TOP-K#S7")
class NoIndexNoSelection(ReuseModel):
    """Selects nothing, and says so, where there is nothing to select by."""

    def top_k(self, layer: int, epoch: int, queries: Sequence[RankQueries], count: int) -> tuple[RankTopK, ...]:
        if self.pool.layout != "mha_bf16":
            return super().top_k(layer, epoch, queries, count)
        self.view(layer, epoch)
        return tuple(RankTopK(indices=((-1,) * count,) * given.rows) for given in queries)


@mutant("reuse.rope-forgotten", kills="RFC-0004:C-ATTENTION#S1")
class RopeForgotten(ReuseModel):
    """Leaves the rope out of the product of query and row."""

    def attention(self, query: bytes, rows: Sequence[bytes]) -> list[float]:
        return attention(query[: 2 * LATENT_VALUES] + bytes(len(query) - 2 * LATENT_VALUES), rows)


@mutant("reuse.all-shares-alike", kills="RFC-0004:C-ATTENTION#S1")
class AllSharesAlike(ReuseModel):
    """Weighs every selected row alike."""

    def attention(self, query: bytes, rows: Sequence[bytes]) -> list[float]:
        return attention(bytes(len(query)), rows)


@mutant("reuse.minus-one-is-the-last-row", kills="RFC-0004:C-ATTENTION#S2")
class MinusOneIsTheLastRow(ReuseModel):
    """Reads the last row of the view where a position is -1."""

    def positions(self, selected: Sequence[int]) -> Iterator[int]:
        last = reuse_batch.tokens(self.batch) - 1
        return (position if position >= 0 else last for position in selected)


@mutant("reuse.nothing-selected-is-no-number", kills="RFC-0004:C-ATTENTION#S2")
class NothingSelectedIsNoNumber(ReuseModel):
    """Divides by the sum of no shares where a row selected nothing."""

    def attended(
        self, view: View, rank: int, given: RankQueries, row: int, selected: Sequence[int], place: Place | None
    ) -> bytes:
        if any(position >= 0 for position in selected):
            return super().attended(view, rank, given, row, selected, place)
        values = self.pool.heads * LATENT_VALUES
        return struct.pack(f"<{values}f", *[nan] * values)


@mutant("reuse.dummy-rows-attend", kills="RFC-0004:C-ATTENTION#S2")
class DummyRowsAttend(ReuseModel):
    """Answers with a row of attention for each dummy row as well."""

    def is_kept(self, place: Place | None) -> bool:
        return True


@mutant("reuse.foreign-positions-read", kills="RFC-0004:C-ATTENTION#S3")
class ForeignPositionsRead(ReuseModel):
    """Attends to whatever position is named."""

    def refuse_indices(self, queries: Sequence[RankQueries], indices: Sequence[RankTopK]) -> None:
        try:
            super().refuse_indices(queries, indices)
        except Rejected as error:
            if error.reason is not Reason.POSITION_OUTSIDE_REQUEST:
                raise


@mutant(
    "reuse.cached-rows-left-out",
    kills="RFC-0004:C-SECOND-PASS#S1",
    also={"RFC-0004:C-ATTENTION#S1": "a single rank has the attention of either pass, and sees what the second lacks"},
)
class CachedRowsLeftOut(ReuseModel):
    """Attends to new rows alone where a request has a prefix, but for rows that select cached ones only."""

    def attended(
        self,
        view: View,
        rank: int,
        given: RankQueries,
        row: int,
        selected: Sequence[int],
        place: Place | None,
    ) -> bytes:
        base = reuse_batch.bases(self.batch)[place[0]] if place else 0
        cached = base + self.batch[place[0]].prefix_tokens if place else 0
        new = [position for position in selected if position >= cached]
        return super().attended(view, rank, given, row, new or selected, place)


@mutant("reuse.silent-fallback", kills="RFC-0004:C-FALLBACK#S1")
class SilentFallback(ReuseModel):
    """Does without its kernels, and says nothing."""

    def tell_path(self, layer: int) -> None:
        pass


@benign("reuse.one-collective")
class OneCollective(ReuseModel):
    """Exchanges prefixes and new tokens in one collective of exact spans."""

    def exchanges(self) -> Spans:
        return [tuple(span for spans in super().exchanges() for span in spans)]


@benign("reuse.worst-first")
class WorstFirst(ReuseModel):
    """Lists what is missing first, then the selected tokens in the order of the view."""

    def padded(self, positions: Sequence[int], count: int) -> tuple[int, ...]:
        return (*[-1] * (count - len(positions)), *sorted(positions))


@benign("reuse.more-events")
class MoreEvents(ReuseModel):
    """Tells of every layer that it composed, in words of its own."""

    def tell_path(self, layer: int) -> None:
        super().tell_path(layer)
        self.plane.events.append(Event(kind="composed", reason="layer", layer=layer))


@benign("reuse.attention-in-fp32")
class AttentionInFp32(ReuseModel):
    """Is off by a little of every value, as sums in fp32 are."""

    def attention(self, query: bytes, rows: Sequence[bytes]) -> list[float]:
        return [value * (1 + 2.0**-20) for value in super().attention(query, rows)]

"""Planning as an implementation, one small decision a method; mutants override one of them.

The calls on one request and those on a batch share functions and no decisions, so that a variant is wrong in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.planning import (
    BatchPlan,
    Descriptor,
    DummyRow,
    LastToken,
    RankPlan,
    RequestSplit,
    Segment,
    SegmentRows,
)
from sharedkv_conformance.model import planning_batch, planning_split
from sharedkv_conformance.model.geometry import Geometry, checked_geometry

Batch = Sequence[ExtendRequest]
Listed = list[tuple[int, Segment]]
Rows = Sequence[SegmentRows]
Values = Sequence[int]
ByRank = Sequence[Sequence[int]]


class PlanningModel:
    """The calls of the contract, each by its decisions."""

    feature = "planning"

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.geometry = self.checked(config)

    def checked(self, config: OpenConfig) -> Geometry:
        """Refuse a geometry that has no owner lanes."""
        return checked_geometry(config)

    # -- one request -------------------------------------------------------------------------------------------------

    def split(self, prefix_tokens: int, extend_tokens: int) -> RequestSplit:
        """Split one request."""
        self.refuse_unsplittable(prefix_tokens, extend_tokens)
        parts = self.segments(prefix_tokens, extend_tokens)
        last_rank, last_row = self.last_token(parts, extend_tokens)
        return RequestSplit(owners=self.owners(extend_tokens), segments=parts, last_rank=last_rank, last_row=last_row)

    def refuse_unsplittable(self, prefix_tokens: int, extend_tokens: int) -> None:
        """Raise `Rejected` when the request has no page-aligned split."""
        for reason in sorted(planning_split.unsplittable(self.geometry, prefix_tokens, extend_tokens)):
            raise Rejected(reason, f"prefix {prefix_tokens}, extend {extend_tokens} tokens")

    def owners(self, extend_tokens: int) -> tuple[int, ...]:
        """Choose the owner of each new page."""
        return planning_split.page_owners(self.geometry, extend_tokens)

    def segments(self, prefix_tokens: int, extend_tokens: int) -> tuple[Segment, ...]:
        """Choose the segments of every rank."""
        return planning_split.segments(self.geometry, prefix_tokens, extend_tokens)

    def last_token(self, parts: tuple[Segment, ...], extend_tokens: int) -> tuple[int, int]:
        """Choose the rank and row of the last token."""
        return planning_split.last_token(parts, extend_tokens)

    # -- a batch -----------------------------------------------------------------------------------------------------

    def plan(self, batch: Batch, static_multiple: int) -> BatchPlan:
        """Plan a batch."""
        self.refuse_unplannable(batch)
        self.refuse_multiple(static_multiple)
        rows = self.layout(batch)
        gather = self.gather(batch, rows)
        return BatchPlan(
            requests=self.splits(batch),
            segments=rows,
            dummies=self.dummies(batch, rows),
            ranks=self.ranks(batch, rows, max(1, static_multiple)),
            last_tokens=self.last_tokens(batch, rows),
            gather=gather,
            restore=self.restoring(gather),
        )

    def descriptors(self, batch: Batch) -> tuple[Descriptor, ...]:
        """Return the plan as flat arrays."""
        self.refuse_unplannable(batch)
        rows = self.layout(batch)
        return tuple(self.arrays(batch, rows).values())

    def deal(self, batch: Batch, values: Values) -> tuple[tuple[int, ...], ...]:
        """Deal one value a token to the rows of the ranks."""
        self.refuse_unplannable(batch)
        self.refuse_values(batch, values)
        return self.dealt(batch, values)

    def restore(self, batch: Batch, rows: ByRank) -> tuple[int, ...]:
        """Bring the values of all rows into flattened request-token order."""
        self.refuse_unplannable(batch)
        self.refuse_rows(batch, rows)
        return self.restored(batch, rows)

    def collect_last(self, batch: Batch, rows: ByRank) -> tuple[int, ...]:
        """Take the value of each request's last token."""
        self.refuse_unplannable(batch)
        self.refuse_compute_rows(batch, rows)
        return tuple(rows[last.rank][last.compute_row] for last in self.collected(batch))

    def strip(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> tuple[int, ...]:
        """Drop a tail that is proven."""
        self.refuse_unplannable(batch)
        self.refuse_tail(batch, locations, static_tokens)
        return self.stripped(batch, locations)

    def chunk(self, prefix_tokens: int, remaining_tokens: int, budget_tokens: int) -> int:
        """Return the next chunk of a request."""
        self.refuse_chunk(prefix_tokens, remaining_tokens, budget_tokens)
        return self.chunk_tokens(remaining_tokens, budget_tokens)

    # -- what a batch is refused for ---------------------------------------------------------------------------------

    def refuse_unplannable(self, batch: Batch) -> None:
        """Raise `Rejected` when the batch has no plan."""
        _refuse(planning_batch.unplannable(self.geometry, batch), f"batch of {len(batch)}")

    def refuse_multiple(self, static_multiple: int) -> None:
        """Raise `Rejected` when nothing can be rounded up to a multiple."""
        if static_multiple < 1:
            raise Rejected(Reason.STATIC_MULTIPLE_INVALID, f"multiple of {static_multiple}")

    def refuse_values(self, batch: Batch, values: Values) -> None:
        """Raise `Rejected` unless there is one value a new token."""
        if len(values) != (wanted := planning_batch.new_tokens(batch)):
            raise Rejected(Reason.ROWS_MISMATCH, f"{len(values)} values for {wanted} tokens")

    def refuse_rows(self, batch: Batch, rows: ByRank) -> None:
        """Raise `Rejected` unless every rank has its valid rows."""
        laid = self.layout(batch)
        self._refuse_counts(rows, [planning_batch.valid_rows(laid, rank) for rank in range(self.geometry.cp_size)])

    def refuse_compute_rows(self, batch: Batch, rows: ByRank) -> None:
        """Raise `Rejected` unless every rank has its compute rows."""
        laid = self.layout(batch)
        self._refuse_counts(rows, [planning_batch.compute_rows(laid, rank) for rank in range(self.geometry.cp_size)])

    def _refuse_counts(self, rows: ByRank, wanted: list[int]) -> None:
        if (found := [len(values) for values in rows]) != wanted:
            raise Rejected(Reason.ROWS_MISMATCH, f"{found} rows by rank, expected {wanted}")

    def refuse_tail(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> None:
        """Raise `Rejected` unless the locations are those of the new tokens, or a tail behind them is proven."""
        _refuse(
            planning_batch.tail_refusals(batch, locations, static_tokens),
            f"{len(locations)} locations, {static_tokens} recorded",
        )

    def refuse_chunk(self, prefix_tokens: int, remaining_tokens: int, budget_tokens: int) -> None:
        """Raise `Rejected` when the request has no next chunk."""
        _refuse(
            planning_batch.chunk_refusals(self.geometry, prefix_tokens, remaining_tokens, budget_tokens),
            f"prefix {prefix_tokens}, remaining {remaining_tokens}, budget {budget_tokens} tokens",
        )

    # -- the decisions of a plan -------------------------------------------------------------------------------------

    def splits(self, batch: Batch) -> tuple[RequestSplit, ...]:
        """Choose the split of each request: that which it has alone."""
        return tuple(planning_split.request_split(self.geometry, r.prefix_tokens, r.extend_tokens) for r in batch)

    def layout(self, batch: Batch) -> tuple[SegmentRows, ...]:
        """Choose the rows of every segment."""
        return planning_batch.laid_out(self.listed(batch), self.padding(batch))

    def listed(self, batch: Batch) -> Listed:
        """Choose the order of segments."""
        return planning_batch.listed(self.geometry, batch)

    def padding(self, batch: Batch) -> Mapping[planning_batch.Place, int]:
        """Choose the segments that get dummy rows."""
        return planning_batch.lane_min(self.geometry, batch)

    def dummies(self, batch: Batch, rows: Rows) -> tuple[DummyRow, ...]:
        """Choose what each dummy row repeats."""
        return tuple(planning_batch.dummy_rows(batch, rows))

    def ranks(self, batch: Batch, rows: Rows, static_multiple: int) -> tuple[RankPlan, ...]:
        """Choose the counts and maxima of each rank."""
        return planning_batch.rank_plans(self.geometry, batch, rows, static_multiple)

    def last_tokens(self, batch: Batch, rows: Rows) -> tuple[LastToken, ...]:
        """Choose where last tokens are."""
        return planning_batch.last_tokens(batch, rows)

    def gather(self, batch: Batch, rows: Rows) -> tuple[int, ...]:
        """Choose the token of each row, ranks one after another."""
        return _joined(planning_batch.tokens_by_rank(self.geometry, batch, rows))

    def restoring(self, gather: tuple[int, ...]) -> tuple[int, ...]:
        """Choose the row of each token."""
        return planning_batch.inverse(gather)

    # -- the decisions of the other calls ----------------------------------------------------------------------------

    def arrays(self, batch: Batch, rows: Rows) -> dict[str, Descriptor]:
        """Choose the arrays of a plan."""
        gather = _joined(planning_batch.tokens_by_rank(self.geometry, batch, rows))
        return planning_batch.descriptors(batch, rows, gather)

    def dealt(self, batch: Batch, values: Values) -> tuple[tuple[int, ...], ...]:
        """Choose the value of each row."""
        by_rank = planning_batch.tokens_by_rank(self.geometry, batch, self.layout(batch))
        return tuple(tuple(values[token] for token in tokens) for tokens in by_rank)

    def restored(self, batch: Batch, rows: ByRank) -> tuple[int, ...]:
        """Choose the value of each token."""
        by_rank = planning_batch.tokens_by_rank(self.geometry, batch, self.layout(batch))
        return tuple(value for _, value in sorted(zip(_joined(by_rank), _joined(rows), strict=True)))

    def collected(self, batch: Batch) -> tuple[LastToken, ...]:
        """Choose the rows that are collected."""
        return planning_batch.last_tokens(batch, self.layout(batch))

    def stripped(self, batch: Batch, locations: Sequence[int]) -> tuple[int, ...]:
        """Choose the locations that stay."""
        return tuple(locations[: planning_batch.new_tokens(batch)])

    def chunk_tokens(self, remaining_tokens: int, budget_tokens: int) -> int:
        """Choose the length of a chunk."""
        return planning_batch.chunk_tokens(self.geometry, remaining_tokens, budget_tokens)


def _refuse(reasons: Iterable[Reason], detail: str) -> None:
    for reason in sorted(reasons):
        raise Rejected(reason, detail)


def _joined(by_rank: ByRank) -> tuple[int, ...]:
    return tuple(value for values in by_rank for value in values)

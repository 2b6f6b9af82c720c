"""Planning behind the contract: splits and batch plans, as tuples of ints.

Knows which call of the contract is which function of the reference. Holds nothing but a geometry.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharedkv import batching
from sharedkv.batching import BatchPlan, Ints, plan_batch
from sharedkv.geometry import Geometry
from sharedkv.planning import next_chunk, split_request
from sharedkv_adapter import translation
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract

PARTS = ("prev", "next")
Batch = Sequence[contract.ExtendRequest]
ByRank = Sequence[Sequence[int]]


class ReferencePlanning:
    """Pure functions of the session's geometry."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry

    def split(self, prefix_tokens: int, extend_tokens: int) -> contract.RequestSplit:
        """Split one request, or raise `Rejected`."""
        with contract_errors():
            return translation.request_split(split_request(self._geometry, prefix_tokens, extend_tokens))

    def plan(self, batch: Batch, static_multiple: int) -> contract.BatchPlan:
        """Plan a batch, or raise `Rejected`."""
        with contract_errors():
            return batch_plan(plan_batch(self._geometry, batch, static_multiple))

    def descriptors(self, batch: Batch) -> tuple[contract.Descriptor, ...]:
        """Return the plan as flat arrays."""
        with contract_errors():
            arrays = batching.descriptors(plan_batch(self._geometry, batch))
        return tuple(
            contract.Descriptor(name=name, dtype=array.dtype.name, values=tuple(array.tolist()))
            for name, array in arrays.items()
        )

    def deal(self, batch: Batch, values: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Deal one value a new token to the valid rows of each rank."""
        with contract_errors():
            return tuple(tuple(rows.tolist()) for rows in plan_batch(self._geometry, batch).deal(_ints(values)))

    def restore(self, batch: Batch, rows: ByRank) -> tuple[int, ...]:
        """Return the values of the valid rows of all ranks in flattened request-token order."""
        with contract_errors():
            return tuple(plan_batch(self._geometry, batch).restore([_ints(values) for values in rows]).tolist())

    def collect_last(self, batch: Batch, rows: ByRank) -> tuple[int, ...]:
        """Return the value of each request's last token from the compute rows of all ranks."""
        with contract_errors():
            return tuple(plan_batch(self._geometry, batch).collect_last([_ints(values) for values in rows]).tolist())

    def strip(self, batch: Batch, locations: Sequence[int], static_tokens: int) -> tuple[int, ...]:
        """Return the locations of the new tokens without a static tail, or raise `Rejected`."""
        with contract_errors():
            batching.require_plannable(self._geometry, batch)
            num_tokens = sum(request.extend_tokens for request in batch)
            return tuple(batching.strip_static_tail(num_tokens, _ints(locations), static_tokens).tolist())

    def chunk(self, prefix_tokens: int, remaining_tokens: int, budget_tokens: int) -> int:
        """Return how many of a request's remaining tokens its next chunk takes."""
        with contract_errors():
            return next_chunk(self._geometry, prefix_tokens, remaining_tokens, budget_tokens)


def batch_plan(plan: BatchPlan) -> contract.BatchPlan:
    """Write the plan of a batch."""
    rows = _segment_rows(plan)
    return contract.BatchPlan(
        requests=tuple(_request_split(plan, rows, request) for request in range(plan.num_requests)),
        segments=rows,
        dummies=tuple(contract.DummyRow(**dummy._asdict()) for dummy in plan.dummies),
        ranks=_rank_plans(plan),
        last_tokens=tuple(
            contract.LastToken(rank=rank, row=row, compute_row=compute_row)
            for rank, row, compute_row in _columns(plan.last_rank, plan.last_row, plan.last_compute_row)
        ),
        gather=tuple(plan.token_of_row.tolist()),
        restore=tuple(plan.row_of_token.tolist()),
    )


def _segment_rows(plan: BatchPlan) -> tuple[contract.SegmentRows, ...]:
    s = plan.segments
    columns = (s.request, s.rank, s.part, s.start, s.end, s.kv_tokens, s.first_row, s.first_compute_row, s.dummy_rows)
    return tuple(
        contract.SegmentRows(
            request=request,
            rank=rank,
            part=PARTS[part],
            start=start,
            end=end,
            kv_tokens=kv_tokens,
            first_row=first_row,
            first_compute_row=first_compute_row,
            dummy_rows=dummy_rows,
        )
        for request, rank, part, start, end, kv_tokens, first_row, first_compute_row, dummy_rows in _columns(*columns)
    )


def _request_split(plan: BatchPlan, rows: Sequence[contract.SegmentRows], request: int) -> contract.RequestSplit:
    """Write the split of one request; its last row is counted among its own rows of the rank."""
    own = [s for s in rows if s.request == request]
    last_rank = int(plan.last_rank[request])
    first_row = next(s.first_row for s in own if s.rank == last_rank)
    first_page, end_page = plan.first_page[request : request + 2].tolist()
    return contract.RequestSplit(
        owners=tuple(plan.owners[first_page:end_page].tolist()),
        segments=tuple(
            contract.Segment(rank=s.rank, part=s.part, start=s.start, end=s.end, kv_tokens=s.kv_tokens) for s in own
        ),
        last_rank=last_rank,
        last_row=int(plan.last_row[request]) - first_row,
    )


def _rank_plans(plan: BatchPlan) -> tuple[contract.RankPlan, ...]:
    columns = _columns(plan.valid_rows, plan.compute_rows, plan.max_query_rows, plan.max_kv_tokens)
    return tuple(
        contract.RankPlan(
            rank=rank,
            valid_rows=valid_rows,
            compute_rows=compute_rows,
            static_rows=plan.static_rows,
            max_query_rows=max_query_rows,
            max_kv_tokens=max_kv_tokens,
        )
        for rank, (valid_rows, compute_rows, max_query_rows, max_kv_tokens) in enumerate(columns)
    )


def _columns(*columns: Ints) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)

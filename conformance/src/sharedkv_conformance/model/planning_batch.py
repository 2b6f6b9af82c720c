"""The executable specification of a batch plan: pure functions of lengths, geometry and where dummy rows are put.

rank 0:  r0.prev  r0.next  r1.prev  r1.next  ...      rows of a rank are request-major
rank 1:  r0.prev  r0.next  r1.prev  r1.next  ...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.planning import (
    Descriptor,
    DummyRow,
    LastToken,
    RankPlan,
    Segment,
    SegmentRows,
)
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.planning_split import segments, unsplittable

Batch = Sequence[ExtendRequest]
Place = tuple[int, int, str]
"""A segment by its request, its rank and its part."""

PARTS = ("prev", "next")


def unplannable(geometry: Geometry, batch: Batch) -> frozenset[Reason]:
    """Return every reason why a batch has no plan."""
    empty = frozenset() if batch else frozenset({Reason.BATCH_EMPTY})
    return empty.union(*(unsplittable(geometry, r.prefix_tokens, r.extend_tokens) for r in batch))


def new_tokens(batch: Batch) -> int:
    """Count the new tokens of a batch."""
    return sum(request.extend_tokens for request in batch)


def first_tokens(batch: Batch) -> list[int]:
    """Return the place of each request's first new token in flattened request-token order."""
    return [0, *accumulate(request.extend_tokens for request in batch)][: len(batch)]


def listed(geometry: Geometry, batch: Batch) -> list[tuple[int, Segment]]:
    """Return every segment with its request: rank by rank, within a rank request by request, `prev` before `next`."""
    splits = [segments(geometry, request.prefix_tokens, request.extend_tokens) for request in batch]
    return [
        (request, segment)
        for rank in range(geometry.cp_size)
        for request, parts in enumerate(splits)
        for segment in parts
        if segment.rank == rank
    ]


def lane_min(geometry: Geometry, batch: Batch) -> dict[Place, int]:
    """Return the dummy rows of each segment: one for a rank without a row, in its `prev` of the first request."""
    busy = {segment.rank for _, segment in listed(geometry, batch) if segment.start < segment.end}
    return {(0, rank, "prev"): 1 for rank in range(geometry.cp_size) if rank not in busy}


def segment_min(geometry: Geometry, batch: Batch) -> dict[Place, int]:
    """Return the dummy rows of each segment: one for each that is empty."""
    return {(request, s.rank, s.part): 1 for request, s in listed(geometry, batch) if s.start == s.end}


def laid_out(ordered: Iterable[tuple[int, Segment]], dummy_rows: Mapping[Place, int]) -> tuple[SegmentRows, ...]:
    """Count up the rows of each rank's segments in the order in which they stand."""
    valid: dict[int, int] = {}
    compute: dict[int, int] = {}
    rows = []
    for request, s in ordered:
        dummies = dummy_rows.get((request, s.rank, s.part), 0)
        rows.append(
            SegmentRows(
                request=request,
                rank=s.rank,
                part=s.part,
                start=s.start,
                end=s.end,
                kv_tokens=s.kv_tokens,
                first_row=valid.setdefault(s.rank, 0),
                first_compute_row=compute.setdefault(s.rank, 0),
                dummy_rows=dummies,
            )
        )
        valid[s.rank] += s.end - s.start
        compute[s.rank] += s.end - s.start + dummies
    return tuple(rows)


def dummy_rows(batch: Batch, rows: Iterable[SegmentRows]) -> Iterator[DummyRow]:
    """Yield each dummy row: it repeats the last valid position of its own request."""
    for s in rows:
        tokens = batch[s.request].prefix_tokens + batch[s.request].extend_tokens
        for row in range(s.dummy_rows):
            place = s.first_compute_row + s.end - s.start + row
            yield DummyRow(rank=s.rank, row=place, request=s.request, position=tokens - 1, kv_tokens=tokens)


def valid_rows(rows: Iterable[SegmentRows], rank: int) -> int:
    """Count the valid rows of a rank."""
    return sum(s.end - s.start for s in rows if s.rank == rank)


def compute_rows(rows: Iterable[SegmentRows], rank: int) -> int:
    """Count the compute rows of a rank: valid rows and dummies."""
    return sum(s.end - s.start + s.dummy_rows for s in rows if s.rank == rank)


def static_rows(compute: Iterable[int], static_multiple: int) -> int:
    """Round the most compute rows of a rank up to a multiple."""
    return -(-max(compute) // static_multiple) * static_multiple


def max_query_rows(rows: Iterable[SegmentRows], rank: int) -> int:
    """Return the compute rows of a rank's longest segment."""
    return max(s.end - s.start + s.dummy_rows for s in rows if s.rank == rank)


def max_kv_tokens(batch: Batch, rows: Sequence[SegmentRows], rank: int) -> int:
    """Return the most tokens that a compute row of a rank may see."""
    seen = [s.kv_tokens for s in rows if s.rank == rank and s.start < s.end]
    return max([*seen, *(dummy.kv_tokens for dummy in dummy_rows(batch, rows) if dummy.rank == rank)], default=0)


def rank_plans(
    geometry: Geometry, batch: Batch, rows: Sequence[SegmentRows], static_multiple: int
) -> tuple[RankPlan, ...]:
    """Return what kernels of each rank have to know."""
    ranks = range(geometry.cp_size)
    static = static_rows((compute_rows(rows, rank) for rank in ranks), static_multiple)
    return tuple(
        RankPlan(
            rank=rank,
            valid_rows=valid_rows(rows, rank),
            compute_rows=compute_rows(rows, rank),
            static_rows=static,
            max_query_rows=max_query_rows(rows, rank),
            max_kv_tokens=max_kv_tokens(batch, rows, rank),
        )
        for rank in ranks
    )


def last_tokens(batch: Batch, rows: Sequence[SegmentRows]) -> tuple[LastToken, ...]:
    """Return where the last token of each request is computed: it is the last row of the segment that holds it."""
    return tuple(
        LastToken(
            rank=s.rank, row=s.first_row + s.end - s.start - 1, compute_row=s.first_compute_row + s.end - s.start - 1
        )
        for request, asked in enumerate(batch)
        for s in rows
        if s.request == request and s.start < s.end == asked.extend_tokens
    )


def tokens_by_rank(geometry: Geometry, batch: Batch, rows: Iterable[SegmentRows]) -> tuple[tuple[int, ...], ...]:
    """Return the token, in flattened request-token order, of each valid row of each rank."""
    first = first_tokens(batch)
    by_row = sorted(rows, key=lambda s: s.first_row)
    return tuple(
        tuple(first[s.request] + token for s in by_row if s.rank == rank for token in range(s.start, s.end))
        for rank in range(geometry.cp_size)
    )


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """Return the permutation that undoes another."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def kv_bases(batch: Batch) -> list[int]:
    """Return for each request the tokens, prefix and new, of all earlier ones."""
    return [0, *accumulate(request.prefix_tokens + request.extend_tokens for request in batch)][: len(batch)]


def descriptors(batch: Batch, rows: Sequence[SegmentRows], gather: Sequence[int]) -> dict[str, Descriptor]:
    """Return the plan as flat arrays, by name."""
    bases = kv_bases(batch)
    columns = {
        "request": [s.request for s in rows],
        "rank": [s.rank for s in rows],
        "part": [PARTS.index(s.part) for s in rows],
        "query_rows": [s.end - s.start for s in rows],
        "compute_rows": [s.end - s.start + s.dummy_rows for s in rows],
        "first_row": [s.first_row for s in rows],
        "first_compute_row": [s.first_compute_row for s in rows],
        "kv_tokens": [s.kv_tokens for s in rows],
        "kv_base": [bases[s.request] for s in rows],
    }
    arrays = {name: Descriptor(name=name, dtype="int32", values=tuple(column)) for name, column in columns.items()}
    return {**arrays, "token": Descriptor(name="token", dtype="int64", values=tuple(gather))}


def tail_refusals(batch: Batch, locations: Sequence[int], static_tokens: int) -> frozenset[Reason]:
    """Return every reason why locations cannot be brought to the new tokens of a batch.

    Without a tail there must be as many locations as new tokens and as were recorded; a tail is dropped with proof.
    """
    tokens, found = new_tokens(batch), len(locations)
    has_tail = found > tokens
    faults = {
        Reason.LOCATIONS_MISMATCH: found < tokens or (not has_tail and static_tokens != found),
        Reason.STATIC_TAIL_UNPROVEN: has_tail and (static_tokens != found or any(locations[tokens:])),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def chunk_refusals(
    geometry: Geometry, prefix_tokens: int, remaining_tokens: int, budget_tokens: int
) -> frozenset[Reason]:
    """Return every reason why a request has no next chunk."""
    reasons = unsplittable(geometry, prefix_tokens, remaining_tokens)
    too_small = remaining_tokens > 0 and budget_tokens < min(remaining_tokens, geometry.page_size)
    return reasons | {Reason.CHUNK_TOO_SMALL} if too_small else reasons


def chunk_tokens(geometry: Geometry, remaining_tokens: int, budget_tokens: int) -> int:
    """Return the next chunk: all that remains, else as many whole pages as the budget covers."""
    if budget_tokens >= remaining_tokens:
        return remaining_tokens
    return budget_tokens // geometry.page_size * geometry.page_size

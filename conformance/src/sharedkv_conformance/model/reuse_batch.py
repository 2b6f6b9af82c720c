"""Dense views by arithmetic: where the tokens of a batch stand, which row of which rank computes them, what is refused.

dense view   | r0 prefix | r0 new | r1 prefix | r1 new | ...        base of r1 = all tokens of r0
prefix row   page `table[position // page_size]`, wherever it lies
new row      of the rank that computes it, counted in the rank's own order
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.planning import SegmentRows
from sharedkv_conformance.contract.pool import PoolConfig, RankRows
from sharedkv_conformance.contract.probe import Span
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.model import planning_batch
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes

Batch = Sequence[ReuseRequest]
Place = tuple[int, int]
"""A token by its request (an index in the batch) and its position there, prefix tokens counted."""

Places = tuple[tuple[Place | None, ...], ...]
"""For each rank the token of each of its rows; None for a row that nobody keeps."""

DOMAINS = ("valid", "compute", "static")


def lengths(batch: Batch) -> tuple[ExtendRequest, ...]:
    """Return the batch as planning knows it."""
    return tuple(
        ExtendRequest(request=r.request, prefix_tokens=r.prefix_tokens, extend_tokens=r.extend_tokens) for r in batch
    )


def request_tokens(request: ReuseRequest) -> int:
    """Count the tokens of a request, prefix and new."""
    return request.prefix_tokens + request.extend_tokens


def bases(batch: Batch) -> tuple[int, ...]:
    """Return the base of each request."""
    return tuple([0, *accumulate(map(request_tokens, batch))][: len(batch)])


def tokens(batch: Batch) -> int:
    """Count the tokens of a batch."""
    return sum(map(request_tokens, batch))


def prefix_pages(geometry: Geometry, request: ReuseRequest) -> tuple[int, ...]:
    """Return the pages of a request's prefix in token order."""
    return request.table[: request.prefix_tokens // geometry.page_size]


def own_pages(geometry: Geometry, request: ReuseRequest) -> tuple[int, ...]:
    """Return the pages of a request, prefix and new; what follows them in the table is stale."""
    return request.table[: geometry.pages_for(request.prefix_tokens) + geometry.pages_for(request.extend_tokens)]


def stale_pages(geometry: Geometry, request: ReuseRequest) -> tuple[int, ...]:
    """Return what an earlier batch left behind the pages of a request."""
    return request.table[len(own_pages(geometry, request)) :]


def prefix_slots(geometry: Geometry, batch: Batch) -> Iterator[tuple[int, int]]:
    """Yield the position in the dense view and the logical token location of each prefix token, in order."""
    for base, request in zip(bases(batch), batch, strict=True):
        locations = geometry.locations(prefix_pages(geometry, request), request.prefix_tokens)
        yield from zip(range(base, base + request.prefix_tokens), locations, strict=False)


def prefix_spans(batch: Batch) -> tuple[Span, ...]:
    """Return the prefix of each request that has one, as tokens of the dense view."""
    placed = zip(bases(batch), batch, strict=True)
    return tuple(Span(start=base, end=base + r.prefix_tokens) for base, r in placed if r.prefix_tokens)


def current_spans(batch: Batch) -> tuple[Span, ...]:
    """Return the new tokens of each request, as tokens of the dense view."""
    placed = zip(bases(batch), batch, strict=True)
    return tuple(Span(start=base + r.prefix_tokens, end=base + request_tokens(r)) for base, r in placed)


@lru_cache(maxsize=512)
def layout(geometry: Geometry, plain: tuple[ExtendRequest, ...]) -> tuple[SegmentRows, ...]:
    """Return the rows of every segment as the model lays them out."""
    return planning_batch.laid_out(planning_batch.listed(geometry, plain), planning_batch.lane_min(geometry, plain))


@lru_cache(maxsize=512)
def places(geometry: Geometry, plain: tuple[ExtendRequest, ...], rows: tuple[SegmentRows, ...], domain: str) -> Places:
    """Return the token of each row of each rank in one of the domains `valid` and `compute`."""
    return tuple(
        _places_of_rank(plain, [s for s in rows if s.rank == rank], domain) for rank in range(geometry.cp_size)
    )


def _places_of_rank(
    plain: Sequence[ExtendRequest], rows: Sequence[SegmentRows], domain: str
) -> tuple[Place | None, ...]:
    found: dict[int, Place] = {}
    for s in rows:
        first = s.first_row if domain == "valid" else s.first_compute_row
        for token in range(s.start, s.end):
            found[first + token - s.start] = (s.request, plain[s.request].prefix_tokens + token)
    count = sum(s.end - s.start + (0 if domain == "valid" else s.dummy_rows) for s in rows)
    return tuple(found.get(row) for row in range(count))


@lru_cache(maxsize=512)
def batch_refusals(geometry: Geometry, batch: tuple[ReuseRequest, ...]) -> frozenset[Reason]:
    """Return every reason why a batch has no dense view, whatever its rows."""
    reasons = planning_batch.unplannable(geometry, lengths(batch))
    if reasons:
        return reasons
    wanted = [geometry.pages_for(r.prefix_tokens) + geometry.pages_for(r.extend_tokens) for r in batch]
    faults = {
        Reason.TABLE_TOO_SHORT: any(len(r.table) < pages for r, pages in zip(batch, wanted, strict=True)),
        Reason.PAGE_OUTSIDE_POOL: not all(geometry.holds(page) for r in batch for page in own_pages(geometry, r)),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def rows_refusals(pool: PoolConfig, rows: Sequence[RankRows], counts: dict[str, list[int]]) -> frozenset[Reason]:
    """Return every reason why rows are not those of a batch; `counts` has the rows of each rank by domain.

    In the domain `static` a rank may have more rows than it computes.
    """
    ranks = len(counts.get("valid", ()))
    faults = {
        Reason.ROWS_MISMATCH: len(rows) != ranks or not all(_counted(r, rank, counts) for rank, r in enumerate(rows)),
        Reason.DOMAIN_UNKNOWN: any(r.domain not in DOMAINS for r in rows),
        Reason.BUFFER_UNKNOWN: any(sorted(b.buffer for b in r.buffers) != sorted(buffers_of(pool)) for r in rows),
        Reason.ROW_BYTES_MISMATCH: not all(_sized(pool, r) for r in rows),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def _counted(rows: RankRows, rank: int, counts: dict[str, list[int]]) -> bool:
    if rows.domain == "static":
        return rows.rows >= counts["compute"][rank]
    return rows.domain not in counts or rows.rows == counts[rows.domain][rank]


def _sized(pool: PoolConfig, rows: RankRows) -> bool:
    known = [b for b in rows.buffers if b.buffer in buffers_of(pool)]
    return all(len(b.data) == rows.rows * computed_row_bytes(pool, b.buffer) for b in known)


def counts_of(geometry: Geometry, segments: Iterable[SegmentRows]) -> dict[str, list[int]]:
    """Return the rows of each rank in the domains `valid` and `compute`."""
    rows = tuple(segments)
    ranks = range(geometry.cp_size)
    return {
        "valid": [planning_batch.valid_rows(rows, rank) for rank in ranks],
        "compute": [planning_batch.compute_rows(rows, rank) for rank in ranks],
    }

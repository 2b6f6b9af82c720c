"""Which writes are refused, and why: a pure function of geometry, layout and the arguments of the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.pool import PoolConfig, RankRows
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.planning_batch import laid_out, listed, tail_refusals, tokens_by_rank, unplannable
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes

DOMAINS = ("valid", "compute", "static")


@dataclass(frozen=True, kw_only=True)
class Write:
    """The arguments of one write."""

    layer: int
    batch: Sequence[ExtendRequest]
    locations: Sequence[int]
    static_tokens: int
    rows: Sequence[RankRows]


def dealt(geometry: Geometry, batch: Sequence[ExtendRequest]) -> tuple[tuple[int, ...], ...]:
    """Return for each rank the tokens of its valid rows, numbered in flattened request-token order."""
    return tokens_by_rank(geometry, batch, laid_out(listed(geometry, batch), {}))


def refusals(
    geometry: Geometry, pool: PoolConfig, write: Write, compute_rows: Sequence[int] | None
) -> frozenset[Reason] | None:
    """Return every reason why a write is refused; none where it is fine, None where that cannot be told.

    `compute_rows` has for each rank the rows that its plan computes, dummies included; None where the plan is unknown.
    """
    named = frozenset(_names(pool, write))
    if reasons := unplannable(geometry, write.batch):
        return named | reasons
    if compute_rows is None and any(rows.domain in ("compute", "static") for rows in write.rows):
        return None
    owned = dealt(geometry, write.batch)
    wanted = {"valid": [len(tokens) for tokens in owned], "compute": compute_rows, "static": compute_rows}
    return (
        named
        | frozenset(_counts(write, owned, wanted))
        | frozenset(_sizes(pool, write))
        | location_refusals(geometry, write, owned)
    )


def _names(pool: PoolConfig, write: Write) -> Iterator[Reason]:
    if write.layer not in range(pool.all_layers):
        yield Reason.LAYER_OUTSIDE_POOL
    if any(rows.domain not in DOMAINS for rows in write.rows):
        yield Reason.DOMAIN_UNKNOWN
    known = sorted(buffers_of(pool))
    if any(sorted(given.buffer for given in rows.buffers) != known for rows in write.rows):
        yield Reason.BUFFER_UNKNOWN


def _counts(
    write: Write, owned: Sequence[Sequence[int]], wanted: Mapping[str, Sequence[int] | None]
) -> Iterator[Reason]:
    if len(write.rows) != len(owned):
        yield Reason.ROWS_MISMATCH
        return
    if any(miscounted_ranks(write, wanted)):
        yield Reason.ROWS_MISMATCH


def miscounted_ranks(write: Write, wanted: Mapping[str, Sequence[int] | None]) -> list[bool]:
    """Say of each rank whether it gives other rows than those of its domain, or fewer than it computes if static."""
    found = []
    for rank, rows in enumerate(write.rows):
        due = wanted.get(rows.domain)
        wrong = due is not None and (rows.rows < due[rank] if rows.domain == "static" else rows.rows != due[rank])
        found.append(wrong)
    return found


def _sizes(pool: PoolConfig, write: Write) -> Iterator[Reason]:
    known = buffers_of(pool)
    for rows in write.rows:
        for given in rows.buffers:
            if given.buffer in known and len(given.data) != rows.rows * computed_row_bytes(pool, given.buffer):
                yield Reason.ROW_BYTES_MISMATCH


def location_refusals(geometry: Geometry, write: Write, owned: Sequence[Sequence[int]]) -> frozenset[Reason]:
    """Return every reason against the locations of a write."""
    given = write.locations
    if faults := tail_refusals(write.batch, given, write.static_tokens):
        return faults
    reasons: set[Reason] = set()
    for rank, own in enumerate(owned):
        for page in {given[token] // geometry.page_size for token in own}:
            if not geometry.holds(page):
                reasons.add(Reason.PAGE_OUTSIDE_POOL)
            if page < 1 or geometry.lane(page) != rank:
                reasons.add(Reason.LANE_MISMATCH)
    return frozenset(reasons) | page_refusals(geometry, write)


def page_refusals(geometry: Geometry, write: Write) -> frozenset[Reason]:
    """Return every reason why new tokens do not fill pages of their own, in order and each from its start."""
    starts: list[int] = []
    reasons: set[Reason] = set()
    for page in _pages_of_tokens(geometry, write):
        starts.append(page[0])
        if page[0] % geometry.page_size or page != list(range(page[0], page[0] + len(page))):
            reasons.add(Reason.LOCATIONS_MISMATCH)
    if len(set(starts)) < len(starts):
        reasons |= {Reason.LOCATIONS_MISMATCH, Reason.PAGE_NAMED_TWICE}
    return frozenset(reasons)


def _pages_of_tokens(geometry: Geometry, write: Write) -> Iterator[list[int]]:
    """Yield the locations of the tokens of each new page, request by request."""
    first = 0
    for request in write.batch:
        last = first + request.extend_tokens
        for start in range(first, last, geometry.page_size):
            yield list(write.locations[start : min(last, start + geometry.page_size)])
        first = last

"""Where every row of a batch lies in its dense view, and which of them a rank brings.

Knows lengths, page tables, lanes and row domains. Does not know tensors, layers or what a row holds.

    dense view   | request 0: prefix | new | request 1: prefix | new | ...      one position a token, logical order
    base         0                         base of request 1

A rank brings the prefix pages of its lane, whichever request or extent they belong to, and the new tokens that it
computed, which it finds by its own row order and never by page ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sharedkv.batching import BatchPlan, plan_batch
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import DUMMY_PAGE, Geometry
from sharedkv.row_domains import NOWHERE, STATIC, require_rows, spread, valid_rows

Span = tuple[int, int]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ReuseRequest:
    """One request of a batch. `table` has the pages of its prefix, then of its new tokens; what follows is stale."""

    request: str
    prefix_tokens: int
    extend_tokens: int
    table: Sequence[int]


@dataclass(frozen=True, kw_only=True, eq=False)
class QueryWindows:
    """What each query row of one rank may see: the first `tokens` tokens of its request; a dummy row sees none.

    `request` (rows,) counts in the batch, -1 for a dummy row; `tokens` is (rows,). `bases` (requests,) has the position
    of each request's first token.
    """

    request: Ints
    tokens: Ints
    bases: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseBatch:
    """The dense view of one batch, as numbers; the same on every rank. Made by `dense_batch`.

    `pages` are, for each request, those of its prefix and its new tokens, without what was stale.
    """

    geometry: Geometry
    requests: tuple[ReuseRequest, ...]
    pages: tuple[Ints, ...]
    plan: BatchPlan

    def is_same(self, other: DenseBatch) -> bool:
        """Say whether another batch has the same requests on the same pages, whatever is stale in its tables."""
        return self._lengths == other._lengths and all(map(np.array_equal, self.pages, other.pages))

    @cached_property
    def _lengths(self) -> list[tuple[str, int, int]]:
        return [(request.request, request.prefix_tokens, request.extend_tokens) for request in self.requests]

    @cached_property
    def bases(self) -> Ints:
        """Return the position of each request's first token: the tokens of all earlier ones."""
        lengths = self.plan.prefix_tokens + self.plan.extend_tokens
        bases: Ints = np.cumsum(lengths) - lengths
        return bases

    @cached_property
    def tokens(self) -> int:
        """Count the tokens of the dense view."""
        return int(self.plan.prefix_tokens.sum() + self.plan.extend_tokens.sum())

    @property
    def has_prefix(self) -> bool:
        """Say whether any request has cached tokens."""
        return bool(self.plan.prefix_tokens.any())

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """Return where the cached and the new tokens of each request lie: exact, no gap, no token twice."""
        spans = []
        for base, request in zip(self.bases.tolist(), self.requests, strict=True):
            fresh = base + request.prefix_tokens
            spans += [(base, fresh)] if request.prefix_tokens else []
            spans.append((fresh, fresh + request.extend_tokens))
        return tuple(spans)

    def prefix_slots(self, rank: int) -> Ints:
        """Return, for each position (tokens,), the physical slot of a prefix row that lies on the rank; else -1."""
        page_size = self.geometry.page_size
        pages, starts = self._prefix_pages
        lanes, physical = self.geometry.places(pages)
        own, offsets = lanes == rank, np.arange(page_size)
        slots = np.full(self.tokens, NOWHERE, dtype=np.int64)
        slots[starts[own, None] + offsets] = physical[own, None] * page_size + offsets
        return slots

    @cached_property
    def _prefix_pages(self) -> tuple[Ints, Ints]:
        """Return every prefix page and the position of its first token."""
        page_size = self.geometry.page_size
        counts = self.plan.prefix_tokens // page_size
        lists = [pages[:count] for pages, count in zip(self.pages, counts, strict=True)]
        starts = [base + page_size * np.arange(count) for base, count in zip(self.bases, counts, strict=True)]
        return np.concatenate(lists), np.concatenate(starts)

    def current_positions(self, rank: int, domain: str, num_rows: int) -> Ints:
        """Return the position of each given row (num_rows,) of a rank; -1 for dummies and padding.

        Raises:
            RefusedError: no such domain, or not the rows that the batch has in it.

        """
        return self._spread(rank, domain, num_rows, self._positions)

    def windows(self, rank: int, domain: str, num_rows: int) -> QueryWindows:
        """Return what each query row of a rank may see.

        Raises:
            RefusedError: as for `current_positions`; queries are never padded to static rows.

        """
        if domain == STATIC:
            raise RefusedError(Refusal.DOMAIN_UNKNOWN, domain)
        requests = np.repeat(np.arange(len(self.requests)), self.plan.extend_tokens)
        seen = self._positions - self.bases[requests] + 1
        return QueryWindows(
            request=self._spread(rank, domain, num_rows, requests),
            tokens=np.maximum(self._spread(rank, domain, num_rows, seen), 0),
            bases=self.bases,
        )

    def valid_rows(self, rank: int, domain: str) -> Ints:
        """Return which of a rank's rows in a domain are valid ones, in order."""
        return valid_rows(self.plan, rank, domain)

    @cached_property
    def _positions(self) -> Ints:
        """Return the position of each new token, in flattened request-token order."""
        first = np.cumsum(self.plan.extend_tokens) - self.plan.extend_tokens
        shift = self.bases + self.plan.prefix_tokens - first
        positions: Ints = np.arange(self.plan.extend_tokens.sum()) + np.repeat(shift, self.plan.extend_tokens)
        return positions

    def _spread(self, rank: int, domain: str, num_rows: int, by_token: Ints) -> Ints:
        require_rows(self.plan, rank, domain, num_rows)
        return spread(self.plan, rank, domain, num_rows, by_token)


def dense_batch(geometry: Geometry, requests: Sequence[ReuseRequest]) -> DenseBatch:
    """Lay out the dense view of a batch.

    Raises:
        RefusedError: no request, one without a page-aligned split, a table without all of its pages, or a page that no
            lane holds.

    """
    plan = plan_batch(geometry, requests)
    pages = tuple(_mapped_pages(geometry, request) for request in requests)
    return DenseBatch(geometry=geometry, requests=tuple(requests), pages=pages, plan=plan)


def _mapped_pages(geometry: Geometry, request: ReuseRequest) -> Ints:
    """Return the pages of a request that mean something; what an earlier batch left behind them does not."""
    count = -(-(request.prefix_tokens + request.extend_tokens) // geometry.page_size)
    if len(request.table) < count:
        found = f"{len(request.table)} pages of {count} of request {request.request!r}"
        raise RefusedError(Refusal.TABLE_TOO_SHORT, found)
    try:
        pages = np.array(request.table[:count], dtype=np.int64)
    except OverflowError as error:
        raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, "a page beyond 64 bits") from error
    is_outside = (pages <= DUMMY_PAGE) | (pages > geometry.last_page)
    if is_outside.any():
        raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, int(pages[is_outside][0]))
    return pages

"""Planning: how the new tokens of a batch are dealt to the CP ranks, request by request.

All positions of new tokens are relative to the extend, half open. *Flattened request-token order* is the new tokens
of the first request, then those of the second, and so on. Rows of a rank are counted in one of three domains: *valid*
(real tokens), *compute* (valid rows and the dummy rows of tiny extends) and *static* (compute rows, padded for the
other parallel groups).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sharedkv_conformance.contract.allocation import ExtendRequest


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A run of new tokens that one rank computes; a rank has one `prev` and one `next` segment, either may be empty.

    `start` and `end` are token positions relative to the extend, half open. `kv_tokens` is the number of tokens
    that the segment's last row may see: the prefix and everything up to `end`.
    """

    rank: int
    part: str
    start: int
    end: int
    kv_tokens: int


@dataclass(frozen=True, kw_only=True)
class RequestSplit:
    """The split of one request.

    `owners` has one rank for each new page, in page order. `segments` are in rank order, `prev` before `next`,
    two a rank. `last_rank` computes the request's last token, in its local row `last_row`: rows of the rank's
    `prev` segment come first, then those of its `next` segment.
    """

    owners: tuple[int, ...]
    segments: tuple[Segment, ...]
    last_rank: int
    last_row: int


@dataclass(frozen=True, kw_only=True)
class SegmentRows:
    """Where the rows of one segment lie among the rows of its rank.

    `request` is the index in the batch. The segment has `end - start` valid rows from `first_row` on in the valid
    domain, and from `first_compute_row` on in the compute domain, where `dummy_rows` rows follow them.
    """

    request: int
    rank: int
    part: str
    start: int
    end: int
    kv_tokens: int
    first_row: int
    first_compute_row: int
    dummy_rows: int


@dataclass(frozen=True, kw_only=True)
class DummyRow:
    """A row that a rank computes and nobody keeps: `row` in the rank's compute domain.

    `position` is the absolute position in the request (prefix tokens counted) that the row repeats, and `kv_tokens`
    the tokens that it may see there.
    """

    rank: int
    row: int
    request: int
    position: int
    kv_tokens: int


@dataclass(frozen=True, kw_only=True)
class RankPlan:
    """What kernels of one rank have to know, in rows and tokens.

    `max_query_rows` is the longest segment of the rank in compute rows, `max_kv_tokens` the largest number of tokens
    that one of its compute rows may see.
    """

    rank: int
    valid_rows: int
    compute_rows: int
    static_rows: int
    max_query_rows: int
    max_kv_tokens: int


@dataclass(frozen=True, kw_only=True)
class LastToken:
    """Where the last token of one request is computed: `row` among the rank's valid rows, `compute_row` among all."""

    rank: int
    row: int
    compute_row: int


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """The plan of one extend batch, the same on every rank.

    `requests` and `last_tokens` are in batch order, `ranks` in rank order. `segments` are rank by rank; within a rank
    request by request, `prev` before `next`; empty ones are listed, and their tokens mean nothing. `dummies` are rank
    by rank in row order. `gather` has, for each valid row, ranks one after another, the token that
    it computes in flattened request-token order; `restore` has, for each such token, its row in that numbering.
    """

    requests: tuple[RequestSplit, ...]
    segments: tuple[SegmentRows, ...]
    dummies: tuple[DummyRow, ...]
    ranks: tuple[RankPlan, ...]
    last_tokens: tuple[LastToken, ...]
    gather: tuple[int, ...]
    restore: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Descriptor:
    """One array that kernels are given: its `dtype` (`int32` or `int64`) and its values."""

    name: str
    dtype: str
    values: tuple[int, ...]


class Planning(Protocol):
    """A pure function of lengths and geometry."""

    def split(self, prefix_tokens: int, extend_tokens: int) -> RequestSplit:
        """Split one request, or raise `Rejected` when no page-aligned split exists."""

    def plan(self, batch: Sequence[ExtendRequest], static_multiple: int) -> BatchPlan:
        """Plan a batch, or raise `Rejected` when it is empty or one of its requests has no page-aligned split.

        Static rows are the most compute rows of a rank, rounded up to a multiple of `static_multiple`. Feature
        `planning.batch`, as are all calls below.
        """

    def descriptors(self, batch: Sequence[ExtendRequest]) -> tuple[Descriptor, ...]:
        """Return the plan as flat arrays for kernels.

        One entry for each segment of `BatchPlan.segments`, in `int32`: `request`, `rank`, `part` (0 `prev`, 1 `next`),
        `query_rows` (valid), `compute_rows`, `first_row`, `first_compute_row`, `kv_tokens`, and `kv_base`, the tokens
        (prefix and new) of all earlier requests. And `token`, in `int64`: `BatchPlan.gather`.
        """

    def deal(self, batch: Sequence[ExtendRequest], values: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Deal one value a new token, in flattened request-token order, to the valid rows of each rank."""

    def restore(self, batch: Sequence[ExtendRequest], rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return the values of the valid rows of all ranks in flattened request-token order; undoes `deal`."""

    def collect_last(self, batch: Sequence[ExtendRequest], rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return the value of each request's last token from the compute rows of all ranks, in batch order."""

    def strip(self, batch: Sequence[ExtendRequest], locations: Sequence[int], static_tokens: int) -> tuple[int, ...]:
        """Return the locations of the new tokens without a static tail, or raise `Rejected`.

        `static_tokens` is the padded number of new tokens that the caller recorded. A tail is dropped only with proof:
        as many locations as `static_tokens`, fewer new tokens than that, and every location of the tail 0.
        """

    def chunk(self, prefix_tokens: int, remaining_tokens: int, budget_tokens: int) -> int:
        """Return how many of a request's remaining tokens its next chunk takes within a budget, or raise `Rejected`.

        All that remains where the budget covers it; else whole pages.
        """

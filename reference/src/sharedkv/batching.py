"""The plan of an extend batch: which rows each rank computes, in which order, and how they come back.

Knows lengths, ranks and row numbers, of all requests at once. Does not know page ids, pools, tensors or devices.

    rank 0   r0.prev  r0.next | r1.prev  r1.next | ...     rows of a rank are request-major
    rank 1   r0.prev  r0.next | r1.prev  r1.next | ...     a rank without any valid row has one dummy row, in its
    ...                                                    `prev` segment of the first request

A plan is made once, of numbers that the host has, and never changed: its arrays are read-only. It costs what its pages
and segments cost, and one write for each entry of the two permutations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sharedkv.errors import DescriptorTooLargeError, Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.planning import split_pages

Ints = NDArray[np.int64]
Permutation = NDArray[np.int32]
Values = NDArray[np.generic]

PREV, NEXT = 0, 1
LARGEST_INT32 = np.iinfo(np.int32).max
NUMBERS_OF_A_SUM = 4_096


class Lengths(Protocol):
    """What a plan has to know of a request, in tokens."""

    @property
    def prefix_tokens(self) -> int:
        """Return the tokens that are cached already, whole pages."""

    @property
    def extend_tokens(self) -> int:
        """Return the new tokens, at least one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Segments:
    """Every segment of a plan: rank by rank, within a rank request by request, `PREV` before `NEXT`.

    Each field is int64 of shape (ranks * requests * 2,). `start` and `end` are new tokens of the request, half open;
    `kv_tokens` is what the last row sees. `first_row` counts valid rows of the rank, `first_compute_row` compute rows,
    where the `dummy_rows` of a segment follow its valid ones.
    """

    request: Ints
    rank: Ints
    part: Ints
    start: Ints
    end: Ints
    kv_tokens: Ints
    first_row: Ints
    first_compute_row: Ints
    dummy_rows: Ints


class DummyRow(NamedTuple):
    """A compute row of a rank that nobody keeps: it repeats `position` of a request, where `kv_tokens` are seen."""

    rank: int
    row: int
    request: int
    position: int
    kv_tokens: int


@dataclass(frozen=True, kw_only=True, eq=False)
class BatchPlan:
    """The plan of one batch. Arrays are int64 and read-only, permutations int32; (ranks,) and (requests,) are shapes.

    `owners` has the rank of each new page, request after request; the pages of request i are
    `first_page[i]` up to `first_page[i + 1]`, shape (requests + 1,). `token_of_row` has, for the valid rows of all
    ranks, one rank after another, their tokens in flattened request-token order, and `row_of_token` is its inverse:
    both have the shape (new tokens,), and are most of what a plan costs. `static_rows` is the same for every rank.
    """

    cp_size: int
    prefix_tokens: Ints
    extend_tokens: Ints
    owners: Ints
    first_page: Ints
    segments: Segments
    dummies: tuple[DummyRow, ...]
    valid_rows: Ints
    compute_rows: Ints
    static_rows: int
    max_query_rows: Ints
    max_kv_tokens: Ints
    last_rank: Ints
    last_row: Ints
    last_compute_row: Ints
    token_of_row: Permutation
    row_of_token: Permutation

    @property
    def num_requests(self) -> int:
        """Count the requests."""
        return len(self.extend_tokens)

    @property
    def num_tokens(self) -> int:
        """Count the new tokens, which are the valid rows of all ranks."""
        return len(self.token_of_row)

    @property
    def first_rows(self) -> Ints:
        """Return where the valid rows of each rank begin among those of all; shape (ranks,)."""
        rows: Ints = np.cumsum(self.valid_rows) - self.valid_rows
        return rows

    def tokens(self, rank: int) -> Permutation:
        """Return the new token of each valid row of a rank, in flattened request-token order; a read-only view."""
        first = int(self.valid_rows[:rank].sum())
        return self.token_of_row[first : first + int(self.valid_rows[rank])]

    def compute_row_of_row(self, rank: int) -> Ints:
        """Return the compute row of each valid row of a rank."""
        s = self.segments
        own = s.rank == rank
        shift = np.repeat((s.first_compute_row - s.first_row)[own], (s.end - s.start)[own])
        rows: Ints = np.arange(len(shift)) + shift
        return rows

    def deal(self, values: Values) -> list[Values]:
        """Deal values, shape (new tokens, ...) in flattened request-token order, to the valid rows of each rank."""
        if len(values) != self.num_tokens:
            raise RefusedError(Refusal.ROWS_MISMATCH, f"{len(values)} values for {self.num_tokens} new tokens")
        return np.split(np.take(values, self.token_of_row, axis=0), self.first_rows[1:])

    def restore(self, rows: Sequence[Values]) -> Values:
        """Return the values of the valid rows of all ranks in flattened request-token order; undoes `deal`."""
        self._require_rows(rows, self.valid_rows)
        return np.take(np.concatenate(rows), self.row_of_token, axis=0)

    def collect_last(self, rows: Sequence[Values]) -> Values:
        """Return the value of each request's last token, in batch order, from the compute rows of all ranks."""
        self._require_rows(rows, self.compute_rows)
        last = zip(self.last_rank.tolist(), self.last_compute_row.tolist(), strict=True)
        return np.stack([rows[rank][row] for rank, row in last])

    def _require_rows(self, rows: Sequence[Values], wanted: Ints) -> None:
        found = [len(values) for values in rows]
        if found != wanted.tolist():
            raise RefusedError(Refusal.ROWS_MISMATCH, f"{found} rows by rank, the plan has {wanted.tolist()}")


def plan_batch(geometry: Geometry, batch: Sequence[Lengths], static_multiple: int = 1) -> BatchPlan:
    """Plan a batch. A pure function: equal lengths have equal plans, on every rank and whatever the pool's size.

    Raises `RefusedError` for an empty batch, a request that has no page-aligned split, and a multiple below one, and
    `DescriptorTooLargeError` for more new tokens than int32 can count.
    """
    require_plannable(geometry, batch)
    if static_multiple < 1:
        raise RefusedError(Refusal.STATIC_MULTIPLE_INVALID, static_multiple)
    prefixes = np.array([request.prefix_tokens for request in batch], dtype=np.int64)
    extends = np.array([request.extend_tokens for request in batch], dtype=np.int64)
    blocks = _Blocks.of(geometry, extends)
    rows = _Rows.of(blocks, prefixes)
    row_of_token, token_of_row = _permutations(rows, extends)
    last_rank, last_row, last_compute_row = _last_rows(blocks, rows)
    plan = BatchPlan(
        cp_size=geometry.cp_size,
        prefix_tokens=prefixes,
        extend_tokens=extends,
        owners=np.repeat(np.tile(blocks.rank, len(batch)), blocks.pages.ravel()),
        first_page=np.concatenate(([0], np.cumsum(blocks.num_pages))),
        segments=rows.segments(),
        dummies=rows.dummy_rows(prefixes, extends),
        valid_rows=rows.valid_rows,
        compute_rows=rows.compute_rows,
        static_rows=-(-int(rows.compute_rows.max()) // static_multiple) * static_multiple,
        max_query_rows=rows.compute.max(axis=(1, 2)),
        max_kv_tokens=rows.max_kv_tokens(),
        last_rank=last_rank,
        last_row=last_row,
        last_compute_row=last_compute_row,
        token_of_row=token_of_row,
        row_of_token=row_of_token,
    )
    return _frozen(plan)


def require_plannable(geometry: Geometry, batch: Sequence[Lengths]) -> None:
    """Refuse an empty batch, and one with a request that has no page-aligned split."""
    if not batch:
        raise RefusedError(Refusal.BATCH_EMPTY, 0)
    for request in batch:
        split_pages(geometry, request.prefix_tokens, request.extend_tokens)


def strip_static_tail(num_tokens: int, locations: Ints, static_tokens: int) -> Ints:
    """Return the locations of the new tokens; a tail behind them goes with proof alone.

    `locations` has shape (tokens,), `static_tokens` is the padded number that was recorded. Proven is a tail with which
    there are as many locations as recorded, and that holds location 0 alone. Returns a view.
    """
    found = len(locations)
    if found < num_tokens or (found == num_tokens != static_tokens):
        asked = f"{found} locations for {num_tokens} new tokens, {static_tokens} recorded"
        raise RefusedError(Refusal.LOCATIONS_MISMATCH, asked)
    if found > num_tokens and (static_tokens != found or locations[num_tokens:].any()):
        asked = f"{found} locations for {num_tokens} new tokens, {static_tokens} recorded"
        raise RefusedError(Refusal.STATIC_TAIL_UNPROVEN, asked)
    return locations[:num_tokens]


def descriptors(plan: BatchPlan) -> dict[str, NDArray[np.int32] | Ints]:
    """Return the plan as arrays for kernels, by name: one int32 entry for each segment, and int64 `token` for each row.

    Raises `DescriptorTooLargeError` where an entry does not fit into int32.
    """
    s = plan.segments
    length = s.end - s.start
    kv = plan.prefix_tokens + plan.extend_tokens
    columns = {
        "request": s.request,
        "rank": s.rank,
        "part": s.part,
        "query_rows": length,
        "compute_rows": length + s.dummy_rows,
        "first_row": s.first_row,
        "first_compute_row": s.first_compute_row,
        "kv_tokens": s.kv_tokens,
        "kv_base": (np.cumsum(kv) - kv)[s.request],
    }
    arrays: dict[str, NDArray[np.int32] | Ints] = {name: _int32(name, column) for name, column in columns.items()}
    arrays["token"] = plan.token_of_row.astype(np.int64)
    return arrays


def _int32(name: str, column: Ints) -> NDArray[np.int32]:
    largest = int(column.max())
    if largest > LARGEST_INT32:
        raise DescriptorTooLargeError(name, largest, LARGEST_INT32)
    return column.astype(np.int32)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Blocks:
    """The 2C blocks of every request: `pages` (requests, 2C), `bounds` in new tokens (requests, 2C + 1)."""

    cp_size: int
    num_pages: Ints
    pages: Ints
    bounds: Ints
    rank: Ints

    @classmethod
    def of(cls, geometry: Geometry, extends: Ints) -> _Blocks:
        """Deal whole pages to blocks, the remainder to the earliest."""
        ranks, blocks = geometry.cp_size, 2 * geometry.cp_size
        num_pages = -(-extends // geometry.page_size)
        base, remainder = np.divmod(num_pages, blocks)
        edge = np.arange(blocks + 1)
        first_page = edge * base[:, None] + np.minimum(edge, remainder[:, None])
        order = np.arange(ranks)
        return cls(
            cp_size=ranks,
            num_pages=num_pages,
            pages=first_page[:, 1:] - first_page[:, :-1],
            bounds=np.minimum(first_page * geometry.page_size, extends[:, None]),
            rank=np.concatenate((order, order[::-1])),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows:
    """Row numbers of every segment; arrays have the shape (ranks, requests, 2), sums the shape (ranks,)."""

    start: Ints
    end: Ints
    kv_tokens: Ints
    length: Ints
    dummy: Ints
    compute: Ints
    first_row: Ints
    first_compute_row: Ints
    valid_rows: Ints
    compute_rows: Ints

    @classmethod
    def of(cls, blocks: _Blocks, prefixes: Ints) -> _Rows:
        """Count up the rows of each rank, request by request; an idle rank gets its dummy row."""
        ranks = np.arange(blocks.cp_size)
        own = np.stack((ranks, 2 * blocks.cp_size - 1 - ranks), axis=1)
        start = blocks.bounds[:, own].transpose(1, 0, 2)
        end = blocks.bounds[:, own + 1].transpose(1, 0, 2)
        length = end - start
        valid_rows = length.sum(axis=(1, 2))
        dummy = np.zeros_like(length)
        dummy[:, 0, PREV] = valid_rows == 0
        compute = length + dummy
        return cls(
            start=start,
            end=end,
            kv_tokens=prefixes[:, None] + end,
            length=length,
            dummy=dummy,
            compute=compute,
            first_row=_before(length),
            first_compute_row=_before(compute),
            valid_rows=valid_rows,
            compute_rows=valid_rows + dummy[:, 0, PREV],
        )

    def segments(self) -> Segments:
        """Return the columns of the plan's list of segments."""
        rank, request, part = np.indices(self.start.shape).reshape(3, -1)
        return Segments(
            request=request,
            rank=rank,
            part=part,
            start=self.start.ravel(),
            end=self.end.ravel(),
            kv_tokens=self.kv_tokens.ravel(),
            first_row=self.first_row.ravel(),
            first_compute_row=self.first_compute_row.ravel(),
            dummy_rows=self.dummy.ravel(),
        )

    def dummy_rows(self, prefixes: Ints, extends: Ints) -> tuple[DummyRow, ...]:
        """Return the dummy row of each idle rank: it repeats the last token of the first request."""
        tokens = int(prefixes[0] + extends[0])
        idle = np.flatnonzero(self.dummy[:, 0, PREV]).tolist()
        return tuple(DummyRow(rank, 0, 0, tokens - 1, tokens) for rank in idle)

    def max_kv_tokens(self) -> Ints:
        """Return the most tokens that a compute row of each rank sees.

        An empty `prev` segment of a tiny request ends where the request does, so it sees what its dummy row sees.
        """
        most: Ints = np.where(self.compute > 0, self.kv_tokens, 0).max(axis=(1, 2))
        return most


def _before(rows: Ints) -> Ints:
    """Return for each segment the rows before it on its rank."""
    flat = rows.reshape(len(rows), -1)
    before: Ints = (np.cumsum(flat, axis=1) - flat).reshape(rows.shape)
    return before


def _last_rows(blocks: _Blocks, rows: _Rows) -> tuple[Ints, Ints, Ints]:
    """Return rank, valid row and compute row of each request's last token: the end of its last block with pages."""
    block = np.minimum(blocks.num_pages, 2 * blocks.cp_size) - 1
    place = (blocks.rank[block], np.arange(len(block)), (block >= blocks.cp_size).astype(np.int64))
    end = rows.length[place] - 1
    return place[0], rows.first_row[place] + end, rows.first_compute_row[place] + end


def _permutations(rows: _Rows, extends: Ints) -> tuple[Permutation, Permutation]:
    """Return the row of each token and the token of each row; both are runs, one a segment."""
    num_tokens = int(extends.sum())
    if num_tokens > LARGEST_INT32:
        raise DescriptorTooLargeError("token", num_tokens, LARGEST_INT32)
    first_token = ((np.cumsum(extends) - extends)[:, None] + rows.start).ravel().tolist()
    lengths = rows.length.ravel().tolist()
    numbers = _numbers(num_tokens)
    row_of_token = np.empty(num_tokens, dtype=np.int32)
    token_of_row = np.empty(num_tokens, dtype=np.int32)
    row = 0
    for token, length in zip(first_token, lengths, strict=True):
        if length:
            rows_of_run, tokens_of_run = slice(row, row + length), slice(token, token + length)
            token_of_row[rows_of_run] = numbers[tokens_of_run]
            row_of_token[tokens_of_run] = numbers[rows_of_run]
            row += length
    return row_of_token, token_of_row


def _numbers(least: int) -> Permutation:
    """Return at least so many numbers from 0 on; as one sum they come in a third of the time of `arange`."""
    first = np.arange(0, least, NUMBERS_OF_A_SUM, dtype=np.int32)
    return np.add(first[:, None], np.arange(NUMBERS_OF_A_SUM, dtype=np.int32)).ravel()


def _frozen(plan: BatchPlan) -> BatchPlan:
    """Make every array of a plan read-only and return it."""
    for part in (plan, plan.segments):
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
    return plan

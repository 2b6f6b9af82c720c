"""Batch plans: written vectors, the rule told once more row by row, and what is refused."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.allocation import ExtendRequest
from sharedkv.batching import (
    BatchPlan,
    Ints,
    descriptors,
    plan_batch,
    strip_static_tail,
)
from sharedkv.errors import DescriptorTooLargeError, Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.planning import next_chunk, split_request

TWO_RANKS = Geometry(cp_size=2, page_size=4, pages=0)
FOUR_RANKS = Geometry(cp_size=4, page_size=4, pages=0)

lengths = st.lists(st.tuples(st.sampled_from([0, 4, 12]), st.integers(1, 90)), min_size=1, max_size=4)


def batch_of(*asked: tuple[int, int]) -> list[ExtendRequest]:
    return [ExtendRequest(request="r", prefix_tokens=prefix, extend_tokens=extend) for prefix, extend in asked]


def tokens_row_by_row(geometry: Geometry, batch: Sequence[ExtendRequest]) -> list[list[int]]:
    """Walk every rank's segments request by request and list the tokens that its rows compute."""
    tokens: list[list[int]] = [[] for _ in range(geometry.cp_size)]
    first = 0
    for request in batch:
        for part in split_request(geometry, request.prefix_tokens, request.extend_tokens).segments:
            tokens[part.rank] += range(first + part.start, first + part.end)
        first += request.extend_tokens
    return tokens


def refusal(call: Callable[[], object]) -> Refusal:
    with pytest.raises(RefusedError) as caught:
        call()
    return caught.value.reason


def test_the_worked_batch_has_its_rows() -> None:
    plan = plan_batch(TWO_RANKS, batch_of((8, 13), (0, 5)), 4)

    assert plan.owners.tolist() == [0, 1, 1, 0, 0, 1]
    assert plan.segments.first_row.tolist() == [0, 4, 5, 9, 0, 4, 8, 9]
    assert plan.token_of_row.tolist() == [0, 1, 2, 3, *range(12, 17), *range(4, 12), 17]
    assert plan.row_of_token.tolist() == [0, 1, 2, 3, *range(9, 17), 4, 5, 6, 7, 8, 17]
    assert (plan.valid_rows.tolist(), plan.compute_rows.tolist(), plan.static_rows) == ([9, 9], [9, 9], 12)
    assert (plan.last_rank.tolist(), plan.last_row.tolist()) == ([0, 1], [4, 8])
    assert (plan.max_query_rows.tolist(), plan.max_kv_tokens.tolist()) == ([4, 4], [21, 20])
    assert plan.dummies == ()


def test_ranks_without_a_token_get_one_dummy_of_the_first_request() -> None:
    plan = plan_batch(FOUR_RANKS, batch_of((8, 5), (0, 3)), 1)

    assert plan.valid_rows.tolist() == [7, 1, 0, 0]
    assert plan.compute_rows.tolist() == [7, 1, 1, 1]
    assert plan.dummies == ((2, 0, 0, 12, 13), (3, 0, 0, 12, 13))
    assert plan.max_query_rows.tolist() == [4, 1, 1, 1]
    assert plan.max_kv_tokens.tolist() == [12, 13, 13, 13]


@given(cp_size=st.integers(2, 9), asked=lengths)
def test_rows_are_request_major(cp_size: int, asked: list[tuple[int, int]]) -> None:
    geometry, batch = Geometry(cp_size=cp_size, page_size=4, pages=0), batch_of(*asked)
    plan = plan_batch(geometry, batch)

    assert [plan.tokens(rank).tolist() for rank in range(cp_size)] == tokens_row_by_row(geometry, batch)


@given(cp_size=st.integers(2, 9), asked=lengths)
def test_the_permutations_are_inverse(cp_size: int, asked: list[tuple[int, int]]) -> None:
    plan = plan_batch(Geometry(cp_size=cp_size, page_size=4, pages=0), batch_of(*asked))

    assert plan.token_of_row[plan.row_of_token].tolist() == list(range(plan.num_tokens))


@given(cp_size=st.integers(2, 9), asked=lengths)
def test_each_request_is_split_as_it_is_alone(cp_size: int, asked: list[tuple[int, int]]) -> None:
    geometry, batch = Geometry(cp_size=cp_size, page_size=4, pages=0), batch_of(*asked)
    plan = plan_batch(geometry, batch)
    alone = [split_request(geometry, request.prefix_tokens, request.extend_tokens) for request in batch]
    pages = list(pairwise(plan.first_page.tolist()))
    s = plan.segments
    columns = [column.tolist() for column in (s.request, s.rank, s.part, s.start, s.end, s.kv_tokens)]
    expected = [
        (index, part.rank, int(part.part == "next"), part.start, part.end, part.kv_tokens)
        for index, split in enumerate(alone)
        for part in split.segments
    ]

    assert [tuple(plan.owners[first:end].tolist()) for first, end in pages] == [split.owners for split in alone]
    assert plan.last_rank.tolist() == [split.last_rank for split in alone]
    assert sorted(zip(*columns, strict=True)) == expected


@given(cp_size=st.integers(2, 9), asked=lengths)
def test_a_last_token_is_the_token_of_its_row(cp_size: int, asked: list[tuple[int, int]]) -> None:
    plan = plan_batch(Geometry(cp_size=cp_size, page_size=4, pages=0), batch_of(*asked))
    last = zip(plan.last_rank.tolist(), plan.last_row.tolist(), strict=True)

    assert [int(plan.tokens(rank)[row]) + 1 for rank, row in last] == np.cumsum(plan.extend_tokens).tolist()


@given(cp_size=st.integers(2, 9), asked=lengths)
def test_maxima_are_those_of_the_rows(cp_size: int, asked: list[tuple[int, int]]) -> None:
    plan = plan_batch(Geometry(cp_size=cp_size, page_size=4, pages=0), batch_of(*asked))
    s = plan.segments
    rows = s.end - s.start + s.dummy_rows
    by_rank = [[(int(rows[i]), int(s.kv_tokens[i])) for i in np.flatnonzero(s.rank == r)] for r in range(cp_size)]

    assert plan.max_query_rows.tolist() == [max(count for count, _ in found) for found in by_rank]
    assert plan.max_kv_tokens.tolist() == [max(sees for count, sees in found if count) for found in by_rank]


@given(cp_size=st.integers(2, 9), asked=lengths)
def test_no_rank_is_idle_and_valid_rows_keep_their_place(cp_size: int, asked: list[tuple[int, int]]) -> None:
    plan = plan_batch(Geometry(cp_size=cp_size, page_size=4, pages=0), batch_of(*asked))

    for rank in range(cp_size):
        compute_rows = {*plan.compute_row_of_row(rank).tolist(), *(d.row for d in plan.dummies if d.rank == rank)}
        assert compute_rows == set(range(plan.compute_rows[rank]))
        assert compute_rows


@given(cp_size=st.integers(2, 9), asked=lengths, width=st.integers(1, 3))
def test_restoring_undoes_dealing(cp_size: int, asked: list[tuple[int, int]], width: int) -> None:
    plan = plan_batch(Geometry(cp_size=cp_size, page_size=4, pages=0), batch_of(*asked))
    values = np.arange(plan.num_tokens * width).reshape(-1, width)
    dealt = plan.deal(values)

    assert [len(rows) for rows in dealt] == plan.valid_rows.tolist()
    assert np.array_equal(plan.restore(dealt), values)


@given(cp_size=st.integers(2, 9), asked=lengths)
def test_collected_rows_are_those_of_last_tokens(cp_size: int, asked: list[tuple[int, int]]) -> None:
    plan = plan_batch(Geometry(cp_size=cp_size, page_size=4, pages=0), batch_of(*asked))
    rows = [np.full(count, -1) for count in plan.compute_rows.tolist()]
    for rank in range(cp_size):
        rows[rank][plan.compute_row_of_row(rank)] = plan.tokens(rank)

    assert plan.collect_last(rows).tolist() == (np.cumsum(plan.extend_tokens) - 1).tolist()


def test_an_array_of_a_plan_cannot_be_written() -> None:
    plan = plan_batch(TWO_RANKS, batch_of((8, 13), (0, 5)))
    arrays = [getattr(part, field.name) for part in (plan, plan.segments) for field in fields(part)]

    assert not any(array.flags.writeable for array in arrays if isinstance(array, np.ndarray))
    with pytest.raises(ValueError, match="read-only"):
        plan.tokens(0)[0] = 7


def test_a_plan_does_not_depend_on_the_pool() -> None:
    batch = batch_of((8, 13), (0, 5))
    small, large = (plan_batch(Geometry(cp_size=2, page_size=4, pages=pages), batch) for pages in (0, 1 << 40))

    assert small.token_of_row.tolist() == large.token_of_row.tolist()


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ([], Refusal.BATCH_EMPTY),
        ([(0, 4), (2, 4)], Refusal.PREFIX_NOT_PAGE_ALIGNED),
        ([(0, 4), (-4, 4)], Refusal.PREFIX_NEGATIVE),
        ([(0, 4), (4, 0)], Refusal.EXTEND_EMPTY),
    ],
)
def test_a_batch_without_a_plan_is_refused(asked: list[tuple[int, int]], reason: Refusal) -> None:
    assert refusal(lambda: plan_batch(TWO_RANKS, batch_of(*asked))) is reason


@pytest.mark.parametrize("multiple", [0, -2])
def test_a_multiple_below_one_is_refused(multiple: int) -> None:
    assert refusal(lambda: plan_batch(TWO_RANKS, batch_of((0, 4)), multiple)) is Refusal.STATIC_MULTIPLE_INVALID


def wrong_numbers(plan: BatchPlan) -> list[Callable[[], object]]:
    rows = plan.deal(np.arange(plan.num_tokens))
    return [
        lambda: plan.deal(np.arange(plan.num_tokens - 1)),
        lambda: plan.restore(rows[:-1]),
        lambda: plan.restore([rows[0][:-1], *rows[1:]]),
        lambda: plan.collect_last([*rows, rows[0]]),
        lambda: plan.collect_last(rows),
    ]


@pytest.mark.parametrize("place", range(5))
def test_rows_of_another_number_are_refused(place: int) -> None:
    plan = plan_batch(FOUR_RANKS, batch_of((8, 5), (0, 3)))

    assert refusal(wrong_numbers(plan)[place]) is Refusal.ROWS_MISMATCH


def test_descriptors_have_their_types() -> None:
    arrays = descriptors(plan_batch(TWO_RANKS, batch_of((8, 13), (0, 5))))

    assert arrays.pop("token").dtype == np.int64
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.int32)}
    assert arrays["kv_base"].tolist() == [0, 0, 21, 21] * 2
    assert arrays["query_rows"].tolist() == [4, 1, 4, 0, 4, 4, 1, 0]


def test_a_descriptor_that_does_not_fit_is_an_error() -> None:
    plan = plan_batch(TWO_RANKS, batch_of((1 << 31, 4), (0, 4)))
    with pytest.raises(DescriptorTooLargeError) as caught:
        descriptors(plan)

    assert (caught.value.name, caught.value.value) == ("kv_tokens", (1 << 31) + 4)


def test_more_tokens_than_int32_can_count_are_an_error() -> None:
    with pytest.raises(DescriptorTooLargeError) as caught:
        plan_batch(Geometry(cp_size=2, page_size=1 << 30, pages=0), batch_of((0, 1 << 31)))

    assert (caught.value.name, caught.value.value) == ("token", 1 << 31)


def located(*locations: int) -> Ints:
    return np.array(locations, dtype=np.int64)


@pytest.mark.parametrize(("locations", "recorded"), [((4, 5, 6), 3), ((4, 5, 6, 0, 0), 5), ((4, 5, 0, 0), 4)])
def test_locations_before_a_proven_tail_stay(locations: tuple[int, ...], recorded: int) -> None:
    assert strip_static_tail(3, located(*locations), recorded).tolist() == list(locations[:3])


@pytest.mark.parametrize(
    ("locations", "recorded", "reason"),
    [
        ((4, 5, 6, 0), 3, Refusal.STATIC_TAIL_UNPROVEN),
        ((4, 5, 6, 0), 5, Refusal.STATIC_TAIL_UNPROVEN),
        ((4, 5, 6, 0, 7), 5, Refusal.STATIC_TAIL_UNPROVEN),
        ((4, 5, 6), 4, Refusal.LOCATIONS_MISMATCH),
        ((4, 5), 3, Refusal.LOCATIONS_MISMATCH),
        ((4, 5), 2, Refusal.LOCATIONS_MISMATCH),
    ],
)
def test_a_tail_without_proof_is_refused(locations: tuple[int, ...], recorded: int, reason: Refusal) -> None:
    assert refusal(lambda: strip_static_tail(3, located(*locations), recorded)) is reason


@pytest.mark.parametrize(
    ("prefix", "remaining", "budget", "taken"),
    [(0, 100, 41, 40), (0, 100, 100, 100), (96, 3, 3, 3), (96, 3, 40, 3), (0, 5, 4, 4)],
)
def test_a_chunk_is_all_or_whole_pages(prefix: int, remaining: int, budget: int, taken: int) -> None:
    assert next_chunk(TWO_RANKS, prefix, remaining, budget) == taken


@pytest.mark.parametrize(
    ("prefix", "remaining", "budget", "reason"),
    [
        (0, 100, 3, Refusal.CHUNK_TOO_SMALL),
        (0, 100, -1, Refusal.CHUNK_TOO_SMALL),
        (3, 100, 40, Refusal.PREFIX_NOT_PAGE_ALIGNED),
        (-4, 100, 40, Refusal.PREFIX_NEGATIVE),
        (96, 0, 40, Refusal.EXTEND_EMPTY),
    ],
)
def test_a_chunk_that_cannot_be_is_refused(prefix: int, remaining: int, budget: int, reason: Refusal) -> None:
    assert refusal(lambda: next_chunk(TWO_RANKS, prefix, remaining, budget)) is reason

"""Equal arguments give equal pools, and the count of free runs is that of the pool."""

import pytest

from benchmarks.pools import FRAGMENTED, STATES, allocator, geometry_of, lane_pool, num_extents, random_half
from benchmarks.workload import BATCH, PAGES_ASKED
from sharedkv.geometry import Geometry

GEOMETRY = geometry_of(4, 1_000)


def runs_counted(geometry: Geometry, state: str) -> int:
    free = {page for lane in allocator(geometry, state).pages().free for page in lane}
    return sum(page - geometry.cp_size not in free for page in free)


@pytest.mark.parametrize("state", STATES)
def test_free_runs_are_counted_right(state: str) -> None:
    assert num_extents(GEOMETRY, state) == runs_counted(GEOMETRY, state)


def test_the_random_half_is_what_is_free() -> None:
    free = allocator(GEOMETRY, FRAGMENTED).pages().free

    assert sorted(page for lane in free for page in lane) == random_half(GEOMETRY).tolist()


def test_half_is_about_half() -> None:
    assert 450 < len(random_half(GEOMETRY)) < 550


@pytest.mark.parametrize("state", STATES)
def test_both_ways_to_a_state_leave_equal_pages(state: str) -> None:
    assert lane_pool(GEOMETRY, state).pages() == allocator(GEOMETRY, state).pages()


@pytest.mark.parametrize("state", STATES)
def test_equal_pools_give_equal_pages(state: str) -> None:
    answers = [allocator(GEOMETRY, state).extend(BATCH).pages for _ in range(2)]

    assert answers[0] == answers[1]
    assert len(answers[0]) == PAGES_ASKED

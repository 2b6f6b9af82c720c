"""What calls touch, counted and never timed: the pages asked for, not the pool."""

from collections.abc import Callable

import pytest

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.geometry import Geometry, PageId

SMALL, LARGE = 1_000, 64_000
LEVELS = 4  # of the bitmap of lengths in the largest pool here, and more than in the small one
BATCH = [
    ExtendRequest(request="a", prefix_tokens=0, extend_tokens=300),
    ExtendRequest(request="b", prefix_tokens=640, extend_tokens=1000),
]
PAGES_ASKED = 21


def fragmented(pages: int) -> OwnerLaneAllocator:
    """Open a pool of four lanes in which every other page of each lane is free, and every eighth is evictable."""
    pool = OwnerLaneAllocator(Geometry(cp_size=4, page_size=64, pages=pages), FreeRoom(target=4, min_chunk=4))
    given = sorted(pool.extend([ExtendRequest(request="x", prefix_tokens=0, extend_tokens=pages * 64)]).pages)
    pool.release([page for page in given if (page - 1) // 4 % 2])
    pool.retain([page for page in given if (page - 1) // 4 % 8 == 0])
    return pool


def touched(pages: int, call: Callable[[OwnerLaneAllocator], object]) -> int:
    pool = fragmented(pages)
    call(pool)
    return pool.touched


def work_and_restore(pool: OwnerLaneAllocator) -> None:
    snapshot = pool.snapshot()
    pool.release(pool.extend(BATCH).pages)
    pool.retain([PageId(17)])
    pool.release([PageId(1), PageId(17)])
    pool.restore(snapshot)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda pool: pool.extend(BATCH), id="extend"),
        pytest.param(lambda pool: pool.admit(BATCH), id="admit"),
        pytest.param(lambda pool: pool.make_room(BATCH), id="make_room"),
        pytest.param(lambda pool: pool.release([PageId(1), PageId(2), PageId(17)]), id="release"),
        pytest.param(lambda pool: pool.retain([PageId(17), PageId(18)]), id="retain"),
        pytest.param(lambda pool: pool.release_locations([64, 65, 128]), id="release_locations"),
        pytest.param(lambda pool: pool.lanes(), id="lanes"),
        pytest.param(work_and_restore, id="restore"),
    ],
)
def test_cost_does_not_follow_the_pool(call: Callable[[OwnerLaneAllocator], object]) -> None:
    assert touched(LARGE, call) <= touched(SMALL, call) + LEVELS * PAGES_ASKED


def test_cost_of_fragments_follows_the_pages_asked() -> None:
    pool = fragmented(LARGE)
    per_page = []
    for pages in (8, 80, 800):
        pool.extend([ExtendRequest(request="y", prefix_tokens=0, extend_tokens=pages * 64)])
        per_page.append(pool.touched / pages)

    assert max(per_page) <= 2 * min(per_page)


def test_more_pages_cost_more() -> None:
    pool = fragmented(SMALL)
    pool.extend(BATCH[:1])
    few = pool.touched
    pool.extend(BATCH)

    assert pool.touched > few >= 5


def test_lanes_cost_a_few_elements_a_lane() -> None:
    assert touched(LARGE, lambda pool: pool.lanes()) == 2 * 4


def test_looking_costs_nothing() -> None:
    pool = fragmented(SMALL)
    pool.extend(BATCH)
    cost = pool.touched
    pool.pages()
    pool.invariants()

    assert pool.touched == cost


def test_fresh_pool_holds_one_run_a_lane() -> None:
    pool = OwnerLaneAllocator(Geometry(cp_size=4, page_size=64, pages=LARGE), FreeRoom())

    assert [len(index.runs()) for index in pool._pool._free] == [1, 1, 1, 1]

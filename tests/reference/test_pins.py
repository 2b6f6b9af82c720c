"""A pinned page is in use whatever is asked for it, and what was asked happens when it is not pinned any more."""

from __future__ import annotations

import pytest

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.errors import CapacityWaitError, Refusal, RefusedError
from sharedkv.geometry import Geometry, PageId


@pytest.fixture
def pool() -> OwnerLaneAllocator:
    return OwnerLaneAllocator(Geometry(cp_size=2, page_size=2, pages=8), FreeRoom())


def allocate(pool: OwnerLaneAllocator, num_pages: int) -> tuple[PageId, ...]:
    return tuple(pool.extend([ExtendRequest(request="r", prefix_tokens=0, extend_tokens=2 * num_pages)]).pages)


def test_release_waits_for_the_last_unpin(pool: OwnerLaneAllocator) -> None:
    pages = allocate(pool, 8)
    pool.pin(pages[:2])
    pool.pin(pages[:2])
    pool.release(pages)

    assert sum(pool.lanes().free) == 6
    with pytest.raises(RefusedError, match=Refusal.PAGE_NOT_ALLOCATED):
        pool.release(pages[:1])
    with pytest.raises(RefusedError, match=Refusal.PAGE_NOT_ALLOCATED):
        pool.retain(pages[:1])
    pool.unpin(pages[:2])

    assert sum(pool.lanes().free) == 6
    pool.unpin(pages[:2])

    assert sum(pool.lanes().free) == 8
    assert not pool.invariants()


def test_retained_pages_are_evictable_once_they_are_not_pinned(pool: OwnerLaneAllocator) -> None:
    pages = allocate(pool, 8)
    pool.pin(pages)
    pool.retain(pages)

    assert sum(pool.lanes().evictable) == 0
    with pytest.raises(CapacityWaitError):
        allocate(pool, 2)
    pool.unpin(pages)

    assert sum(pool.lanes().evictable) == 8
    allocate(pool, 8)

    assert not pool.invariants()


def test_an_evictable_page_that_is_pinned_does_not_give_way(pool: OwnerLaneAllocator) -> None:
    pages = allocate(pool, 8)
    pool.retain(pages)
    pool.pin(pages[:6])

    assert (sum(pool.lanes().evictable), sum(pool.lanes().in_use)) == (2, 6)
    with pytest.raises(CapacityWaitError):
        allocate(pool, 4)
    pool.unpin(pages[:6])

    assert sum(pool.lanes().evictable) == 8
    assert not pool.invariants()


def test_kept_pages_stay_kept_until_their_cache_gives_them_up(pool: OwnerLaneAllocator) -> None:
    pages = allocate(pool, 2)
    pool.pin(pages)
    pool.keep(pages)
    pool.unpin(pages)

    assert pool.kept_pages() == sorted(pages)
    pool.pin(pages)
    pool.release_kept(pages)

    assert (pool.kept_pages(), sum(pool.lanes().in_use)) == ([], 2)
    pool.unpin(pages)

    assert sum(pool.lanes().free) == 8
    assert not pool.invariants()


def test_going_back_to_a_snapshot_frees_no_pinned_page(pool: OwnerLaneAllocator) -> None:
    (early,) = allocate(pool, 1)
    snapshot = pool.snapshot()
    late = allocate(pool, 2)
    pool.pin([early, *late])
    pool.release([early])
    for _ in range(2):
        pool.restore(snapshot)

        assert sum(pool.lanes().in_use) == 3
        assert not pool.invariants()
    pool.unpin([early, *late])

    assert [page for pages in pool.pages().in_use for page in pages] == [early]
    assert not pool.invariants()


def test_going_back_brings_back_what_was_asked_for_while_it_was_pinned(pool: OwnerLaneAllocator) -> None:
    pages = allocate(pool, 2)
    pool.pin(pages)
    pool.retain(pages)
    snapshot = pool.snapshot()
    pool.unpin(pages)
    pool.release(pages)
    pool.restore(snapshot)

    assert sum(pool.lanes().evictable) == 2
    assert not pool.invariants()


def test_what_it_costs_does_not_grow_with_what_is_pinned() -> None:
    costs = []
    for pinned in (2, 2000):
        pool = OwnerLaneAllocator(Geometry(cp_size=2, page_size=2, pages=4096), FreeRoom())
        pool.pin(allocate(pool, pinned))
        pages = allocate(pool, 4)
        pool.release(pages)
        costs.append(pool.touched)

    assert costs[0] == costs[1]


def test_free_and_strange_pages_are_not_allocated(pool: OwnerLaneAllocator) -> None:
    pages = allocate(pool, 2)
    pool.require_allocated(pages)
    for wrong in (9, 0):
        with pytest.raises(RefusedError, match=Refusal.PAGE_OUTSIDE_POOL):
            pool.require_allocated([*pages, PageId(wrong)])
    with pytest.raises(RefusedError, match=Refusal.PAGE_NOT_ALLOCATED):
        pool.require_allocated([PageId(8)])

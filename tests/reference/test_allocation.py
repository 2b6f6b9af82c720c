"""The allocator, one behaviour at a time, in values written by hand."""

import numpy as np
import pytest

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.errors import CapacityWaitError, Refusal, RefusedError
from sharedkv.geometry import Geometry, PageId
from sharedkv.lanes import LanePages


def allocator(
    *, cp_size: int = 2, page_size: int = 4, pages: int = 16, room: FreeRoom | None = None
) -> OwnerLaneAllocator:
    return OwnerLaneAllocator(Geometry(cp_size=cp_size, page_size=page_size, pages=pages), room or FreeRoom())


def extend_of(tokens: int, prefix: int = 0, name: str = "r") -> ExtendRequest:
    return ExtendRequest(request=name, prefix_tokens=prefix, extend_tokens=tokens)


def ids(*pages: int) -> list[PageId]:
    return [PageId(page) for page in pages]


def filled(pool: OwnerLaneAllocator) -> list[PageId]:
    """Put every page in use and return them ascending."""
    geometry = pool.geometry
    tokens = geometry.last_page * geometry.page_size
    return sorted(pool.extend([extend_of(tokens)]).pages)


def reason_of(caught: pytest.ExceptionInfo[RefusedError]) -> Refusal:
    return caught.value.reason


def test_worked_batch_gets_the_written_pages() -> None:
    given = allocator().extend([extend_of(13, prefix=8), extend_of(5)])

    assert list(given.owners) == [0, 1, 1, 0, 0, 1]
    assert list(given.pages) == [1, 2, 4, 3, 5, 6]
    assert given.locations.tolist() == [*range(4, 12), *range(16, 20), 12, *range(20, 25)]
    assert list(given.evicted) == []


def test_locations_are_the_callers_own() -> None:
    pool = allocator()
    given = pool.extend([extend_of(8)])
    given.locations[:] = -1

    assert pool.invariants() == []
    assert given.locations.dtype == np.int64
    assert given.locations.base is None


def test_refused_request_leaves_the_pool_alone() -> None:
    pool = allocator()
    with pytest.raises(RefusedError) as caught:
        pool.extend([extend_of(4), extend_of(4, prefix=3)])

    assert reason_of(caught) is Refusal.PREFIX_NOT_PAGE_ALIGNED
    assert pool.lanes().in_use == (0, 0)


def test_refusal_of_a_batch_is_heard() -> None:
    heard: list[Refusal] = []
    pool = OwnerLaneAllocator(
        Geometry(cp_size=2, page_size=4, pages=8), FreeRoom(), on_refused=lambda refused: heard.append(refused.reason)
    )
    for call in (pool.extend, pool.admit, pool.make_room):
        with pytest.raises(RefusedError):
            call([extend_of(0)])

    assert heard == [Refusal.EXTEND_EMPTY] * 3


def test_shortage_names_every_lane_and_changes_nothing() -> None:
    pool = allocator(pages=4)
    pool.retain(pool.extend([extend_of(4)]).pages)
    with pytest.raises(CapacityWaitError) as caught:
        pool.extend([extend_of(16), extend_of(4)])

    assert (caught.value.required, caught.value.available, caught.value.deficit) == ((3, 2), (2, 2), (1, 0))
    assert pool.lanes().evictable == (1, 0)


def test_shortage_of_one_lane_is_a_shortage_though_the_sum_fits() -> None:
    pool = allocator(pages=8)
    filled(pool)
    pool.retain(ids(2, 4, 6))
    before = pool.pages()
    with pytest.raises(CapacityWaitError) as caught:
        pool.extend([extend_of(8)])

    assert (caught.value.available, caught.value.deficit) == ((0, 3), (1, 0))
    assert pool.pages() == before


def test_need_is_compared_before_a_free_page_is_touched() -> None:
    pool = allocator(pages=6)
    pages = filled(pool)
    pool.release(pages[-2:])
    before = pool.pages()
    with pytest.raises(CapacityWaitError):
        pool.extend([extend_of(12)])

    assert pool.pages() == before
    assert pool.pages().free == ((5,), (6,))


def test_unaligned_prefix_is_refused_before_the_free_pages_are_read() -> None:
    pool = allocator(page_size=16, pages=4)
    filled(pool)
    with pytest.raises(RefusedError) as caught:
        pool.extend([extend_of(6, prefix=3)])

    assert reason_of(caught) is Refusal.PREFIX_NOT_PAGE_ALIGNED


def test_admission_goes_by_lane_not_by_sum() -> None:
    pool = allocator(cp_size=4, page_size=16, pages=12)
    pages = filled(pool)
    free = {0: 3, 1: 1, 2: 2, 3: 2}
    pool.release([page for lane, count in free.items() for page in [p for p in pages if (p - 1) % 4 == lane][:count]])

    assert pool.lanes().free == (3, 1, 2, 2)
    assert not pool.admit([extend_of(128)]).fits
    assert pool.admit([extend_of(128)]).deficit == (0, 1, 0, 0)
    assert pool.admit([extend_of(64)]).fits
    assert pool.admit([extend_of(16)]).fits


def test_shortage_evicts_the_deficit_oldest_first() -> None:
    pool = allocator(pages=8)
    pages = filled(pool)
    pool.retain(ids(5, 1, 3, 2))
    given = pool.extend([extend_of(4), extend_of(4)])

    assert list(given.evicted) == [5, 1]
    assert sorted(given.pages) == [1, 5]
    assert pool.lanes().evictable == (1, 1)
    assert len(pages) == 8


def test_lanes_that_are_not_short_evict_nothing() -> None:
    pool = allocator(pages=8)
    pool.retain(ids(*filled(pool)))
    pool.release(ids(2, 4))
    given = pool.extend([extend_of(16)])

    assert list(given.evicted) == [1, 3]


def test_one_run_that_is_long_enough_is_taken_ascending() -> None:
    pool = allocator(pages=20)
    pool.release([page for page in filled(pool) if page in {1, 5, 7, 9, 13, 15, 2, 4, 6}])
    given = pool.extend([extend_of(16)])

    assert list(given.pages) == [13, 2, 4, 15]


def test_short_runs_are_taken_largest_first() -> None:
    pool = allocator(pages=20)
    pool.release([page for page in filled(pool) if page in {1, 5, 7, 11, 13, 15, 2, 4, 6, 8}])
    given = pool.extend([extend_of(32)])

    assert list(given.pages) == [1, 11, 2, 4, 6, 8, 13, 15]


def test_free_room_acts_on_what_is_pending() -> None:
    pool = allocator(pages=16, room=FreeRoom(target=2, min_chunk=1))
    pool.retain(pool.extend([extend_of(24)]).pages)

    assert pool.make_room([extend_of(4)]) == []
    assert pool.make_room([extend_of(24), extend_of(16)]) == ids(1, 2)


def test_free_room_evicts_at_least_its_chunk() -> None:
    pool = allocator(pages=16, room=FreeRoom(target=1, min_chunk=2))
    pool.retain(ids(*filled(pool)))

    assert pool.make_room([extend_of(4)]) == ids(1, 3, 2, 4)


def test_free_room_evicts_what_is_pending_beyond_free_pages() -> None:
    pool = allocator(pages=16, room=FreeRoom(target=4, min_chunk=1))
    pool.retain(ids(*filled(pool)))

    assert len(pool.make_room([extend_of(24)])) == 6


def test_free_room_shortfall_is_no_error() -> None:
    pool = allocator(pages=4, room=FreeRoom(target=8, min_chunk=8))
    filled(pool)
    pool.retain(ids(3))

    assert pool.make_room([extend_of(400)]) == ids(3)


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ((1, 0), Refusal.PAGE_OUTSIDE_POOL),
        ((1, -1), Refusal.PAGE_OUTSIDE_POOL),
        ((1, 9), Refusal.PAGE_OUTSIDE_POOL),
        ((1, 2, 1), Refusal.PAGE_NAMED_TWICE),
        ((1, 8), Refusal.PAGE_NOT_ALLOCATED),
    ],
)
def test_release_checks_every_page_first(pages: tuple[int, ...], reason: Refusal) -> None:
    pool = allocator(pages=9)
    pool.extend([extend_of(16)])
    before = pool.pages()
    for call in (pool.release, pool.retain):
        with pytest.raises(RefusedError) as caught:
            call(ids(*pages))

        assert reason_of(caught) is reason
        assert pool.pages() == before


def test_retained_page_cannot_be_retained_again() -> None:
    pool = allocator()
    pages = pool.extend([extend_of(4)]).pages
    pool.retain(pages)
    with pytest.raises(RefusedError) as caught:
        pool.retain(pages)

    assert reason_of(caught) is Refusal.PAGE_NOT_ALLOCATED


def test_evictable_page_can_be_released() -> None:
    pool = allocator()
    pages = pool.extend([extend_of(16)]).pages
    pool.retain(pages)
    pool.release(pages[1:3])

    assert (pool.lanes().evictable, pool.lanes().in_use) == ((2, 0), (0, 0))
    assert pool.invariants() == []


def test_locations_of_one_page_release_it_once() -> None:
    pool = allocator()
    given = pool.extend([extend_of(13)])
    pool.release_locations(np.concatenate([given.locations, given.locations[:3]]))

    assert pool.lanes().in_use == (0, 0)
    with pytest.raises(RefusedError) as caught:
        pool.release_locations(given.locations)

    assert reason_of(caught) is Refusal.PAGE_NOT_ALLOCATED


def test_location_outside_the_pool_releases_nothing() -> None:
    pool = allocator()
    given = pool.extend([extend_of(13)])
    with pytest.raises(RefusedError) as caught:
        pool.release_locations([*given.locations.tolist(), 3])

    assert reason_of(caught) is Refusal.PAGE_OUTSIDE_POOL
    assert pool.lanes().in_use == (2, 2)


def test_pages_without_owners_are_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        allocator().allocate_flat(2)

    assert reason_of(caught) is Refusal.ALLOCATION_WITHOUT_OWNERS


def test_pages_of_lanes_are_taken_on_all_lanes_or_on_none_and_evict_nothing() -> None:
    pool = allocator(pages=8)
    pages = filled(pool)
    pool.retain(pages[:2])
    pool.release(pages[2:5])

    assert [sorted(taken) for taken in pool.take((2, 1))] == [[3, 5], [4]]

    pool.release(ids(3, 4))
    before = pool.pages()
    with pytest.raises(CapacityWaitError) as caught:
        pool.take((1, 2))

    assert (caught.value.available, caught.value.deficit) == ((1, 1), (0, 1))
    assert pool.pages() == before


def test_pages_of_lanes_are_given_back_by_a_restore() -> None:
    pool = allocator(pages=8)
    before = pool.pages()
    snapshot = pool.snapshot()
    pool.take((3, 0))
    pool.restore(snapshot)

    assert pool.pages() == before
    assert pool.invariants() == []


def test_retained_page_is_not_in_use() -> None:
    pool = allocator(pages=4)
    pages = filled(pool)
    pool.require_in_use(pages)
    pool.retain(pages[:1])
    with pytest.raises(RefusedError) as caught:
        pool.require_in_use(pages)

    assert reason_of(caught) is Refusal.PAGE_NOT_ALLOCATED


def test_owners_are_read_from_the_ids() -> None:
    pool = allocator(cp_size=3)

    assert pool.owners(ids(1, 5, 3, 3)) == [0, 1, 2, 2]
    with pytest.raises(RefusedError):
        pool.owners(ids(16))


def test_surplus_pages_are_never_given() -> None:
    pool = allocator(cp_size=3, pages=11)
    pages = filled(pool)

    assert pages == list(range(1, 10))
    assert pool.lanes().capacity == (3, 3, 3)


def test_empty_batch_gets_nothing() -> None:
    given = allocator(pages=0).extend([])

    assert (list(given.owners), list(given.pages), given.locations.tolist()) == ([], [], [])


def test_restore_returns_every_page_and_the_retention_order() -> None:
    pool = allocator(pages=8)
    filled(pool)
    pool.retain(ids(5, 1, 3, 7, 2))
    snapshot = pool.snapshot()
    before = pool.pages()
    pool.release(ids(1, 4))
    pool.extend([extend_of(12)])
    pool.retain(ids(8))
    pool.restore(snapshot)

    assert pool.pages() == before
    assert pool.invariants() == []
    assert list(pool.extend([extend_of(4)]).evicted) == [5]
    assert list(pool.extend([extend_of(4)]).evicted) == [1]


def test_restored_snapshot_stays_and_later_ones_are_gone() -> None:
    pool = allocator()
    first = pool.snapshot()
    pool.extend([extend_of(4)])
    later = pool.snapshot()
    pool.restore(first)
    pool.extend([extend_of(8)])
    pool.restore(first)

    assert pool.lanes().in_use == (0, 0)
    with pytest.raises(RefusedError) as caught:
        pool.restore(later)

    assert reason_of(caught) is Refusal.SNAPSHOT_UNKNOWN


def test_forgotten_snapshot_is_unknown_and_the_others_still_hold() -> None:
    pool = allocator()
    pool.extend([extend_of(4)])
    oldest, before_oldest_work = pool.snapshot(), pool.pages()
    pool.extend([extend_of(4)])
    newer, before = pool.snapshot(), pool.pages()
    pool.extend([extend_of(8)])
    pool.forget(oldest)
    pool.restore(newer)

    assert pool.pages() == before
    assert pool.pages() != before_oldest_work
    with pytest.raises(RefusedError) as caught:
        pool.restore(oldest)

    assert reason_of(caught) is Refusal.SNAPSHOT_UNKNOWN


def test_broken_state_is_named() -> None:
    pool = allocator(pages=4)
    pool._pool._states[3] = 1

    assert pool.pages() == LanePages(
        free=((PageId(1),), (PageId(2), PageId(4))), evictable=((), ()), in_use=((PageId(3),), ())
    )
    assert pool.invariants() == ["lane 0: the free runs differ from the states"]

"""The masked scan against a set of pages, and beside the reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.agreement import require_agreement
from benchmarks.errors import DisagreementError
from benchmarks.masked_scan import MaskedAllocation, MaskedScanPool
from benchmarks.pools import FRAGMENTED, FRESH, allocator, geometry_of, random_half
from benchmarks.workload import BATCH, PAGES_ASKED, Churn
from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.errors import OutOfExtentsError
from sharedkv.geometry import Geometry, PageId

GEOMETRY = Geometry(cp_size=3, page_size=4, pages=120)

batches = st.lists(
    st.builds(
        ExtendRequest, request=st.just("x"), prefix_tokens=st.sampled_from([0, 8]), extend_tokens=st.integers(1, 40)
    ),
    min_size=1,
    max_size=3,
)


@given(histories=st.lists(st.tuples(batches, st.booleans()), max_size=4))
def test_pages_are_free_or_held_once(histories: list[tuple[list[ExtendRequest], bool]]) -> None:
    pool = MaskedScanPool(GEOMETRY)
    held: set[PageId] = set()
    for batch, is_kept in histories:
        answer = pool.extend(batch)
        if is_kept:
            held |= set(answer.pages)
        else:
            pool.release(answer.pages)

    assert sorted([*pool.free.tolist(), *held]) == list(range(1, GEOMETRY.last_page + 1))


@given(batch=batches)
def test_a_fresh_lane_gives_its_lowest_pages(batch: list[ExtendRequest]) -> None:
    answer = MaskedScanPool(GEOMETRY).extend(batch)
    lowest = {lane: iter(range(lane + 1, GEOMETRY.last_page + 1, 3)) for lane in range(3)}

    assert answer.pages == [next(lowest[owner]) for owner in answer.owners]


@given(batch=batches)
def test_a_fresh_pool_answers_as_the_reference_does(batch: list[ExtendRequest]) -> None:
    reference = OwnerLaneAllocator(GEOMETRY, FreeRoom()).extend(batch)

    require_agreement(GEOMETRY, batch, reference, MaskedScanPool(GEOMETRY).extend(batch), equal_pages=True)


@given(batch=batches)
def test_released_pages_are_given_again(batch: list[ExtendRequest]) -> None:
    pool = MaskedScanPool(GEOMETRY)
    first = pool.extend(batch).pages
    pool.release(first)

    assert pool.extend(batch).pages == first


@pytest.mark.parametrize("cp_size", [4, 8])
def test_a_fragmented_pool_answers_with_the_reference_s_lanes(cp_size: int) -> None:
    geometry = geometry_of(cp_size, 800)
    masked = MaskedScanPool(geometry, random_half(geometry))
    reference = allocator(geometry, FRAGMENTED)

    for _ in range(3):
        require_agreement(geometry, BATCH, reference.extend(BATCH), masked.extend(BATCH), equal_pages=False)


def test_a_short_lane_changes_nothing() -> None:
    pool = MaskedScanPool(GEOMETRY)
    with pytest.raises(OutOfExtentsError):
        pool.extend([ExtendRequest(request="x", prefix_tokens=0, extend_tokens=4 * (GEOMETRY.last_page + 1))])

    assert pool.free.tolist() == list(range(1, GEOMETRY.last_page + 1))


def test_a_page_of_another_lane_is_a_disagreement() -> None:
    batch = [ExtendRequest(request="x", prefix_tokens=0, extend_tokens=4)]
    right = MaskedScanPool(GEOMETRY).extend(batch)
    wrong = MaskedAllocation(owners=right.owners, pages=[PageId(2)], locations=right.locations)
    with pytest.raises(DisagreementError) as caught:
        require_agreement(GEOMETRY, batch, right, wrong, equal_pages=False)

    assert caught.value.what == "lanes of the pages"


def test_a_location_beside_its_page_is_a_disagreement() -> None:
    batch = [ExtendRequest(request="x", prefix_tokens=0, extend_tokens=4)]
    right = MaskedScanPool(GEOMETRY).extend(batch)
    wrong = MaskedAllocation(owners=right.owners, pages=right.pages, locations=right.locations + 1)
    with pytest.raises(DisagreementError) as caught:
        require_agreement(GEOMETRY, batch, wrong, right, equal_pages=True)

    assert caught.value.what == "token locations"


def test_churn_gives_back_what_was_held_longest() -> None:
    geometry = geometry_of(4, 400)
    oldest = MaskedScanPool(geometry).extend(BATCH).pages
    churn = Churn(pool := MaskedScanPool(geometry), held=2)
    churn.allocate()
    churn.release()

    assert sorted(oldest) == pool.free[:PAGES_ASKED].tolist()
    assert len(pool.free) == geometry.last_page - 2 * PAGES_ASKED


def test_a_fresh_pool_is_free() -> None:
    assert allocator(geometry_of(4, 400), FRESH).lanes().free == (100,) * 4

"""Where pages and token locations lie, in values written by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import DUMMY_PAGE, Geometry, Lane, Location, PageId, PhysicalPage

FOUR_LANES = Geometry(cp_size=4, page_size=16, pages=40)


@pytest.mark.parametrize(
    ("location", "lane", "physical_location"),
    [(64, 3, 16), (70, 3, 22), (79, 3, 31), (80, 0, 32), (100, 1, 36), (127, 2, 47), (128, 3, 32), (191, 2, 63)],
)
def test_location_lies_on_the_lane_and_row_of_its_page(location: int, lane: int, physical_location: int) -> None:
    page = FOUR_LANES.page_of(Location(location))

    assert (FOUR_LANES.lane(page), FOUR_LANES.physical_location(Location(location))) == (lane, physical_location)


def test_dummy_page_lies_at_itself() -> None:
    assert [FOUR_LANES.physical_location(Location(row)) for row in range(16)] == list(range(16))


def test_pages_and_places_are_one_to_one() -> None:
    places = {(FOUR_LANES.lane(PageId(page)), FOUR_LANES.physical_page(PageId(page))) for page in range(1, 41)}

    assert len(places) == 40
    assert all(1 <= physical <= 10 for _, physical in places)


@given(cp_size=st.integers(2, 9), page=st.integers(1, 10_000))
def test_place_of_a_page_leads_back_to_it(cp_size: int, page: int) -> None:
    geometry = Geometry(cp_size=cp_size, page_size=4, pages=10_000)
    lane, physical = geometry.lane(PageId(page)), geometry.physical_page(PageId(page))

    assert geometry.page(lane, physical) == page


def test_physical_run_is_logical_pages_that_step_by_the_ranks() -> None:
    run = FOUR_LANES.run(Lane(2), range(3, 6))

    assert list(run) == [FOUR_LANES.page(Lane(2), PhysicalPage(place)) for place in (3, 4, 5)]


def test_surplus_pages_lie_in_no_lane() -> None:
    geometry = Geometry(cp_size=4, page_size=16, pages=11)

    assert (geometry.lane_capacity, geometry.last_page) == (2, 8)
    assert [geometry.is_in_pool(page) for page in (-1, DUMMY_PAGE, 1, 8, 9, 11)] == [
        False,
        False,
        True,
        True,
        False,
        False,
    ]


def test_locations_follow_tokens_with_short_tails() -> None:
    locations = Geometry(cp_size=2, page_size=4, pages=16).locations([5, 2, 7], [6, 3])

    assert locations.tolist() == [20, 21, 22, 23, 8, 9, 28, 29, 30]
    assert locations.dtype == "int64"


def test_no_extend_has_no_locations() -> None:
    assert FOUR_LANES.locations([], []).tolist() == []


def test_pages_of_locations_are_named_once() -> None:
    assert FOUR_LANES.pages_of([37, 33, 16, 32, 17]) == [1, 2]


def test_location_beyond_64_bits_lies_outside_every_pool() -> None:
    with pytest.raises(RefusedError) as caught:
        FOUR_LANES.pages_of([2**70])

    assert caught.value.reason is Refusal.PAGE_OUTSIDE_POOL


@pytest.mark.parametrize(
    ("cp_size", "page_size", "reason"),
    [(1, 4, Refusal.CP_SIZE_TOO_SMALL), (2, 1, Refusal.PAGE_SIZE_TOO_SMALL), (0, 0, Refusal.CP_SIZE_TOO_SMALL)],
)
def test_geometry_without_lanes_or_pages_is_refused(cp_size: int, page_size: int, reason: Refusal) -> None:
    with pytest.raises(RefusedError) as caught:
        Geometry(cp_size=cp_size, page_size=page_size, pages=8)

    assert caught.value.reason is reason


def test_places_of_many_pages_are_those_of_each() -> None:
    geometry = Geometry(cp_size=3, page_size=4, pages=12)
    pages = np.arange(1, 13)

    lanes, physical = geometry.places(pages)

    each = [(geometry.lane(PageId(page)), geometry.physical_page(PageId(page))) for page in pages.tolist()]
    assert list(zip(lanes.tolist(), physical.tolist(), strict=True)) == each

"""The bound on touched elements can fail, and does not depend on time."""

import pytest

from benchmarks.errors import GrowthError
from benchmarks.growth import Point, require_logarithmic
from benchmarks.timing import Timing

SOME_TIME = Timing(calls_ns=(1,))


def point(*, pages: int, extents: int, touched: float) -> Point:
    return Point(
        state="half free",
        pages=pages,
        extents=extents,
        statistics=SOME_TIME,
        selection=SOME_TIME,
        allocate=SOME_TIME,
        release=SOME_TIME,
        touched=touched,
    )


def test_growth_with_the_logarithm_is_allowed() -> None:
    require_logarithmic([point(pages=100, extents=14, touched=40.0), point(pages=10_000, extents=254, touched=80.0)])


def test_growth_beyond_the_logarithm_is_an_error() -> None:
    points = [point(pages=100, extents=14, touched=40.0), point(pages=10_000, extents=254, touched=80.1)]
    with pytest.raises(GrowthError) as caught:
        require_logarithmic(points)

    assert (caught.value.pages, caught.value.touched, caught.value.allowed) == (10_000, 80.1, 80.0)


def test_equal_numbers_of_runs_allow_no_growth() -> None:
    points = [point(pages=100, extents=8, touched=126.0), point(pages=10_000, extents=8, touched=127.0)]
    with pytest.raises(GrowthError):
        require_logarithmic(points)

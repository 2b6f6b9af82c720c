"""The benchmark `growth`: what a batch costs as the pool grows, part by part.

Time is reported; the count of touched elements is checked, for it is exact and the same on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from benchmarks.errors import GrowthError
from benchmarks.pools import FRAGMENTED, FRESH, STATES, allocator, geometry_of, lane_pool, num_extents
from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.timing import Timing, in_turn
from benchmarks.workload import BATCH, Churn
from sharedkv.geometry import Geometry
from sharedkv.lanes import LanePool
from sharedkv.planning import split_pages

NAME = "growth"
CP_SIZE = 8
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (10_000, 100_000)
BLOCKS = 10
ROUNDS = 200
HELD = {FRESH: 0, FRAGMENTED: 16}
COUNTED_ROUNDS = 100
# Two runs of one shape differ by about this factor on a machine that others use.
NOISE = 1.25
ABOUT = (
    f"The batch of 21 pages, {CP_SIZE} ranks, page size 64, on a fresh pool and on one of which a random half is free "
    f"and {HELD[FRAGMENTED]} more batches are held all the time. Statistics are the counts of each lane; selection "
    "chooses pages by lane, without requests, owners and locations; allocate is the whole call. Medians. The touched "
    "elements of an allocation and a release (mean) may grow with the logarithm of the free runs, and the benchmark "
    "fails if they grow faster."
)

COLUMNS = (
    Column(name="pool"),
    Column(name="pages"),
    Column(name="free runs"),
    Column(name="statistics", unit="us"),
    Column(name="selection", unit="us"),
    Column(name="allocate", unit="us"),
    Column(name="release", unit="us"),
    Column(name="allocate and release", unit="us"),
    Column(name="elements touched"),
    Column(name="elements allowed"),
)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One pool, measured; `touched` is the mean of an allocation and a release together."""

    state: str
    pages: int
    extents: int
    statistics: Timing
    selection: Timing
    allocate: Timing
    release: Timing
    touched: float

    @property
    def both(self) -> Timing:
        """Return the time of an allocation and a release together."""
        return self.allocate + self.release

    @property
    def logarithm(self) -> float:
        """Return what the cost may grow with."""
        return log2(self.extents + 2)


def measure(settings: Settings) -> Result:
    """Measure every pool, and raise if the touched elements grew faster than the logarithm of the free runs."""
    sizes = QUICK_SIZES if settings.quick else SIZES
    series = [[_point(settings, state, pages) for pages in sizes] for state in STATES]
    for points in series:
        require_logarithmic(points)
    return Result(
        name=NAME,
        title="Growth of the cost with the pool",
        about=ABOUT,
        tables=(
            Table(
                title=f"{BLOCKS * settings.rounds(ROUNDS):,} rounds a pool",
                columns=COLUMNS,
                rows=tuple(_row(point, points[0]) for points in series for point in points),
            ),
        ),
        goals=tuple(_goal(points) for points in series),
    )


def require_logarithmic(points: list[Point]) -> None:
    """Raise where a pool touches more than the smallest one, scaled by the logarithm of the free runs."""
    for point in points:
        if point.touched > (allowed := elements_allowed(point, points[0])):
            raise GrowthError(point.pages, point.touched, allowed)


def elements_allowed(point: Point, smallest: Point) -> float:
    """Return what the smallest pool touches, scaled by the logarithm of the free runs."""
    return smallest.touched * point.logarithm / smallest.logarithm


def _point(settings: Settings, state: str, pages: int) -> Point:
    settings.progress.step(f"{NAME}: {pages:,} pages, {state}")
    geometry = geometry_of(CP_SIZE, pages)
    rounds = settings.rounds(ROUNDS)
    selection = _selection(geometry, lane_pool(geometry, state), rounds)
    pool = allocator(geometry, state)
    churn = Churn(pool, held=HELD[state])
    operations = {"statistics": pool.lanes, "allocate": churn.allocate, "release": churn.release}
    (timings,) = in_turn({state: operations}, blocks=BLOCKS, rounds=rounds).values()
    touched = 0
    for _ in range(COUNTED_ROUNDS):
        churn.allocate()
        touched += pool.touched
        churn.release()
        touched += pool.touched
    return Point(
        state=state,
        pages=pages,
        extents=num_extents(geometry, state),
        selection=selection,
        touched=touched / COUNTED_ROUNDS,
        **timings,
    )


def _selection(geometry: Geometry, pool: LanePool, rounds: int) -> Timing:
    """Time the choice of pages for the batch, lane by lane."""
    counts = [split_pages(geometry, request.prefix_tokens, request.extend_tokens).lane_counts() for request in BATCH]
    taken: list[Sequence[int]] = []

    def select() -> None:
        taken.extend([pool.take(lane, count) for split in counts for lane, count in enumerate(split)])

    def give_back() -> None:
        pool.release([page for pages in taken for page in pages])
        taken.clear()

    operations = {"select": select, "give back": give_back}
    return in_turn({NAME: operations}, blocks=BLOCKS, rounds=rounds)[NAME]["select"]


def _row(point: Point, smallest: Point) -> tuple[Cell, ...]:
    timings = (point.statistics, point.selection, point.allocate, point.release, point.both)
    medians = [timing.median_us for timing in timings]
    return (point.state, point.pages, point.extents, *medians, point.touched, elements_allowed(point, smallest))


def _goal(points: list[Point]) -> Goal:
    first, last = points[0], points[-1]
    return Goal(
        text=f"{first.state} pool: growth of the time from {first.pages:,} to {last.pages:,} pages "
        f"(logarithm of the free runs, and {NOISE} for noise)",
        measured=last.both.median_us / first.both.median_us,
        limit=NOISE * last.logarithm / first.logarithm,
    )

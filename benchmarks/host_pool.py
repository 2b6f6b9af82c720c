"""The benchmark `host_pool`: the reference's pool of host pages beside arrays of token slots, all of them near full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.errors import DisagreementError
from benchmarks.host_churn import FREE_SHARE, MEDIAN_NODE_PAGES, Calls, Churn, num_runs
from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.slot_pools import PAGE_SIZE, PageRing, Pages, SlotQueue, SlotScan, pages_of
from benchmarks.timing import Timing, one_by_one
from sharedkv.cost import CostMeter
from sharedkv.extents import ExtentIndex
from sharedkv.host_pool import HostPool, HostStatistics, runs_of

NAME = "host_pool"
PAGES = 55_900
# Pages -> how often the volume of the pool is allocated before anything is timed.
BURN_IN = {PAGES: 20.0, 10 * PAGES: 4.0, 100 * PAGES: 1.0}
QUICK_BURN_IN = {PAGES: 1.0}
OURS, QUEUE, SCAN = "reference", "slot queue", "slot scan"
STATISTICS, SELECTION, WHOLE = "statistics", "selection", "allocate"
BLOCKS = 10
ROUNDS = {OURS: 500, QUEUE: 20, SCAN: 3, SELECTION: 500}
P50_GOAL_US, P99_GOAL_US, GROWTH_GOAL, RUNS_GOAL = 10.0, 100.0, 1.5, 0.5
LEAST_FULL = 0.95
ABOUT = (
    f"Churn of nodes in one lane of host pages, page size {PAGE_SIZE}: a node of {MEDIAN_NODE_PAGES} pages in the "
    f"median and 36 in the mean comes, and random ones leave before, so that {FREE_SHARE:.0%} of the pool stay free. "
    f"{PAGES:,} pages are 220 GB of fp8 rows of a large model. Before anything is timed {BURN_IN[PAGES]:.0f}, "
    f"{BURN_IN[10 * PAGES]:.0f} and {BURN_IN[100 * PAGES]:.0f} times the pool's volume is allocated. The slot queue "
    "is one array of free token slots: its front is sliced off, and a release appends. The slot scan keeps the array "
    "sorted, looks for consecutive slots at each allocation, and starts with the pages that the reference has free. "
    f"Both hold {PAGE_SIZE} entries a page and validate nothing; the reference refuses double frees and foreign pages. "
    "All are asked for the same sizes in the same order, which is compared, and at the end every page has to be free "
    "or in one node. A run is one copy a layer, or one object of storage: one an allocation is best. Statistics are "
    "the counts of the lane; selection is the same churn on the index of free runs alone, without lanes, states, "
    "checks and page numbers; both are parts of the reference."
)
COLUMNS = (
    Column(name="host pages"),
    Column(name="variant"),
    Column(name="free runs"),
    Column(name="allocations"),
    Column(name="allocate, median", unit="us"),
    Column(name="allocate, p99", unit="us"),
    Column(name="release, median", unit="us"),
    Column(name="release, p99", unit="us"),
    Column(name="runs an allocation"),
    Column(name="both medians / reference's"),
)


PART_COLUMNS = (
    Column(name="host pages"),
    Column(name="part of the reference"),
    Column(name="calls"),
    Column(name="median", unit="us"),
    Column(name="p99", unit="us"),
)


class OneLane:
    """The reference's pool with one lane."""

    def __init__(self, num_pages: int) -> None:
        self._pool = HostPool(lanes=1, lane_pages=num_pages, page_size=PAGE_SIZE)

    def statistics(self) -> HostStatistics:
        """Count the pages."""
        return self._pool.statistics()

    def allocate(self, num_pages: int) -> Sequence[int]:
        """Allocate pages."""
        return self._pool.allocate((num_pages,))[0]

    def release(self, pages: Sequence[int]) -> None:
        """Give pages back."""
        self._pool.release(0, pages)

    def pages_of(self, pages: Sequence[int]) -> Sequence[int]:
        """Return pages as they are."""
        return pages

    def memory_of(self, pages: Sequence[int]) -> Sequence[int]:
        """Return pages as they are."""
        return pages

    def free_pages(self) -> Pages:
        """Return the free pages, ascending."""
        return pages_of(self._pool.free_slots(0))


class FreeRuns:
    """The reference's index of free runs alone: what chooses pages. Position 1 is page 0."""

    def __init__(self, num_pages: int) -> None:
        self._index = ExtentIndex(num_pages, CostMeter())

    def allocate(self, num_pages: int) -> list[range]:
        """Choose runs of positions."""
        return self._index.take(num_pages)

    def release(self, runs: Sequence[range]) -> None:
        """Give runs of positions back."""
        for run in runs:
            self._index.give(run)

    def pages_of(self, runs: Sequence[range]) -> Sequence[int]:
        """Return the pages that stand at positions, as the pool answers them."""
        pages = [range(run.start - 1, run.stop - 1) for run in runs]
        return pages[0] if len(pages) == 1 else [page for run in pages for page in run]

    def memory_of(self, pages: Sequence[int]) -> list[range]:
        """Return pages as runs of positions."""
        return [range(run.start + 1, run.stop + 1) for run in runs_of(pages)]

    def free_pages(self) -> Pages:
        """Return the free pages, ascending."""
        return np.concatenate([np.arange(run.start - 1, run.stop - 1) for run in self._index.runs()])


def measure(settings: Settings) -> Result:
    """Churn every pool of every size, and compare what was done before anything is said of the time."""
    sizes = QUICK_BURN_IN if settings.quick else BURN_IN
    measured = [_measured(num_pages, turns, settings) for num_pages, turns in sizes.items()]
    return Result(
        name=NAME,
        title="The pool of host pages near full",
        about=ABOUT,
        tables=(
            Table(
                title=f"{BLOCKS} blocks of rounds for each variant in turn",
                columns=COLUMNS,
                rows=tuple(row for point in measured for row in point.rows()),
            ),
            Table(
                title="The parts of an allocation",
                columns=PART_COLUMNS,
                rows=tuple(row for point in measured for row in point.parts()),
            ),
        ),
        goals=(*(goal for point in measured for goal in point.goals()), *_growth(measured)),
    )


class Point:
    """One size of pool: what was measured of each variant."""

    def __init__(self, num_pages: int, calls: dict[str, Calls], free_runs: dict[str, int], statistics: Timing) -> None:
        self.num_pages = num_pages
        self._calls = calls
        self._free_runs = free_runs
        self._statistics = statistics

    def both_us(self, name: str) -> float:
        """Return the medians of an allocation and of a release together."""
        return self._calls[name].allocate.median_us + self._calls[name].release.median_us

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield one row a variant."""
        for name in (OURS, QUEUE, SCAN):
            calls = self._calls[name]
            times = [us for part in (calls.allocate, calls.release) for us in (part.median_us, part.percentile_us(99))]
            ratio: Cell = self.both_us(name) / self.both_us(OURS) if name != OURS else ""
            count = len(calls.sizes)
            yield (self.num_pages, name, self._free_runs[name], count, *times, calls.runs_each, ratio)

    def parts(self) -> Iterator[tuple[Cell, ...]]:
        """Yield one row a part of what the reference does."""
        allocate = {name: self._calls[name].allocate for name in (SELECTION, OURS)}
        for name, timing in ((STATISTICS, self._statistics), (SELECTION, allocate[SELECTION]), (WHOLE, allocate[OURS])):
            yield (self.num_pages, name, len(timing.calls_ns), timing.median_us, timing.percentile_us(99))

    def goals(self) -> Iterator[Goal]:
        """Yield what was hoped for of the reference."""
        calls = self._calls[OURS]
        for what, timing in (("allocate", calls.allocate), ("release", calls.release)):
            where = f"{self.num_pages:,} host pages, {what}"
            yield Goal(text=f"{where}, median", measured=timing.median_us, limit=P50_GOAL_US, unit="us")
            yield Goal(text=f"{where}, p99", measured=timing.percentile_us(99), limit=P99_GOAL_US, unit="us")
        yield Goal(
            text=f"{self.num_pages:,} host pages, runs an allocation / those of the {QUEUE}",
            measured=calls.runs_each / self._calls[QUEUE].runs_each,
            limit=RUNS_GOAL,
        )


def _growth(measured: Sequence[Point]) -> Iterator[Goal]:
    """Yield what was hoped for of each larger pool beside the smallest."""
    first = measured[0]
    for larger in measured[1:]:
        yield Goal(
            text=f"growth of both medians from {first.num_pages:,} to {larger.num_pages:,} host pages",
            measured=larger.both_us(OURS) / first.both_us(OURS),
            limit=GROWTH_GOAL,
        )


def _measured(num_pages: int, turns: float, settings: Settings) -> Point:
    """Bring every variant near full, let each do its rounds in turn, and raise unless all did the same work."""
    settings.progress.step(f"{NAME}: {num_pages:,} host pages, burn-in")
    pool = OneLane(num_pages)
    churns = _churns(pool, num_pages, turns)
    free_runs = {name: num_runs(churn.pool.free_pages()) for name, churn in churns.items()}
    settings.progress.step(f"{NAME}: {num_pages:,} host pages")
    for _ in range(BLOCKS):
        for name, churn in churns.items():
            for _ in range(settings.rounds(ROUNDS[name])):
                churn.round()
    for name, churn in churns.items():
        _require_equal_work(name, churn, churns[OURS].calls.sizes)
    _require_equal_pages(churns[SELECTION], churns[OURS])
    statistics = one_by_one({STATISTICS: pool.statistics}, rounds=BLOCKS * settings.rounds(ROUNDS[OURS]))[STATISTICS]
    return Point(num_pages, {name: churn.calls for name, churn in churns.items()}, free_runs, statistics)


def _churns(pool: OneLane, num_pages: int, turns: float) -> dict[str, Churn]:
    """Return every variant after its burn-in; the pool is that of the reference."""
    churns: dict[str, Churn] = {
        OURS: Churn(pool, num_pages),
        QUEUE: Churn(PageRing(num_pages), num_pages),
        SCAN: Churn(OneLane(num_pages), num_pages),
        SELECTION: Churn(FreeRuns(num_pages), num_pages),
    }
    for churn in churns.values():
        churn.burn_in(turns)
    churns[QUEUE].pool = SlotQueue(churns[QUEUE].pool.free_pages())
    churns[SCAN].pool = SlotScan(churns[SCAN].pool.free_pages())
    return churns


def _require_equal_work(name: str, churn: Churn, sizes: Sequence[int]) -> None:
    """Raise unless the variant was asked for these sizes, as far as it went, near full, and lost no page."""
    asked = churn.calls.sizes
    if asked != sizes[: len(asked)]:
        raise DisagreementError(f"sizes asked of the {name}", sizes[: len(asked)], asked)
    most_free = round((1 - LEAST_FULL) * churn.num_pages)
    if churn.num_free > most_free:
        raise DisagreementError(f"free pages of the {name}", f"at most {most_free}", churn.num_free)
    if not churn.is_whole():
        raise DisagreementError(f"pages of the {name}", "each free or in one node", "some in none or in two")


def _require_equal_pages(selection: Churn, ours: Churn) -> None:
    """Raise unless the index of free runs chose the pages of every node as the pool did."""
    wanted, found = ([list(node) for node in churn.nodes] for churn in (ours, selection))
    if wanted != found:
        place = next(place for place, pages in enumerate(wanted) if found[place] != pages)
        raise DisagreementError(f"pages of node {place} by {SELECTION}", wanted[place], found[place])

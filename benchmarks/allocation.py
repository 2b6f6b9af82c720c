"""The benchmark `allocation`: the reference beside the masked scan, on pools of a usual size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.agreement import require_agreement
from benchmarks.masked_scan import MaskedScanPool
from benchmarks.pools import FRAGMENTED, FRESH, allocator, geometry_of, random_half
from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.timing import Operation, in_turn
from benchmarks.workload import BATCH, Churn
from sharedkv.allocation import OwnerLaneAllocator
from sharedkv.geometry import Geometry

NAME = "allocation"
PAGES = 60_000
OURS, THEIRS = "reference", "masked scan"
LARGE_BLOCK_BYTES = 24 << 20
BLOCKS = 100
ROUNDS = 20
RATIO_GOAL = 0.1
# A tenth of what a public engine takes for the same batch on a machine like this one.
TIME_GOALS_US = {4: 41.0, 8: 53.0}
ABOUT = (
    "Allocate and release 21 pages: two requests of 300 and 1,000 new tokens, page size 64, token locations produced, "
    f"on a fresh pool of {PAGES:,} pages and on one of twice as many pages of which a random half is free. The masked "
    "scan is one array of free pages and a mask a lane. Owners, lanes and locations of both are compared, and on the "
    "fresh pool the pages too. Allocate and release are medians; the first of a block finds the caches full of the "
    "other variant's data. Elements touched are the reference's own count."
)

COLUMNS = (
    Column(name="ranks"),
    Column(name="pool"),
    Column(name="free pages"),
    Column(name="variant"),
    Column(name="allocate", unit="us"),
    Column(name="release", unit="us"),
    Column(name="both, minimum", unit="us"),
    Column(name="both, median", unit="us"),
    Column(name="both, first of a block", unit="us"),
    Column(name="reference / masked"),
    Column(name="elements touched"),
)


def measure(settings: Settings) -> Result:
    """Time both variants on every shape, after comparing their answers."""
    keep_freed_memory()
    rows: list[tuple[Cell, ...]] = []
    goals: list[Goal] = []
    for cp_size, time_goal in TIME_GOALS_US.items():
        for state, pages in ((FRESH, PAGES), (FRAGMENTED, 2 * PAGES)):
            settings.progress.step(f"{NAME}: {cp_size} ranks, {pages:,} pages, {state}")
            shape = _Shape(geometry_of(cp_size, pages), state, settings.rounds(BLOCKS))
            rows += shape.rows()
            goals += shape.goals(time_goal)
    return Result(
        name=NAME,
        title="Allocation against a masked scan",
        about=ABOUT,
        tables=(
            Table(
                title=f"{settings.rounds(BLOCKS)} blocks of {ROUNDS} rounds for each variant in turn",
                columns=COLUMNS,
                rows=tuple(rows),
            ),
        ),
        goals=tuple(goals),
    )


class _Shape:
    """Both variants on one shape, measured."""

    def __init__(self, geometry: Geometry, state: str, blocks: int) -> None:
        self.geometry, self.state = geometry, state
        pool = allocator(geometry, state)
        masked = MaskedScanPool(geometry, None if state == FRESH else random_half(geometry))
        self.num_free = len(masked.free)
        compare(geometry, pool, masked, equal_pages=state == FRESH)
        self.timings = in_turn(
            {OURS: _operations(Churn(pool)), THEIRS: _operations(Churn(masked))}, blocks=blocks, rounds=ROUNDS
        )
        compare(geometry, pool, masked, equal_pages=state == FRESH)
        self.touched = touched_by_one_batch(pool)
        self.both = {name: parts["allocate"] + parts["release"] for name, parts in self.timings.items()}
        self.ratio = self.both[OURS].median_us / self.both[THEIRS].median_us

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield one row a variant."""
        for variant, parts in self.timings.items():
            both = self.both[variant]
            shape = (self.geometry.cp_size, self.state, self.num_free, variant)
            cold = both.first_of_each(ROUNDS).median_us
            times = (*(part.median_us for part in parts.values()), both.minimum_us, both.median_us, cold)
            last: tuple[Cell, ...] = (self.ratio, self.touched) if variant == OURS else ("", "")
            yield (*shape, *times, *last)

    def goals(self, time_goal: float) -> Iterator[Goal]:
        """Yield what was hoped for."""
        shape = f"{self.geometry.cp_size} ranks, {self.num_free:,} free pages, {self.state} pool"
        yield Goal(
            text=f"{shape}: time of the reference / time of the masked scan", measured=self.ratio, limit=RATIO_GOAL
        )
        if self.state == FRESH:
            median = self.both[OURS].median_us
            yield Goal(text=f"{shape}: allocate and release", measured=median, limit=time_goal, unit="us")


def _operations(churn: Churn) -> dict[str, Operation]:
    return {"allocate": churn.allocate, "release": churn.release}


def keep_freed_memory() -> None:
    """Make the C library keep what is freed, as it does in a process that has run for a while.

    Until a large block was freed, glibc returns each freed array to the system, and the scan pays page faults for it.
    """
    np.ones(LARGE_BLOCK_BYTES, dtype=np.uint8).sum()


def compare(geometry: Geometry, pool: OwnerLaneAllocator, masked: MaskedScanPool, *, equal_pages: bool) -> None:
    """Give both the same batch, twice in a row, and raise unless the answers are equal."""
    given = []
    for _ in range(2):
        one, other = pool.extend(BATCH), masked.extend(BATCH)
        require_agreement(geometry, BATCH, one, other, equal_pages=equal_pages)
        given.append((one, other))
    for one, other in reversed(given):
        pool.release(one.pages)
        masked.release(other.pages)


def touched_by_one_batch(pool: OwnerLaneAllocator) -> int:
    """Allocate and release one batch and return the elements touched."""
    answer = pool.extend(BATCH)
    touched = pool.touched
    pool.release(answer.pages)
    return touched + pool.touched

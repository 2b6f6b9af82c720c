"""The benchmark `planning`: the plan of a long batch, beside a plan that is made token by token."""

from __future__ import annotations

from benchmarks.allocation import keep_freed_memory
from benchmarks.errors import DisagreementError
from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.timing import Timing, in_turn
from benchmarks.token_plan import TokenPlan, plan_by_token
from sharedkv.allocation import ExtendRequest
from sharedkv.batching import BatchPlan, plan_batch
from sharedkv.geometry import Geometry

NAME = "planning"
CP_SIZE = 8
PAGE_SIZE = 64
REQUESTS = 10
LONG, SHORT = 100_000, 100
POOLS = (10_000, 10_000_000)
OURS, THEIRS = "reference", "token by token"
BLOCKS = 20
ROUNDS = 5
TIME_GOAL_US = 1_000.0
# Two runs of one shape differ by about this factor on a machine that others use.
NOISE = 1.25
ABOUT = (
    f"Plan {REQUESTS} requests of {LONG:,} new tokens, and of {SHORT}, with prefixes of different lengths, {CP_SIZE} "
    f"ranks, page size {PAGE_SIZE}: owners, segments, rows of all three domains, last tokens, maxima, and both "
    "permutations with an entry a token. The other variant finds the rank of each token with arrays of all tokens and "
    "sorts; it makes permutations, row counts and last tokens alone, and those are compared. No pool has a part in it."
)

COLUMNS = (
    Column(name="pool pages"),
    Column(name="new tokens"),
    Column(name="variant"),
    Column(name="minimum", unit="us"),
    Column(name="median", unit="us"),
    Column(name="reference / token by token"),
)


def measure(settings: Settings) -> Result:
    """Time both variants on every shape, after comparing their answers."""
    keep_freed_memory()
    rows: list[tuple[Cell, ...]] = []
    medians: dict[int, float] = {}
    for tokens in (SHORT, LONG):
        for pages in POOLS:
            settings.progress.step(f"{NAME}: {REQUESTS * tokens:,} tokens, {pages:,} pages")
            timings = _measured(Geometry(cp_size=CP_SIZE, page_size=PAGE_SIZE, pages=pages), tokens, settings)
            medians[pages] = timings[OURS].median_us
            rows += [_row(pages, tokens, variant, timings) for variant in timings]
    smallest, largest = POOLS
    return Result(
        name=NAME,
        title="The plan of a batch",
        about=ABOUT,
        tables=(
            Table(
                title=f"{settings.rounds(BLOCKS)} blocks of {ROUNDS} rounds for each variant in turn",
                columns=COLUMNS,
                rows=tuple(rows),
            ),
        ),
        goals=(
            Goal(
                text=f"plan of {REQUESTS} requests of {LONG:,} tokens, {CP_SIZE} ranks",
                measured=medians[largest],
                limit=TIME_GOAL_US,
                unit="us",
            ),
            Goal(
                text=f"growth of its time from {smallest:,} to {largest:,} pages (none, and {NOISE} for noise)",
                measured=medians[largest] / medians[smallest],
                limit=NOISE,
            ),
        ),
    )


def batch_of(tokens: int) -> list[ExtendRequest]:
    """Return the measured batch: requests of so many new tokens, each with another prefix."""
    return [
        ExtendRequest(request=str(index), prefix_tokens=index * PAGE_SIZE, extend_tokens=tokens)
        for index in range(REQUESTS)
    ]


def require_equal_plans(ours: BatchPlan, theirs: TokenPlan) -> None:
    """Raise unless both plans say the same."""
    for name in ("valid_rows", "token_of_row", "row_of_token", "last_rank", "last_row"):
        one, other = getattr(ours, name), getattr(theirs, name)
        if one.tolist() != other.tolist():
            raise DisagreementError(f"{name} of the two variants", other, one)


def _measured(geometry: Geometry, tokens: int, settings: Settings) -> dict[str, Timing]:
    batch = batch_of(tokens)
    require_equal_plans(plan_batch(geometry, batch), plan_by_token(geometry, batch))
    timings = in_turn(
        {
            OURS: {"plan": lambda: plan_batch(geometry, batch)},
            THEIRS: {"plan": lambda: plan_by_token(geometry, batch)},
        },
        blocks=settings.rounds(BLOCKS),
        rounds=ROUNDS,
    )
    return {variant: parts["plan"] for variant, parts in timings.items()}


def _row(pages: int, tokens: int, variant: str, timings: dict[str, Timing]) -> tuple[Cell, ...]:
    ratio: Cell = timings[OURS].median_us / timings[THEIRS].median_us if variant == OURS else ""
    timing = timings[variant]
    return (pages, REQUESTS * tokens, variant, timing.minimum_us, timing.median_us, ratio)

"""The benchmark `eviction`: the planner beside the ways to plan that it took the place of, on the founding shape."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from random import Random

from benchmarks.errors import DisagreementError, MissingPackageError
from benchmarks.eviction_variants import TensorNode, lazy_heap, memoized, original
from benchmarks.result import Cell, Column, Goal, Result, Table
from benchmarks.settings import Settings
from benchmarks.timing import Timing, in_turn, one_by_one
from sharedkv import eviction
from sharedkv.eviction_counts import CountedNodes, Node

NAME = "eviction"
LANES, CANDIDATES, PAGES_OF_A_NODE, DEFICIT = 8, 2_000, 36, 7_877
ORIGINAL_ROUNDS, MEMOIZED_PLANS, BLOCKS, PLANS_OF_A_BLOCK = 5, 3, 10, 10
ORIGINAL_GOAL, HEAP_GOAL = 10_000, 30
US_PER_MS = 1_000
ABOUT = (
    f"Plan for a deficit of {DEFICIT:,} pages over {LANES} lanes, among {CANDIDATES:,} leaves below the root with "
    f"{PAGES_OF_A_NODE} pages each on lanes at random, half of them matched twice. The first three variants keep the "
    "lanes of a node's pages in a tensor. The original asks it once for every lane of every candidate in every round; "
    f"{ORIGINAL_ROUNDS} of its rounds are timed, and their median is multiplied by the rounds of the plan, although "
    "the later ones have a tenth fewer candidates. Memoized counting and the lazy heap count each node once a plan. "
    "The reference plans from counts that a tree keeps; the last row counts too. Victims are compared first, those of "
    "the original as far as it was run. Times are medians of whole plans, but for the original; the last three "
    f"take turns in blocks of {PLANS_OF_A_BLOCK}, and the first of a block finds the caches full of another's data."
)
COLUMNS = (
    Column(name="variant"),
    Column(name="plans timed"),
    Column(name="plan, minimum", unit="ms"),
    Column(name="plan, median", unit="ms"),
    Column(name="plan, first of a block", unit="ms"),
    Column(name="times the reference"),
)
ORIGINAL, MEMOIZED, HEAP, OURS, COUNTING = (
    "original",
    "memoized counting",
    "lazy heap, counts each plan",
    "reference, stored counts",
    "reference, counts each plan",
)


def measure(settings: Settings) -> Result:
    """Time every variant on one shape, after comparing whom they evict."""
    nodes, deficit = founding_shape()
    tensors = _tensors(nodes)
    counted = CountedNodes.of(nodes, LANES)
    settings.progress.step(f"{NAME}: comparing")
    victims = eviction.plan(counted, deficit).victims
    for variant, found in ((MEMOIZED, memoized), (HEAP, lazy_heap)):
        _require_equal(variant, victims, tuple(found(tensors, deficit)))
    settings.progress.step(f"{NAME}: the original")
    rounds = 1 if settings.quick else ORIGINAL_ROUNDS
    of_a_round = _timed_rounds(tensors, deficit, victims, rounds)
    settings.progress.step(f"{NAME}: plans")
    plans = {
        HEAP: lambda: [*lazy_heap(tensors, deficit)],
        OURS: lambda: eviction.plan(counted, deficit),
        COUNTING: lambda: eviction.plan(CountedNodes.of(nodes, LANES), deficit),
    }
    timings = one_by_one(
        {MEMOIZED: lambda: [*memoized(tensors, deficit)]}, rounds=1 if settings.quick else MEMOIZED_PLANS
    )
    blocks = in_turn(
        {name: {name: plan} for name, plan in plans.items()}, blocks=settings.rounds(BLOCKS), rounds=PLANS_OF_A_BLOCK
    )
    timings |= {name: block[name] for name, block in blocks.items()}
    whole = of_a_round.median_us * (len(victims) + 1)
    return _result(timings, whole, len(victims), of_a_round)


def founding_shape() -> tuple[list[Node], tuple[int, ...]]:
    """Return the nodes and the deficit, the same each time."""
    random = Random(NAME)  # noqa: S311 - examples, not secrets
    nodes = [
        Node(
            node=number,
            parent=-1,
            owners=random.choices(range(LANES), k=PAGES_OF_A_NODE),
            locked=False,
            pending=False,
            hits=1 + number % 2,
            last_tick=random.randrange(CANDIDATES),
        )
        for number in range(CANDIDATES)
    ]
    base, more = divmod(DEFICIT, LANES)
    return nodes, tuple(base + (lane < more) for lane in range(LANES))


def _tensors(nodes: Sequence[Node]) -> list[TensorNode]:
    try:
        import torch  # noqa: PLC0415 - the other benchmarks do without
    except ImportError as error:
        raise MissingPackageError(NAME, "torch") from error
    torch.set_num_threads(1)
    return [
        TensorNode(
            node=node.node,
            is_protected=node.hits >= 2,  # noqa: PLR2004 - what protected means
            last_tick=node.last_tick,
            owners=torch.tensor(node.owners),
        )
        for node in nodes
    ]


def _timed_rounds(tensors: Sequence[TensorNode], deficit: Sequence[int], victims: Sequence[int], rounds: int) -> Timing:
    """Time the first rounds of the original one by one; their victims have to be the first ones."""
    chosen: list[int] = []
    plan = original(tensors, deficit)
    timing = one_by_one({ORIGINAL: lambda: chosen.extend(islice(plan, 1))}, rounds=rounds)[ORIGINAL]
    _require_equal(ORIGINAL, tuple(victims[:rounds]), tuple(chosen))
    return timing


def _require_equal(variant: str, wanted: tuple[int, ...], found: tuple[int, ...]) -> None:
    if wanted != found:
        raise DisagreementError(f"victims of {variant}", wanted, found)


def _result(timings: dict[str, Timing], whole_us: float, num_victims: int, of_a_round: Timing) -> Result:
    ours = timings[OURS].median_us
    rows: list[tuple[Cell, ...]] = [
        (
            ORIGINAL,
            f"{len(of_a_round.calls_ns)} rounds",
            of_a_round.minimum_us * (num_victims + 1) / US_PER_MS,
            whole_us / US_PER_MS,
            "",
            whole_us / ours,
        )
    ]
    for name, timing in timings.items():
        median = timing.median_us
        count = str(len(timing.calls_ns))
        cold: Cell = "" if name == MEMOIZED else timing.first_of_each(PLANS_OF_A_BLOCK).median_us / US_PER_MS
        rows.append((name, count, timing.minimum_us / US_PER_MS, median / US_PER_MS, cold, median / ours))
    return Result(
        name=NAME,
        title="Eviction plans on the founding shape",
        about=ABOUT,
        tables=(Table(title=f"One plan of {num_victims} victims", columns=COLUMNS, rows=tuple(rows)),),
        goals=(
            _goal(ORIGINAL, ORIGINAL_GOAL, ours, whole_us),
            _goal(HEAP, HEAP_GOAL, ours, timings[HEAP].median_us),
        ),
    )


def _goal(variant: str, times: int, ours_us: float, theirs_us: float) -> Goal:
    text = f"time of {times:,} plans of the reference with stored counts / time of one of: {variant}"
    return Goal(text=text, measured=times * ours_us / theirs_us, limit=1.0)

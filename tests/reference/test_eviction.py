"""The fast planner chooses as the plain loop does, and counts each node once."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from sharedkv import eviction
from sharedkv.errors import Refusal, RefusedError
from sharedkv.eviction import EvictionPlan
from sharedkv.eviction_counts import CountedNodes, Node
from tests.reference.greedy_eviction import SHAPES, GreedyPlanner, random_tree

TREES_OF_A_SHAPE = 500


def node(number: int, parent: int = -1, owners: tuple[int, ...] = (0,), *, hits: int = 0, tick: int = 0) -> Node:
    return Node(node=number, parent=parent, owners=owners, locked=False, pending=False, hits=hits, last_tick=tick)


def planned(nodes: list[Node], deficit: tuple[int, ...]) -> EvictionPlan:
    return eviction.plan(CountedNodes.of(nodes, len(deficit)), deficit)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("least_run", [1, 8])
def test_every_plan_is_the_greedy_one(shape: str, least_run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eviction, "LEAST_RUN", least_run)
    random = Random(f"{shape} {least_run}")  # noqa: S311 - examples, not secrets
    trees = [random_tree(random, shape) for _ in range(TREES_OF_A_SHAPE)]

    assert [planned(nodes, deficit) for nodes, deficit in trees] == [
        GreedyPlanner(nodes, len(deficit)).plan(deficit) for nodes, deficit in trees
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_load_back_is_the_greedy_plan_or_nothing(shape: str) -> None:
    random = Random(shape)  # noqa: S311 - examples, not secrets
    for nodes, deficit in (random_tree(random, shape) for _ in range(100)):
        greedy = GreedyPlanner(nodes, len(deficit)).plan(deficit)
        nothing = EvictionPlan(victims=(), freed=(0,) * len(deficit), remaining=deficit)
        found = eviction.plan_load_back(CountedNodes.of(nodes, len(deficit)), deficit)

        assert found == (nothing if any(greedy.remaining) else greedy)


def test_a_load_back_that_cannot_be_is_not_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(eviction._Planner, "run")
    held = replace(node(2, 1, owners=(0, 0)), pending=True)
    nodes = [node(0, owners=(0, 1)), node(1, owners=(0, 0)), held, node(3, 0, owners=(0,))]
    found = eviction.plan_load_back(CountedNodes.of(nodes, 2), (3, 1))

    assert found == EvictionPlan(victims=(), freed=(0, 0), remaining=(3, 1))


def test_runs_of_many_nodes_are_greedy_too() -> None:
    random = Random("many")  # noqa: S311 - examples, not secrets
    nodes = [
        node(n, -1 if n < 40 else random.randrange(40), tuple(random.choices(range(4), k=3)), tick=random.randrange(9))
        for n in range(900)
    ]
    deficit = (300, 0, 280, 500)

    assert planned(nodes, deficit) == GreedyPlanner(nodes, 4).plan(deficit)


def test_runs_are_taken_where_the_deficit_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    take = eviction._Planner._take_run

    def counted(planner: eviction._Planner) -> int:
        taken.append(take(planner))
        return taken[-1]

    monkeypatch.setattr(eviction._Planner, "_take_run", counted)
    planned([node(n, owners=(n % 2, 0)) for n in range(100)], (40, 20))

    assert max(taken) > eviction.LEAST_RUN


@pytest.mark.parametrize("least_bits", [0, 40, 60])
def test_ticks_may_lie_far_apart(least_bits: int) -> None:
    random = Random(least_bits)  # noqa: S311 - examples, not secrets
    ticks = [-(2**least_bits), 0, 1, 2**least_bits]
    nodes = [node(n, owners=(0,), hits=random.randrange(4), tick=random.choice(ticks)) for n in range(40)]

    assert planned(nodes, (39,)) == GreedyPlanner(nodes, 1).plan((39,))


def test_a_chain_is_planned_from_its_end() -> None:
    chain = [node(n, n - 1, (0, 1)) for n in range(3000)]

    assert planned(chain, (0, 3)).victims == (2999, 2998, 2997)


def test_a_deficit_beyond_what_anybody_has_takes_all() -> None:
    nodes = [node(0, owners=(0, 1)), node(1, owners=(0, 0)), node(2, owners=(1,))]
    deficit = (2**40, 2**31)
    found = planned(nodes, deficit)

    assert found == GreedyPlanner(nodes, 2).plan(deficit)
    assert found.remaining == (2**40 - 3, 2**31 - 2)


def test_nothing_missing_looks_at_no_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(eviction, "_Planner")

    assert planned([node(0)], (0, 0)) == EvictionPlan(victims=(), freed=(0, 0), remaining=(0, 0))


def test_counting_reads_each_owner_once() -> None:
    nodes = [node(0, owners=(0, 1, 1)), node(1, 0, owners=()), node(2, 1, owners=(1,))]

    assert CountedNodes.of(nodes, 2).pages_read == 4


def test_planning_leaves_the_counts_alone() -> None:
    counted = CountedNodes.of([node(0), node(1, 0)], 2)

    assert eviction.plan(counted, (2, 0)) == eviction.plan(counted, (2, 0))


@pytest.mark.parametrize(
    ("nodes", "refusal"),
    [
        ([node(-2)], Refusal.NODE_NEGATIVE),
        ([node(0), node(0)], Refusal.NODE_NAMED_TWICE),
        ([node(0, 7)], Refusal.PARENT_UNKNOWN),
        ([node(0, 1), node(1, 0)], Refusal.TREE_CYCLIC),
        ([node(0), node(3, 3)], Refusal.TREE_CYCLIC),
        ([node(0, owners=(0, 2))], Refusal.OWNER_OUTSIDE_LANES),
    ],
)
def test_what_is_no_tree_is_refused(nodes: list[Node], refusal: Refusal) -> None:
    with pytest.raises(RefusedError) as caught:
        CountedNodes.of(nodes, 2)

    assert caught.value.reason is refusal


@pytest.mark.parametrize(
    ("deficit", "refusal"), [((1,), Refusal.DEFICIT_MISMATCH), ((1, -1), Refusal.DEFICIT_NEGATIVE)]
)
def test_what_is_no_deficit_is_refused(deficit: tuple[int, ...], refusal: Refusal) -> None:
    counted = CountedNodes.of([node(0)], 2)
    with pytest.raises(RefusedError) as caught:
        eviction.plan_load_back(counted, deficit)

    assert caught.value.reason is refusal


def test_a_held_node_keeps_all_above_it() -> None:
    nodes = [node(0, owners=(1,)), node(1, 0, owners=(1,)), replace(node(2, 1), locked=True), node(3, 0)]

    assert planned(nodes, (0, 2)).victims == ()

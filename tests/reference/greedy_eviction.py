"""The greedy planner as plain loops over nodes, and random trees to compare it on. Knows nothing of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sharedkv.eviction import EvictionPlan
from sharedkv.eviction_counts import PROTECTED_HITS, ROOT, Node

Lanes = tuple[int, ...]


class GreedyPlanner:
    """Looks at every node in every round."""

    def __init__(self, nodes: Sequence[Node], num_lanes: int) -> None:
        self.nodes = {node.node: node for node in nodes}
        self.num_lanes = num_lanes
        self.pages = {n: tuple(node.owners.count(lane) for lane in range(num_lanes)) for n, node in self.nodes.items()}
        self.above = {n: tuple(self._way_up(n)) for n in self.nodes}
        held = [n for n, node in self.nodes.items() if node.owners and (node.locked or node.pending)]
        self.blocked = {*held, *(a for n in held for a in self.above[n])}
        self.unlocks = {n: self._sum([a for a in self.above[n] if a not in self.blocked]) for n in self.nodes}

    def _way_up(self, number: int) -> list[int]:
        way = []
        while (number := self.nodes[number].parent) != ROOT:
            way.append(number)
        return way

    def _sum(self, numbers: Sequence[int]) -> Lanes:
        return tuple(sum(self.pages[n][lane] for n in numbers) for lane in range(self.num_lanes))

    def plan(self, deficit: Lanes) -> EvictionPlan:
        victims: list[int] = []
        left = deficit
        resident = {n for n, node in self.nodes.items() if node.owners}
        while True:
            covered = {a for n in resident for a in self.above[n]}
            places = [self._place(n, left) for n in resident - covered - self.blocked]
            best = min((place for place in places if place[:2] != (0, 0)), default=None)
            if best is None:
                break
            victims.append(best[-1])
            resident.discard(best[-1])
            left = tuple(max(0, short - count) for short, count in zip(left, self.pages[best[-1]], strict=True))
        return EvictionPlan(victims=tuple(victims), freed=self._sum(victims), remaining=left)

    def _place(self, number: int, left: Lanes) -> tuple[int, int, bool, int, int]:
        node = self.nodes[number]
        contribution = sum(min(pair) for pair in zip(self.pages[number], left, strict=True))
        unlock = sum(min(pair) for pair in zip(self.unlocks[number], left, strict=True))
        return -contribution, -unlock, node.hits >= PROTECTED_HITS, node.last_tick, number


SHAPES = ("any", "chain", "fan", "gaps", "held", "ties")


def random_tree(random: Random, shape: str) -> tuple[list[Node], Lanes]:
    """Return a tree of up to forty nodes, listed in any order, and a deficit of two to eight lanes."""
    num_lanes = random.choice((2, 3, 8))
    count = random.randint(1, 40)
    nodes = [_node(random, shape, number, num_lanes) for number in range(count)]
    random.shuffle(nodes)
    most = random.choice((2, 6, 40))
    return nodes, tuple(random.choice((0, random.randint(0, most))) for _ in range(num_lanes))


def _node(random: Random, shape: str, number: int, num_lanes: int) -> Node:
    parents = {
        "chain": max(ROOT, number - random.choice((1, 1, 1, 2))),
        "fan": random.randint(ROOT, min(1, number - 1)),
    }
    num_pages = random.choice((0, 0, 1, 2) if shape == "gaps" else (0, 1, 1, 2, 5, 12))
    owners = [random.randrange(num_lanes) for _ in range(num_pages)]
    return Node(
        node=number,
        parent=parents.get(shape, random.randint(ROOT, number - 1)),
        owners=owners[:1] if shape == "ties" else owners,
        locked=random.random() < (0.2 if shape == "held" else 0.04),
        pending=random.random() < (0.2 if shape == "held" else 0.04),
        hits=random.randint(0, 3),
        last_tick=random.randint(0, 2 if shape == "ties" else 50),
    )

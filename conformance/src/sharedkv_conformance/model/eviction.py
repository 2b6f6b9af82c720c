"""The executable specification of eviction plans: greedy, round after round, and right by inspection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sharedkv_conformance.contract.errors import Rejected
from sharedkv_conformance.contract.eviction import EvictionNode, EvictionPlan
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.eviction_tree import (
    Deficit,
    EvictionTree,
    capped,
    left_of,
    malformed_deficit,
    malformed_tree,
    recency,
)
from sharedkv_conformance.model.geometry import checked_geometry
from sharedkv_conformance.step import Answer, Call

Nodes = Sequence[EvictionNode]


class EvictionState:
    """What the laws of eviction know before a call: the lanes, and the call before it."""

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.lanes = config.cp_size
        self.last: tuple[Call, Answer] | None = None
        self.peer_answer: Answer | None = None

    def adopt(self, call: Call, answer: Answer) -> None:
        """Remember the call; a plan changes nothing."""
        if call.args:
            self.last = (call, answer)


class EvictionModel:
    """The greedy planner as an implementation; mutants override one of its small decisions."""

    feature = "eviction"

    def __init__(self, config: OpenConfig) -> None:
        checked_geometry(config)
        self.config = config
        self.lanes = config.cp_size
        self.tree = EvictionTree((), self.lanes)
        self.known: dict[int, tuple[int, ...]] = {}
        self.touched = 0

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        """Plan as far as it goes."""
        self.refuse_malformed(nodes, deficit)
        self.begin(nodes)
        return self.answer(self.victims(deficit), deficit)

    def plan_load_back(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        """Plan all or nothing."""
        self.refuse_malformed(nodes, deficit)
        self.begin(nodes)
        plan = self.answer(self.victims(deficit), deficit)
        return self.answer((), deficit) if any(plan.remaining) else plan

    def cost(self) -> int:
        """Return how many entries of owners the last plan read."""
        return self.touched

    def begin(self, nodes: Nodes) -> None:
        """Take the tree of a call, of which nothing is counted yet."""
        self.tree = EvictionTree(nodes, self.lanes)
        self.known = {}
        self.touched = 0

    def refuse_malformed(self, nodes: Nodes, deficit: Deficit) -> None:
        """Raise `Rejected` when there is nothing to plan for."""
        for reason in sorted(malformed_tree(nodes, self.lanes) | malformed_deficit(deficit, self.lanes)):
            raise Rejected(reason, f"{len(nodes)} nodes, deficit {tuple(deficit)}")

    def victims(self, deficit: Deficit) -> tuple[int, ...]:
        """Choose victims round after round until none is worth it."""
        gone: list[int] = []
        left = tuple(deficit)
        while (victim := self.best(gone, left)) is not None:
            gone.append(victim)
            left = left_of(left, self.counts(victim))
        return tuple(gone)

    def best(self, gone: Sequence[int], left: Deficit) -> int | None:
        """Choose the victim of a round; None where none is worth it."""
        eligible = [node for node in self.tree.nodes if self.is_eligible(node, gone)]
        worth = [node for node in eligible if self.is_worth(node, left)]
        return min(worth, key=lambda node: self.order(node, gone, left), default=None)

    def order(self, node: int, gone: Sequence[int], left: Deficit) -> tuple[Any, ...]:  # noqa: ARG002 - a variant looks
        """Return the place of a node in a round; the least is taken."""
        return (-self.contribution(node, left), -self.unlock(node, left), self.recency(node), self.rank(node))

    def is_worth(self, node: int, left: Deficit) -> bool:
        """Say whether a lane gets a missing page from the node, or from one above it."""
        return self.contribution(node, left) > 0 or self.unlock(node, left) > 0

    def is_eligible(self, node: int, gone: Sequence[int]) -> bool:
        """Say whether a node may go next."""
        return self.tree.is_eligible(node, gone)

    def contribution(self, node: int, left: Deficit) -> int:
        """Return how many missing pages the node has."""
        return capped(self.counts(node), left)

    def unlock(self, node: int, left: Deficit) -> int:
        """Return how many missing pages all unlocked ancestors have together."""
        return capped(self.unlocks(node), left)

    def unlocks(self, node: int) -> tuple[int, ...]:
        """Return the pages of all unlocked ancestors, one count a lane."""
        above = [self.counts(other) for other in self.tree.above(node) if self.tree.is_unlocked(other)]
        return tuple(sum(counts[lane] for counts in above) for lane in range(self.lanes))

    def recency(self, node: int) -> tuple[Any, ...]:
        """Return the SLRU place of a node."""
        return recency(self.tree.nodes[node])

    def rank(self, node: int) -> int:
        """Return what decides between nodes that are equal in all else."""
        return node

    def counts(self, node: int) -> tuple[int, ...]:
        """Return the pages of a node, one count a lane, counted when they are first needed."""
        if node not in self.known:
            self.touched += len(self.tree.nodes[node].owners)
            self.known[node] = self.tree.counts(node)
        return self.known[node]

    def answer(self, victims: tuple[int, ...], deficit: Deficit) -> EvictionPlan:
        """Say what comes of these victims."""
        freed = self.freed(victims)
        return EvictionPlan(victims=victims, freed=freed, remaining=left_of(deficit, freed))

    def freed(self, victims: tuple[int, ...]) -> tuple[int, ...]:
        """Return the pages of the victims, one count a lane."""
        return tuple(sum(self.counts(node)[lane] for node in victims) for lane in range(self.lanes))

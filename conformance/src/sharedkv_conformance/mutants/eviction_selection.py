"""Wrong variants of the greedy planner: who goes in a round, and when a plan ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sharedkv_conformance.contract.eviction import EvictionPlan
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.eviction import EvictionModel, Nodes
from sharedkv_conformance.model.eviction_tree import Deficit, capped

Place = tuple[Any, ...]


@mutant(
    "eviction.aggregate-deficit",
    kills="RFC-0008:C-SELECTION#S1",
    also={
        "RFC-0008:C-SELECTION#S2": "Equal contributions are told apart by pages that nobody misses.",
        "RFC-0008:C-SELECTION#S3": "Equal contributions are told apart by pages that nobody misses.",
    },
)
class AggregateDeficit(EvictionModel):
    """Compares nodes by their pages and the pages missing in all, on whatever lanes."""

    def order(self, node: int, gone: Sequence[int], left: Deficit) -> Place:
        return (-min(sum(self.counts(node)), sum(left)), *super().order(node, gone, left))


@mutant(
    "eviction.cap-forgotten",
    kills="RFC-0008:C-SELECTION#S1",
    also={
        "RFC-0008:C-SELECTION#S2": "Equal contributions are told apart by pages that nobody misses.",
        "RFC-0008:C-SELECTION#S3": "Equal contributions are told apart by pages that nobody misses.",
    },
)
class CapForgotten(EvictionModel):
    """Counts all pages of a lane that is short, also those that it is not short of."""

    def order(self, node: int, gone: Sequence[int], left: Deficit) -> Place:
        pages = sum(count for count, short in zip(self.counts(node), left, strict=True) if short)
        return (-pages, *super().order(node, gone, left))


@mutant("eviction.smallest-first", kills="RFC-0008:C-SELECTION#S1")
class SmallestFirst(EvictionModel):
    """Takes of the nodes that give something the one that gives least."""

    def order(self, node: int, gone: Sequence[int], left: Deficit) -> Place:
        contribution, *rest = super().order(node, gone, left)
        return (-contribution, *rest)


@mutant(
    "eviction.sibling-aware-unlock",
    kills="RFC-0008:C-SELECTION#S2",
    also={"RFC-0008:C-SELECTION#S3": "Equal unlocks are told apart by a wrong count of what lies above."},
)
class SiblingAwareUnlock(EvictionModel):
    """Counts an ancestor only for the last node that keeps it, so that the score of a node grows as others go."""

    def order(self, node: int, gone: Sequence[int], left: Deficit) -> Place:
        tree, unlock = self.tree, 0
        for above in (other for other in tree.above(node) if tree.is_unlocked(other)):
            if any(other not in (*gone, node, *tree.above(node)) for other in tree.below(above)):
                break
            unlock += capped(self.counts(above), left)
        contribution, _, *rest = super().order(node, gone, left)
        return (contribution, -unlock, *rest)


@mutant(
    "eviction.parent-alone-unlocked",
    kills="RFC-0008:C-SELECTION#S2",
    also={"RFC-0008:C-SELECTION#S3": "Equal unlocks are told apart by a wrong count of what lies above."},
)
class ParentAloneUnlocked(EvictionModel):
    """Counts the nearest resident ancestor alone."""

    def order(self, node: int, gone: Sequence[int], left: Deficit) -> Place:
        unlocked = [other for other in self.tree.above(node) if self.tree.is_unlocked(other)][:1]
        contribution, _, *rest = super().order(node, gone, left)
        return (contribution, -sum(capped(self.counts(other), left) for other in unlocked), *rest)


@mutant(
    "eviction.unlock-without-a-cap",
    kills="RFC-0008:C-SELECTION#S2",
    also={"RFC-0008:C-SELECTION#S3": "Equal unlocks are told apart by a wrong count of what lies above."},
)
class UnlockWithoutACap(EvictionModel):
    """Counts all pages of ancestors, whatever is missing."""

    def order(self, node: int, gone: Sequence[int], left: Deficit) -> Place:
        contribution, _, *rest = super().order(node, gone, left)
        return (contribution, -sum(self.unlocks(node)), *rest)


@mutant(
    "eviction.unlock-capped-ancestor-by-ancestor",
    kills="RFC-0008:C-SELECTION#S2",
    also={"RFC-0008:C-SELECTION#S3": "Equal unlocks are told apart by a wrong count of what lies above."},
)
class UnlockCappedAncestorByAncestor(EvictionModel):
    """Caps each ancestor by the deficit, so that long chains promise more than is missing."""

    def order(self, node: int, gone: Sequence[int], left: Deficit) -> Place:
        unlocked = [other for other in self.tree.above(node) if self.tree.is_unlocked(other)]
        contribution, _, *rest = super().order(node, gone, left)
        return (contribution, -sum(capped(self.counts(other), left) for other in unlocked), *rest)


@mutant("eviction.plain-recency", kills="RFC-0008:C-SELECTION#S3")
class PlainRecency(EvictionModel):
    """Forgets that nodes matched twice are protected."""

    def recency(self, node: int) -> Place:
        return (self.tree.nodes[node].last_tick,)


@mutant("eviction.protected-after-three", kills="RFC-0008:C-SELECTION#S3")
class ProtectedAfterThree(EvictionModel):
    """Protects a node only when it was matched three times."""

    def recency(self, node: int) -> Place:
        return self.tree.nodes[node].hits > 2, self.tree.nodes[node].last_tick  # noqa: PLR2004 - wrong on purpose


@mutant("eviction.most-recent-first", kills="RFC-0008:C-SELECTION#S3")
class MostRecentFirst(EvictionModel):
    """Takes the most recent of a segment."""

    def recency(self, node: int) -> Place:
        protected, tick = super().recency(node)
        return protected, -tick


@mutant(
    "eviction.wall-clock",
    kills="RFC-0008:C-SELECTION#S3",
    also={"RFC-0008:C-SELECTION#S4": "No two readings of the clock are equal, so that numbers never decide."},
)
class WallClock(EvictionModel):
    """Takes for recency what its clock said when it came upon the node, as each rank's clock does."""

    def recency(self, node: int) -> Place:
        protected, _ = super().recency(node)
        return protected, list(self.tree.nodes).index(node)


@mutant("eviction.tie-by-insertion-order", kills="RFC-0008:C-SELECTION#S4")
class TieByInsertionOrder(EvictionModel):
    """Takes of equal nodes the one that is listed first."""

    def rank(self, node: int) -> int:
        return list(self.tree.nodes).index(node)


@mutant("eviction.latest-node-first", kills="RFC-0008:C-SELECTION#S4")
class LatestNodeFirst(EvictionModel):
    """Takes of equal nodes the one created last."""

    def rank(self, node: int) -> int:
        return -node


@mutant("eviction.children-that-unlock-nothing", kills="RFC-0008:C-SELECTION#S5")
class ChildrenThatUnlockNothing(EvictionModel):
    """Evicts what lies below a node with missing pages, although that node is held by others."""

    def is_worth(self, node: int, left: Deficit) -> bool:
        return super().is_worth(node, left) or any(
            capped(self.tree.counts(other), left) for other in self.tree.above(node)
        )


@mutant("eviction.anybody-while-short", kills="RFC-0008:C-SELECTION#S5")
class AnybodyWhileShort(EvictionModel):
    """Evicts whoever can go for as long as some lane is short."""

    def is_worth(self, node: int, left: Deficit) -> bool:
        return any(left)


@mutant("eviction.one-more", kills="RFC-0008:C-SELECTION#S5")
class OneMore(EvictionModel):
    """Evicts one node more than lanes need."""

    def victims(self, deficit: Deficit) -> tuple[int, ...]:
        victims = super().victims(deficit)
        over = [node for node in self.tree.nodes if self.is_eligible(node, victims)]
        return (*victims, over[0]) if over and victims else victims


@mutant(
    "eviction.ancestors-never-unlocked",
    kills="RFC-0008:C-SELECTION#S6",
    also={"RFC-0008:C-LOAD-BACK#S2": "Load-backs are planned in the same rounds."},
)
class AncestorsNeverUnlocked(EvictionModel):
    """Ends when nobody who can go has a missing page, although one above them has."""

    def is_worth(self, node: int, left: Deficit) -> bool:
        return self.contribution(node, left) > 0


@mutant("eviction.all-or-nothing", kills="RFC-0008:C-SELECTION#S6")
class AllOrNothing(EvictionModel):
    """Plans nothing at all where a lane would stay short."""

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        return self.plan_load_back(nodes, deficit)


@mutant("eviction.one-round-too-few", kills="RFC-0008:C-SELECTION#S6")
class OneRoundTooFew(EvictionModel):
    """Leaves the last of several victims of a free-room plan for the next time."""

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        plan = super().plan(nodes, deficit)
        return self.answer(plan.victims[:-1], deficit) if len(plan.victims) > 1 else plan

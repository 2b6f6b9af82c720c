"""Wrong, and odd but right, variants of the greedy planner: refusals, victims, accounts, load-backs, ranks and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.eviction import EvictionPlan
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.eviction import EvictionModel, Nodes
from sharedkv_conformance.model.eviction_tree import ROOT, Deficit, left_of, malformed_deficit, malformed_tree


@mutant("eviction.orphan-adopted", kills="RFC-0008:C-REFUSALS#S1")
class OrphanAdopted(EvictionModel):
    """Hangs a node whose parent is not there below the root."""

    def refuse_malformed(self, nodes: Nodes, deficit: Deficit) -> None:
        super().refuse_malformed(_adopted(nodes), deficit)

    def begin(self, nodes: Nodes) -> None:
        super().begin(_adopted(nodes))


@mutant("eviction.later-node-wins", kills="RFC-0008:C-REFUSALS#S1")
class LaterNodeWins(EvictionModel):
    """Takes the last of several nodes with one number."""

    def refuse_malformed(self, nodes: Nodes, deficit: Deficit) -> None:
        super().refuse_malformed(tuple({node.node: node for node in nodes}.values()), deficit)


@mutant("eviction.every-fault-is-a-cycle", kills="RFC-0008:C-REFUSALS#S1")
class EveryFaultIsACycle(EvictionModel):
    """Gives one reason whatever is wrong with the tree."""

    def refuse_malformed(self, nodes: Nodes, deficit: Deficit) -> None:
        if malformed_tree(nodes, self.lanes):
            raise Rejected(Reason.TREE_CYCLIC)
        super().refuse_malformed(nodes, deficit)


@mutant("eviction.deficit-stretched", kills="RFC-0008:C-REFUSALS#S2")
class DeficitStretched(EvictionModel):
    """Takes a lane without a count for satisfied, and forgets counts without a lane."""

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        return super().plan(nodes, self._stretched(deficit))

    def plan_load_back(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        return super().plan_load_back(nodes, self._stretched(deficit))

    def _stretched(self, deficit: Deficit) -> Deficit:
        return (*deficit, *[0] * self.lanes)[: self.lanes]


@mutant("eviction.negative-deficit-accepted", kills="RFC-0008:C-REFUSALS#S2")
class NegativeDeficitAccepted(EvictionModel):
    """Takes a lane that is short of less than nothing for satisfied."""

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        return super().plan(nodes, tuple(max(0, short) for short in deficit))

    def plan_load_back(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        return super().plan_load_back(nodes, tuple(max(0, short) for short in deficit))


@mutant("eviction.shortage-raised", kills="RFC-0008:C-REFUSALS#S3")
class ShortageRaised(EvictionModel):
    """Raises where a lane stays short, in place of saying so."""

    def answer(self, victims: tuple[int, ...], deficit: Deficit) -> EvictionPlan:
        plan = super().answer(victims, deficit)
        if any(plan.remaining):
            raise CapacityWait(deficit, plan.freed, plan.remaining)
        return plan


@mutant("eviction.nothing-to-do-refused", kills="RFC-0008:C-REFUSALS#S3")
class NothingToDoRefused(EvictionModel):
    """Refuses a deficit of nothing."""

    def refuse_malformed(self, nodes: Nodes, deficit: Deficit) -> None:
        super().refuse_malformed(nodes, deficit)
        if not any(deficit):
            raise Rejected(Reason.DEFICIT_NEGATIVE)


@mutant("eviction.node-without-pages", kills="RFC-0008:C-VICTIMS#S1")
class NodeWithoutPages(EvictionModel):
    """Evicts nodes that have no pages on the device, to get at those above them."""

    def is_eligible(self, node: int, gone: Sequence[int]) -> bool:
        tree = self.tree
        return node not in gone and not tree.is_held(node) and tree.is_last(node, gone)


@mutant("eviction.victim-named-twice", kills="RFC-0008:C-VICTIMS#S1")
class VictimNamedTwice(EvictionModel):
    """Names the first of several victims again at the end."""

    def victims(self, deficit: Deficit) -> tuple[int, ...]:
        victims = super().victims(deficit)
        return (*victims, victims[0]) if len(victims) > 1 else victims


@mutant("eviction.locked-evicted", kills="RFC-0008:C-VICTIMS#S2")
class LockedEvicted(EvictionModel):
    """Does not look at locks when it chooses."""

    def is_eligible(self, node: int, gone: Sequence[int]) -> bool:
        tree = self.tree
        is_free = tree.is_resident(node) and not tree.nodes[node].pending
        return node not in gone and is_free and tree.is_last(node, gone)


@mutant("eviction.pending-evicted", kills="RFC-0008:C-VICTIMS#S3")
class PendingEvicted(EvictionModel):
    """Does not look at copies in flight when it chooses."""

    def is_eligible(self, node: int, gone: Sequence[int]) -> bool:
        tree = self.tree
        is_free = tree.is_resident(node) and not tree.nodes[node].locked
        return node not in gone and is_free and tree.is_last(node, gone)


@mutant("eviction.parent-before-child", kills="RFC-0008:C-VICTIMS#S4")
class ParentBeforeChild(EvictionModel):
    """Evicts a node whatever is left below it."""

    def is_eligible(self, node: int, gone: Sequence[int]) -> bool:
        tree = self.tree
        return node not in gone and tree.is_resident(node) and not tree.is_held(node)


@mutant("eviction.children-alone-looked-at", kills="RFC-0008:C-VICTIMS#S4")
class ChildrenAloneLookedAt(EvictionModel):
    """Takes a node for a leaf when none of its children is resident, whatever hangs below those."""

    def is_eligible(self, node: int, gone: Sequence[int]) -> bool:
        tree = self.tree
        children = [other for other in tree.below(node) if tree.nodes[other].parent == node and other not in gone]
        return node not in gone and tree.is_resident(node) and not tree.is_held(node) and not children


@mutant("eviction.only-missing-pages-freed", kills="RFC-0008:C-ACCOUNTS#S1")
class OnlyMissingPagesFreed(EvictionModel):
    """Tells of freed pages no more than were missing."""

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        plan = super().plan(nodes, deficit)
        return replace(plan, freed=tuple(min(pair) for pair in zip(plan.freed, deficit, strict=True)))


@mutant("eviction.last-victim-not-counted", kills="RFC-0008:C-ACCOUNTS#S1")
class LastVictimNotCounted(EvictionModel):
    """Tells of freed pages as they were before the last victim."""

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        plan = super().plan(nodes, deficit)
        before = self.freed(plan.victims[:-1])
        return replace(plan, freed=before, remaining=left_of(deficit, before))


@mutant("eviction.lanes-pay-for-one-another", kills="RFC-0008:C-ACCOUNTS#S2")
class LanesPayForOneAnother(EvictionModel):
    """Says that nothing remains when the victims have as many pages as are missing in all."""

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        plan = super().plan(nodes, deficit)
        return replace(plan, remaining=(0,) * self.lanes) if sum(plan.freed) >= sum(deficit) else plan


@mutant("eviction.negative-remainder", kills="RFC-0008:C-ACCOUNTS#S2")
class NegativeRemainder(EvictionModel):
    """Lets the remainder of a lane fall below zero."""

    def plan(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        plan = super().plan(nodes, deficit)
        return replace(plan, remaining=tuple(a - b for a, b in zip(deficit, plan.freed, strict=True)))


@mutant("eviction.remainder-evicted-for-a-load-back", kills="RFC-0008:C-LOAD-BACK#S1")
class RemainderEvictedForALoadBack(EvictionModel):
    """Evicts for a load-back what it can, although the load cannot happen."""

    def plan_load_back(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        return self.plan(nodes, deficit)


@mutant("eviction.load-back-wants-a-page-more", kills="RFC-0008:C-LOAD-BACK#S2")
class LoadBackWantsAPageMore(EvictionModel):
    """Turns down a load-back that would take the last page of a lane that is freed."""

    def plan_load_back(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        plan = super().plan_load_back(nodes, deficit)
        is_tight = any(0 < short >= freed for short, freed in zip(deficit, plan.freed, strict=True))
        return self.answer((), deficit) if is_tight else plan


@mutant("eviction.load-back-from-leaves-alone", kills="RFC-0008:C-LOAD-BACK#S2")
class LoadBackFromLeavesAlone(EvictionModel):
    """Turns down a load-back that needs pages of a node with others below it."""

    def plan_load_back(self, nodes: Nodes, deficit: Deficit) -> EvictionPlan:
        plan = super().plan_load_back(nodes, deficit)
        return self.answer((), deficit) if any(self.tree.below(node) for node in plan.victims) else plan


@mutant("eviction.ties-by-rank", kills="RFC-0008:C-RANKS#S1")
class TiesByRank(EvictionModel):
    """Counts nodes from the other end on odd ranks, so that the ranks do not all evict the same."""

    def rank(self, node: int) -> int:
        return -node if self.config.rank % 2 else node


@mutant("eviction.counted-in-every-round", kills="RFC-0008:C-COST#S1")
class CountedInEveryRound(EvictionModel):
    """Counts the pages of a node whenever it looks at it."""

    def counts(self, node: int) -> tuple[int, ...]:
        self.known.pop(node, None)
        return super().counts(node)


@mutant("eviction.counted-for-every-lane", kills="RFC-0008:C-COST#S1")
class CountedForEveryLane(EvictionModel):
    """Reads the owners of a node once for each lane."""

    def counts(self, node: int) -> tuple[int, ...]:
        if node not in self.known:
            self.touched += len(self.tree.nodes[node].owners) * (self.lanes - 1)
        return super().counts(node)


@mutant("eviction.cost-denied", kills="RFC-0008:C-COST#S1")
class CostDenied(EvictionModel):
    """Says that a plan reads nothing."""

    def cost(self) -> int:
        return 0


@benign("eviction.another-reason")
class AnotherReason(EvictionModel):
    """Names the last of several faults where the model names the first."""

    def refuse_malformed(self, nodes: Nodes, deficit: Deficit) -> None:
        for reason in sorted(malformed_tree(nodes, self.lanes) | malformed_deficit(deficit, self.lanes), reverse=True):
            raise Rejected(reason)


@benign("eviction.all-counted-first")
class AllCountedFirst(EvictionModel):
    """Counts every node before it chooses, also those that cannot go."""

    def begin(self, nodes: Nodes) -> None:
        super().begin(nodes)
        for node in nodes:
            self.counts(node.node)


@benign("eviction.listed-backwards")
class ListedBackwards(EvictionModel):
    """Goes through the nodes in the order of their numbers, from the latest on."""

    def begin(self, nodes: Nodes) -> None:
        super().begin(sorted(nodes, key=lambda node: -node.node))


def _adopted(nodes: Nodes) -> Nodes:
    known = {node.node for node in nodes} | {ROOT}
    return tuple(node if node.parent in known else replace(node, parent=ROOT) for node in nodes)

"""The laws of what a plan may name and say: refusals, victims, accounts, load-backs, ranks and cost."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.eviction import EvictionPlan
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.eviction_rounds import greedy_rounds, rounds_of
from sharedkv_conformance.model.eviction_tree import EvictionTree, left_of, malformed_deficit, malformed_tree
from sharedkv_conformance.step import Answer, Call, Err, Ok

PLAN = "eviction.plan"
LOAD_BACK = "eviction.plan_load_back"
PLANS = (PLAN, LOAD_BACK)
COST = "probe.cost"


def faults(before: EvictionState, call: Call) -> frozenset[Reason]:
    """Return every reason to refuse a call."""
    return malformed_tree(call.nodes, before.lanes) | malformed_deficit(call.deficit, before.lanes)


def planned(before: EvictionState, call: Call, answer: Answer) -> EvictionPlan | None:
    """Return the plan that a law may judge: one given for a tree and a deficit that are such."""
    return answer.value if isinstance(answer, Ok) and not faults(before, call) else None


def pages_of(before: EvictionState, call: Call, plan: EvictionPlan) -> tuple[int, ...]:
    """Return the pages of the victims, one count a lane."""
    owners = {node.node: node.owners for node in call.nodes}
    given = [lane for victim in plan.victims for lane in owners.get(victim, ())]
    return tuple(given.count(lane) for lane in range(before.lanes))


def _unrefused(answer: Answer, reasons: frozenset[Reason], accepted: frozenset[Reason]) -> Iterator[str]:
    wanted = " or ".join(sorted(reasons))
    if reasons and isinstance(answer, Ok):
        yield f"expected a rejection for {wanted}, got {answer.value}"
    elif reasons and isinstance(answer, Err) and not _rejected_for(answer, accepted):
        yield f"expected a rejection for {wanted}, got {answer.error}"


def _rejected_for(answer: Err, reasons: frozenset[Reason]) -> bool:
    return isinstance(answer.error, Rejected) and answer.error.reason in reasons


@law("RFC-0008:C-REFUSALS#S1", on=PLANS)
def nodes_that_are_no_tree_are_refused_by_name(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """A plan for half a tree would evict nodes that others hang on."""
    yield from _unrefused(answer, malformed_tree(call.nodes, before.lanes), faults(before, call))


@law("RFC-0008:C-REFUSALS#S2", on=PLANS)
def counts_that_are_no_deficit_are_refused_by_name(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """A deficit of other lanes would be paid on the wrong ones."""
    yield from _unrefused(answer, malformed_deficit(call.deficit, before.lanes), faults(before, call))


@law("RFC-0008:C-REFUSALS#S3", on=PLANS)
def what_is_well_formed_has_a_plan(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """Also where nothing can be evicted, or nothing has to be."""
    if isinstance(answer, Err) and not faults(before, call):
        yield f"{len(call.nodes)} nodes, deficit {list(call.deficit)}: expected a plan, got {answer.error}"


@law("RFC-0008:C-VICTIMS#S1", on=PLANS)
def victims_are_resident_and_named_once(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """A node without pages on the device has nothing to give, and no node gives twice."""
    if plan := planned(before, call, answer):
        resident = {node.node for node in call.nodes if node.owners}
        for place, victim in enumerate(plan.victims):
            if victim not in resident:
                yield f"victim {victim} has no pages on the device; nodes {sorted(resident)} have"
            if victim in plan.victims[:place]:
                yield f"victim {victim} is named again: {list(plan.victims)}"


@law("RFC-0008:C-VICTIMS#S2", on=PLANS)
def a_locked_node_is_no_victim(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """A request reads its pages."""
    if plan := planned(before, call, answer):
        for victim in sorted({node.node for node in call.nodes if node.locked} & {*plan.victims}):
            yield f"victim {victim} is locked"


@law("RFC-0008:C-VICTIMS#S3", on=PLANS)
def a_pending_node_is_no_victim(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """A copy reads or writes its pages."""
    if plan := planned(before, call, answer):
        for victim in sorted({node.node for node in call.nodes if node.pending} & {*plan.victims}):
            yield f"victim {victim} has a copy in flight"


@law("RFC-0008:C-VICTIMS#S4", on=PLANS)
def nothing_resident_is_left_below_a_victim(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """What hangs below an evicted node cannot be reached any more."""
    if plan := planned(before, call, answer):
        tree = EvictionTree(call.nodes, before.lanes)
        for place, victim in enumerate(plan.victims):
            below = tree.below(victim) if victim in tree.nodes else ()
            if left := [node for node in below if node not in plan.victims[:place]]:
                yield f"victim {victim} goes before the resident nodes {sorted(left)} below it"


@law("RFC-0008:C-ACCOUNTS#S1", on=PLANS)
def freed_are_the_pages_of_the_victims(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """All of them, also those that no lane was short of."""
    if plan := planned(before, call, answer):
        wanted = pages_of(before, call, plan)
        if plan.freed != wanted:
            yield f"victims {list(plan.victims)} free {list(wanted)} by lane, got {list(plan.freed)}"


@law("RFC-0008:C-ACCOUNTS#S2", on=PLANS)
def remaining_is_what_freed_leaves_of_the_deficit(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """Lane by lane: pages of one lane do not pay for another."""
    if (plan := planned(before, call, answer)) and len(plan.freed) == before.lanes:
        wanted = left_of(call.deficit, plan.freed)
        if plan.remaining != wanted:
            asked = f"deficit {list(call.deficit)}, freed {list(plan.freed)}"
            yield f"{asked}: {list(wanted)} remain, got {list(plan.remaining)}"


@law("RFC-0008:C-LOAD-BACK#S1", on=LOAD_BACK)
def a_load_back_that_stays_short_evicts_nobody(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """Pages given up for a load that cannot happen are lost for nothing."""
    plan = planned(before, call, answer)
    if plan is None or not plan.victims or len(rounds_of(call.nodes, call.deficit, plan.victims)) <= len(plan.victims):
        return
    if any(greedy_rounds(call.nodes, call.deficit)[-1].left):
        yield f"deficit {list(call.deficit)} cannot be met, and {list(plan.victims)} are evicted"


@law("RFC-0008:C-LOAD-BACK#S2", on=LOAD_BACK)
def a_load_back_that_can_be_met_is_planned(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """A load that is turned down although there was room is computed again."""
    plan = planned(before, call, answer)
    if plan is None or not any(left_of(call.deficit, pages_of(before, call, plan))):
        return
    rounds = greedy_rounds(call.nodes, call.deficit)
    if not any(rounds[-1].left):
        wanted = [played.victim.node for played in rounds if played.victim]
        yield f"deficit {list(call.deficit)} is met by {wanted}, and not by {list(plan.victims)}"


@law("RFC-0008:C-RANKS#S1", on=PLANS)
def ranks_plan_alike(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """A plan must not depend on who makes it."""
    if before.peer_answer is not None and answer != before.peer_answer:
        yield f"rank {before.config.rank} answers {_shown(answer)}, rank 0 {_shown(before.peer_answer)}"


def _shown(answer: Answer) -> str:
    return str(answer.value) if isinstance(answer, Ok) else str(answer.error)


@law("RFC-0008:C-COST#S1", on=COST)
def owners_are_read_once(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """Counts are made once a node and plan, and are not simply denied."""
    if before.last is None or not isinstance(answer, Ok):
        return
    asked, planned_before = before.last
    plan = planned(before, asked, planned_before)
    if plan is None:
        return
    pages = {node.node: len(node.owners) for node in asked.nodes}
    least = sum(pages.get(victim, 0) for victim in {*plan.victims})
    if answer.value > sum(pages.values()):
        yield f"{answer.value} owners were read of a tree that has {sum(pages.values())}"
    elif answer.value < least:
        yield f"the victims have {least} pages, the probe tells of {answer.value} owners read"

"""The witnesses of eviction: which situation a tree and a deficit are, whatever was answered."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.eviction import COST, LOAD_BACK, PLAN, PLANS, faults
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.eviction_rounds import Round, Worth, greedy_rounds
from sharedkv_conformance.model.eviction_tree import EvictionTree, malformed_deficit, malformed_tree
from sharedkv_conformance.step import Answer, Call


def _rounds(before: EvictionState, call: Call) -> tuple[Round, ...]:
    return () if faults(before, call) else greedy_rounds(call.nodes, call.deficit)


def _seconds(before: EvictionState, call: Call) -> Iterator[tuple[Worth, Worth]]:
    """Yield of each round the best candidate and the one after it."""
    for played in _rounds(before, call):
        best = sorted(played.candidates, key=lambda worth: worth.order)[:2]
        if len(best) > 1:
            yield best[0], best[1]


def _tree(before: EvictionState, call: Call) -> EvictionTree | None:
    return None if faults(before, call) or not any(call.deficit) else EvictionTree(call.nodes, before.lanes)


@witness(on=PLANS)
def contribution_decides(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Two candidates of a round differ in contribution."""
    return any(one.contribution != other.contribution for one, other in _seconds(before, call))


@witness(on=PLANS)
def unlock_decides(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Two candidates of equal contribution differ in unlock."""
    return any(a.contribution == b.contribution and a.unlock != b.unlock for a, b in _seconds(before, call))


@witness(on=PLANS)
def recency_decides(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Two candidates of equal scores differ in recency."""
    return any(a[:2] == b[:2] and a.recency != b.recency for a, b in _seconds(before, call))


@witness(on=PLANS)
def protection_decides(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A candidate that equals the best in scores is older, and protected."""
    return any(
        played.victim and played.victim[:2] == other[:2] and played.victim.recency[1] > other.recency[1]
        for played in _rounds(before, call)
        for other in played.candidates
    )


@witness(on=PLANS)
def number_decides(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Two candidates are equal but for their numbers, and the later one is listed first."""
    order = [node.node for node in call.nodes]
    return any(a[:3] == b[:3] and order.index(a.node) > order.index(b.node) for a, b in _seconds(before, call))


@witness(on=PLANS)
def only_a_way_to_an_ancestor(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Nobody who can go has a missing page, and an ancestor has."""
    return any(played.victim and not played.victim.contribution for played in _rounds(before, call))


@witness(on=PLANS)
def a_way_that_is_blocked(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A node that gives nothing lies below one that has missing pages and cannot go."""
    tree = _tree(before, call)
    return tree is not None and any(
        not worth.is_something and any(_has_missing(tree, above, call) for above in tree.above(worth.node))
        for worth in _rounds(before, call)[-1].eligible
    )


def _has_missing(tree: EvictionTree, node: int, call: Call) -> bool:
    return any(count and short for count, short in zip(tree.counts(node), call.deficit, strict=True))


@witness(on=PLANS)
def locked_with_missing_pages(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A locked node with nothing below has pages that a lane is short of."""
    return _held_with_missing_pages(before, call, "locked")


@witness(on=PLANS)
def pending_with_missing_pages(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A node with a copy in flight and nothing below has pages that a lane is short of."""
    return _held_with_missing_pages(before, call, "pending")


def _held_with_missing_pages(before: EvictionState, call: Call, hold: str) -> bool:
    tree = _tree(before, call)
    return tree is not None and any(
        getattr(node, hold) and not tree.below(node.node) and _has_missing(tree, node.node, call) for node in call.nodes
    )


@witness(on=PLANS)
def parent_with_missing_pages(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A node that is not held has missing pages, and resident nodes below it."""
    tree = _tree(before, call)
    return tree is not None and any(
        tree.below(node) and not tree.is_held(node) and _has_missing(tree, node, call) for node in tree.nodes
    )


@witness(on=PLANS)
def resident_below_a_gap(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A node with missing pages has resident nodes below it, and none of them is its child."""
    tree = _tree(before, call)
    return tree is not None and any(
        tree.below(node)
        and all(tree.nodes[other].parent != node for other in tree.below(node))
        and _has_missing(tree, node, call)
        for node in tree.nodes
    )


@witness(on=PLANS)
def no_pages_on_the_device(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A lane is short, and a node has nothing to give."""
    tree = _tree(before, call)
    return tree is not None and not all(tree.is_resident(node) for node in tree.nodes)


@witness(on=PLANS)
def several_victims(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A plan of three rounds or more."""
    return len(_rounds(before, call)) > 3  # noqa: PLR2004 - the last one ends the plan


@witness(on=PLANS)
def more_than_is_needed(before: EvictionState, call: Call, answer: Answer) -> bool:
    """The deficit is met, and somebody could go still."""
    rounds = _rounds(before, call)
    return bool(len(rounds) > 1 and not any(rounds[-1].left) and rounds[-1].eligible)


@witness(on=PLANS)
def pages_beyond_the_deficit(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A victim has pages that no lane is short of."""
    pages = {node.node: len(node.owners) for node in call.nodes}
    victims = [played.victim for played in _rounds(before, call) if played.victim]
    return any(pages[victim.node] > victim.contribution for victim in victims)


@witness(on=PLAN)
def short_in_the_end(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Somebody can go, and a lane stays short."""
    return _is_short_in_the_end(before, call)


@witness(on=LOAD_BACK)
def load_back_that_stays_short(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Somebody could go for a load-back, and a lane would stay short."""
    return _is_short_in_the_end(before, call)


def _is_short_in_the_end(before: EvictionState, call: Call) -> bool:
    rounds = _rounds(before, call)
    return bool(len(rounds) > 1 and any(rounds[-1].left))


@witness(on=LOAD_BACK)
def load_back_that_is_met(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A load-back is met."""
    rounds = _rounds(before, call)
    return bool(len(rounds) > 1 and not any(rounds[-1].left))


@witness(on=PLANS)
def nothing_is_missing(before: EvictionState, call: Call, answer: Answer) -> bool:
    """No lane is short."""
    return not faults(before, call) and not any(call.deficit)


@witness(on=PLANS)
def nobody_can_go(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A lane is short, and nobody can go."""
    rounds = _rounds(before, call)
    return bool(rounds and any(call.deficit) and not rounds[0].eligible)


@witness(on=PLANS)
def evictions_planned_on_a_second_rank(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Another rank plans for a tree where nodes are equal but for their numbers."""
    return before.peer_answer is not None and any(a[:3] == b[:3] for a, b in _seconds(before, call))


@witness(on=COST)
def several_rounds_were_counted(before: EvictionState, call: Call, answer: Answer) -> bool:
    """The plan before had three rounds or more."""
    return before.last is not None and len(_rounds(before, before.last[0])) > 3  # noqa: PLR2004 - the last one ends it


@witness(on=PLANS)
def unknown_parent(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A node hangs below one that is not there."""
    return Reason.PARENT_UNKNOWN in malformed_tree(call.nodes, before.lanes)


@witness(on=PLANS)
def cycle(before: EvictionState, call: Call, answer: Answer) -> bool:
    """Nodes hang below one another."""
    return Reason.TREE_CYCLIC in malformed_tree(call.nodes, before.lanes)


@witness(on=PLANS)
def node_twice(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A number is given twice."""
    return Reason.NODE_NAMED_TWICE in malformed_tree(call.nodes, before.lanes)


@witness(on=PLANS)
def negative_node(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A number is below zero."""
    return Reason.NODE_NEGATIVE in malformed_tree(call.nodes, before.lanes)


@witness(on=PLANS)
def owner_off_lanes(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A page lies on a lane that is not there."""
    return Reason.OWNER_OUTSIDE_LANES in malformed_tree(call.nodes, before.lanes)


@witness(on=PLANS)
def deficit_of_other_lanes(before: EvictionState, call: Call, answer: Answer) -> bool:
    """There is not one count a lane."""
    return Reason.DEFICIT_MISMATCH in malformed_deficit(call.deficit, before.lanes)


@witness(on=PLANS)
def negative_deficit(before: EvictionState, call: Call, answer: Answer) -> bool:
    """A lane is short of less than nothing."""
    return Reason.DEFICIT_NEGATIVE in malformed_deficit(call.deficit, before.lanes)

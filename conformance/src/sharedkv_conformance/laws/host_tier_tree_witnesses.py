"""The witnesses of tree histories: what must have happened before a law's silence proves anything.

They look at the calls, at the model before them, and at what has to come of them; never at what was answered.
"""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.host_tier_parts import (
    INSERT,
    LOCK,
    MATCH,
    by_lane,
    is_small,
)
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.host_tier_tree import Node
from sharedkv_conformance.model.host_tier_tree_state import FREE_SLOTS, TREE, HostTreeState
from sharedkv_conformance.step import Answer, Call, Ok

SPLITTING = (MATCH, INSERT, LOCK)
LONG = 5
"""The pages of a node that is long."""


def walked(before: HostTreeState, call: Call) -> list[tuple[Node, int]]:
    """Return the way of a call's tokens, in a history of which everything is known."""
    return [] if before.diverged else before.model.tree.walk(call.tokens)


def _split(before: HostTreeState, call: Call, answer: Answer) -> Node | None:
    """Return the node that a call has to split, if it is not refused."""
    way = walked(before, call)
    if not way or way[-1][1] == before.model.tree.num_pages(way[-1][0]):
        return None
    return way[-1][0] if isinstance(before.step(call, answer).expected, Ok) else None


# -- nodes and splits ------------------------------------------------------------------------------------------------


@witness(on=TREE, history="host_tree")
def tree_has_branches(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """The tree had a node with two nodes below it."""
    parents = [node.parent for node in before.model.tree.nodes.values() if node.parent in before.model.tree.nodes]
    return not before.diverged and len(parents) > len(set(parents))


@witness(on=TREE, history="host_tree")
def host_only_below_a_mirror(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node that was on the host alone was below one that was on both tiers."""
    nodes = before.model.tree.nodes
    pairs = [(node, nodes[node.parent]) for node in nodes.values() if node.parent in nodes]
    return not before.diverged and any(not low.pages and low.host and top.pages and top.host for low, top in pairs)


@witness(on=TREE, history="host_tree")
def unsaved_below_a_mirror(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A resident without host pages was below one that was on both tiers."""
    nodes = before.model.tree.nodes
    pairs = [(node, nodes[node.parent]) for node in nodes.values() if node.parent in nodes]
    return not before.diverged and any(low.pages and not low.host and top.host for low, top in pairs)


@witness(on=TREE, history="host_tree")
def node_on_unequal_lanes(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node had pages of several lanes on both tiers, and not as many of each."""
    if before.diverged:
        return False
    counts = [by_lane(before.geometry, node.pages) for node in before.model.tree.nodes.values() if node.host]
    return any(min(own) > 0 and max(own) > min(own) for own in counts)


@witness(on=MATCH, history="host_tree")
def match_ends_inside(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A match ended inside a node."""
    return _split(before, call, answer) is not None


@witness(on=INSERT, history="host_tree")
def insert_ends_inside(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert ended or branched inside a node."""
    return _split(before, call, answer) is not None


@witness(on=LOCK, history="host_tree")
def lock_ends_inside(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lock ended inside a node."""
    return _split(before, call, answer) is not None


@witness(on=SPLITTING, history="host_tree")
def split_under_a_backup(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node was split while its backup was in flight."""
    node = _split(before, call, answer)
    return node is not None and bool(node.backups)


@witness(on=SPLITTING, history="host_tree")
def split_under_a_load(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node was split while it was loaded back."""
    node = _split(before, call, answer)
    return node is not None and bool(node.loads)


@witness(on=SPLITTING, history="host_tree")
def split_under_a_lock(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node was split that a lock covered."""
    node = _split(before, call, answer)
    return node is not None and bool(node.locks)


@witness(on=SPLITTING, history="host_tree")
def split_under_two_locks(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node was split that two locks covered."""
    node = _split(before, call, answer)
    return node is not None and len(node.locks) > 1


@witness(on=SPLITTING, history="host_tree")
def split_of_host_pages(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node was split that had host pages on several lanes."""
    node = _split(before, call, answer)
    return node is not None and len({lane for lane, _ in node.host}) > 1


@witness(on=TREE, history="host_tree")
def tree_shown_with_known_host_pages(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A tree was shown with two nodes whose host pages had been seen before."""
    nodes = [node for node in before.model.tree.nodes.values() if node.host and set(node.host) <= before.names.keys()]
    return not before.diverged and len(nodes) > 1


@witness(on=FREE_SLOTS, history="host_tree")
def free_slots_beside_the_tree(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lane of the host had free pages and pages of the tree when its free slots were asked for."""
    return not before.diverged and bool(before.tree_pages_of(call.lane)) and before.model.lanes[call.lane].num_free > 0


@witness(on=INSERT, history="host_tree")
def insert_goes_through(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert went through two nodes that were there."""
    whole = [node for node, held in walked(before, call) if held == before.model.tree.num_pages(node)]
    return len(whole) > 1 and isinstance(before.step(call, answer).expected, Ok)


# -- match -----------------------------------------------------------------------------------------------------------


@witness(on=MATCH, history="host_tree")
def match_of_several_nodes(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A match found two resident nodes, and had more tokens than they hold."""
    way = walked(before, call)
    held = sum(pages for _, pages in way) * before.config.page_size
    return len([node for node, _ in way if node.pages]) > 1 and len(call.tokens) > held


def _differs_inside_a_page(before: HostTreeState, call: Call, place: int) -> bool:
    """Say whether tokens leave the tree at a page that has the same token at a place as one that is there."""
    size, tree = before.config.page_size, before.model.tree
    way = walked(before, call)
    left = call.tokens[sum(held for _, held in way) * size :][:size]
    there = [node.tokens[held * size :][:size] for node, held in way[-1:] if held < tree.num_pages(node)]
    there = there or [node.tokens[:size] for node in tree.children(way[-1][0].number if way else ROOT)]
    return not before.diverged and len(left) == size and any(page[place] == left[place] for page in there)


@witness(on=MATCH, history="host_tree")
def match_of_a_page_that_begins_alike(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A match left the tree at a page that begins with the token with which one of the tree begins."""
    return _differs_inside_a_page(before, call, 0)


@witness(on=MATCH, history="host_tree")
def match_of_a_page_that_ends_alike(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A match left the tree at a page that ends with the token with which one of the tree ends."""
    return _differs_inside_a_page(before, call, -1)


@witness(on=INSERT, history="host_tree")
def insert_of_a_page_that_begins_alike(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert left the tree at a page that begins with the token with which one of the tree begins."""
    return _differs_inside_a_page(before, call, 0) and _served(before, call, answer)


@witness(on=MATCH, history="host_tree")
def match_branches_late_in_a_node(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A match left a node of five pages after its third page or its fourth, for as many others as the node had."""
    way, size = walked(before, call), before.config.page_size
    asked = len(call.tokens) // size - sum(held for _, held in way[:-1])
    return bool(way) and asked >= before.model.tree.num_pages(way[-1][0]) >= LONG and LONG > way[-1][1] >= LONG - 2


@witness(on=(MATCH, INSERT), history="host_tree")
def pages_of_more_than_two_tokens(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Tokens of whole pages and a part of one came where a page has more than two, and the tree had the first."""
    has_tail = len(call.tokens) % before.config.page_size > 1
    return bool(walked(before, call)) and before.config.page_size > 2 and has_tail  # noqa: PLR2004 - as the name says


@witness(on=MATCH, history="host_tree")
def match_of_both_tiers(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A match found residents that are backed up, and two pages behind them on the host alone."""
    way = walked(before, call)
    mirrored = [node for node, _ in way if node.pages and node.host]
    return bool(mirrored) and sum(held for node, held in way if not node.pages) > 1


@witness(on=MATCH, history="host_tree")
def match_of_host_nodes(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A match found two nodes that were on the host alone."""
    return len([node for node, _ in walked(before, call) if not node.pages]) > 1


@witness(on=MATCH, history="host_tree")
def match_of_less_than_a_page(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A match had fewer tokens than a page, and they were the first of one in the tree."""
    return is_small(before, call) and any(_starts(before, call))


def _starts(before: HostTreeState, call: Call) -> Iterator[bool]:
    for node in before.model.tree.nodes.values():
        yield bool(call.tokens) and not before.diverged and node.tokens[: len(call.tokens)] == call.tokens


# -- insert ----------------------------------------------------------------------------------------------------------


def _served(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Say whether an insert of a page at least has to be served."""
    if before.diverged or is_small(before, call):
        return False
    return isinstance(before.step(call, answer).expected, Ok)


@witness(on=INSERT, history="host_tree")
def insert_revives_a_node(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert made a node resident that was on the host alone, and went on behind it."""
    way = walked(before, call)
    held = sum(pages for _, pages in way)
    revived = any(not node.pages for node, _ in way)
    return revived and len(call.pages) > held and _served(before, call, answer)


@witness(on=INSERT, history="host_tree")
def insert_branches(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert made a node beside another, below a common one."""
    way = walked(before, call)
    size = before.config.page_size
    new = len(call.tokens) // size > sum(held for _, held in way)
    return bool(way) and new and any(before.model.tree.children(way[-1][0].number)) and _served(before, call, answer)


@witness(on=INSERT, history="host_tree")
def insert_of_other_pages(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert gave pages of the tree's own and others for tokens that were on the device."""
    own = [page for node, held in walked(before, call) for page in node.pages[:held]]
    same = [mine == given for mine, given in zip(own, call.pages, strict=False)]
    return True in same and False in same and _served(before, call, answer)


@witness(on=INSERT, history="host_tree")
def insert_with_a_tail(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert had whole pages and one that was not full."""
    return len(call.tokens) % before.config.page_size > 0 and _served(before, call, answer)


@witness(on=INSERT, history="host_tree")
def insert_of_less_than_a_page(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert had a page of fewer tokens than a page, and they were the first of one in the tree."""
    fine = not before.diverged and isinstance(before.step(call, answer).expected, Ok)
    return fine and is_small(before, call) and len(call.pages) == 1 and any(_starts(before, call))


def _faulty(before: HostTreeState, call: Call, answer: Answer, *reasons: Reason) -> bool:
    """Say whether exactly these reasons stand against an insert of several pages."""
    return not before.diverged and len(call.pages) > 1 and before.step(call, answer).reasons == frozenset(reasons)


@witness(on=INSERT, history="host_tree")
def insert_of_too_few_pages(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert had another number of good pages than its tokens begin."""
    return _faulty(before, call, answer, Reason.PAGES_MISMATCH)


@witness(on=INSERT, history="host_tree")
def insert_of_a_free_page(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert had a free page among good ones."""
    return _faulty(before, call, answer, Reason.PAGE_NOT_ALLOCATED)


@witness(on=INSERT, history="host_tree")
def insert_of_a_page_in_the_tree(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert had a page of the tree at another position among good ones."""
    return _faulty(before, call, answer, Reason.PAGE_IN_TREE)


@witness(on=INSERT, history="host_tree")
def insert_of_an_own_page_elsewhere(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert had a page of its own way at another position of the way."""
    own = [page for node, held in walked(before, call) for page in node.pages[:held]]
    moved = any(page in own[:at] or page in own[at + 1 :] for at, page in enumerate(call.pages))
    return moved and _faulty(before, call, answer, Reason.PAGE_IN_TREE)


@witness(on=INSERT, history="host_tree")
def insert_of_a_page_twice(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert named a page twice."""
    return _faulty(before, call, answer, Reason.PAGE_NAMED_TWICE)


@witness(on=INSERT, history="host_tree")
def insert_of_a_foreign_page(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert had a page outside the pool among good ones."""
    return _faulty(before, call, answer, Reason.PAGE_OUTSIDE_POOL)


@witness(on=INSERT, history="host_tree")
def insert_without_host_room(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert was served that asked for a backup for which there was no room."""
    if not _served(before, call, answer):
        return False
    after = before.step(call, answer).after
    return any(after.reaches_threshold(node) and not node.host for node, _ in after.tree.walk(call.tokens))


@witness(on=INSERT, history="host_tree")
def insert_beside_a_copy(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert has to submit a copy while another is in flight."""
    if not _served(before, call, answer) or not before.model.ledger.copies:
        return False
    return len(before.step(call, answer).after.ledger.copies) > len(before.model.ledger.copies)

"""The laws of pages that are the tree's, reserved or fetched: no caller gives them up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharedkv_conformance.laws.host_tier_parts import moved, not_refused
from sharedkv_conformance.marks import law, witness
from sharedkv_conformance.model.host_tier_refusals import named_pages
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.host_tier_tree_state import (
    LANES,
    NAMING,
    RELEASE_HOST,
    STATISTICS,
    TREE,
    HostTreeState,
)
from sharedkv_conformance.model.lane_pages import FREE
from sharedkv_conformance.step import Answer, Call

RELEASE, RETAIN, RELEASE_LOCATIONS = NAMING
REFUSED = tuple(f"refused {op}" for op in NAMING)


@law("RFC-0006:C-INSERT#S9", on=(*NAMING, TREE, LANES, STATISTICS), history="host_tree")
def device_pages_of_the_tree_are_given_up_by_it_alone(
    before: HostTreeState, call: Call, answer: Answer
) -> Iterator[str]:
    """A caller that names a page of the tree, to retain it or to give it back, is refused, and nothing changes."""
    for op in NAMING:
        yield from not_refused(before, call, answer, op)
    yield from moved(before, call, answer, REFUSED, TREE, LANES, STATISTICS)


@law("RFC-0006:C-TREE#S10", on=(RELEASE_HOST, TREE, LANES, STATISTICS), history="host_tree")
def host_pages_of_the_tree_are_given_up_by_it_alone(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A caller that gives back a host page of the tree or of a reservation is refused, and nothing changes."""
    yield from not_refused(before, call, answer, RELEASE_HOST)
    yield from moved(before, call, answer, (f"refused {RELEASE_HOST}",), TREE, LANES, STATISTICS)


@law("RFC-0006:C-TREE#S11", on=(RELEASE_HOST, STATISTICS), history="storage")
def host_pages_of_a_fetch_are_given_up_by_it_alone(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A caller that gives back a host page of a fetch is refused, and nothing changes."""
    yield from not_refused(before, call, answer, RELEASE_HOST)
    yield from moved(before, call, answer, (f"refused {RELEASE_HOST}",), STATISTICS)


# -- witnesses -------------------------------------------------------------------------------------------------------


def _named(before: HostTreeState, call: Call) -> list[Node]:
    """Return the nodes of which a call names a device page, if it names pages of a caller as well, and no others."""
    tree, pages = before.model.tree, set(named_pages(before.geometry, call))
    mine = pages - tree.device_pages()
    if before.diverged or not mine or any(before.model.allocation.pages.state(page) == FREE for page in mine):
        return []
    return [node for node in tree.nodes.values() if not pages.isdisjoint(node.pages)]


def _kinds(nodes: Sequence[Node]) -> set[str]:
    """Return what would seem to let the pages of nodes go: what is not locked, and is on the host or is not."""
    return {"mirrored" if node.host else "resident" for node in nodes if not node.locks}


@witness(on=RELEASE, history="host_tree")
def release_of_a_page_on_both_tiers(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A caller gave back pages of its own and one of the tree that no lock covers and that is backed up."""
    return "mirrored" in _kinds(_named(before, call))


@witness(on=RELEASE, history="host_tree")
def release_of_a_page_on_the_device_alone(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A caller gave back pages of its own and one of the tree that no lock covers and that has no host page."""
    return "resident" in _kinds(_named(before, call))


@witness(on=RETAIN, history="host_tree")
def retain_of_a_page_of_the_tree(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A caller retained pages of its own and one of the tree that no lock covers."""
    return bool(_kinds(_named(before, call)))


@witness(on=RELEASE_LOCATIONS, history="host_tree")
def locations_in_a_page_of_the_tree(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A caller gave back pages of its own and one of the tree by the locations of their tokens."""
    return bool(_kinds(_named(before, call)))


def _unnamed(before: HostTreeState, call: Call) -> set[HostPage]:
    """Return the pages of no node that a call names, by their numbers, and that are not the caller's."""
    if before.diverged or call.lane not in before.free_shown:
        return set()
    pages = before.kept_host_pages(call) - before.tree_pages_of(call.lane)
    return {(call.lane, page) for page in pages}


@witness(on=RELEASE_HOST, history="host_tree")
def host_release_of_a_page_of_the_tree(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A caller gave back a host page of its own and one of the tree."""
    if before.diverged or before.tree_pages_of(call.lane).isdisjoint(call.pages):
        return False
    return any((call.lane, page) in before.model.given for page in call.pages)


@witness(on=RELEASE_HOST, history="host_tree")
def host_release_of_a_reserved_page(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A caller gave back a host page that was reserved for a request."""
    reserved = any(lane == call.lane for own in before.model.reservations.values() for lane, _ in own.values())
    return reserved and bool(_unnamed(before, call))


@witness(on=RELEASE_HOST, history="storage")
def host_release_of_a_fetched_page(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A caller gave back a host page of its own and one that a fetch has, which is on its way or has arrived."""
    fetched = any(lane == call.lane for lane, _ in before.model.fetched_pages())
    mine = any((call.lane, page) in before.model.given for page in call.pages)
    return fetched and mine and bool(_unnamed(before, call))

"""The laws of eviction on both tiers: who goes, what becomes of them, and what is free afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from sharedkv_conformance.laws.host_tier_parts import (
    EVICT,
    EVICT_HOST,
    by_lane,
    is_guarded,
    moved,
    not_refused,
    off,
    places_after,
    places_before,
    refused_wrongly,
    wanted,
)
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.eviction import EvictionModel
from sharedkv_conformance.model.eviction_tree import left_of
from sharedkv_conformance.model.host_tier_tree_state import LANES, STATISTICS, TREE, HostTreeState
from sharedkv_conformance.step import Answer, Call

Lanes = tuple[int, ...]


def _protected(before: HostTreeState, pages: Sequence[int]) -> list[int]:
    """Return those of evicted pages that a lock or a pending copy protects."""
    nodes = before.model.tree.nodes.values()
    kept = {page for node in nodes if node.locks or node.backups or node.loads for page in node.pages}
    return sorted(kept.intersection(pages))


@law("RFC-0006:C-DEVICE-EVICTION#S1", on=EVICT, history="host_tree")
def the_victims_of_the_plan_are_evicted(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """The pages that become free are those of the plan's victims, in its order."""
    yield from refused_wrongly(before, call, answer, EVICT)
    found = wanted(before, call, answer, EVICT)
    if found and found[0].pages != found[1].pages and not _protected(before, found[1].pages):
        yield f"an eviction takes pages {found[1].pages} for deficit {call.deficit}, expected {found[0].pages}"


@law("RFC-0006:C-DEVICE-EVICTION#S2", on=EVICT, history="host_tree")
def pending_pages_stay_on_the_device(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """No page under a backup or a load is evicted."""
    if found := wanted(before, call, answer, EVICT):
        nodes = before.model.tree.nodes.values()
        pending = {page for node in nodes if (node.backups or node.loads) and not node.locks for page in node.pages}
        if gone := pending.intersection(found[1].pages):
            yield f"an eviction takes pages {sorted(gone)}, which copies in flight read or write"


@law("RFC-0006:C-DEVICE-EVICTION#S3", on=EVICT, history="host_tree")
def an_eviction_accounts_by_lane(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Freed are the pages that are named, remaining is what they leave of the deficit."""
    found = wanted(before, call, answer, EVICT)
    if found and found[0].pages == found[1].pages:
        freed = by_lane(before.geometry, found[1].pages)
        if (found[1].freed, found[1].remaining) != (freed, left_of(call.deficit, freed)):
            yield f"an eviction of pages {found[1].pages} reports {found[1]} for deficit {call.deficit}"


@law("RFC-0006:C-DEVICE-EVICTION#S4", on=LANES, history="host_tree")
def evicted_pages_are_free(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """The free pages of each lane grow by those that an eviction names."""
    yield from moved(before, call, answer, (EVICT,), LANES)


@law("RFC-0006:C-DEVICE-EVICTION#S5", on=(TREE, STATISTICS), history="host_tree")
def a_backed_up_victim_stays_on_the_host(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A victim that is backed up stays in the tree with its host pages; no eviction on the device takes host pages."""
    if before.config.host.write == "write_back":
        return
    for difference, step in off(before, call, answer, (EVICT,), "pages_there", "host"):
        there = places_before(step).get(difference.path)
        if there is not None and there.lane is not None:
            yield str(difference)
    yield from moved(before, call, answer, (EVICT,), STATISTICS)


@law("RFC-0006:C-DEVICE-EVICTION#S6", on=TREE, history="host_tree")
def a_victim_without_host_pages_leaves_the_tree(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A victim that is nowhere else leaves the tree, and nobody who is no victim does."""
    if before.config.host.write == "write_back":
        return
    for difference, step in off(before, call, answer, (EVICT,), "pages_there", "host"):
        there = places_before(step).get(difference.path)
        if there is None or there.lane is None:
            yield str(difference)


@law("RFC-0006:C-DEVICE-EVICTION#S7", on=TREE, history="host_tree")
def victims_are_no_longer_resident(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Victims have no device pages any more, all others have theirs, and no copy changes by an eviction."""
    for difference, _ in off(before, call, answer, (EVICT,), "device", "readers", "load_pending"):
        yield str(difference)
    if before.config.host.write != "write_back":
        for difference, _ in off(before, call, answer, (EVICT,), "backup_pending"):
            yield str(difference)


@law("RFC-0006:C-DEVICE-EVICTION#S8", on=(EVICT, EVICT_HOST, TREE, LANES, STATISTICS), history="host_tree")
def counts_that_are_no_deficit_evict_nobody(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A deficit that is none is refused on either tier, and nobody goes."""
    for op in (EVICT, EVICT_HOST):
        yield from not_refused(before, call, answer, op)
    yield from moved(before, call, answer, (f"refused {EVICT}", f"refused {EVICT_HOST}"), TREE, LANES, STATISTICS)


def _unprotected(before: HostTreeState, deficit: Sequence[int]) -> set[Lanes]:
    """Return what plans on the host would free that look past locks, readers, backups or loads, or several of them."""
    tree, planner = before.model.tree, EvictionModel(before.config)
    found = set()
    for locks, readers, backups, loads in product((True, False), repeat=4):
        nodes = [
            replace(
                planned,
                locked=(locks and bool(node.locks)) or (readers and bool(node.readers)),
                pending=(backups and bool(node.backups)) or (loads and bool(node.loads)),
            )
            for planned, node in zip(tree.on_host(), tree.nodes.values(), strict=True)
        ]
        found.add(planner.plan(nodes, deficit).freed)
    return found


@law("RFC-0006:C-HOST-EVICTION#S1", on=(EVICT_HOST, TREE), history="host_tree")
def the_victims_of_the_host_plan_are_evicted(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """The host pages that become free are those of the plan over nodes with host pages."""
    yield from refused_wrongly(before, call, answer, EVICT_HOST)
    found = wanted(before, call, answer, EVICT_HOST)
    if found and found[0].freed != found[1].freed and found[1].freed not in _unprotected(before, call.deficit):
        yield f"a host eviction frees {found[1].freed} for deficit {call.deficit}, expected {found[0].freed}"
    for difference, step in off(before, call, answer, (EVICT_HOST,), "host", "readers", "backup_pending"):
        if not is_guarded(step, difference.path):
            yield str(difference)


@law("RFC-0006:C-HOST-EVICTION#S2", on=(EVICT_HOST, STATISTICS), history="host_tree")
def a_host_eviction_accounts_by_lane(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Remaining is what freed leaves of the deficit, and the free host pages of each lane grow by what is freed."""
    if found := wanted(before, call, answer, EVICT_HOST):
        freed = found[1].freed
        if len(freed) != before.config.cp_size or found[1].remaining != left_of(call.deficit, freed):
            yield f"a host eviction reports {found[1]} for deficit {call.deficit}"
    yield from moved(before, call, answer, (EVICT_HOST,), STATISTICS)


@law("RFC-0006:C-HOST-EVICTION#S3", on=(EVICT_HOST, TREE), history="host_tree")
def host_pages_under_a_copy_stay(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Host pages that are read, locked or pending do not become free."""
    found = wanted(before, call, answer, EVICT_HOST)
    if found and found[0].freed != found[1].freed and found[1].freed in _unprotected(before, call.deficit):
        yield f"a host eviction frees {found[1].freed}, as if nothing were locked or in flight: {found[0].freed}"
    for difference, step in off(before, call, answer, (EVICT_HOST,), "host", "readers", "backup_pending"):
        if is_guarded(step, difference.path):
            yield str(difference)


@law("RFC-0006:C-HOST-EVICTION#S4", on=(TREE, LANES), history="host_tree")
def a_mirror_gives_way_and_its_node_stays(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A resident node that loses its host pages stays in the tree with its device pages."""
    for difference, step in off(before, call, answer, (EVICT_HOST,), "pages_there", "device", "load_pending"):
        if difference.path in places_after(step):
            yield str(difference)
    yield from moved(before, call, answer, (EVICT_HOST,), LANES)


@law("RFC-0006:C-HOST-EVICTION#S5", on=TREE, history="host_tree")
def a_host_victim_that_is_nowhere_leaves_the_tree(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A node that was on the host alone leaves the tree with its host pages."""
    for difference, step in off(before, call, answer, (EVICT_HOST,), "pages_there"):
        if difference.path not in places_after(step):
            yield str(difference)

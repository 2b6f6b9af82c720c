"""The laws of the tree itself: what nodes are, what splits keep, and what changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.laws.host_tier_backup import Case, shown_after
from sharedkv_conformance.laws.host_tier_parts import (
    ALLOCATE_HOST,
    CALLERS,
    CAUSES,
    EVICT,
    EVICT_HOST,
    INSERT,
    LOCK,
    MATCH,
    UNLOCK,
    by_lane,
    cause_of,
    gaps,
    has_split,
    moved,
    off,
    places_before,
)
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_tree_state import FREE_SLOTS, LANES, STATISTICS, TREE, HostTreeState
from sharedkv_conformance.step import Answer, Call, Ok

HOST_CALLERS = ("host_tier.allocate", "host_tier.release")
PLACES = ("pages_there", "device", "host")
PENDING = ("readers", "backup_pending", "load_pending")


@law("RFC-0006:C-TREE#S1", on=TREE, history="host_tree")
def nodes_are_whole_pages_of_one_prefix(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Every node hangs below the root, has whole pages of tokens, and of each tier a page for each or none."""
    for difference, _ in off(before, call, answer, CAUSES, "malformed"):
        yield str(difference)


@law("RFC-0006:C-TREE#S2", on=TREE, history="host_tree")
def each_tier_is_a_prefix(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Residents, and nodes with host pages, lie on every way without a gap."""
    if not before.diverged and call.op == TREE and cause_of(before) in CAUSES:
        step = before.step(call, answer)
        yield from gaps(step.seen) if step.seen is not None and not step.seen.malformed else ()


@law("RFC-0006:C-TREE#S3", on=TREE, history="host_tree")
def nodes_are_split_where_tokens_end(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A node is split where a call ends inside it, and nowhere else."""
    for difference, _ in off(before, call, answer, CAUSES, "boundaries"):
        yield f"after {cause_of(before)}, {difference}"


@law("RFC-0006:C-TREE#S4", on=TREE, history="host_tree")
def both_parts_of_a_split_keep_everything(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """After a split both parts have the pages, locks and copies of the node."""
    for difference, step in off(before, call, answer, (MATCH, LOCK), *PLACES, *PENDING):
        if has_split(step):
            yield str(difference)
    for difference, step in off(before, call, answer, (INSERT,), "pages_there", "device"):
        if (there := places_before(step).get(difference.path)) is not None and there.device is not None:
            yield str(difference)
    if shown_after(before) in (Case.FITS, Case.RESERVED):  # an insert that makes room on the host is judged there
        for difference, step in off(before, call, answer, (INSERT,), "host", "backup_pending"):
            if (there := places_before(step).get(difference.path)) is not None and there.lane is not None:
                yield str(difference)
    for difference, _ in off(before, call, answer, (INSERT,), "readers", "load_pending"):
        yield str(difference)
    for difference, _ in off(before, call, answer, (MATCH, INSERT), "locks"):
        yield str(difference)


@law("RFC-0006:C-TREE#S5", on=TREE, history="host_tree")
def kept_counts_are_those_of_the_pages(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """The counts a lane that a node keeps are those of the pages that it has."""
    if before.diverged or call.op != TREE or cause_of(before) not in CAUSES:
        return
    step = before.step(call, answer)
    if {"malformed", *PLACES}.intersection(step.differences):
        return
    for path, node in step.seen.nodes.items() if step.seen is not None else ():
        lanes = range(before.config.cp_size)
        for tier, kept, counted in (
            ("device", node.device_counts, by_lane(before.geometry, node.pages)),
            ("host", node.host_counts, tuple(node.host_lanes.count(lane) for lane in lanes)),
        ):
            if kept != counted:
                yield f"the node to {list(path)} keeps {tier} counts {kept} of pages {counted} by lane"


@law("RFC-0006:C-TREE#S6", on=(TREE, FREE_SLOTS), history="host_tree")
def host_pages_stay_where_they_are(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A host page is at one place of the tree, and the same one until it is given up; till then it is not free."""
    for difference, _ in off(before, call, answer, CAUSES, "host_numbers"):
        yield str(difference)
    if call.op == FREE_SLOTS and not before.diverged and isinstance(answer, Ok):
        free = {slot // before.config.page_size for slot in answer.value}
        if both := sorted(free & before.tree_pages_of(call.lane)):
            yield f"host pages {both} of lane {call.lane} are free, and at a place of the tree"


@law("RFC-0006:C-TREE#S7", on=TREE, history="host_tree")
def recency_is_the_last_tick_that_held_all_of_a_node(
    before: HostTreeState, call: Call, answer: Answer
) -> Iterator[str]:
    """A match or an insert makes the nodes recent that its tokens hold wholly, and no others."""
    for difference, _ in off(before, call, answer, CAUSES, "last_tick"):
        yield f"after {cause_of(before)}, {difference}"


@law("RFC-0006:C-TREE#S8", on=TREE, history="host_tree")
def hits_count_inserts(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """An insert adds a hit to the nodes that its tokens hold wholly, and nothing else does."""
    for difference, _ in off(before, call, answer, CAUSES, "hits"):
        yield f"after {cause_of(before)}, {difference}"


@law("RFC-0006:C-TREE#S9", on=(TREE, LANES, STATISTICS), history="host_tree")
def asking_moves_no_page(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A match, a lock, an unlock and what callers do with their own pages leave every page of the tree in its place."""
    for difference, step in off(before, call, answer, (MATCH, LOCK, UNLOCK, *CALLERS), *PLACES, *PENDING):
        if not has_split(step):
            yield f"after {cause_of(before)}, {difference}"
    for difference, _ in off(before, call, answer, (EVICT, EVICT_HOST, *CALLERS), "locks"):
        yield f"after {cause_of(before)}, {difference}"
    yield from moved(before, call, answer, (MATCH, LOCK, UNLOCK), LANES, STATISTICS)
    yield from moved(before, call, answer, CALLERS, STATISTICS)
    yield from moved(before, call, answer, HOST_CALLERS, TREE, LANES)
    yield from moved(before, call, answer, (ALLOCATE_HOST,), LANES)

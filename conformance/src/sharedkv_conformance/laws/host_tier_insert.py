"""The laws of match, insert and locks: what is found, where each page goes, and what may not leave the device."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.host_tier import Inserted
from sharedkv_conformance.laws.host_tier_backup import Case, shown_after
from sharedkv_conformance.laws.host_tier_parts import (
    EVICT,
    INSERT,
    LOCK,
    MATCH,
    UNLOCK,
    is_small,
    moved,
    not_refused,
    off,
    places_before,
    refused_wrongly,
    wanted,
)
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_tree_state import LANES, STATISTICS, TREE, HostTreeState
from sharedkv_conformance.step import Answer, Call, Ok


@law("RFC-0006:C-MATCH#S1", on=MATCH, history="host_tree")
def a_match_names_the_longest_resident_prefix(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """The device pages of a match are those of the longest prefix of whole pages that is resident, in order."""
    yield from refused_wrongly(before, call, answer, MATCH)
    if (found := wanted(before, call, answer, MATCH)) and found[0].device != found[1].device:
        yield f"a match names device pages {found[1].device}, expected {found[0].device}"


@law("RFC-0006:C-MATCH#S2", on=MATCH, history="host_tree")
def a_match_counts_what_can_be_loaded_back(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Behind the residents a match counts the pages of nodes that are backed up."""
    found = wanted(before, call, answer, MATCH)
    if found and found[0].device == found[1].device and found[0].host != found[1].host:
        yield f"a match counts {found[1].host} host pages behind {len(found[0].device)}, expected {found[0].host}"


@law("RFC-0006:C-MATCH#S3", on=(MATCH, TREE, LANES, STATISTICS), history="host_tree")
def less_than_a_page_matches_nothing(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A match of fewer tokens than a page finds nothing and changes nothing."""
    if call.op == MATCH and not before.diverged and is_small(before, call) and before.deviates(call, answer):
        given = answer.value if isinstance(answer, Ok) else answer.error
        yield f"a match of {len(call.tokens)} tokens, less than a page, is answered with {given}"
    yield from moved(before, call, answer, (f"small {MATCH}",), TREE, LANES, STATISTICS)


def _first_off(expected: Inserted, given: Inserted) -> str:
    """Return the first part of an answer that is wrong; what follows from it is not told again."""
    parts = ("cached", "adopted", "freed", "left")
    return next((part for part in parts if getattr(expected, part) != getattr(given, part)), "")


@law("RFC-0006:C-INSERT#S1", on=INSERT, history="host_tree")
def an_insert_counts_what_was_cached(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """The leading pages that were on the device are counted as cached."""
    if (found := wanted(before, call, answer, INSERT)) and _first_off(*found) == "cached":
        yield f"an insert counts {found[1].cached} pages as cached, expected {found[0].cached}"


@law("RFC-0006:C-INSERT#S2", on=(INSERT, TREE), history="host_tree")
def the_tree_adopts_what_it_does_not_have(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Pages of tokens that are not on the device become the tree's, in nodes that were there and in one that is new."""
    if (found := wanted(before, call, answer, INSERT)) and _first_off(*found) == "adopted":
        yield f"an insert adopts pages {found[1].adopted}, expected {found[0].adopted}"
    for difference, step in off(before, call, answer, (INSERT,), "pages_there", "device"):
        there = places_before(step).get(difference.path)
        gives_way = there is not None and there.lane is not None and shown_after(before) in (Case.EVICTS, Case.SHORT)
        if (there is None or there.device is None) and not gives_way:
            yield str(difference)


@law("RFC-0006:C-INSERT#S3", on=(INSERT, LANES), history="host_tree")
def pages_that_the_tree_has_already_are_free(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Pages for tokens that are on the device become free, those of the tree's own stay."""
    if (found := wanted(before, call, answer, INSERT)) and _first_off(*found) == "freed":
        yield f"an insert frees pages {found[1].freed}, expected {found[0].freed}"
    yield from moved(before, call, answer, (INSERT,), LANES)


@law("RFC-0006:C-INSERT#S4", on=INSERT, history="host_tree")
def a_page_that_is_not_full_stays_with_the_caller(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """What is left to the caller is the page that is not full."""
    if (found := wanted(before, call, answer, INSERT)) and _first_off(*found) == "left":
        yield f"an insert of {len(call.tokens)} tokens leaves pages {found[1].left}, expected {found[0].left}"


@law("RFC-0006:C-INSERT#S5", on=(INSERT, TREE, LANES), history="host_tree")
def less_than_a_page_inserts_nothing(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """An insert of fewer tokens than a page leaves its pages to the caller and the tree as it was."""
    if call.op == INSERT and not before.diverged and is_small(before, call):
        expected = before.step(call, answer).expected
        if isinstance(expected, Ok) and before.deviates(call, answer):
            given = answer.value if isinstance(answer, Ok) else answer.error
            yield f"an insert of {len(call.tokens)} tokens, less than a page, is answered with {given}"
    yield from moved(before, call, answer, (f"small {INSERT}",), TREE, LANES)


@law("RFC-0006:C-INSERT#S6", on=(INSERT, TREE, LANES, STATISTICS), history="host_tree")
def pages_that_cannot_be_the_trees_are_refused(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Pages in a wrong number, foreign, not in use, named twice or of the tree elsewhere are refused, unchanged."""
    yield from not_refused(before, call, answer, INSERT)
    yield from moved(before, call, answer, (f"refused {INSERT}",), TREE, LANES, STATISTICS)


@law("RFC-0006:C-INSERT#S7", on=INSERT, history="host_tree")
def what_can_be_inserted_is(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """An insert with nothing against it is not refused."""
    yield from refused_wrongly(before, call, answer, INSERT)


@law("RFC-0006:C-INSERT#S8", on=INSERT, history="host_tree")
def copies_have_numbers_of_their_own(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A copy that an insert submits has a number that no other in flight has."""
    found = wanted(before, call, answer, INSERT)
    if not found or _first_off(*found) or len(found[0].backups) != len(found[1].backups):
        return
    if found[0].backups != found[1].backups:
        yield f"copies {found[1].backups} are submitted while {sorted(before.model.ledger.copies)} are in flight"


@law("RFC-0006:C-LOCKS#S1", on=LOCK, history="host_tree")
def a_resident_prefix_can_be_locked(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A lock of pages that are on the device is given, with a number that no other lock has."""
    yield from refused_wrongly(before, call, answer, LOCK)
    if (found := wanted(before, call, answer, LOCK)) and found[0] != found[1]:
        yield f"a lock has number {found[1]}, which {'another has' if found[1] >= 0 else 'is none'}"


@law("RFC-0006:C-LOCKS#S2", on=TREE, history="host_tree")
def a_lock_covers_the_whole_way(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Each node of the way is covered by the lock, and no other node."""
    for difference, _ in off(before, call, answer, (LOCK,), "locks"):
        yield str(difference)


@law("RFC-0006:C-LOCKS#S3", on=(LOCK, TREE, LANES, STATISTICS), history="host_tree")
def what_is_not_resident_cannot_be_locked(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A prefix with a whole page that is not on the device is refused, and nothing is locked."""
    yield from not_refused(before, call, answer, LOCK)
    yield from moved(before, call, answer, (f"refused {LOCK}",), TREE, LANES, STATISTICS)


@law("RFC-0006:C-LOCKS#S4", on=(UNLOCK, TREE), history="host_tree")
def an_unlock_lifts_one_lock(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """An unlock takes its lock off every node that it covers, and no other lock."""
    yield from refused_wrongly(before, call, answer, UNLOCK)
    for difference, _ in off(before, call, answer, (UNLOCK,), "locks"):
        yield str(difference)


@law("RFC-0006:C-LOCKS#S5", on=(UNLOCK, TREE, LANES, STATISTICS), history="host_tree")
def a_lock_that_is_not_held_is_refused(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A lock is given up once."""
    if call.op != UNLOCK or call.lock not in before.ended_locks:
        yield from not_refused(before, call, answer, UNLOCK)
    yield from moved(before, call, answer, (f"refused {UNLOCK}",), TREE, LANES, STATISTICS)


@law("RFC-0006:C-LOCKS#S6", on=EVICT, history="host_tree")
def locked_pages_stay_on_the_device(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """No page that a lock covers is evicted."""
    if found := wanted(before, call, answer, EVICT):
        locked = {page for node in before.model.tree.nodes.values() if node.locks for page in node.pages}
        if gone := locked.intersection(found[1].pages):
            yield f"an eviction takes pages {sorted(gone)}, which locks cover"

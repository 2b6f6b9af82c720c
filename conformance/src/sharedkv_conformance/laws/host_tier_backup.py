"""The laws of backups at an insert: which nodes are backed up, what gives way, and where their host pages are."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.host_tier import Inserted
from sharedkv_conformance.laws.host_tier_decisions import (
    HISTORY,
    INSERT,
    LOAD_BACK,
    NOWHERE,
    asked,
    changed,
    hosted,
    is_on_way,
    last_call,
    miscounted,
    places,
    since,
)
from sharedkv_conformance.laws.host_tier_parts import CAUSES, cause_of
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_refusals import is_unknown_config
from sharedkv_conformance.model.host_tier_tree_state import STATISTICS, TREE, HostTreeState, view_of
from sharedkv_conformance.model.host_tier_tree_view import Path, Place
from sharedkv_conformance.step import Answer, Call, Err, Ok
from sharedkv_conformance.trace import OPEN


class Case(StrEnum):
    """How the nodes fit that an insert backs up by the write policy."""

    FITS = "fits"
    EVICTS = "evicts"
    SHORT = "short"
    RESERVED = "reserved"


def backup_case(earlier: HostTierModel, after: HostTierModel, call: Call) -> Case:
    """Return how the backups of an insert fit; those of a request with a reservation are judged by themselves."""
    if call.request in earlier.reservations:
        return Case.RESERVED
    if hosted(earlier) - hosted(after):
        return Case.EVICTS
    way = [node for node, _ in after.tree.walk(call.tokens)]
    return Case.SHORT if after.due_for_backup(way) else Case.FITS


def shown_after(before: HostTreeState) -> Case | None:
    """Return the case of the last call, if it was an insert that succeeded."""
    last = since(before, INSERT)
    if last is None or not isinstance(last.expected, Ok):
        return None
    return backup_case(last.earlier, last.after, last_call(before))


def _submitted(before: HostTreeState, call: Call, answer: Answer, *cases: Case) -> tuple[int, int] | None:
    """Return how many backups an insert has to submit and how many it did, where that alone may be wrong."""
    step = asked(before, call, answer, INSERT)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return None
    if _but_backups(step.expected.value) != _but_backups(answer.value):
        return None
    case = backup_case(before.model, step.after, call)
    return (len(step.expected.value.backups), len(answer.value.backups)) if case in cases else None


def _but_backups(inserted: Inserted) -> tuple[object, ...]:
    return (inserted.cached, inserted.adopted, inserted.freed, inserted.left)


def _misplaced(before: HostTreeState, call: Call, answer: Answer) -> Iterator[tuple[Path, Place, Place]]:
    """Yield pages that are elsewhere on the host than the last insert has to leave them.

    Of pages that are not in the tree and have to be, or the other way round, those that were on the host alone.
    """
    last, tokens = since(before, INSERT), last_call(before).tokens
    there = hosted(last.earlier) - _resident(last.earlier) if last else set()
    for path, want, have in places(before, call, answer):
        is_host_only = path in there and not is_on_way(path, tokens)
        if want.lane != have.lane and (is_host_only or NOWHERE not in (want, have)):
            yield path, want, have


def _resident(model: HostTierModel) -> set[Path]:
    """Return the paths of the pages that have a device page."""
    found = view_of(model).places
    return {path for path, place in found.items() if place.device is not None}


def _newly_backed_up(before: HostTreeState, call: Call, answer: Answer) -> Iterator[tuple[str, bool]]:
    """Yield pages of the way that got a host page and must not have, or the other way round: where, and which."""
    last = since(before, INSERT)
    there = hosted(last.earlier) if last else set()
    for path, want, have in _misplaced(before, call, answer):
        if path not in there and None in (want.lane, have.lane):
            yield f"page {list(path)}", have.lane is not None


def _host_side(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Yield what an insert left otherwise on the host than it has to, but for lanes of what it backed up."""
    for path, want, have in _misplaced(before, call, answer):
        if None in (want.lane, have.lane):
            yield f"page {list(path)} has its host page on lane {have.lane}, expected {want.lane}"
    yield from _pending(before, call, answer)


def newly_pending(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Yield nodes without host pages before the last insert whose backup is pending and must not be, or is not."""
    last, differences = since(before, INSERT), before.step(call, answer).differences
    there = hosted(last.earlier) if last else set()
    for difference in differences.get("backup_pending", ()) if "malformed" not in differences else ():
        if difference.path not in there:
            yield str(difference)


def _pending(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Yield nodes that wait for a backup and must not, or the other way round."""
    if "malformed" not in before.step(call, answer).differences:
        yield from changed(before, call, answer, "backup_pending")


@law("RFC-0006:C-BACKUP#S1", on=(INSERT, TREE), history=HISTORY)
def nodes_with_enough_hits_are_backed_up(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Each node of the way whose hits reach the threshold, and the copy is in flight."""
    if call.op == TREE:
        if shown_after(before) is Case.FITS:
            pages = _newly_backed_up(before, call, answer)
            yield from (f"{where} is not backed up" for where, is_backed_up in pages if not is_backed_up)
            yield from newly_pending(before, call, answer)
    elif (counts := _submitted(before, call, answer, Case.FITS)) and counts[1] < counts[0]:
        yield f"{counts[1]} backups are submitted, expected {counts[0]}"


@law("RFC-0006:C-BACKUP#S2", on=(INSERT, TREE), history=HISTORY)
def other_nodes_are_not_backed_up(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A node that is not asked for often enough takes no host page from one that is."""
    if call.op == TREE:
        if shown_after(before) is Case.FITS:
            pages = _newly_backed_up(before, call, answer)
            yield from (f"{where} is backed up" for where, is_backed_up in pages if is_backed_up)
    elif (counts := _submitted(before, call, answer, Case.FITS)) and counts[1] > counts[0]:
        yield f"{counts[1]} backups are submitted, expected {counts[0]}"


@law("RFC-0006:C-BACKUP#S3", on=(INSERT, TREE), history=HISTORY)
def one_eviction_makes_room_for_backups(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Planned for all nodes of the way together, and nobody of the way goes."""
    if call.op == TREE:
        if shown_after(before) is Case.EVICTS:
            yield from _host_side(before, call, answer)
    elif (counts := _submitted(before, call, answer, Case.EVICTS)) and counts[0] != counts[1]:
        yield f"{counts[1]} backups are submitted, expected {counts[0]} after one eviction"


@law("RFC-0006:C-BACKUP#S4", on=(INSERT, TREE), history=HISTORY)
def backups_that_do_not_fit_evict_nobody(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Those that fit are backed up from the root down, up to the first that does not."""
    if call.op == TREE:
        if shown_after(before) is Case.SHORT:
            yield from _host_side(before, call, answer)
    elif (counts := _submitted(before, call, answer, Case.SHORT)) and counts[0] != counts[1]:
        yield f"{counts[1]} backups are submitted where not all fit, expected {counts[0]}"


@law("RFC-0006:C-BACKUP#S8", on=(TREE, STATISTICS), history=HISTORY)
def host_pages_lie_on_the_lanes_of_device_pages(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """One for each page, in the order of tokens; and no page more is taken."""
    if call.op == STATISTICS:
        if shown_after(before) not in (None, Case.RESERVED):
            yield from miscounted(before, call, answer)
    elif not before.diverged and cause_of(before) in (*CAUSES, LOAD_BACK):
        for path, want, have in places(before, call, answer):
            if want.lane != have.lane and None not in (want.lane, have.lane):
                yield f"page {list(path)} has its host page on lane {have.lane}, its device page on {want.lane}"


@law("RFC-0006:C-BACKUP#S9", on=OPEN, history=HISTORY)
def unknown_policies_are_refused(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A policy that nobody knows backs nothing up, and nobody notices."""
    refused = isinstance(answer, Err) and isinstance(answer.error, Rejected)
    named = refused and isinstance(answer, Err) and answer.error.reason == Reason.HOST_CONFIG_INVALID  # type: ignore[attr-defined]
    host = before.config.host
    if is_unknown_config(before.config) != named:
        got = str(answer.error) if isinstance(answer, Err) else "it is opened"
        yield f"write policy {host.write!r}, layout {host.layout!r}: {got}"

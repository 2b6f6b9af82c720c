"""The laws of backups at an eviction of the device, under `write_back`."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.laws.host_tier_decisions import (
    EVICTIONS,
    HISTORY,
    MAKE_ROOM,
    NOWHERE,
    changed,
    miscounted,
    places,
    since,
    succeeds,
)
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_tree_state import COPIES, STATISTICS, TREE, HostTreeState
from sharedkv_conformance.model.host_tier_tree_view import FIELDS
from sharedkv_conformance.step import Answer, Call

NOT_OF_A_BACKUP = tuple(name for name in FIELDS if name not in ("pages_there", "host", "backup_pending"))
"""In what a tree can differ after an eviction that says nothing of backups."""


def writes_back(before: HostTreeState) -> bool:
    """Say whether the last call evicted from a device whose victims are backed up first."""
    last = since(before, *EVICTIONS)
    return last is not None and succeeds(last) and before.config.host.write == "write_back"


@law("RFC-0006:C-BACKUP#S5", on=(TREE, STATISTICS), history=HISTORY)
def victims_are_written_back_first(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A victim keeps its tokens on the host, below nodes that keep theirs."""
    if not writes_back(before):
        return
    if call.op == STATISTICS:
        yield from miscounted(before, call, answer)
        return
    for path, want, have in places(before, call, answer):
        is_elsewhere = want.lane != have.lane and (None in (want.lane, have.lane) or before.cause() == MAKE_ROOM)
        if want != NOWHERE and (have == NOWHERE or is_elsewhere):
            yield f"after an eviction page {list(path)} is at {tuple(have)}, expected {tuple(want)}"


@law("RFC-0006:C-BACKUP#S6", on=TREE, history=HISTORY)
def a_failed_backup_is_none(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A node that the host had no room for leaves the tree with its device pages."""
    if writes_back(before):
        differences = before.step(call, answer).differences
        lost = [message for message in differences.get("pages_there", ()) if "must not" in message]
        yield from (f"after an eviction that could not be backed up {message}" for message in lost)


@law("RFC-0006:C-BACKUP#S7", on=(TREE, COPIES), history=HISTORY)
def an_eviction_waits_for_its_copies(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Pages that are still read are not free."""
    if not writes_back(before):
        return
    if call.op == TREE:
        yield from changed(before, call, answer, "backup_pending")
    elif before.deviates(call, answer):
        yield "copies of an eviction are in flight after it"

"""The laws of load-back: what is loaded, onto which pages, after which eviction, and what a failure leaves."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.host_tier import LoadBack
from sharedkv_conformance.laws.host_tier_decisions import (
    HISTORY,
    LOAD_BACK,
    asked,
    changed,
    is_error,
    miscounted,
    off,
    places,
    since,
)
from sharedkv_conformance.laws.host_tier_write_back import NOT_OF_A_BACKUP
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_pool import fits
from sharedkv_conformance.model.host_tier_tree_state import LANES, STATISTICS, TREE, HostTreeState, Step
from sharedkv_conformance.model.lane_pages import FREE
from sharedkv_conformance.step import Answer, Call, Ok

SKIPPED = -1
COUNTS = ("device_counts", "host_counts")
BESIDE_PLACES = tuple(name for name in NOT_OF_A_BACKUP if name not in ("device", *COUNTS))
"""In what a tree can differ beside the places of pages and their backups."""


def loaded(step: Step | None) -> LoadBack | None:
    """Return what has to be loaded; None where the call fails or is skipped."""
    if step is None or not isinstance(step.expected, Ok):
        return None
    value: LoadBack = step.expected.value
    return value if value.copy != SKIPPED else None


def is_skipped(step: Step) -> bool:
    """Say whether the call has to be answered and do nothing."""
    return isinstance(step.expected, Ok) and step.expected.value.copy == SKIPPED


def has_room(before: HostTreeState, call: Call) -> bool:
    """Say whether what a load-back needs is free without an eviction."""
    lanes = before.model.load_lanes(before.model.to_load(before.model.tree.walk(call.tokens)))
    need = [lanes.count(lane) for lane in range(before.config.cp_size)]
    return fits(need, before.model.allocation.pages.counts(FREE))


def _pages(answer: Answer) -> tuple[int, ...] | None:
    """Return the pages of an answer that says that something is loaded."""
    return answer.value.pages if isinstance(answer, Ok) and answer.value.copy != SKIPPED else None


@law("RFC-0006:C-LOAD-BACK#S1", on=LOAD_BACK, history=HISTORY)
def all_that_can_be_loaded_is(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """No page fewer than a match counts, and no page more."""
    wanted = loaded(asked(before, call, answer, LOAD_BACK))
    if wanted is None:
        return
    got = _pages(answer)
    if got is None:
        if has_room(before, call):
            yield from off(before.step(call, answer), answer)
    elif len(got) != len(wanted.pages):
        yield f"{len(got)} pages are loaded, expected {len(wanted.pages)}"


@law("RFC-0006:C-LOAD-BACK#S2", on=LOAD_BACK, history=HISTORY)
def pages_are_loaded_onto_the_lanes_of_their_host_pages(
    before: HostTreeState, call: Call, answer: Answer
) -> Iterator[str]:
    """In the same order: the rank of a lane has what it loads in its own memory."""
    wanted, got = loaded(asked(before, call, answer, LOAD_BACK)), _pages(answer)
    if wanted and got and len(got) == len(wanted.pages) and all(map(before.geometry.holds, got)):
        lanes, found = before.model.lanes_of(wanted.pages), before.model.lanes_of(got)
        if lanes != found:
            yield f"pages {list(got)} lie on lanes {list(found)}, expected {list(lanes)}"


@law("RFC-0006:C-LOAD-BACK#S3", on=(LOAD_BACK, LANES), history=HISTORY)
def pages_are_loaded_into_free_ones(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A page that somebody reads is not loaded into, and none is loaded into twice."""
    if call.op == LANES:
        if loaded(since(before, LOAD_BACK)):
            yield from miscounted(before, call, answer)
        return
    step = asked(before, call, answer, LOAD_BACK)
    got = _pages(answer)
    if step is None or got is None or loaded(step) is None:
        return
    if len(set(got)) < len(got):
        yield f"pages {list(got)} are not all different"
    for page in got:
        if not before.geometry.holds(page) or not _becomes_free(before, step, page):
            yield f"page {page} is loaded into and was not free"


def _becomes_free(before: HostTreeState, step: Step, page: int) -> bool:
    """Say whether a page is free, or the tree's and given up by the eviction that the load-back makes."""
    if before.model.allocation.pages.state(page) == FREE:
        return True
    later = {before.model.tree.path(node): node for node in before.model.tree.nodes.values() if page in node.pages}
    kept = {step.after.tree.path(node): node.pages for node in step.after.tree.nodes.values()}
    return bool(later) and all(page not in kept.get(path, ()) for path in later)


@law("RFC-0006:C-LOAD-BACK#S4", on=(LOAD_BACK, TREE, STATISTICS), history=HISTORY)
def one_eviction_makes_room_for_a_load_back(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """All or nothing, for what lanes lack, and off the way."""
    if (wanted := loaded(asked(before, call, answer, LOAD_BACK))) is not None:
        if _pages(answer) is None and not has_room(before, call):
            yield f"{len(wanted.pages)} pages fit after an eviction: {''.join(off(before.step(call, answer), answer))}"
        return
    if (load := loaded(since(before, LOAD_BACK))) is None:
        return
    hosts_too = before.config.host.write != "write_back"
    if call.op == STATISTICS and hosts_too:
        yield from miscounted(before, call, answer)
    elif call.op == TREE:
        for path, want, have in places(before, call, answer):
            differs = want.device != have.device or (hosts_too and None in (want.lane, have.lane))
            if want.device not in load.pages and differs:
                yield f"after a load-back page {list(path)} is at {tuple(have)}, expected {tuple(want)}"
            elif want.device in load.pages and have.lane is None and _gave_way(before):
                yield f"a load-back takes the host page of page {list(path)}, which it loads"


def _gave_way(before: HostTreeState) -> bool:
    """Say whether the last call had to take device pages of the tree."""
    step = since(before, LOAD_BACK)
    if step is None:
        return False
    earlier, after = step.earlier.view().places, step.after.view().places
    return any(
        place.device is not None and (path not in after or after[path].device is None)
        for path, place in earlier.items()
    )


@law("RFC-0006:C-LOAD-BACK#S5", on=LOAD_BACK, history=HISTORY)
def a_load_back_without_room_waits(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """The wait says what is missing on which lane, and what an eviction would free is counted."""
    if (step := asked(before, call, answer, LOAD_BACK)) and is_error(step):
        yield from off(step, answer)


@law("RFC-0006:C-LOAD-BACK#S6", on=(TREE, STATISTICS, LANES), history=HISTORY)
def a_load_back_that_waits_leaves_no_trace(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """No lock, no page and no victim."""
    if (last := since(before, LOAD_BACK)) and is_error(last):
        yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)


@law("RFC-0006:C-LOAD-BACK#S7", on=(LOAD_BACK, TREE, STATISTICS, LANES), history=HISTORY)
def what_is_not_worth_loading_is_skipped(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Too few pages, or too many at a time, change nothing."""
    if step := asked(before, call, answer, LOAD_BACK):
        if is_skipped(step):
            yield from off(step, answer)
    elif (last := since(before, LOAD_BACK)) and is_skipped(last):
        yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)


@law("RFC-0006:C-LOAD-BACK#S8", on=TREE, history=HISTORY)
def loaded_nodes_are_resident_and_pending(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """From the answer on: others find them, and nobody evicts them on either tier."""
    if (load := loaded(since(before, LOAD_BACK))) is None:
        return
    is_elsewhere = any(name in before.step(call, answer).differences for name in ("pages_there", "device", "host"))
    yield from changed(before, call, answer, *(BESIDE_PLACES if is_elsewhere else (*BESIDE_PLACES, *COUNTS)))
    if before.config.host.write != "write_back":
        yield from changed(before, call, answer, "backup_pending")
    for path, want, have in places(before, call, answer):
        if want.device in load.pages:
            yield f"page {list(path)} is loaded into device page {have.device}, expected {want.device}"

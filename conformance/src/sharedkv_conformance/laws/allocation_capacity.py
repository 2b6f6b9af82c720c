"""The laws of capacity: when a batch is served, waits or makes others give way, and the room kept ahead of it."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import CapacityWait
from sharedkv_conformance.laws.allocation import EXTEND
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.allocation import by_lane, room_to_make
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.lane_pages import EVICTABLE
from sharedkv_conformance.step import Answer, Call, Err, Ok

ADMIT = "allocation.admit"
MAKE_ROOM = "allocation.make_room"


def _fits(required: tuple[int, ...], available: tuple[int, ...]) -> bool:
    return all(need <= have for need, have in zip(required, available, strict=True))


def _waits(answer: Answer) -> bool:
    return isinstance(answer, Err) and isinstance(answer.error, CapacityWait)


def _figures(before: AllocationState, call: Call) -> str:
    return f"required {before.required(call)}, free {before.free}, evictable {before.evictable} by lane"


def _deficit(before: AllocationState, call: Call) -> tuple[int, ...]:
    return tuple(max(0, need - free) for need, free in zip(before.required(call), before.free, strict=True))


def _evicted(before: AllocationState, answer: Answer) -> tuple[int, ...] | None:
    """Return how many pages of each lane a call evicted, or None when it was answered with an error."""
    if not isinstance(answer, Ok):
        return None
    return by_lane(before.geometry, map(before.geometry.lane, answer.value.evicted))


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S1", on=EXTEND)
def evictable_pages_give_way(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A batch does not wait for pages that only hold cache."""
    if before.refusals(call) or not _waits(answer) or _fits(before.required(call), before.free):
        return
    if _fits(before.required(call), before.room):
        yield f"waits although evictable pages cover the deficit: {_figures(before, call)}"


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S2", on=EXTEND)
def a_short_lane_means_capacity_wait(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Running out is a recoverable answer, neither fatal nor served from elsewhere."""
    if not before.refusals(call) and not _fits(before.required(call), before.room) and not _waits(answer):
        got = f"pages {list(answer.value.pages)}" if isinstance(answer, Ok) else str(answer.error)
        yield f"expected a capacity wait, got {got}: {_figures(before, call)}"


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S3", on=EXTEND)
def a_capacity_wait_says_what_is_missing_where(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Whoever waits can see for which lane, and how many pages."""
    if before.refusals(call) or not (isinstance(answer, Err) and isinstance(answer.error, CapacityWait)):
        return
    required, available = before.required(call), before.room
    deficit = tuple(max(0, need - have) for need, have in zip(required, available, strict=True))
    found = (answer.error.required, answer.error.available, answer.error.deficit)
    if found != (required, available, deficit):
        yield f"required, available, deficit by lane: {found}, expected {(required, available, deficit)}"


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S4", on="probe.pages")
def a_failed_attempt_moves_no_page(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """After an attempt that waits, each lane holds the same pages in each state."""
    if not isinstance(answer, Ok) or before.last is None or before.last[0].op != EXTEND or not _waits(before.last[1]):
        return
    for state in ("free", "evictable", "in_use"):
        found = [set(lane) for lane in getattr(answer.value, state)]
        wanted = [set(lane) for lane in before.pages.by_lane(state)]
        for lane, (has, should) in enumerate(zip(found, wanted, strict=False)):
            if has != should:
                moved = sorted(has ^ should)
                yield f"after a capacity wait, {state} pages of lane {lane} differ by {moved}"


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S5", on=EXTEND)
def free_pages_serve_the_batch(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A batch whose pages are free on every lane does not wait, also after an earlier wait."""
    if not before.refusals(call) and _waits(answer) and _fits(before.required(call), before.free):
        yield f"waits although every lane has the pages free: {_figures(before, call)}"


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S6", on=ADMIT)
def admission_is_decided_lane_by_lane(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A sum over lanes over-commits the fullest one; a minimum over lanes refuses what fits."""
    if before.refusals(call):
        return
    if not isinstance(answer, Ok):
        yield f"admission of a plannable batch was answered with {answer.error}"
        return
    required, available = before.required(call), before.room
    deficit = tuple(max(0, need - have) for need, have in zip(required, available, strict=True))
    wanted = (_fits(required, available), required, available, deficit)
    found = (answer.value.fits, answer.value.required, answer.value.available, answer.value.deficit)
    if found != wanted:
        yield f"fits, required, available, deficit by lane: {found}, expected {wanted}"


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S7", on=EXTEND)
def lanes_without_deficit_keep_their_cache(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A page of another lane does not help the lane that is short."""
    evicted = _evicted(before, answer)
    if evicted is None or before.refusals(call):
        return
    for lane, (gone, short) in enumerate(zip(evicted, _deficit(before, call), strict=True)):
        if gone and not short:
            yield f"evicted {gone} pages of lane {lane}, which had no deficit: {_figures(before, call)}"


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S8", on=EXTEND)
def no_more_than_the_deficit_is_evicted(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Warm prefixes survive an allocation that does not need their pages."""
    evicted = _evicted(before, answer)
    if evicted is None or before.refusals(call):
        return
    for lane, (gone, short) in enumerate(zip(evicted, _deficit(before, call), strict=True)):
        if short and gone > short:
            yield f"evicted {gone} pages of lane {lane}, whose deficit was {short}: {_figures(before, call)}"


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S9", on=(EXTEND, MAKE_ROOM))
def only_retained_pages_are_evicted(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A page in use would be overwritten under the request that reads it."""
    if isinstance(answer, Ok):
        for page in answer.value.evicted:
            if not before.geometry.holds(page) or before.pages.state(page) != EVICTABLE:
                yield f"page {page} was evicted but was not evictable"


def _room(before: AllocationState, call: Call, answer: Answer) -> Iterator[tuple[int, int, int, int]]:
    """Yield lane, pages evicted, pages the policy asks for, and evictable pages of each lane."""
    evicted = _evicted(before, answer)
    if evicted is None or before.refusals(call):
        return
    for lane, (required, free) in enumerate(zip(before.required(call), before.free, strict=True)):
        yield lane, evicted[lane], room_to_make(before.config, required, free), before.evictable[lane]


@law("RFC-0001:C-FREE-ROOM#S1", on=MAKE_ROOM)
def room_is_made_only_when_the_pending_batch_leaves_too_little(
    before: AllocationState, call: Call, answer: Answer
) -> Iterator[str]:
    """The trigger counts the pending batch: free less required, against the target."""
    for lane, gone, asked, evictable in _room(before, call, answer):
        acts = asked > 0 and evictable > 0
        if acts != (gone > 0):
            should = "be made" if acts else "not be made"
            yield f"room should {should} on lane {lane}, evicted {gone}: {_policy(before)}, {_figures(before, call)}"


@law("RFC-0001:C-FREE-ROOM#S2", on=MAKE_ROOM)
def room_is_made_in_chunks_and_never_beyond_the_need(
    before: AllocationState, call: Call, answer: Answer
) -> Iterator[str]:
    """The larger of the least chunk and the exact shortage, as far as there are evictable pages."""
    for lane, gone, asked, evictable in _room(before, call, answer):
        if gone and asked and gone != min(asked, evictable):
            wanted = min(asked, evictable)
            yield f"evicted {gone} of lane {lane}, expected {wanted}: {_policy(before)}, {_figures(before, call)}"


@law("RFC-0001:C-FREE-ROOM#S3", on=MAKE_ROOM)
def a_free_room_shortfall_is_no_failure(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Room that cannot be made is not missing yet; only an extend may wait."""
    if isinstance(answer, Err) and not before.refusals(call):
        yield f"making room was answered with {answer.error}: {_figures(before, call)}"


def _policy(before: AllocationState) -> str:
    return f"target {before.config.free_room.target}, least chunk {before.config.free_room.min_chunk}"

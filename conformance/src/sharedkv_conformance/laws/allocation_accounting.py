"""The laws of accounting: every page counted once, given back once, and never in two hands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from operator import sub

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.laws.allocation import BATCH_CALLS, EXTEND, granted
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.allocation import misnamed
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE, IN_USE
from sharedkv_conformance.step import Answer, Call, Err, Ok

LANES = "allocation.lanes"
RETAIN = "allocation.retain"
RELEASE = "allocation.release"
RELEASE_LOCATIONS = "allocation.release_locations"
FLAT = "allocation.allocate_flat"
RESTORE = "allocation.restore"


def _unaccounted(before: AllocationState, answer: Answer, cause: Callable[[Call, Answer], bool]) -> Iterator[str]:
    """Yield where the statistics left what answers say, if they did so at a last call of the cause asked for."""
    if not isinstance(answer, Ok) or before.lanes_seen is None or before.last is None:
        return
    call, given = before.last
    if not cause(call, given):
        return
    for state, counted in before.counts().items():
        found, seen = getattr(answer.value, state), getattr(before.lanes_seen, state)
        off = tuple(map(sub, found, counted))
        if any(off) and off != tuple(map(sub, seen, before.counts_seen[state])):
            told = "succeeded" if isinstance(given, Ok) else f"was answered with {given.error}"
            yield f"{call.op} {told}; then {state} pages by lane are {found}, expected {counted}"


def _failed(given: Answer, kind: type[Exception]) -> bool:
    return isinstance(given, Err) and isinstance(given.error, kind)


@law("RFC-0001:C-CAPACITY-AND-EVICTION#S4", on=LANES)
def a_failed_attempt_changes_no_count(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """An attempt that waits leaves every lane as it was, for the whole batch."""
    yield from _unaccounted(before, answer, lambda c, a: c.op == EXTEND and _failed(a, CapacityWait))


@law("RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S2", on=LANES)
def a_refused_batch_touches_no_page(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A batch that cannot be planned is refused before the pool is touched."""
    yield from _unaccounted(before, answer, lambda c, a: c.op in BATCH_CALLS and _failed(a, Rejected))


@law("RFC-0001:C-CONSERVATION#S1", on=(LANES, EXTEND))
def lanes_have_equal_capacity_and_no_surplus(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Pages beyond a multiple of the CP size stay unused."""
    if not isinstance(answer, Ok):
        return
    wanted = (before.geometry.lane_pages,) * before.geometry.cp_size
    if call.op == LANES and answer.value.capacity != wanted:
        yield f"lane capacities {answer.value.capacity}, expected {wanted}"
    if call.op == EXTEND and (beyond := [page for page in answer.value.pages if page > sum(wanted)]):
        yield f"pages {beyond} lie beyond the last full row of lanes, page {sum(wanted)}"


@law("RFC-0001:C-CONSERVATION#S2", on=LANES)
def each_page_is_counted_once(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Free, evictable and used pages of a lane sum to its capacity, at all times."""
    if isinstance(answer, Ok):
        found = answer.value
        for lane, parts in enumerate(zip(found.free, found.evictable, found.in_use, found.capacity, strict=False)):
            if sum(parts[:3]) != parts[3] or min(parts) < 0:
                yield f"lane {lane}: free {parts[0]} + evictable {parts[1]} + in use {parts[2]} is not {parts[3]}"


@law("RFC-0001:C-CONSERVATION#S3", on=EXTEND)
def no_page_is_in_two_hands(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A new page was free, or gave way in the same call, and is given once."""
    found = granted(before, call, answer)
    if found is None:
        return
    for page, times in Counter(found.pages).items():
        if not before.geometry.holds(page) or page in before.flat:
            continue
        if times > 1:
            yield f"page {page} is given {times} times in one answer"
        elif page not in found.evicted and (state := before.pages.state(page)) != FREE:
            yield f"page {page} is given although it is {'in use' if state == IN_USE else 'retained'}"


@law("RFC-0001:C-CONSERVATION#S4", on=LANES)
def statistics_move_by_what_the_answer_says(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Allocation, eviction and retention move the pages that they name, and questions move none."""
    moves = (EXTEND, RETAIN, "allocation.make_room", "allocation.admit", "allocation.owners", "allocation.snapshot")
    yield from _unaccounted(before, answer, lambda c, a: c.op in moves and isinstance(a, Ok))


@law("RFC-0001:C-CONSERVATION#S5", on=LANES)
def a_restored_snapshot_covers_every_lane(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """After a restore every lane is as it was, not only the one that moved last."""
    yield from _unaccounted(before, answer, lambda c, a: c.op == RESTORE and isinstance(a, Ok))


@law("RFC-0001:C-CONSERVATION#S6", on=(LANES, FLAT, EXTEND))
def allocation_without_owners_keeps_the_lanes_right(
    before: AllocationState, call: Call, answer: Answer
) -> Iterator[str]:
    """Pages without owners are refused, or taken from their lanes like any others."""
    if call.op == LANES:
        yield from _unaccounted(before, answer, lambda c, a: c.op == FLAT)
    elif call.op == FLAT and isinstance(answer, Ok):
        taken = [page for page in answer.value if not before.geometry.holds(page) or before.pages.state(page) != FREE]
        if taken or len(set(answer.value)) != call.num_pages:
            yield f"{call.num_pages} pages without owners: got {list(answer.value)}, of which {taken} were not free"
    elif call.op == EXTEND and isinstance(answer, Ok):
        for page in sorted(before.flat.intersection(answer.value.pages).difference(answer.value.evicted)):
            yield f"page {page} is given although an allocation without owners holds it"


@law("RFC-0001:C-RELEASE#S1", on=(RELEASE, LANES))
def released_pages_return_to_their_own_lane(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Each page given back is free again on the lane that its id names, once."""
    if call.op == LANES:
        yield from _unaccounted(before, answer, lambda c, a: c.op == RELEASE and isinstance(a, Ok))
    elif isinstance(answer, Err) and not _misnamed(before, call):
        yield f"release of allocated pages {list(call.pages)} was answered with {answer.error}"


@law("RFC-0001:C-RELEASE#S2", on=(RELEASE_LOCATIONS, LANES))
def locations_in_one_page_release_it_once(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """Body and tail of one page give back one page."""
    if call.op == LANES:
        yield from _unaccounted(before, answer, lambda c, a: c.op == RELEASE_LOCATIONS and isinstance(a, Ok))
    elif isinstance(answer, Err) and not _misnamed(before, call):
        yield f"release of locations {list(call.locations)} was answered with {answer.error}"


@law("RFC-0001:C-RELEASE#S3", on=(RELEASE, RELEASE_LOCATIONS, RETAIN, LANES))
def double_free_and_foreign_pages_are_refused(before: AllocationState, call: Call, answer: Answer) -> Iterator[str]:
    """A page that is not allocated, named twice or outside the pool is refused by name, and nothing moves."""
    if call.op == LANES:
        releases = (RELEASE, RELEASE_LOCATIONS, RETAIN)
        yield from _unaccounted(before, answer, lambda c, a: c.op in releases and _failed(a, Rejected))
        return
    reasons = _misnamed(before, call)
    wanted = f"expected a rejection for {' or '.join(sorted(reasons))}"
    if reasons and isinstance(answer, Ok):
        yield f"{call.op} of {_named(call)}: {wanted}, it succeeded"
    elif reasons and isinstance(answer, Err):
        if not isinstance(answer.error, Rejected) or answer.error.reason not in reasons:
            yield f"{call.op} of {_named(call)}: {wanted}, got {answer.error}"
    elif call.op == RETAIN and isinstance(answer, Err):
        yield f"{call.op} of {_named(call)}, all in use: got {answer.error}"


def _named(call: Call) -> list[int]:
    return list(call.locations if call.op == RELEASE_LOCATIONS else call.pages)


def _misnamed(before: AllocationState, call: Call) -> frozenset[Reason]:
    pages = _named(call)
    if call.op == RELEASE_LOCATIONS:
        pages = list(dict.fromkeys(location // before.geometry.page_size for location in pages))
    allowed = (IN_USE,) if call.op == RETAIN else (IN_USE, EVICTABLE)
    return misnamed(before.geometry, pages, before.pages.state, allowed)

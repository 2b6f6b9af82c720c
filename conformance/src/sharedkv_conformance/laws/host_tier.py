"""The laws of the host pool: who is given which pages, who waits, and what is counted free afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from operator import sub

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_pool import are_counts, missing
from sharedkv_conformance.model.host_tier_state import STATISTICS, HostTierState
from sharedkv_conformance.step import Answer, Call, Err, Ok

ALLOCATE = "host_tier.allocate"
RELEASE = "host_tier.release"
FREE_SLOTS = "host_tier.free_slots"


def waits(answer: Answer) -> bool:
    """Say whether a call has to wait for room."""
    return isinstance(answer, Err) and isinstance(answer.error, CapacityWait)


def rejected(answer: Answer) -> bool:
    """Say whether a call was refused."""
    return isinstance(answer, Err) and isinstance(answer.error, Rejected)


def served(before: HostTierState, call: Call, answer: Answer) -> bool:
    """Say whether an allocation that can be served got the number of pages that it asks of each lane."""
    if not isinstance(answer, Ok) or not before.can_serve(call):
        return False
    return tuple(map(len, answer.value.pages)) == tuple(call.pages)


def _miscounted(before: HostTierState, answer: Answer, cause: Callable[[Call, Answer], bool]) -> Iterator[str]:
    """Yield where the free counts left what answers say, if they did so at a last call of the cause asked for."""
    if not isinstance(answer, Ok) or before.last is None or not cause(*before.last):
        return
    off = tuple(map(sub, answer.value.free, before.free))
    seen = before.statistics_seen
    if any(off) and (seen is None or off != tuple(map(sub, seen.free, before.free_seen))):
        call, given = before.last
        told = "succeeded" if isinstance(given, Ok) else f"was answered with {given.error}"
        yield f"{call.op} {told}; then free pages by lane are {answer.value.free}, expected {before.free}"


@law("RFC-0006:C-HOST-POOL#S1", on=(STATISTICS, ALLOCATE))
def lanes_hold_the_host_pages_of_the_session(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """Pages are numbered from 0 within their lane, and each lane has as many as the session was opened with."""
    if call.op == STATISTICS:
        wanted = (before.config.host_pages,) * before.config.cp_size
        if not isinstance(answer, Ok):
            yield f"statistics were answered with {answer.error}"
        elif answer.value.capacity != wanted:
            yield f"lane capacities {answer.value.capacity}, expected {wanted}"
        elif len(answer.value.free) != len(wanted):
            yield f"free pages {answer.value.free} of {len(wanted)} lanes"
    elif isinstance(answer, Ok):
        for lane, (own, pages) in enumerate(zip(before.lanes, answer.value.pages, strict=False)):
            if beyond := [page for page in pages if not own.holds(page)]:
                yield f"pages {beyond} lie outside lane {lane} with its pages 0 to {own.capacity - 1}"


@law("RFC-0006:C-HOST-POOL#S2", on=ALLOCATE)
def each_lane_gives_what_is_asked_of_it(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """Neither a page fewer, which would be copied over, nor a page more, which nobody would give back."""
    if isinstance(answer, Ok) and before.can_serve(call):
        found = tuple(map(len, answer.value.pages))
        if found != tuple(call.pages):
            yield f"pages by lane {found}, asked for {tuple(call.pages)}"


@law("RFC-0006:C-HOST-POOL#S3", on=ALLOCATE)
def no_host_page_is_in_two_hands(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """A page that is given was free, and is given once."""
    if not isinstance(answer, Ok):
        return
    for lane, (own, pages) in enumerate(zip(before.lanes, answer.value.pages, strict=False)):
        for page, times in Counter(pages).items():
            if times > 1:
                yield f"page {page} of lane {lane} is given {times} times in one answer"
            elif own.holds(page) and not own.is_free(page):
                yield f"page {page} of lane {lane} is given although it is allocated"


@law("RFC-0006:C-HOST-POOL#S4", on=STATISTICS)
def free_counts_move_by_what_is_given(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """An allocation takes the pages that it names from the free ones, and questions take none."""
    moves = (ALLOCATE, FREE_SLOTS)
    yield from _miscounted(before, answer, lambda c, a: c.op in moves and isinstance(a, Ok))


@law("RFC-0006:C-HOST-POOL#S5", on=ALLOCATE)
def a_short_host_lane_means_capacity_wait(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """Running out is a recoverable answer that says what is missing where, and never a part of what was asked."""
    if not before.must_wait(call):
        return
    if not isinstance(answer, Err) or not isinstance(answer.error, CapacityWait):
        got = f"pages {answer.value.pages}" if isinstance(answer, Ok) else str(answer.error)
        yield f"expected a capacity wait for {tuple(call.pages)} of {before.free} free pages by lane, got {got}"
        return
    wanted = (tuple(call.pages), before.free, missing(call.pages, before.free))
    found = (answer.error.required, answer.error.available, answer.error.deficit)
    if found != wanted:
        yield f"required, available, deficit by lane: {found}, expected {wanted}"


@law("RFC-0006:C-HOST-POOL#S6", on=STATISTICS)
def an_allocation_that_waits_takes_nothing(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """Lanes that had room keep their pages when another lane had none."""
    yield from _miscounted(before, answer, lambda c, a: c.op == ALLOCATE and waits(a))


@law("RFC-0006:C-HOST-POOL#S7", on=ALLOCATE)
def free_host_pages_serve(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """Whatever is free can be had, to the last page and in whatever pieces it lies."""
    if before.can_serve(call) and isinstance(answer, Err):
        yield f"{tuple(call.pages)} of {before.free} free pages by lane: answered with {answer.error}"


@law("RFC-0006:C-HOST-POOL#S8", on=(RELEASE, STATISTICS))
def a_released_host_page_is_free_again(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """What is given back can be had again, on its own lane."""
    if call.op == STATISTICS:
        yield from _miscounted(before, answer, lambda c, a: c.op == RELEASE and isinstance(a, Ok))
    elif isinstance(answer, Err) and before.has_lane(call.lane) and not before.misnamed(call):
        yield f"release of allocated pages {list(call.pages)} of lane {call.lane} was answered with {answer.error}"


@law("RFC-0006:C-HOST-POOL#S9", on=(RELEASE, STATISTICS))
def misnamed_host_pages_are_refused(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """A page that is not allocated, outside its lane or named twice is refused by name, and nothing moves."""
    if call.op == STATISTICS:
        yield from _miscounted(before, answer, lambda c, a: c.op == RELEASE and rejected(a) and before.has_lane(c.lane))
    elif reasons := before.misnamed(call):
        wanted = f"expected a rejection for {' or '.join(sorted(reasons))}"
        if isinstance(answer, Ok):
            yield f"release of {list(call.pages)} of lane {call.lane}: {wanted}, it succeeded"
        elif not isinstance(answer.error, Rejected) or answer.error.reason not in reasons:
            yield f"release of {list(call.pages)} of lane {call.lane}: {wanted}, got {answer.error}"


@law("RFC-0006:C-HOST-POOL#S10", on=(ALLOCATE, RELEASE, FREE_SLOTS, STATISTICS))
def what_names_no_lanes_is_refused(before: HostTierState, call: Call, answer: Answer) -> Iterator[str]:
    """Counts that are not one a lane, and a lane that is not there, are refused by name, and nothing moves."""
    if call.op == STATISTICS:
        yield from _miscounted(before, answer, lambda c, a: rejected(a) and _lane_fault(before, c) is not None)
        return
    wanted = _lane_fault(before, call)
    if wanted is None:
        return
    if isinstance(answer, Ok) or not isinstance(answer.error, Rejected) or answer.error.reason != wanted:
        got = "it succeeded" if isinstance(answer, Ok) else f"got {answer.error}"
        yield f"{call.op} of {dict(call.args)} with {before.config.cp_size} lanes: expected {wanted}, {got}"


def _lane_fault(before: HostTierState, call: Call) -> Reason | None:
    """Return why the lanes that a call speaks of are none of the pool's."""
    if call.op == ALLOCATE:
        return None if are_counts(before.config, call.pages) else Reason.HOST_COUNTS_INVALID
    if call.op == STATISTICS:
        return None
    return None if before.has_lane(call.lane) else Reason.LANE_UNKNOWN

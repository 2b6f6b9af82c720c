"""The laws of pages under a transfer: nobody is given them, they are in use, and what was asked for them happens later.

Which pages are pinned is open to a page: an implementation may pin a chunk as a whole until nothing of it is left, or
let go each page that nothing reads any more. A law speaks of pages that are pinned, or free again, either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sharedkv_conformance.contract.allocation import LaneStatistics
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.allocation import by_lane
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE
from sharedkv_conformance.model.sending_state import EXTEND, LANES, SendingState
from sharedkv_conformance.step import Answer, Call, Err, Ok

GIVEN_BACK = ("allocation.release", "allocation.retain", "allocation.release_locations")
Counts = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The least and the most that may be counted on each lane."""

    least: Counts
    most: Counts

    def below(self, counts: Sequence[int]) -> bool:
        """Say whether a lane has less."""
        return any(have < least for have, least in zip(counts, self.least, strict=False))

    def above(self, counts: Sequence[int]) -> bool:
        """Say whether a lane has more."""
        return any(have > most for have, most in zip(counts, self.most, strict=False))

    def __str__(self) -> str:
        return f"{list(self.least)} to {list(self.most)}"


def used_bounds(before: SendingState) -> Bounds:
    """Return how many pages of each lane may be in use."""
    most = before.allocation.lanes().in_use
    unsure = _unsure(before, FREE, EVICTABLE)
    return Bounds(least=tuple(have - open_ for have, open_ in zip(most, unsure, strict=True)), most=most)


def given_back_bounds(before: SendingState, state: str) -> Bounds:
    """Return how many pages of each lane may be free, or evictable."""
    lanes = before.allocation.lanes()
    least = lanes.free if state == FREE else lanes.evictable
    return Bounds(least=least, most=tuple(map(sum, zip(least, _unsure(before, state), strict=True))))


def _unsure(before: SendingState, *states: str) -> Counts:
    """Count on each lane the pages that may have become what was asked for them, or wait for it."""
    soon = before.allocation.deferred
    geometry = before.geometry
    return by_lane(geometry, (geometry.lane(page) for page in before.unsure_pages() if soon[page] in states))


def pages_named(before: SendingState, call: Call) -> tuple[int, ...]:
    """Return the pages that are given back by a call."""
    return before.allocation.pages_of(call.locations) if "locations" in call.args else tuple(call.pages)


def pages_asked_again(before: SendingState, call: Call) -> list[int]:
    """Return the pinned pages of a call that were given back before."""
    pinned = before.certainly_pinned()
    return [page for page in pages_named(before, call) if page in before.allocation.asked and page in pinned]


def pinned_pages_given(before: SendingState, answer: Answer) -> list[int]:
    """Return the pinned pages that an allocation gave to somebody."""
    if before.diverged or not isinstance(answer, Ok):
        return []
    return sorted(before.certainly_pinned().intersection(answer.value.pages))


def lanes_seen(before: SendingState, answer: Answer) -> LaneStatistics | None:
    """Return the counts of an answer that may be judged."""
    if before.diverged or not isinstance(answer, Ok):
        return None
    seen: LaneStatistics = answer.value
    return seen


@law("RFC-0012:C-PINS#S1", on=EXTEND, history="sending")
def a_page_that_is_read_is_nobody_elses(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """The next request writes into it, and decode gets its rows."""
    given = pinned_pages_given(before, answer)
    if given:
        yield f"pages {given} are given away while they wait to be sent, or are in flight"


@law("RFC-0012:C-PINS#S2", on=LANES, history="sending")
def a_page_goes_where_it_was_asked_to(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Once nothing reads it; a page that stays in use is lost."""
    seen, used = lanes_seen(before, answer), used_bounds(before)
    if seen is None or used.below(seen.in_use):
        return
    if used.above(seen.in_use):
        yield f"expected {used} pages of each lane in use, got {list(seen.in_use)}"
        return
    for state, counts in ((FREE, seen.free), (EVICTABLE, seen.evictable)):
        bounds = given_back_bounds(before, state)
        if bounds.below(counts) or bounds.above(counts):
            yield f"expected {bounds} {state} pages of each lane, got {list(counts)}"


@law("RFC-0012:C-PINS#S2", on=GIVEN_BACK, history="sending")
def a_page_that_is_read_is_taken_back(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who gives it back does not know that it is still read, and does not ask again."""
    if not before.wrong(call, answer) or not isinstance(answer, Err) or pages_asked_again(before, call):
        return
    pinned = before.certainly_pinned().intersection(pages_named(before, call))
    if pinned and isinstance(before.step(call, answer).expected, Ok):
        yield f"pages {sorted(pinned)} of {call.op}: refused with {answer.error}"


@law("RFC-0012:C-PINS#S3", on=GIVEN_BACK, history="sending")
def a_page_is_given_back_once(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Given back twice, it is free twice."""
    again = pages_asked_again(before, call)
    if again and before.wrong(call, answer):
        found = answer.error if isinstance(answer, Err) else "no refusal"
        yield f"pages {again} of {call.op} were given back before: expected page_not_allocated, got {found}"


@law("RFC-0012:C-PINS#S4", on=LANES, history="sending")
def a_page_that_is_read_is_in_use(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Admission counts on pages that nobody may have."""
    seen, used = lanes_seen(before, answer), used_bounds(before)
    if seen is not None and used.below(seen.in_use):
        yield f"expected {used} pages of each lane in use, got {list(seen.in_use)}"

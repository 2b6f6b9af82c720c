"""The witnesses of pages under a transfer: what must have happened before a law's silence proves anything."""

from __future__ import annotations

from sharedkv_conformance.laws.sending_pins import GIVEN_BACK, lanes_seen, pages_asked_again, pages_named
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE
from sharedkv_conformance.model.sending_parts import INDEX, KV
from sharedkv_conformance.model.sending_state import EXTEND, LANES, SendingState
from sharedkv_conformance.step import Answer, Call, Ok

RELEASE, RETAIN, RELEASE_LOCATIONS = GIVEN_BACK[0], GIVEN_BACK[1], GIVEN_BACK[2]


def queued(before: SendingState) -> set[int]:
    """Return the pages that wait for a worker."""
    return {page for job in before.sending.jobs for page in job.chunk.pages}


def flying(before: SendingState, part: str) -> set[int]:
    """Return the pages that flights of a part read."""
    return {page for flight in before.sending.flying if flight.part == part for page in flight.sources}


def awaiting(before: SendingState, state: str) -> set[int]:
    """Return the pages that go into a state when nothing reads them any more."""
    return {page for page, soon in before.allocation.deferred.items() if soon == state}


# -- given to somebody -----------------------------------------------------------------------------------------------


@witness(on=EXTEND, history="sending")
def asked_while_released_pages_wait(before: SendingState, call: Call, answer: Answer) -> bool:
    """Somebody asked for pages while released ones waited for a worker."""
    return not before.diverged and bool(queued(before) & awaiting(before, FREE))


@witness(on=EXTEND, history="sending")
def asked_while_released_pages_fly(before: SendingState, call: Call, answer: Answer) -> bool:
    """Somebody asked for pages while released ones were in flight."""
    return not before.diverged and bool(flying(before, KV) & awaiting(before, FREE))


@witness(on=EXTEND, history="sending")
def asked_while_cached_pages_fly(before: SendingState, call: Call, answer: Answer) -> bool:
    """Somebody asked for pages while cached ones were in flight."""
    return not before.diverged and bool(flying(before, KV) & awaiting(before, EVICTABLE))


@witness(on=EXTEND, history="sending")
def asked_while_the_index_flies(before: SendingState, call: Call, answer: Answer) -> bool:
    """Somebody asked for pages while the index alone of released ones was in flight."""
    alone = flying(before, INDEX) - flying(before, KV) - queued(before)
    return not before.diverged and bool(alone & awaiting(before, FREE))


# -- given back ------------------------------------------------------------------------------------------------------


@witness(on=LANES, history="sending")
def released_page_counted(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages were counted while a released one was pinned."""
    return lanes_seen(before, answer) is not None and bool(before.certainly_pinned() & awaiting(before, FREE))


@witness(on=LANES, history="sending")
def retained_page_counted(before: SendingState, call: Call, answer: Answer) -> bool:
    """Pages were counted while a retained one was pinned."""
    return lanes_seen(before, answer) is not None and bool(before.certainly_pinned() & awaiting(before, EVICTABLE))


def given_back_pinned(before: SendingState, call: Call, answer: Answer, op: str) -> bool:
    """Say whether a call of this name gave a pinned page back, for the first time."""
    pinned = before.certainly_pinned().intersection(pages_named(before, call)) - before.allocation.asked
    return call.op == op and not before.diverged and isinstance(answer, Ok) and bool(pinned)


@witness(on=RELEASE, history="sending")
def pinned_page_released(before: SendingState, call: Call, answer: Answer) -> bool:
    """A pinned page was released."""
    return given_back_pinned(before, call, answer, RELEASE)


@witness(on=RELEASE_LOCATIONS, history="sending")
def pinned_location_released(before: SendingState, call: Call, answer: Answer) -> bool:
    """A pinned page was released by a location in it."""
    return given_back_pinned(before, call, answer, RELEASE_LOCATIONS)


@witness(on=RETAIN, history="sending")
def pinned_page_retained(before: SendingState, call: Call, answer: Answer) -> bool:
    """A pinned page was retained."""
    return given_back_pinned(before, call, answer, RETAIN)


@witness(on=EXTEND, history="sending")
def page_of_a_chunk_given_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A page that a chunk had sent was given to somebody when nothing read it any more."""
    sent = {page for room in before.sending.rooms.values() for chunk in room.sent for page in chunk.pages}
    return not before.diverged and isinstance(answer, Ok) and bool(sent.intersection(answer.value.pages))


@witness(on=GIVEN_BACK, history="sending")
def pinned_page_released_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A pinned page that was given back was released."""
    return call.op != RETAIN and not before.diverged and bool(pages_asked_again(before, call))


@witness(on=RETAIN, history="sending")
def pinned_page_retained_again(before: SendingState, call: Call, answer: Answer) -> bool:
    """A pinned page that was given back was retained."""
    return not before.diverged and bool(pages_asked_again(before, call))

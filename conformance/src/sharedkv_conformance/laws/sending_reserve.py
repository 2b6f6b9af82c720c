"""The laws of what decode sets aside: which pages and slots a room is given, when it is given any, and what comes back.

Pages of rooms that failed are given back under other rules; here only that nobody else gets them meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharedkv_conformance.contract.errors import CapacityWait, Reason
from sharedkv_conformance.contract.sending import DecodeStatistics, Reservation
from sharedkv_conformance.laws.sending_answers import expects, got, told, unrefused, was_told_success
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Answer, Call, Err, Ok

RESERVE, CLOSE, POOLS = "transfer.reserve", "transfer.close_room", "transfer.decode_pools"
OWN = frozenset({Reason.ROOM_IN_USE, Reason.ROOM_INVALID})


def reserved(before: SendingState, call: Call, answer: Answer) -> Reservation | None:
    """Return the reservation that was made of a room that can be reserved."""
    step = before.judged(call, answer)
    is_made = step is not None and not step.reasons and isinstance(answer, Ok)
    return answer.value if is_made and isinstance(answer, Ok) else None


@law("RFC-0012:C-RESERVE#S1", on=RESERVE, history="sending")
def a_reservation_has_a_page_for_each_position(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """On each destination, and none of them twice."""
    made, limits = reserved(before, call, answer), before.config.transfer
    if made is None:
        return
    if [place.rank for place in made.places] != list(call.ranks):
        yield f"ranks {list(call.ranks)}, places on {[place.rank for place in made.places]}"
    for place in made.places:
        different = set(place.pages) & set(range(1, 1 + limits.decode_pages))
        if len(place.pages) != call.num_pages or len(different) != call.num_pages:
            yield f"{call.num_pages} pages on decode rank {place.rank}: {list(place.pages)}"
        if place.slot not in range(limits.slots):
            yield f"slot {place.slot} on decode rank {place.rank}"


@law("RFC-0012:C-RESERVE#S2", on=RESERVE, history="sending")
def nothing_is_set_aside_twice(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Two requests that have one page read one another's context, and a writer that is late writes both."""
    made, sending = reserved(before, call, answer), before.sending
    for place in made.places if made is not None else ():
        for page in place.pages:
            owner = before.owner_of(place.rank, page)
            if owner is not None:
                yield f"page {page} of decode rank {place.rank} is of room {owner.room}"
        is_slot = 0 <= place.slot < before.config.transfer.slots
        if is_slot and place.slot not in sending.free_slots.get(place.rank, ()):
            yield f"slot {place.slot} of decode rank {place.rank} is not free"


@law("RFC-0012:C-RESERVE#S3", on=RESERVE, history="sending")
def a_room_is_reserved_where_there_is_room(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """And otherwise told what is short, so that it can be tried again."""
    step = before.judged(call, answer)
    if step is None or step.reasons:
        return
    if isinstance(step.expected, Ok) and isinstance(answer, Err):
        yield f"{call.num_pages} pages on {list(call.ranks)} are free: {got(answer)}"
    elif isinstance(step.expected, Err) and isinstance(step.expected.error, CapacityWait) and answer != step.expected:
        yield f"{call.num_pages} pages on {list(call.ranks)}: expected {told(step)}, got {got(answer)}"


@law("RFC-0012:C-RESERVE#S4", on=RESERVE, history="sending")
def what_is_no_room_is_refused(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A number that is in use, no page, and ranks that there are not."""
    yield from unrefused(before.judged(call, answer), answer, OWN)


def last_epoch(before: SendingState) -> int:
    """Return the greatest epoch that any room had; the first may be 0, which the mapping has for none."""
    own = before.sending.epochs
    return max(own, before.session.transfer.mapping.epochs or own)


@law("RFC-0012:C-RESERVE#S5", on=RESERVE, history="sending")
def epochs_grow(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who compares two epochs of a room knows which is the later."""
    made = reserved(before, call, answer)
    if made is not None and made.epoch <= last_epoch(before):
        yield f"room {call.room} has epoch {made.epoch}, after one of epoch {last_epoch(before)}"


def after_success(before: SendingState) -> bool:
    """Say whether the last call closed a room that had succeeded."""
    if before.last is None or before.cause() != CLOSE or before.diverged:
        return False
    room = before.last[0].room
    known = before.sending.rooms.get(room)
    is_kept = any(other.room == room for other in before.sending.lingering)
    return isinstance(before.last[1], Ok) and not is_kept and (known is None or not known.reason)


@law("RFC-0012:C-RESERVE#S6", on=(CLOSE, POOLS), history="sending")
def a_room_that_succeeded_gives_back_what_it_had(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """All of it, once, also where nobody committed."""
    if call.op == CLOSE:
        if expects(before, call, answer) and isinstance(answer, Err) and was_told_success(before, call.room):
            yield f"close of room {call.room}: {got(answer)}"
    elif after_success(before) and before.wrong(call, answer):
        yield f"after the close of a room: expected {told(before.judged(call, answer))}, got {got(answer)}"


@law("RFC-0012:C-RESERVE#S7", on=CLOSE, history="sending")
def a_room_that_has_not_ended_stays(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Its pages are being written."""
    yield from unrefused(before.judged(call, answer), answer, frozenset({Reason.ROOM_IN_USE}))


def is_about_a_slot(before: SendingState, call: Call, answer: Answer) -> bool:
    """Say whether nothing but slots is counted otherwise after a commit, which gives them back."""
    step = before.judged(call, answer)
    if before.cause() != "transfer.commit" or step is None:
        return False
    if not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return False
    return _pages(step.expected.value) == _pages(answer.value)


def _pages(counts: Sequence[DecodeStatistics]) -> list[tuple[int, int, int]]:
    return [(each.free, each.reserved, each.quarantined) for each in counts]


@law("RFC-0012:C-RESERVE#S8", on=POOLS, history="sending")
def every_page_of_decode_is_counted_once(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who admits requests counts on it."""
    if not after_success(before) and not is_about_a_slot(before, call, answer) and before.wrong(call, answer):
        yield f"after {before.cause()}: expected {told(before.judged(call, answer))}, got {got(answer)}"

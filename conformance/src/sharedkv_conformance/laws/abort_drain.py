"""The laws of drains and quarantines: who may say that nothing lands any more, and who may have the pages then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharedkv_conformance.contract.sending import DecodeStatistics
from sharedkv_conformance.laws.abort import LAND, RESERVE, STATUS, is_unheard
from sharedkv_conformance.laws.abort_notices import extra, missing
from sharedkv_conformance.laws.overlap_deviations import cause_of
from sharedkv_conformance.laws.sending_answers import got, states, told
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_memory import page_bytes
from sharedkv_conformance.model.sending_parts import AUX, DRAINED, DecodeRoom, FlightModel
from sharedkv_conformance.model.sending_state import DECODE_POOL, MESSAGES, POOLS, SendingState
from sharedkv_conformance.model.sending_tidings import BY_DRAINS, BY_TIME, EARLIER
from sharedkv_conformance.step import Answer, Call, Ok

COMMIT = "transfer.commit"
HEARING = ("probe.deliver", "probe.resume")

# -- drains ----------------------------------------------------------------------------------------------------------


def _told_wrongly(before: SendingState, call: Call, answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield each `drained` that must not be there, or has to be, with what is wrong with it."""
    lost, given = missing(before, call, answer, DRAINED), extra(before, call, answer, DRAINED)
    for message in given:
        debt = (message.source, message.destination, message.room, message.epoch)
        if any((m.source, m.destination, m.room) == debt[:3] for m in lost):
            yield "epoch", f"{message} in place of another epoch"
        elif debt in before.sending.poisoned:
            yield "doubt", f"{message} although a flight was in doubt"
        elif any(flight.debt == debt for flight in before.sending.flying):
            yield "flight", f"{message} although a flight has not ended"
    for message in () if given or is_unheard(before) else lost:
        known = before.sending.rooms.get(message.room)
        is_known = known is not None and known.epoch == message.epoch
        is_due_later = cause_of(before).op not in HEARING
        yield "known" if is_known or is_due_later else "unknown", f"no {message}"


def _drains(before: SendingState, call: Call, answer: Answer, what: str) -> Iterator[str]:
    for found, message in _told_wrongly(before, call, answer):
        if found == what:
            yield f"after {cause_of(before).op}: {message}"


@law("RFC-0014:C-DRAIN#S1", on=MESSAGES)
def nothing_drains_that_flies(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """That a notice has come is no answer to it."""
    yield from _drains(before, call, answer, "flight")


@law("RFC-0014:C-DRAIN#S2", on=MESSAGES)
def nothing_drains_that_was_in_doubt(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whoever cannot tell whether bytes land must not tell that they do not."""
    yield from _drains(before, call, answer, "doubt")


@law("RFC-0014:C-DRAIN#S3", on=MESSAGES)
def what_has_ended_drains(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """To every destination that asked, as soon as it has."""
    yield from _drains(before, call, answer, "known")


@law("RFC-0014:C-DRAIN#S4", on=MESSAGES)
def what_nobody_knows_drains(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Decode cannot know whether prefill has heard of it."""
    yield from _drains(before, call, answer, "unknown")


@law("RFC-0014:C-DRAIN#S5", on=MESSAGES)
def a_drain_names_the_epoch_that_was_asked_for(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Prefill may know the room under another by now."""
    yield from _drains(before, call, answer, "epoch")


# -- quarantine ------------------------------------------------------------------------------------------------------


def _given(before: SendingState, call: Call, answer: Answer) -> list[DecodeRoom]:
    """Return the rooms that have failed of which a reservation gives pages or slots away."""
    if before.judged(call, answer) is None or not isinstance(answer, Ok):
        return []
    sending = before.sending
    failed = [room for room in (*sending.reserved.values(), *sending.lingering) if room.has_failed]
    given = {(place.rank, page) for place in answer.value.places for page in (*place.pages, f"slot {place.slot}")}
    return [room for room in failed if not given.isdisjoint(_held(room))]


def _held(room: DecodeRoom) -> set[tuple[int, int | str]]:
    slots = () if room.is_committed else [(place.rank, f"slot {place.slot}") for place in room.places]
    return {(place.rank, page) for place in room.places for page in place.pages} | set(slots)


def _counted(before: SendingState, call: Call, answer: Answer) -> tuple[int, int]:
    """Return how many pages and slots too many are counted as free, the ranks together."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return 0, 0
    due, shown = step.expected.value, answer.value
    return _sum(shown)[0] - _sum(due)[0], _sum(shown)[1] - _sum(due)[1]


def _sum(pools: Sequence[DecodeStatistics]) -> tuple[int, int]:
    return sum(pool.free for pool in pools), sum(pool.free_slots for pool in pools)


def _too_free(before: SendingState, call: Call, answer: Answer) -> str:
    """Say where pages come from that must not be free: a room that is `open`, `closed`, or of a `stale` drain."""
    if call.op == RESERVE:
        rooms = _given(before, call, answer)
        return "" if not rooms else "closed" if any(room.is_closed for room in rooms) else "open"
    pages, slots = _counted(before, call, answer)
    if (pages <= 0 and slots <= 0) or _is_of_success(before):
        return ""
    if before.tidings.message == EARLIER:
        return "stale"
    is_open = any(room.has_failed and before.sending.is_safe(room) for room in before.sending.reserved.values())
    return "open" if is_open else "closed"


def _is_of_success(before: SendingState) -> bool:
    return cause_of(before).op == COMMIT


def _pools(before: SendingState, call: Call, answer: Answer) -> str:
    return f"after {cause_of(before).op}: expected {told(before.step(call, answer))}, got {got(answer)}"


@law("RFC-0014:C-QUARANTINE#S1", on=(RESERVE, POOLS))
def quarantined_pages_are_nobodys(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Until every rank has drained to every destination, or the time is over."""
    if _too_free(before, call, answer) == "closed":
        yield _pools(before, call, answer)


@law("RFC-0014:C-QUARANTINE#S2", on=DECODE_POOL)
def late_bytes_change_no_other_room(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """They have an address, and whoever has the page now is not asked."""
    step, late = before.judged(call, answer), _late_flight(before)
    if step is None or late is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return
    for due, shown in zip(step.expected.value, answer.value, strict=False):
        size = page_bytes(before.config.pool, before.config.page_size, due.buffer)
        for page in range(len(due.data) // size):
            span, owner = slice(page * size, (page + 1) * size), before.owner_of(call.rank, page)
            is_other = owner is not None and (owner.room, owner.epoch) != (late.room.room, late.room.epoch)
            if is_other and due.data[span] != shown.data[span]:
                yield f"late bytes of room {late.room.room} change page {page} of decode rank {call.rank}"


@law("RFC-0014:C-QUARANTINE#S2", on=(STATUS, COMMIT))
def late_metadata_change_no_other_room(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Another's first token is answered, or a good request given up."""
    late = _late_flight(before)
    known = before.sending.reserved.get(call.room)
    is_other = late is not None and known is not None and late.part == AUX and late.room.epoch != known.epoch
    if not is_other or not before.wrong(call, answer):
        return
    found = states(before, call, answer)
    if call.op == COMMIT or (found is not None and found[1] == "failed"):
        yield f"room {call.room} after late metadata: expected {told(before.step(call, answer))}, got {got(answer)}"


def _late_flight(before: SendingState) -> FlightModel | None:
    """Return the flight in doubt that has landed with the last call."""
    cause = cause_of(before)
    return before.flight_of(cause.flight) if cause.op == LAND else None


def _not_free(before: SendingState, call: Call, answer: Answer) -> bool:
    pages, slots = _counted(before, call, answer)
    return min(pages, slots) < 0 and max(pages, slots) <= 0


@law("RFC-0014:C-QUARANTINE#S3", on=POOLS)
def what_has_drained_is_free(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """With its slots, as soon as the last has said so and the room is closed."""
    if _not_free(before, call, answer) and before.tidings.freed == BY_DRAINS:
        yield _pools(before, call, answer)


@law("RFC-0014:C-QUARANTINE#S4", on=POOLS)
def what_has_waited_long_enough_is_free(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A peer that is gone says nothing."""
    if _not_free(before, call, answer) and before.tidings.freed == BY_TIME:
        yield _pools(before, call, answer)


@law("RFC-0014:C-QUARANTINE#S5", on=POOLS)
def a_drain_of_another_epoch_frees_nothing(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """It says that nothing lands of what was there before."""
    if _too_free(before, call, answer) == "stale":
        yield _pools(before, call, answer)


@law("RFC-0014:C-QUARANTINE#S6", on=(RESERVE, POOLS))
def pages_of_an_open_room_are_its_own(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Also where it has failed, and nothing lands there any more."""
    if _too_free(before, call, answer) == "open":
        yield _pools(before, call, answer)

"""The laws of contexts: which chunks are registered, what a registration leaves, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.overlap import OverlapContext
from sharedkv_conformance.laws.overlap_deviations import Apart, apart, cause_of
from sharedkv_conformance.laws.sending_answers import got, told, unrefused
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_state import CONTEXTS, EVENTS, EXTEND, SendingState
from sharedkv_conformance.step import Answer, Call, Err, Ok

REGISTER, LAYER_END, SEND = "overlap.register", "overlap.layer_end", "transfer.send"
DECLINED = ("fallback", "overlap_declined")


def registered(before: SendingState, call: Call, answer: Answer) -> bool | None:
    """Return what a registration has to be answered with, where it is not."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not before.wrong(call, answer):
        return None
    expected: bool = step.expected.value
    return expected


def _chunk(call: Call) -> str:
    end = "the last, " if call.is_last else ""
    return f"a chunk of room {call.room} from position {call.first_position}, {end}pages {list(call.pages)}"


@law("RFC-0013:C-CONTEXTS#S1", on=REGISTER)
def a_chunk_that_can_go_early_is_registered(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Also where another one of its room is, or one of another request of the same forward."""
    if registered(before, call, answer) is True and isinstance(answer, Ok):
        yield f"{_chunk(call)} is declined"


@law("RFC-0013:C-CONTEXTS#S2", on=REGISTER)
def a_chunk_that_cannot_go_early_is_declined(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Its layers would go nowhere, or to whoever comes first."""
    if registered(before, call, answer) is False and isinstance(answer, Ok):
        yield f"{_chunk(call)} is registered"


@law("RFC-0013:C-CONTEXTS#S3", on=REGISTER)
def a_registration_is_never_an_error(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """It is a hint, and whoever gives it has a batch to run."""
    if registered(before, call, answer) is not None and isinstance(answer, Err):
        yield f"{_chunk(call)}: {answer.error}"


@law("RFC-0013:C-CONTEXTS#S4", on=EVENTS)
def what_is_declined_is_told(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A fallback that nobody hears of is found after weeks."""
    if cause_of(before).op != REGISTER or not before.wrong(call, answer) or not isinstance(answer, Ok):
        return
    wanted, given = (
        sum((event.kind, event.reason) == DECLINED for event in events)
        for events in (_events(before, call, answer), answer.value)
    )
    if wanted != given:
        yield f"{wanted} events fallback (overlap_declined) are expected so far, got {given}"


def _events(before: SendingState, call: Call, answer: Answer) -> tuple[Any, ...]:
    expected = before.step(call, answer).expected
    return expected.value if isinstance(expected, Ok) else ()


# -- what becomes of it ----------------------------------------------------------------------------------------------


def _after_a_registration(before: SendingState, call: Call, answer: Answer) -> Apart | None:
    return apart(before, call, answer) if cause_of(before).op == REGISTER else None


def is_of_the_chunk(before: SendingState, context: OverlapContext) -> bool:
    """Say whether a context is that of the chunk which was registered last."""
    cause = cause_of(before)
    return (context.room, context.first_position) == (cause.room, cause.first_position)


def _is_kept_wrongly(before: SendingState, found: Apart, answer: Ok) -> bool:
    """Say whether the chunk was registered before, and its context is not what it was."""
    own = [context for context in answer.value if is_of_the_chunk(before, context)]
    ranks = [context.rank for context in own]
    known = {each.rank for each in before.sending.contexts() if is_of_the_chunk(before, each)}
    if not known or not set(ranks) <= known:
        return False
    missing = [context for context in found.missing if is_of_the_chunk(before, context)]
    return bool(missing) or len(set(ranks)) < len(ranks)


@law("RFC-0013:C-CONTEXTS#S5", on=CONTEXTS)
def a_context_stays_when_its_chunk_is_registered_again(
    before: SendingState, call: Call, answer: Answer
) -> Iterator[str]:
    """A batch is looked at nine times before its forward, and once more while it runs."""
    found = _after_a_registration(before, call, answer)
    if found is not None and isinstance(answer, Ok) and _is_kept_wrongly(before, found, answer):
        yield f"after {_chunk(cause_of(before))} was registered: {found}"


@law("RFC-0013:C-CONTEXTS#S6", on=CONTEXTS)
def contexts_are_kept_in_order(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Of each chunk and each rank with pages one, whatever is registered beside it."""
    found = _after_a_registration(before, call, answer)
    if found is not None and isinstance(answer, Ok) and not _is_kept_wrongly(before, found, answer):
        yield f"after {_chunk(cause_of(before))} was registered: {found}"


def lost_contexts(before: SendingState, call: Call, answer: Answer) -> list[OverlapContext]:
    """Return the contexts of rooms that go on which are not there any more, after anything but a registration."""
    found = apart(before, call, answer) if cause_of(before).op != REGISTER else None
    if found is None:
        return []
    left = {(context.room, context.first_position, context.rank) for context in found.extra}
    return [each for each in found.missing if (each.room, each.first_position, each.rank) not in left]


@law("RFC-0013:C-CONTEXTS#S6", on=CONTEXTS)
def a_context_is_kept_until_its_chunk_is_sent(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Whatever becomes of other chunks."""
    lost, is_crashing = lost_contexts(before, call, answer), "worker_crash" in before.session.plane.faults
    if lost and not is_crashing and not any(room.reason == "worker" for room in before.sending.rooms.values()):
        yield f"after {cause_of(before).op}: {lost} are gone"


@law("RFC-0013:C-CONTEXTS#S7", on=SEND)
def what_is_sent_is_what_was_registered(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Half of the layers would be of other pages."""
    step = before.judged(call, answer)
    for message in unrefused(step, answer, frozenset({Reason.CONTEXT_DIFFERS})):
        yield f"{_chunk(call)} was registered otherwise: {message}"


@law("RFC-0013:C-CONTEXTS#S8", on=EXTEND)
def a_page_of_a_context_is_nobody_elses(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """The next request would write it before it was sent."""
    if before.diverged or not isinstance(answer, Ok):
        return
    for context in before.sending.contexts_open:
        if given := sorted(set(context.pages) & set(answer.value.pages)):
            yield f"pages {given} are given away, and are registered for room {context.room.room}"


def refused_or(before: SendingState, call: Call, answer: Answer) -> str:
    """Return an answer beside the one that has to be, in words."""
    return f"expected {told(before.step(call, answer))}, got {got(answer)}"

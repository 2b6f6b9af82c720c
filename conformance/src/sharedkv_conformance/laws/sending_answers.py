"""What the laws of sending share: an answer beside the one that has to be, in words, and refusals by reason."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.model.sending_state import SendingState, Step
from sharedkv_conformance.step import Answer, Call, Err, Ok

STATUS = "transfer.status"


def told(step: Step | None) -> str:
    """Return the answer that has to be, in words."""
    if step is None or step.expected is None:
        return "anything"
    return str(step.expected.error) if isinstance(step.expected, Err) else str(step.expected.value)


def got(answer: Answer) -> str:
    """Return an answer in words."""
    return str(answer.value) if isinstance(answer, Ok) else str(answer.error)


def expects(before: SendingState, call: Call, answer: Answer) -> bool:
    """Say whether a call has to be answered with a value."""
    step = before.judged(call, answer)
    return step is not None and isinstance(step.expected, Ok)


def reasons(before: SendingState, call: Call, answer: Answer) -> frozenset[Reason]:
    """Return every reason that applies to a call which has to be refused."""
    step = before.judged(call, answer)
    return step.reasons if step is not None and isinstance(step.expected, Err) else frozenset()


def unrefused(step: Step | None, answer: Answer, own: frozenset[Reason]) -> Iterator[str]:
    """Yield what is wrong with an answer to a call that has to be refused, for one of these reasons among others."""
    if step is None or not isinstance(step.expected, Err) or not step.reasons & own:
        return
    wanted = " or ".join(sorted(step.reasons))
    if isinstance(answer, Ok):
        yield f"expected a rejection for {wanted}, got {answer.value}"
    elif not isinstance(answer.error, Rejected) or answer.error.reason not in step.reasons:
        yield f"expected a rejection for {wanted}, got {answer.error}"


def was_told_success(before: SendingState, room: int) -> bool:
    """Say whether a room that has succeeded was told so: it was committed, or its state asked for just now."""
    known = before.sending.reserved.get(room)
    is_asked = before.last is not None and before.cause() == STATUS and before.last[0].room == room
    return known is not None and (known.is_committed or is_asked)


def states(before: SendingState, call: Call, answer: Answer) -> tuple[str, str] | None:
    """Return the state of a room that has to be told, and the one that was, where they differ."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return None
    return (step.expected.value, answer.value) if step.expected.value != answer.value else None

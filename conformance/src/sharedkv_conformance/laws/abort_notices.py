"""The laws of notices: who is told of a failure, how often, and what is heard of what comes."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.probe import ControlMessage
from sharedkv_conformance.laws.abort import (
    OVER,
    REPORT,
    SEND,
    SEND_STATUS,
    STATUS,
    failed_there,
    is_unheard,
)
from sharedkv_conformance.laws.overlap_deviations import apart, cause_of
from sharedkv_conformance.laws.sending_answers import got, told
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_parts import ABORT, ARRIVED, FAILED
from sharedkv_conformance.model.sending_state import FLIGHTS, MESSAGES, SendingState
from sharedkv_conformance.model.sending_tidings import AGAIN, EARLIER, SPOILED
from sharedkv_conformance.step import Answer, Call, Ok

GARBLE = "probe.garble"


def missing(before: SendingState, call: Call, answer: Answer, kind: str) -> list[ControlMessage]:
    """Return the messages of a kind that are not there."""
    found = apart(before, call, answer)
    return [each for each in found.missing if each.kind == kind] if found is not None else []


def extra(before: SendingState, call: Call, answer: Answer, *kinds: str) -> list[ControlMessage]:
    """Return the messages of some kinds that must not be there."""
    found = apart(before, call, answer)
    return [each for each in found.extra if each.kind in kinds] if found is not None else []


def _after(before: SendingState, what: object) -> str:
    cause = cause_of(before)
    return f"after {cause.op}({', '.join(map(str, cause.args.values()))}): {what}"


def _is_later(before: SendingState, message: ControlMessage) -> bool:
    """Say whether prefill knows the room of a message under a later epoch."""
    return before.sending.latest.get(message.room, message.epoch) > message.epoch


@law("RFC-0014:C-NOTICES#S1", on=MESSAGES)
def decode_tells_every_prefill_rank(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """From each destination, and whether it was decode, prefill or the clock that gave up."""
    lost = [] if is_unheard(before) else missing(before, call, answer, ABORT)
    if lost:
        yield _after(before, f"no {lost}")


@law("RFC-0014:C-NOTICES#S2", on=MESSAGES)
def decode_tells_a_rank_once(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Each notice is answered."""
    again = [m for m in extra(before, call, answer, ABORT) if _was_shown(before, m)]
    if again and not missing(before, call, answer, ABORT):
        yield _after(before, f"again {again}")


def _was_shown(before: SendingState, message: ControlMessage) -> bool:
    """Say whether a message of the same kind and way, of the same epoch, was shown before."""
    wanted = (message.kind, message.source, message.destination, message.room, message.epoch)
    same = [m for m in before.sending.posted.values() if (m.kind, m.source, m.destination, m.room, m.epoch) == wanted]
    return any(before.number_of(each) is not None for each in same)


@law("RFC-0014:C-NOTICES#S3", on=MESSAGES)
def prefill_tells_every_destination(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A decode that waits for its patience keeps its pages for minutes."""
    found = [] if is_unheard(before) else missing(before, call, answer, FAILED)
    lost = [message for message in found if not _is_later(before, message)]
    if lost:
        yield _after(before, f"no {lost}")


@law("RFC-0014:C-NOTICES#S4", on=MESSAGES)
def prefill_tells_a_destination_once(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """However often it hears that the room is given up."""
    told_already = before.sending.told_failed
    found = extra(before, call, answer, FAILED)
    again = [m for m in found if (m.source, m.destination, m.room, m.epoch) in told_already]
    if again and not missing(before, call, answer, FAILED):
        yield _after(before, f"again {again}")


# -- what is heard ---------------------------------------------------------------------------------------------------


def is_dead(before: SendingState, room: int) -> bool:
    """Say whether the last epoch of a room was given up before prefill heard of it."""
    epochs = [epoch for number, epoch in before.sending.dead if number == room]
    return bool(epochs) and room not in before.sending.rooms


@law("RFC-0014:C-NOTICES#S5", on=(SEND_STATUS, REPORT, SEND, FLIGHTS))
def a_dead_epoch_is_not_sent_to(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Its pages may be another room's by the time that prefill hears of it."""
    if call.op == FLIGHTS:
        found = apart(before, call, answer)
        sent = [f for f in found.extra if (f.room, f.epoch) in before.sending.dead] if found is not None else []
        if sent:
            yield f"{sent} go to an epoch that was given up"
    elif isinstance(answer, Ok) and before.wrong(call, answer) and is_dead(before, call.room):
        yield f"room {call.room} was given up before it was heard of: expected {told(before.step(call, answer))}"


def _disturbed(before: SendingState, call: Call, answer: Answer, what: str) -> Iterator[str]:
    """Yield what is changed by a message that must not change anything."""
    if before.tidings.message != what or not before.wrong(call, answer):
        return
    if call.op != MESSAGES:
        if not _has_failed(before, call, answer):
            wanted = _told(before, call, answer)
            yield _after(before, f"{call.op} of room {call.room}: expected {wanted}, got {got(answer)}")
        return
    found = [m for m in extra(before, call, answer, ABORT, FAILED, ARRIVED) if not failed_there(before, m)]
    if found:
        yield _after(before, found)


def _has_failed(before: SendingState, call: Call, answer: Answer) -> bool:
    """Say whether the side that is asked has to take the room for failed, whatever came since."""
    expected = before.step(call, answer).expected
    if not isinstance(expected, Ok):
        return False
    return bool(expected.value.reason) if call.op == REPORT else expected.value == OVER


def _told(before: SendingState, call: Call, answer: Answer) -> str:
    return told(before.step(call, answer))


HEARD = (STATUS, SEND_STATUS, REPORT, MESSAGES)


@law("RFC-0014:C-NOTICES#S6", on=HEARD)
def messages_of_earlier_epochs_change_nothing(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """They are about another request, whatever its number is."""
    yield from _disturbed(before, call, answer, EARLIER)


@law("RFC-0014:C-NOTICES#S7", on=HEARD)
def messages_that_come_again_change_nothing(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Messages are sent again where an acknowledgement is late."""
    if not is_dead(before, _room_of(before, call)):
        yield from _disturbed(before, call, answer, AGAIN)


def _room_of(before: SendingState, call: Call) -> int:
    if call.op != MESSAGES:
        room: int = call.room
        return room
    heard = before.message_of(cause_of(before).message) if "message" in cause_of(before).args else None
    return heard.room if heard is not None else -1


@law("RFC-0014:C-NOTICES#S8", on=HEARD)
def noise_changes_nothing(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Peers have bugs and versions, and ports are scanned."""
    yield from _disturbed(before, call, answer, SPOILED)


@law("RFC-0014:C-NOTICES#S8", on=(STATUS, SEND_STATUS))
def what_comes_after_noise_is_heard(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A thread that has ended hears nothing for anybody."""
    if is_heard_after_noise(before, call, answer) and before.wrong(call, answer):
        yield _after(
            before, f"{call.op} of room {call.room}: expected {_told(before, call, answer)}, got {got(answer)}"
        )


def is_heard_after_noise(before: SendingState, call: Call, answer: Answer) -> bool:
    """Say whether a room was opened, or something of it has arrived, right after noise."""
    step = before.judged(call, answer)
    if not is_unheard(before) or step is None or not isinstance(step.expected, Ok):
        return False
    return step.expected.value in ("bootstrapping", "waiting", "transferring", "success")

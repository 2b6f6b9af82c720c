"""The laws of reports: bytes, pages, flights, time, and why a room has failed."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.sending import SendReport
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Answer, Call, Ok

REPORT = "transfer.report"


def reports(before: SendingState, call: Call, answer: Answer) -> tuple[SendReport, SendReport] | None:
    """Return the report that has to be and the one that is; nothing where one of them is none."""
    step = before.judged(call, answer)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return None
    return step.expected.value, answer.value


def is_timed(report: SendReport) -> bool:
    """Say whether something was submitted, and something has completed."""
    return report.submitted > 0 and report.completed > 0


@law("RFC-0012:C-METRICS#S1", on=REPORT, history="sending")
def bytes_are_those_that_landed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who plans a network by the length of prompts plans another one."""
    found = reports(before, call, answer)
    if found and found[0].bytes != found[1].bytes:
        yield f"room {call.room}: expected {found[0].bytes} bytes, got {found[1].bytes}"


@law("RFC-0012:C-METRICS#S2", on=REPORT, history="sending")
def pages_are_those_of_which_every_layer_landed(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Once for each destination."""
    found = reports(before, call, answer)
    if found and found[0].pages != found[1].pages:
        yield f"room {call.room}: expected {found[0].pages} pages, got {found[1].pages}"


@law("RFC-0012:C-METRICS#S3", on=REPORT, history="abort")
def flights_are_counted(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """What did not complete is the difference."""
    found = reports(before, call, answer)
    if found and (found[0].submitted, found[0].completed) != (found[1].submitted, found[1].completed):
        wanted, got = found
        yield (
            f"room {call.room}: expected {wanted.completed} of {wanted.submitted} flights, "
            f"got {got.completed} of {got.submitted}"
        )


@law("RFC-0012:C-METRICS#S4", on=REPORT, history="sending")
def nothing_took_no_time(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """A time that is negative, or counts from the beginning of the clock, spoils every mean."""
    found = reports(before, call, answer)
    if found and not is_timed(found[0]) and found[1].ticks != 0:
        yield f"room {call.room}: expected 0 ticks, got {found[1].ticks}"


@law("RFC-0012:C-METRICS#S5", on=REPORT, history="sending")
def the_time_is_that_of_the_flights(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """From the first submission to the last completion."""
    found = reports(before, call, answer)
    if found and is_timed(found[0]) and found[0].ticks != found[1].ticks:
        yield f"room {call.room}: expected {found[0].ticks} ticks, got {found[1].ticks}"


@law("RFC-0012:C-METRICS#S6", on=REPORT, history="abort")
def the_reason_is_what_came_first(before: SendingState, call: Call, answer: Answer) -> Iterator[str]:
    """Who looks for the cause of a failure is sent to the wrong side."""
    found = reports(before, call, answer)
    if found and found[0].reason != found[1].reason:
        yield f"room {call.room}: expected the reason {found[0].reason!r}, got {found[1].reason!r}"

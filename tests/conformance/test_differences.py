# ruff: noqa: ANN401 - JSON values are of any type

from typing import Any

from sharedkv_conformance.replay import Difference, Outcome, differences, replay
from sharedkv_conformance.states import STATES
from sharedkv_conformance.trace import parse_trace
from tests.conformance.small_world import LAWS, OnePageShort, PlanningOnly
from tests.conformance.test_replay import COUNTED, SPLIT
from tests.conformance.test_trace_reading import OPENED, text_of

RIGHT = {"owners": [0, 1], "segments": [], "last_rank": 0, "last_row": 0}


def found(*lines: Any, on: Any = None) -> list[Difference]:
    trace = parse_trace(text_of(list(lines)))
    return list(differences(trace, replay(trace, on or PlanningOnly(), LAWS, STATES)))


def test_the_call_that_was_answered_otherwise_is_shown_with_both_answers() -> None:
    short = {**RIGHT, "owners": [0]}
    (difference,) = found(COUNTED, OPENED, {**SPLIT, "ok": short})

    assert (difference.call, difference.op, difference.recorded) == (1, "planning.split", {"ok": short})
    assert difference.here["ok"]["owners"] == [0, 1]


def test_equal_answers_are_no_difference() -> None:
    trace = parse_trace(text_of([COUNTED, OPENED, SPLIT]))
    recorded = replay(trace, PlanningOnly(), LAWS, STATES).trace

    assert recorded[1]["ok"]["owners"] == [0, 1]
    assert found(COUNTED, OPENED, {**SPLIT, "ok": recorded[1]["ok"]}) == []


def test_a_trace_without_answers_has_nothing_to_differ_from() -> None:
    assert found(COUNTED, OPENED, SPLIT) == []


def test_the_answers_that_led_to_a_violation_are_compared_too() -> None:
    trace = parse_trace(text_of([COUNTED, OPENED, {**SPLIT, "ok": RIGHT}]))
    result = replay(trace, PlanningOnly(OnePageShort), LAWS, STATES)

    assert result.outcome is Outcome.VIOLATED
    assert [difference.call for difference in differences(trace, result)] == [1]

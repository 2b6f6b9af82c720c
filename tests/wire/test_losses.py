"""What a program does to us, and what the check that met it is told."""

import os
import signal
from collections.abc import Callable

import pytest

from sharedkv_conformance.contract import OpenConfig
from sharedkv_conformance.description import DescriptionError, described
from sharedkv_conformance.effort import KILL, Effort
from sharedkv_conformance.execution import execute
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.marks import Check, check
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from sharedkv_conformance.sweep import Sweeps
from sharedkv_conformance.wire.client import Budgets
from sharedkv_conformance.wire.implementation import WireImplementation
from tests.conformance.small_world import COUNT, small_catalogue, something_was_split, there_is_an_owner_a_page
from tests.wire.programs import ENDLESS, HASTY, PATIENT, is_running, process_id, rogue

CATALOGUE = small_catalogue()
CONFIG = OpenConfig(cp_size=2, page_size=4, pages=8)
FEW = Effort(name="few", examples=5, steps=4, reduce=True)


def executed(implementation: WireImplementation, function: Callable[..., None] | None = None) -> CheckResult:
    found = vars(function)["kvconform_check"] if function else CATALOGUE.checks[0]
    assert isinstance(found, Check)
    return execute(found, described(implementation), FEW, CATALOGUE.witnesses)


@pytest.mark.parametrize(
    ("way", "budgets", "status", "told"),
    [
        ("crash", PATIENT, Status.CRASH, "it was killed by signal 9 (SIGKILL); the end of its log:\nno more memory"),
        ("leave", PATIENT, Status.CRASH, "it exited with code 3; the end of its log:\ndevice lost"),
        ("abandon", ENDLESS, Status.CRASH, "it exited with code 3"),
        ("shut", PATIENT, Status.CRASH, "it closed the wire, and then it still ran and was killed"),
        ("hang", HASTY, Status.TIMEOUT, "within 0.2 s; it still ran and was killed"),
        ("garbage", PATIENT, Status.ERROR, "wanted a line of JSON in UTF-8, found 'I0101 device 0: ready'"),
        ("unasked", PATIENT, Status.ERROR, "an answer to what was not asked"),
        ("misused", PATIENT, Status.ERROR, "raised Remote: protocol: no idea"),
    ],
)
def test_whatever_goes_wrong_is_a_status_with_its_reason(way: str, budgets: Budgets, status: Status, told: str) -> None:
    with rogue(way, 6, budgets) as implementation:
        result = executed(implementation)

    assert result.status is status
    assert told in result.message


def test_a_flood_on_both_outputs_disturbs_nothing() -> None:
    with rogue("flood", 6) as implementation:
        assert executed(implementation).status is Status.PASS


def test_a_lost_program_leaves_the_trace_of_its_last_calls() -> None:
    with rogue("leave", 6) as implementation:
        trace = executed(implementation).trace

    assert trace[0]["config"]
    assert {"ok", "err"}.isdisjoint(trace[-1])


def test_a_lost_program_is_started_again_for_the_next_check() -> None:
    with rogue("right") as implementation:
        session = implementation.open(CONFIG)
        first = process_id(implementation)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(Loss, match="signal 9"):
            session.planning.split(0, 5)
        session.close()

        assert executed(implementation).status is Status.PASS
        assert process_id(implementation) != first
        assert not is_running(first)


@check("planning.killed", COUNT, witnesses=("something_was_split",))
def check_while_somebody_kills(histories: Histories) -> None:
    """Nobody would know that the engine died."""
    with histories.written("planning", CONFIG, laws=[there_is_an_owner_a_page]) as call:
        call("planning.split", prefix_tokens=0, extend_tokens=5)
        wire = histories.implementation.implementation  # type: ignore[attr-defined]
        os.kill(process_id(wire), signal.SIGKILL)
        call("planning.split", prefix_tokens=0, extend_tokens=5)


def test_a_kill_from_outside_is_a_crash_of_the_check_that_ran_then() -> None:
    assert something_was_split.name in CATALOGUE.witnesses
    with rogue("right") as implementation:
        killed, after = executed(implementation, check_while_somebody_kills), executed(implementation)

    assert killed.status is Status.CRASH
    assert "signal 9 (SIGKILL)" in killed.message
    assert after.status is Status.PASS


def test_a_lost_sweep_is_not_asked_for_again() -> None:
    sweeps = Sweeps(grounds=dict.fromkeys(["planning"], CATALOGUE.grounds["planning"]))
    with rogue("leave", 6) as implementation:
        side = described(implementation)
        results = [execute(found, side, KILL, CATALOGUE.witnesses, sweeps) for found in CATALOGUE.checks[:2]]

    assert [result.status for result in results] == [Status.CRASH, Status.CRASH]
    assert sweeps.done == {"planning": None}


def test_a_program_that_leaves_before_hello_cannot_be_described() -> None:
    with rogue("early") as implementation, pytest.raises(DescriptionError) as caught:
        described(implementation)

    assert "no answer to hello: it exited with code 1; the end of its log:\nno device" in str(caught.value)


def test_a_program_that_starts_too_slowly_is_killed() -> None:
    with rogue("slow", budgets=Budgets(start_s=0.2)) as implementation, pytest.raises(DescriptionError) as caught:
        described(implementation)

    assert "no answer to hello within 0.2 s" in str(caught.value)


def test_an_answer_before_the_end_is_an_answer_although_a_child_holds_the_wire() -> None:
    with rogue("answer", 2, ENDLESS) as implementation:
        session = implementation.open(CONFIG)
        session.close()
        with pytest.raises(Loss, match="it exited with code 3"):
            session.planning.split(0, 5)

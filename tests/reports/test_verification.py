# ruff: noqa: ANN401, PT017 - JSON values are of any type; reading and refusing are both right, a traceback is not

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.report import ReportError, parse_report
from sharedkv_conformance.runner import InProcess
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.status import Status
from sharedkv_conformance.verification import verification_problems
from tests.conformance.small_world import PLANNING, PlanningOnly, Scripted, small_catalogue
from tests.conformance.test_report import CATALOGUE, FAILED, reported

PROBED = PLANNING | {"probe.cost"}
RIGHT = PlanningOnly()
PASSED: Any = reported(InProcess(Described(RIGHT, RIGHT.describe()), GATE, CATALOGUE))


def problems(report: Any) -> str:
    return "\n".join(verification_problems(report, small_catalogue()))


def changed(change: Callable[[Any], None]) -> Any:
    report = copy.deepcopy(PASSED)
    change(report)
    return report


@pytest.mark.parametrize("report", [PASSED, FAILED])
def test_a_whole_report_is_verified_whatever_its_verdict_is(report: Any) -> None:
    assert problems(report) == ""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda r: r["checks"].pop(2), "check planning.probed is missing"),
        (lambda r: r["statements"].pop(), "is missing"),
        (lambda r: r["specification"].update(digest="0" * 64), "verify it with its own suite"),
        (lambda r: r["statements"][0].update(text="It MAY."), "its sentence is another one here"),
        (lambda r: r["statements"][0].update(verdict="untested"), "its checks give pass"),
        (lambda r: r["checks"][0].update(status="fail"), "its checks give fail"),
        (lambda r: r["checks"][0].update(status="not-run"), "was not run"),
        (lambda r: r["checks"][0].update(examples=0), "passed without a history"),
        (lambda r: r["checks"][0].update(witnesses={}), "passed without something_was_split"),
        (lambda r: r["checks"][0].update(witnesses={"something_was_split": 0}), "passed without"),
        (lambda r: r["checks"][0].update(status="inapplicable"), "every feature that it needs is claimed"),
        (lambda r: r["checks"][2].update(status="pass"), "probe.cost is not claimed"),
        (lambda r: r["checks"][0].update(statements=[r["statements"][1]["id"]]), "speaks for"),
        (lambda r: r["profiles"][0].update(verdict="not conformant"), "its statements give"),
        (lambda r: r["profiles"][0].update(headline="conformant"), "its statements give"),
        (lambda r: r["profiles"][0].update(name="mine"), "no profile 'mine'"),
        (lambda r: r["run"].update(complete=False), "filtered"),
    ],
)
def test_a_report_that_was_tampered_with_is_rejected(change: Callable[[Any], None], told: str) -> None:
    assert told in problems(changed(change))


def test_a_filtered_run_may_not_be_published() -> None:
    assert "filtered" in problems(reported(Scripted(), selection=Selection(checks=("planning.count",))))


def test_a_run_that_executed_nothing_may_not_be_published() -> None:
    assert "nothing was executed" in problems(reported(Scripted(frozenset())))


def test_a_report_with_a_fault_of_the_suite_may_not_be_published() -> None:
    assert "the suite itself failed" in problems(reported(Scripted(PROBED, planning_count=Status.HARNESS_ERROR)))


@given(st.sampled_from([*PASSED["checks"][0]]), st.sampled_from(["", "pass", "fail", 0, 1, None, [], {}, "a.b"]))
def test_any_value_in_a_check_is_refused_rejected_or_changes_no_verdict(key: str, value: Any) -> None:
    report = changed(lambda r: r["checks"][0].update({key: value}))
    try:
        found = problems(parse_report(json.dumps(report)))
    except ReportError as error:
        assert error.problems
    else:
        assert found or report["checks"][0]["status"] == "pass"

# ruff: noqa: ANN401, PT017 - JSON values are of any type; reading and refusing are both right, a traceback is not

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.contract import CONTRACT_VERSION, Description
from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import DEEP, GATE
from sharedkv_conformance.refusals import refusal_slugs
from sharedkv_conformance.report import ReportError, effort_form, parse_report
from sharedkv_conformance.runner import InProcess
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.status import Status
from sharedkv_conformance.verification import verification_problems
from tests.conformance.small_world import PLANNING, PlanningOnly, Scripted, small_catalogue
from tests.conformance.test_report import CATALOGUE, FAILED, reported

PROBED = PLANNING | {"probe.cost"}
RIGHT = PlanningOnly()


def refused(report: Any) -> Any:
    """Return a report whose implementation refuses whatever it does not claim."""
    slugs = refusal_slugs(Description(name="it", version="1", features=frozenset(report["implementation"]["features"])))
    refusals = [{"check": slug, "status": "pass", "message": ""} for slug in slugs]
    return {**report, "claims": {**report["claims"], "refusals": refusals}}


PASSED: Any = refused(reported(InProcess(Described(RIGHT, RIGHT.describe()), GATE, CATALOGUE)))
SNAPSHOT = "refusal.allocation.snapshot"


def problems(report: Any) -> str:
    return "\n".join(verification_problems(report, small_catalogue()))


def changed(change: Callable[[Any], None]) -> Any:
    report = copy.deepcopy(PASSED)
    change(report)
    return report


def ended(refusal: Any, status: str, message: str) -> Callable[[Any], None]:
    """Return the change by which one refusal check ended otherwise."""

    def change(report: Any) -> None:
        found = next(told for told in report["claims"]["refusals"] if told["check"] == refusal)
        found.update(status=status, message=message)

    return change


def known(expect: str = "fail", applying: int = 1, **check: Any) -> Callable[[Any], None]:
    """Return the change by which the first check is listed as a known failure."""

    def change(report: Any) -> None:
        report["run"]["known"] = {"digest": "0" * 64, "entries": 1, "applying": applying}
        entry = {"expect": expect, "message": "it", "issue": "https://example.org/1"}
        report["checks"][0].update({"known": entry, **check})

    return change


@pytest.mark.parametrize("report", [PASSED, refused(FAILED)])
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
        (lambda r: r["run"]["effort"].update(examples=1), "effort standard: this suite has none"),
        (lambda r: r["run"]["effort"].update(name="thorough"), "effort thorough: this suite has none"),
        (lambda r: r["checks"][0].update(meaning="All is well."), "its meaning or its cases are others here"),
        (lambda r: r["implementation"]["features"].append("teleport"), "teleport is claimed, and is none of the"),
        (lambda r: r.pop("claims"), "claims are missing"),
        (
            lambda r: r["claims"]["not_met"].append("planning"),
            "says that ['planning'] are not met, its statuses give []",
        ),
        (lambda r: r["implementation"]["features"].append("allocation"), "its statuses give ['allocation']"),
        (lambda r: r["claims"]["refusals"].pop(), "refusal checks: wanted refusal.planning.batch"),
        (lambda r: r["claims"]["refusals"].append(r["claims"]["refusals"][0]), "refusal checks: wanted"),
        (ended(SNAPSHOT, "vacuous", "it"), "no refusal check ends with vacuous"),
        (ended(SNAPSHOT, "fail", ""), "no refusal check ends with fail and ''"),
        (ended(SNAPSHOT, "pass", "it answered 0"), "no refusal check ends with pass and 'it answered 0'"),
        (lambda r: r["claims"]["unclaimed_passes"].append("allocation.snapshot"), f"{SNAPSHOT} did not fail"),
        (lambda r: r["checks"][0].update(expectation="unexpected"), "its status gives as-expected"),
        (known(expectation="as-expected"), "its expectation is as-expected, its status gives stale"),
        (known(applying=2, expectation="stale"), "2 entries apply, 1 stand beside checks"),
        (lambda r: r["suite"].update(version="99"), f"99, {CONTRACT_VERSION} has written it"),
        (lambda r: r["suite"].update(contract="7.7"), "7.7 has written it"),
        (lambda r: r["specification"].update(rfcs={}), "its RFCs are others here"),
        (lambda r: r["specification"]["rfcs"]["RFC-0002"].update(version="9.9.9"), "its RFCs are others here"),
        (lambda r: r["run"].update(seed="none <b>"), "no seed is 'none <b>'"),
        (lambda r: r["run"].update(seed=str(1 << 32)), "no seed is"),
        (lambda r: r["run"]["effort"].update(effort_form(DEEP)), "the deep effort draws from a seed"),
        (lambda r: r["profiles"].append(r["profiles"][0]), "each once; found full, full"),
        (lambda r: r["profiles"].clear(), "each once; found none"),
        (lambda r: r["checks"][0]["witnesses"].update(bogus=4), "it has no witness bogus"),
        (lambda r: r["checks"][0].update(message="it broke", law="a_law"), "passed, and has message, law of a failure"),
        (lambda r: r["checks"][0].update(trace={"file": "", "lines": [{}]}), "passed, and has trace of a failure"),
        (lambda r: r["checks"][0].update(repeats={"tries": 3, "failed": 9}), "failed 9 of 3 times"),
        (lambda r: r["checks"][0].update(statement="RFC-9999:C-X#S1"), "it cannot break RFC-9999:C-X#S1"),
        (lambda r: r["checks"][0].update(status="fail"), "failed without a statement, its law and a trace"),
        (lambda r: r["checks"][0].update(status="crash"), "crash without a message"),
        (lambda r: r["implementation"].update(limits={"max_pages": -3}), "max_pages has to be at least 8, found -3"),
        (lambda r: r["implementation"].update(limits={"pages": 9}), "no limit 'pages'"),
        (lambda r: r["implementation"].update(environment={"p": "/home/me/x"}), "holds a path or a secret"),
        (lambda r: r["implementation"].update(environment={"token": "hunter2"}), "holds a path or a secret"),
        (lambda r: r["implementation"].update(name="x\ny"), "name: wanted at most 200 printable"),
        (lambda r: r["implementation"].update(version="/home/me/x"), "holds an absolute path or a secret"),
        (lambda r: r["checks"][2].update(message="not claimed: /home/me/x"), "holds an absolute path or a secret"),
        (lambda r: r["times"]["checks"].update(zzz=1), "zzz is no check of the report"),
        (lambda r: r["times"].update(started="9999-01-01T00:00:00Z"), "started 9999"),
    ],
)
def test_a_report_that_was_tampered_with_is_rejected(change: Callable[[Any], None], told: str) -> None:
    assert told in problems(changed(change))


@pytest.mark.parametrize(
    "change",
    [
        ended(SNAPSHOT, "fail", "it answered 0"),
        known(expectation="stale"),
        known(expectation="expired"),
        known(expect="flaky", expectation="as-expected"),
    ],
)
def test_what_follows_from_the_statuses_is_verified(change: Callable[[Any], None]) -> None:
    assert problems(changed(change)) == ""


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

# ruff: noqa: PT017 - reading and refusing are both right, a traceback is not

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.description import Described
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.progress import Silent
from sharedkv_conformance.report import (
    Circumstances,
    ReportError,
    effort_form,
    parse_report,
    render_json,
    report_of,
    report_schema,
)
from sharedkv_conformance.report_form import ReportForm
from sharedkv_conformance.runner import Executor, InProcess, run
from sharedkv_conformance.selection import Selection
from tests.conformance.small_world import OnePageShort, PlanningOnly, Scripted, small_catalogue

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
CATALOGUE = small_catalogue()


def reported(
    executor: Executor, *, started: str = "2026-01-01T00:00:00Z", selection: Selection | None = None
) -> ReportForm:
    ticks = iter(range(1000))
    finished = run(
        CATALOGUE, executor, selection=selection or Selection(), progress=Silent(), clock=lambda: next(ticks)
    )
    return report_of(finished, CATALOGUE, circumstances(started))


def circumstances(started: str) -> Circumstances:
    return Circumstances(
        effort=effort_form(GATE), strict=False, started=started, traces={"planning.count": "traces/x.jsonl"}
    )


def wrong() -> InProcess:
    implementation = PlanningOnly(OnePageShort)
    return InProcess(Described(implementation, implementation.describe()), GATE, CATALOGUE)


FAILED = reported(wrong())


@pytest.mark.parametrize(
    "report", [FAILED, reported(Scripted()), reported(Scripted(), selection=Selection(facets=("planning",)))]
)
def test_every_report_is_what_the_schema_promises(report: ReportForm) -> None:
    jsonschema.validate(report, report_schema(), jsonschema.Draft7Validator)


def test_a_report_is_read_as_it_was_written() -> None:
    assert parse_report(render_json(FAILED)) == FAILED


def test_a_report_has_every_statement_and_every_check() -> None:
    report = reported(Scripted(), selection=Selection(checks=("planning.count",)))

    assert [statement["id"] for statement in report["statements"]] == list(CATALOGUE.statements)
    assert [check["check"] for check in report["checks"]] == [check.slug for check in CATALOGUE.checks]


def test_a_failure_names_law_and_statement_and_holds_its_trace() -> None:
    check = next(check for check in FAILED["checks"] if check["check"] == "planning.count")

    assert check["status"] == "fail"
    assert check["law"] == "there_is_an_owner_a_page"
    assert check["statement"] == "RFC-0002:C-SPLIT#S1"
    assert check["trace"] is not None
    assert check["trace"]["lines"][0]["law"] == "there_is_an_owner_a_page"


def test_equal_runs_give_equal_reports_but_for_times() -> None:
    later: Any = reported(wrong(), started="2026-02-02T00:00:00Z")
    first: Any = dict(FAILED)

    assert {**later, "times": None} == {**first, "times": None}


def test_a_filter_is_told() -> None:
    report = reported(Scripted(), selection=Selection(checks=("planning.count",)))

    assert report["run"]["complete"] is False
    assert report["run"]["selection"] == {
        "checks": ["planning.count"],
        "statements": [],
        "clauses": [],
        "facets": [],
    }


def test_json_is_sorted_and_ends_with_a_line_end() -> None:
    text = render_json({"b": 1, "a": "\udc80"})

    assert text == '{\n  "a": "\\udc80",\n  "b": 1\n}\n'


def test_a_long_message_is_cut() -> None:
    report = reported(Scripted(message="x" * 5000))

    assert {len(check["message"]) for check in report["checks"] if check["status"] == "pass"} == {2000}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"report": 2}, "$.report"),
        ({"colour": "red"}, "'colour' was unexpected"),
        ({"statements": []}, "unknown statement"),
        ({"checks": []}, "unknown check"),
        ({"checks": FAILED["checks"] * 2}, "stands twice"),
        ({"profiles": []}, "$.profiles"),
    ],
)
def test_a_broken_report_is_told(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ReportError) as caught:
        parse_report(json.dumps({**FAILED, **change}))

    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["", "[", "NaN", '{"report": NaN}', "[" * 100_000, "1" * 5000])
def test_what_is_no_json_is_told(text: str) -> None:
    with pytest.raises(ReportError):
        parse_report(text)


@given(JSON, st.sampled_from([*FAILED]))
def test_any_value_in_a_report_is_read_or_told(value: object, key: str) -> None:
    try:
        parse_report(json.dumps({**FAILED, key: value}))
    except ReportError as error:
        assert error.problems


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "9" * 20, "9" * 5_000])
def test_a_number_that_readers_would_not_agree_on_is_refused(number: str) -> None:
    with pytest.raises(ReportError, match="not JSON"):
        parse_report(json.dumps({**FAILED, "times": "here"}).replace('"here"', f'{{"seconds": {number}}}'))


def test_an_object_with_a_repeated_name_is_refused() -> None:
    with pytest.raises(ReportError, match="'profiles' stands twice"):
        parse_report(json.dumps(FAILED)[:-1] + ', "profiles": []}')

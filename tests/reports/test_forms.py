# ruff: noqa: ANN401, S314 - JSON values are of any type, and the XML is our own

import json
import re
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from sharedkv_conformance.commands.reporting import FORMS, rendered
from sharedkv_conformance.forms.adapter import fault_in
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from tests.conformance.small_world import Scripted
from tests.conformance.test_report import FAILED, reported

HOSTILE = "</script><script>alert(1)</script> \x00\x1b \ud800 ]]> & \" '"
MIXED: Any = reported(Scripted(planning_count=Status.CRASH, planning_advice=Status.VACUOUS))
TWISTED: Any = reported(Scripted(message=HOSTILE, planning_count=Status.FAIL))
PASSED: Any = reported(Scripted())
SLUGS = [check["check"] for check in MIXED["checks"]]


class Reader(HTMLParser):
    """Collects ids, links and what is loaded from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and tag == "a":
                self.links.append(value or "")
            elif name in ("src", "href", "srcset"):
                self.loaded.append(value or "")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("report", [FAILED, MIXED, TWISTED], ids=["failed", "mixed", "twisted"])
def test_every_form_renders_every_report_and_does_so_again(form: str, report: Any) -> None:
    text = rendered(report, form)

    assert text == rendered(report, form)
    assert text.endswith("\n") or form == "html"


def test_junit_has_a_case_for_every_check() -> None:
    root = ET.fromstring(rendered(MIXED, "junit"))

    assert [case.get("name") for case in root.iter("testcase")] == SLUGS


def test_junit_tells_statuses_as_what_it_has() -> None:
    root = ET.fromstring(rendered(MIXED, "junit"))
    kinds = {
        case.get("name"): [child.tag for child in case if child.tag != "properties"] for case in root.iter("testcase")
    }

    assert kinds == {
        "planning.count": ["error"],
        "planning.owners": ["skipped"],
        "planning.probed": ["skipped"],
        "planning.advice": ["failure"],
    }
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == ("4", "1", "1", "2")


def test_junit_is_xml_whatever_a_message_holds() -> None:
    case = next(ET.fromstring(rendered(TWISTED, "junit")).iter("failure"))

    assert "alert(1)" in (case.get("message") or "")


def test_ctrf_counts_what_it_lists() -> None:
    results = json.loads(rendered(MIXED, "ctrf"))["results"]
    summary = results["summary"]

    assert [test["name"] for test in results["tests"]] == SLUGS
    assert (summary["tests"], summary["failed"], summary["skipped"], summary["passed"]) == (4, 2, 2, 0)


@pytest.mark.parametrize("report", [FAILED, MIXED, TWISTED, PASSED], ids=["failed", "mixed", "twisted", "passed"])
def test_ctrf_is_what_its_own_schema_wants(report: Any) -> None:
    """The schema is the one that the authors of CTRF publish; where it comes from stands beside it."""
    schema = json.loads(Path(__file__).with_name("ctrf").joinpath("ctrf-schema-0.0.json").read_text(encoding="utf-8"))
    report = json.loads(json.dumps(report))
    report["checks"][0]["repeats"] = {"tries": 3, "failed": 1}
    report["checks"][1]["known"] = {"expect": "fail", "message": "", "issue": "https://example.org/1"}
    found = jsonschema.Draft7Validator(schema).iter_errors(json.loads(rendered(report, "ctrf")))

    assert [error.message for error in found] == []


@pytest.mark.parametrize("report", [FAILED, MIXED, TWISTED, PASSED], ids=["failed", "mixed", "twisted", "passed"])
def test_junit_has_what_readers_add_up(report: Any) -> None:
    """Jenkins and the readers of GitHub count by suite and show name, class and time of a case and why it failed."""
    root = ET.fromstring(rendered(report, "junit"))
    suites = root.findall("testsuite")

    assert root.tag == "testsuites"
    for kind, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "testcase")):
        counted = [len([*suite.iter(tag)]) for suite in suites]
        assert [int(suite.get(kind, "")) for suite in suites] == counted
        assert int(root.get(kind, "")) == sum(counted)
    for element in (root, *suites, *root.iter("testcase")):
        assert float(element.get("time", "")) >= 0
        assert element.get("name")
    assert all(case.get("classname") for case in root.iter("testcase"))
    assert all(datetime.fromisoformat(suite.get("timestamp", "")) for suite in suites)
    for told in (*root.iter("failure"), *root.iter("error"), *root.iter("skipped")):
        assert told.get("message") is not None
        assert told.get("type")


def test_an_endpoint_badge_is_what_shields_reads() -> None:
    badge = json.loads(rendered(MIXED, "badge"))

    assert badge == {
        "schemaVersion": 1,
        "label": "SharedKV",
        "message": "not conformant, 0/3 MUST",
        "color": "red",
    }


def test_a_picture_of_a_badge_can_be_read_aloud() -> None:
    root = ET.fromstring(rendered(MIXED, "badge-svg"))

    assert root.get("aria-label") == "SharedKV: not conformant, 0/3 MUST"


def test_a_page_needs_nothing_else() -> None:
    text = rendered(FAILED, "html")

    assert Reader(text).loaded == []
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest", text)


def test_a_page_has_a_place_for_every_statement_and_its_links_lead_there() -> None:
    page = Reader(rendered(FAILED, "html"))

    assert {statement["id"] for statement in FAILED["statements"]} <= set(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_a_page_shows_message_and_trace_of_a_failure() -> None:
    text = rendered(FAILED, "html")

    assert "there_is_an_owner_a_page" in text
    assert "kvconform replay traces/x.jsonl" in text
    assert "&#34;violation&#34;" in text


def test_text_of_an_implementation_cannot_break_out_of_a_page() -> None:
    assert Reader(rendered(TWISTED, "html")).scripts == 1


def test_a_flaky_failure_is_told_in_every_form_that_has_room() -> None:
    report: Any = json.loads(json.dumps(FAILED))
    report["checks"][0]["repeats"] = {"tries": 3, "failed": 1}

    assert "flaky" in rendered(report, "md")
    assert "flaky" in rendered(report, "html")
    assert json.loads(rendered(report, "ctrf"))["results"]["tests"][0]["flaky"] is True


MALFORMED: Any = reported(
    Scripted(
        message="RFC-0002:C-SPLIT#S1: malformed answer: the answer to planning.split: wanted <RequestSplit>, found 3",
        planning_count=Status.FAIL,
        planning_advice=Status.FAIL,
    )
)


@pytest.mark.parametrize("form", ["md", "html"])
def test_a_broken_adapter_stands_at_the_head(form: str) -> None:
    told = rendered(MALFORMED, form)
    fault = "broken adapter: the answer to planning.split: wanted &lt;RequestSplit&gt;, found 3 (first seen by planning"

    assert told.count("broken adapter") == 1
    assert told.index(fault) < told.index("What did not pass")


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("RFC-0002:C-SPLIT#S1: malformed answer: x: wanted a", "x: wanted a"),
        ("planning.split raised Remote: protocol: no idea", "planning.split raised Remote: protocol: no idea"),
        (
            "no message of the wire, but an answer to open is due",
            "no message of the wire, but an answer to open is due",
        ),
        (
            "an answer to what was not asked, but one to x is due:\nlog",
            "an answer to what was not asked, but one to x is due:",
        ),
        ("RFC-0002:C-SPLIT#S1: 2 pages, 1 owners", ""),
        ("planning.split raised Remote: exception: ValueError", ""),
    ],
)
def test_what_tells_of_the_adapter_is_known_from_what_tells_of_the_engine(message: str, fault: str) -> None:
    assert fault_in(message) == fault


def test_causes_are_told_before_consequences() -> None:
    mixed = reported(Scripted(planning_count=Status.VACUOUS, planning_advice=Status.CRASH))
    told = rendered(mixed, "md")

    assert (
        told.index("planning.advice: crash")
        < told.index("planning.count: vacuous")
        < told.index("planning.owners: blocked")
    )


CLAIMS: Any = {
    "not_met": ["probe.cost"],
    "refusals": [
        {"check": "refusal.planning", "status": "pass", "message": ""},
        {"check": "refusal.allocation.snapshot", "status": "fail", "message": "it answered <0>"},
    ],
    "unclaimed_passes": ["allocation.snapshot"],
}


@pytest.mark.parametrize("form", ["md", "html"])
def test_claims_that_do_not_hold_are_told_to_people(form: str) -> None:
    told = re.sub("</?(code|span|li)[^>]*>|[*]", "", rendered(MIXED | {"claims": CLAIMS}, form))

    assert "probe.cost" + {"md": ":"}.get(form, "") + " claimed, and no check of it was executed" in told
    assert "it answered &lt;0&gt;" in told
    assert "passes though not claimed" in told
    assert "1 of 2 features that are not claimed are refused as they have to be" in told


@pytest.mark.parametrize("form", ["md", "html"])
def test_claims_that_hold_take_no_room(form: str) -> None:
    assert "Claims" not in rendered(PASSED, form)


def test_a_result_holds_no_expectation() -> None:
    assert "expectation" not in CheckResult.__dataclass_fields__

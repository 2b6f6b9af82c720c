"""Findings for machines: SARIF and JUnit say what the text says."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from govctl import cli
from govctl.rules.table import RULES
from tests.govctl.trees import CLAUSE, CONFIG, FILES, RFC, Json, edited, findings, write_tree

Capture = pytest.CaptureFixture[str]
BROKEN = {
    **edited(CLAUSE, "one page", "no\u0416 <page> & ]]>"),
    **edited(RFC, "Example", "An example, TODO"),
    "gov/rfc/odd name%.txt": "",
}


def output(root: Path, form: str, capsys: Capture) -> str:
    cli.main(["-C", str(root), "check", "--format", form])
    return capsys.readouterr().out


def sarif(root: Path, capsys: Capture) -> Json:
    (run,) = json.loads(output(root, "sarif", capsys))["runs"]
    return run


def test_sarif_has_a_result_a_finding_with_its_place_and_fingerprint(tmp_path: Path, capsys: Capture) -> None:
    write_tree(tmp_path, BROKEN)
    results = sarif(tmp_path, capsys)["results"]
    shown = [
        (
            result["ruleId"],
            result["level"],
            result["locations"][0]["physicalLocation"]["region"],
            result["partialFingerprints"]["govctl/1"],
        )
        for result in results
    ]

    assert shown == [
        (f.code, f.severity.value, {"startLine": f.place.line, "startColumn": f.place.column}, f.fingerprint)
        for f in findings(tmp_path)
    ]


def test_sarif_names_every_rule_and_every_result_points_at_its_own(tmp_path: Path, capsys: Capture) -> None:
    run = sarif(write_tree(tmp_path, BROKEN), capsys)
    rules = run["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert {rule["defaultConfiguration"]["level"] for rule in rules} <= {"error", "warning", "note"}


def test_sarif_addresses_are_relative_and_encoded(tmp_path: Path, capsys: Capture) -> None:
    run = sarif(write_tree(tmp_path, BROKEN), capsys)
    addresses = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in run["results"]
        if result["ruleId"] == "G0105"
    }

    assert addresses == {"gov/rfc/odd%20name%25.txt"}


def test_sarif_keeps_related_places(tmp_path: Path, capsys: Capture) -> None:
    run = sarif(write_tree(tmp_path, BROKEN), capsys)
    (changed,) = [result for result in run["results"] if result["ruleId"] == "G0602"]

    assert [item["message"]["text"] for item in changed["relatedLocations"]] == [
        "check room.one-page",
        "law one_page_stays_free",
    ]


def test_what_is_borne_is_suppressed_in_sarif_and_counted_in_text(tmp_path: Path, capsys: Capture) -> None:
    table = '\n[[suppress]]\ncode = "placeholder"\nid = "RFC-0001"\nreason = "Known."\nuntil = "9999-12-31"\n'
    files = {**edited(RFC, "Example", "Example TODO"), CONFIG: FILES[CONFIG] + table}
    (result,) = sarif(write_tree(tmp_path, files), capsys)["results"]

    assert (result["ruleId"], result["suppressions"]) == ("G0412", [{"kind": "external"}])
    assert output(tmp_path, "text", capsys).startswith("0 errors, 0 warnings, 0 notes (1 borne) in 1 RFC")


def test_junit_has_a_case_a_rule_which_fails_by_errors_and_warnings(tmp_path: Path, capsys: Capture) -> None:
    suite = ET.fromstring(output(write_tree(tmp_path, BROKEN), "junit", capsys))  # noqa: S314  # our own output
    failed = [str(case.get("name")).split()[0] for case in suite if case.find("failure") is not None]
    found = findings(tmp_path)

    assert len(suite) == len(RULES) == int(suite.get("tests", 0))
    assert failed == sorted({finding.code for finding in found if finding.severity.value != "note"})
    assert suite.get("failures") == str(len(failed))


def test_junit_text_is_whole_however_odd_it_is(tmp_path: Path, capsys: Capture) -> None:
    files = edited(CLAUSE, "Every lane", "[[RFC-0001:C-\u0416<&>]]>]]")
    suite = ET.fromstring(output(write_tree(tmp_path, files), "junit", capsys))  # noqa: S314  # our own output
    text = "".join(suite.itertext())

    assert "[[RFC-0001:C-\u0416<&>]] is no full id" in text


@pytest.mark.parametrize("form", ["json", "github", "sarif", "junit"])
def test_every_form_is_the_same_twice(tmp_path: Path, capsys: Capture, form: str) -> None:
    write_tree(tmp_path, BROKEN)

    assert output(tmp_path, form, capsys) == output(tmp_path, form, capsys)

"""One screen for the whole tree, one text for each code."""

import json
from pathlib import Path

import pytest

from govctl import cli
from govctl.rules.table import COMPARISON, RULES, Rule
from tests.govctl.trees import CHECKS, EVIDENCE, RFC, edited, write_tree

Capture = pytest.CaptureFixture[str]


def test_status_shows_each_rfc_with_its_coverage_and_the_findings(tmp_path: Path, capsys: Capture) -> None:
    assert cli.main(["-C", str(write_tree(tmp_path)), "status"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[0] == "example: 1 clause, 2 statements"
    assert lines[2].split() == ["RFC-0001", "0.1.0", "normative", "stable", "1", "1", "1", "1", "0", "Example"]
    assert lines[-1] == "0 errors, 0 warnings, 0 notes: govctl check"


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({EVIDENCE: None}, "RFC-0001: stable does not hold: there is no evidence"),
        (edited(RFC, '"stable"', '"test"'), "RFC-0001: stable is next: nothing is open"),
        ({**edited(RFC, '"stable"', '"impl"'), CHECKS: ""}, "RFC-0001: test is next: 1 MUST has no check"),
    ],
)
def test_status_says_what_the_phase_lacks(tmp_path: Path, capsys: Capture, files: dict[str, str], line: str) -> None:
    cli.main(["-C", str(write_tree(tmp_path, files)), "status"])

    assert line in capsys.readouterr().out.splitlines()


def test_status_as_json_holds_the_same(tmp_path: Path, capsys: Capture) -> None:
    cli.main(["-C", str(write_tree(tmp_path, {EVIDENCE: None})), "status", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    (rfc,) = document["rfcs"]

    assert (document["project"], document["findings"]) == ("example", {"error": 1})
    assert (rfc["open"], rfc["must"]["declared"], rfc["findings"]) == (["there is no evidence"], 1, {"error": 1})


@pytest.mark.parametrize("rule", [*RULES, COMPARISON], ids=lambda rule: rule.code)
def test_a_rule_is_explained_by_its_code_and_by_its_name(capsys: Capture, rule: Rule) -> None:
    code, name = rule.code, rule.name
    outputs = set()
    for word in (code, code.lower(), name):
        assert cli.main(["explain", word]) == 0
        outputs.add(capsys.readouterr().out)

    assert len(outputs) == 1
    assert outputs.pop().startswith(f"{code} {name} (")


def test_an_unknown_code_is_a_wrong_call_with_the_nearest_one(capsys: Capture) -> None:
    assert cli.main(["explain", "sentence-change"]) == 2
    assert "did you mean sentence-changed?" in capsys.readouterr().err


def test_an_explanation_as_json_has_every_part(capsys: Capture) -> None:
    cli.main(["explain", "G0602", "--format", "json"])

    assert sorted(json.loads(capsys.readouterr().out)) == ["code", "explanation", "name", "severity", "summary", "why"]

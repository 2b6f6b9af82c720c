"""What one example a rule cannot show: more places, suggestions, settings."""

from pathlib import Path

import pytest

from govctl.findings import Severity
from tests.govctl.trees import (
    CHECKS,
    CLAUSE,
    CONFIG,
    EVIDENCE,
    FILES,
    LOCK,
    RFC,
    codes,
    edited,
    findings,
    write_tree,
)

SCHEMA_TOO = '\n[severity]\nG0602 = "warning"\nmust-unchecked = "off"\n'


def mends(root: Path, code: str) -> list[str]:
    return [finding.mend for finding in findings(root) if finding.code == code]


@pytest.mark.parametrize("copy", ["gov/rfc/RFC-0009.toml", "gov/clauses/RFC-0001/C-COPY.toml"])
def test_a_copy_of_a_file_is_a_duplicate_that_names_both_places(tmp_path: Path, copy: str) -> None:
    original = RFC if "rfc/" in copy else CLAUSE
    write_tree(tmp_path, {copy: FILES[original]})
    duplicates = [finding for finding in findings(tmp_path) if finding.code == "G0302"]

    assert duplicates
    assert {file for d in duplicates for file in (d.place.file, d.related[0].place.file)} == {original, copy}


@pytest.mark.parametrize(
    ("files", "code", "mend"),
    [
        (edited(CLAUSE, "Every lane", "[[RFC-0001:C-RULES]]"), "G0307", "did you mean RFC-0001:C-RULE?"),
        (edited(CHECKS, '"RFC-0001:C-RULE#S2"', '"RFC-0001:C-RULE#S3"'), "G0309", "RFC-0001:C-RULE has S1, S2"),
        (edited(CLAUSE, 'kind = "normative"', 'kind = "normativ"'), "G0201", "did you mean normative?"),
        (edited(CLAUSE, "title", "titel"), "G0202", "did you mean title?"),
        (edited(CONFIG, "checks =", "cheks ="), "G0202", "did you mean checks?"),
    ],
)
def test_a_finding_suggests_the_nearest_name(tmp_path: Path, files: dict[str, str], code: str, mend: str) -> None:
    assert mends(write_tree(tmp_path, files), code) == [mend]


def test_a_rejected_reference_of_every_kind_is_found(tmp_path: Path) -> None:
    clause = FILES[CLAUSE].replace("Every lane", "[[RFC-0001:C-X]] RFC-0001:C-Y").replace("has pages", "has")
    clause = clause.replace('kind = "normative"', 'kind = "normative"\nstatus = "superseded"\nsuperseded_by = "C-Z"')
    rfc = edited(RFC, "created", 'refs = ["RFC-0005"]\ncreated')
    write_tree(tmp_path, {CLAUSE: clause, **rfc})
    named = {word for f in findings(tmp_path) if f.code == "G0307" for word in f.message.split(",")[0].split()[1:]}

    assert named == {"RFC-0001:C-X", "RFC-0001:C-Y", "RFC-0001:C-Z", "RFC-0005"}


def test_an_exclusion_frees_from_check_and_mutant(tmp_path: Path) -> None:
    excluded = 'free."\nexcluded = { class = "unobservable", reason = "No answer shows it." }'
    files = {CHECKS: "", "suite/mutants.py": "", EVIDENCE: None}
    write_tree(tmp_path, {**files, CLAUSE: FILES[CLAUSE].replace('free."', excluded)})

    assert [code for code in codes(tmp_path) if code.startswith("G05")] == []


def test_a_may_needs_neither_check_nor_mutant(tmp_path: Path) -> None:
    files = {CHECKS: "", "suite/mutants.py": "", EVIDENCE: None}
    text = FILES[CLAUSE].replace("MUST", "MAY").replace("SHOULD", "MAY")
    write_tree(tmp_path, {**files, CLAUSE: text})

    assert [code for code in codes(tmp_path) if code.startswith("G05")] == []


@pytest.mark.parametrize(
    ("phase", "severity"),
    [("spec", None), ("impl", Severity.NOTE), ("test", Severity.WARNING), ("stable", Severity.ERROR)],
)
def test_stale_evidence_weighs_by_phase(tmp_path: Path, phase: str, severity: Severity | None) -> None:
    write_tree(tmp_path, {RFC: FILES[RFC].replace('"stable"', f'"{phase}"'), **edited(CHECKS, "...", "pass")})
    found = [finding.severity for finding in findings(tmp_path) if finding.code == "G0608"]

    assert found == ([severity] if severity else [])


def test_missing_evidence_is_demanded_in_phase_stable_alone(tmp_path: Path) -> None:
    write_tree(tmp_path, {EVIDENCE: None, RFC: FILES[RFC].replace('"stable"', '"test"')})

    assert codes(tmp_path) == []


def test_evidence_is_demanded_only_where_a_facet_is_configured(tmp_path: Path) -> None:
    config = FILES[CONFIG].partition("[facets")[0]
    write_tree(tmp_path, {EVIDENCE: None, CONFIG: config, RFC: FILES[RFC].replace('facet = "room"\n', "")})

    assert codes(tmp_path) == []


def test_a_severity_in_the_settings_wins(tmp_path: Path) -> None:
    files = {CONFIG: FILES[CONFIG] + SCHEMA_TOO, **edited(CLAUSE, "one page", "no page"), CHECKS: "\n"}
    found = {f.code: f.severity for f in findings(write_tree(tmp_path, files))}

    assert found["G0602"] is Severity.WARNING
    assert "G0501" not in found


@pytest.mark.parametrize("broken", [CONFIG, CLAUSE, RFC, CHECKS])
def test_one_broken_file_does_not_hide_behind_a_flood(tmp_path: Path, broken: str) -> None:
    write_tree(tmp_path, {broken: "@check(\n"})

    assert set(codes(tmp_path)) <= {"G0103", "G0107"}


def test_without_a_lock_every_statement_is_new(tmp_path: Path) -> None:
    assert codes(write_tree(tmp_path, {LOCK: None})) == ["G0603", "G0603", "G0615"]


def test_findings_are_sorted_by_place(tmp_path: Path) -> None:
    found = findings(write_tree(tmp_path, {LOCK: None, CHECKS: "", "gov/rfc/x": ""}))

    assert [f.place for f in found] == sorted(f.place for f in found)

"""Coverage: one computation for table, headline and exit code."""

from pathlib import Path

import pytest

from govctl import load_tree
from govctl.coverage import coverage, headline, totals
from tests.govctl.trees import (
    CHECKS,
    CLAUSE,
    EVIDENCE,
    FILES,
    RFC,
    codes,
    edited,
    findings,
    lock_all,
    write,
    write_tree,
)


def headline_of(root: Path) -> str:
    (covered,) = coverage(load_tree(root))
    return headline(covered)


def test_a_proven_rfc_says_so(tmp_path: Path) -> None:
    write_tree(tmp_path)

    assert codes(tmp_path) == []
    assert headline_of(tmp_path) == "RFC-0001: 1 of 1 MUST checked, passing and killed"


def test_an_excluded_statement_is_counted_apart_by_class(tmp_path: Path) -> None:
    excluded = '"A lane MUST keep two pages free."\nexcluded = { class = "%s", reason = "so" }'
    clause = edited(CLAUSE, '"A lane SHOULD keep two pages free."', excluded % "unobservable")
    write_tree(tmp_path, clause)
    first = headline_of(tmp_path)
    write(tmp_path, {CLAUSE: clause[CLAUSE].replace("unobservable", "debt")})

    assert "1 of 1 MUST checked, passing and killed; 1 excluded (1 unobservable)" in first
    assert "; 1 debt" in headline_of(tmp_path)


def test_a_deleted_check_leaves_its_statement_unchecked(tmp_path: Path) -> None:
    write_tree(
        tmp_path, edited(CHECKS, '"room.one-page", "RFC-0001:C-RULE#S1"', '"room.one-page", "RFC-0001:C-RULE#S2"')
    )

    assert "G0501" in codes(tmp_path)
    assert headline_of(tmp_path).startswith("RFC-0001: of 1 MUST 0 checked, 0 passing, 0 killed")


def test_a_skipped_check_covers_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, edited(CHECKS, '@check("room.one-page"', '@pytest.mark.skip\n@check("room.one-page"'))

    assert {"G0501", "G0504"} <= set(codes(tmp_path))


@pytest.mark.parametrize("status", ["fail", "vacuous", "error", "blocked", "unmet"])
def test_a_check_that_did_not_pass_does_not_count_as_passing(tmp_path: Path, status: str) -> None:
    write_tree(tmp_path)
    text = (tmp_path / EVIDENCE).read_text()
    write(tmp_path, {EVIDENCE: text.replace('"room.one-page": "pass"', f'"room.one-page": "{status}"')})
    (covered,) = coverage(load_tree(tmp_path))

    assert totals(covered.statements, "MUST").passing == 0
    assert "G0609" in codes(tmp_path)


def test_a_mutant_that_another_statement_killed_is_alive(tmp_path: Path) -> None:
    write_tree(tmp_path)
    text = (tmp_path / EVIDENCE).read_text()
    write(tmp_path, {EVIDENCE: text.replace('        "room.one-page"', '        "room.two-pages"')})

    assert codes(tmp_path) == ["G0610"]


def test_stale_evidence_proves_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, edited(CHECKS, "...", "pass"))
    (covered,) = coverage(load_tree(tmp_path))

    assert not covered.is_proven
    assert headline(covered).endswith("evidence is stale (suite)")


@pytest.mark.parametrize(
    ("phase", "severities"),
    [
        ("spec", []),
        ("impl", ["note"]),
        ("test", ["note", "note", "warning"]),
        ("stable", ["error", "error", "warning"]),
    ],
)
def test_severity_follows_life(tmp_path: Path, phase: str, severities: list[str]) -> None:
    write_tree(tmp_path, {CHECKS: "", "suite/mutants.py": "", EVIDENCE: None})
    write(tmp_path, {RFC: FILES[RFC].replace('"stable"', f'"{phase}"')})
    found = [finding for finding in findings(tmp_path) if finding.code.startswith("G05")]

    assert sorted(finding.severity.value for finding in found) == severities


def test_the_catalogue_depends_on_sentences_and_slugs_alone(tmp_path: Path) -> None:
    before = load_tree(write_tree(tmp_path)).catalogue
    write(tmp_path, edited(CHECKS, "def test_one_page", "def test_another_name"))
    renamed = load_tree(tmp_path).catalogue
    write(tmp_path, edited(CHECKS, "room.one-page", "room.first-page"))

    assert renamed == before
    assert load_tree(tmp_path).catalogue != before


def test_a_new_clause_in_prose_is_numbered_and_covered(tmp_path: Path) -> None:
    prose = FOUNDING.replace("C-RULE", "C-PROSE")
    write_tree(
        tmp_path, {"gov/clauses/RFC-0001/C-PROSE.toml": prose, **edited(RFC, '["C-RULE"]', '["C-RULE", "C-PROSE"]')}
    )
    lock_all(tmp_path)
    tree = load_tree(tmp_path)

    assert [s.id for s in tree.statement_by_id.values()][:2] == ["RFC-0001:C-PROSE#S1", "RFC-0001:C-PROSE#S2"]
    assert tree.statement_by_id["RFC-0001:C-PROSE#S2"].place.line == 11


FOUNDING = '''\
#:schema ../../../schema/clause.schema.json
[govctl]
id = "C-RULE"
title = "Rule"
kind = "normative"
since = "0.1.0"

[content]
text = """
It is so. A lane MUST be short.
A lane MUST have pages.

**Rationale:** it MUST be so.
"""
'''

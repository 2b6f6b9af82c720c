"""The life of an RFC: which states go together, how much a gap weighs in each, what a version may change."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from govctl import load_tree
from govctl.acceptance import accept
from govctl.coverage import coverage
from govctl.findings import Severity
from govctl.rules.gates import next_phase, open_points
from govctl.rules.severity import MUST_LADDER, MUTANT_LADDER, PHASES, PLACEHOLDER_LADDER, SHOULD_LADDER
from tests.govctl.trees import CHECKS, CLAUSE, EVIDENCE, FILES, LOCK, RFC, codes, edited, findings, write, write_tree

OFF, NOTE, WARNING, ERROR = Severity.OFF, Severity.NOTE, Severity.WARNING, Severity.ERROR
LADDERS = {
    "must": (MUST_LADDER, (OFF, NOTE, WARNING, ERROR)),
    "mutant": (MUTANT_LADDER, (OFF, OFF, NOTE, ERROR)),
    "should": (SHOULD_LADDER, (OFF, OFF, NOTE, WARNING)),
    "placeholder": (PLACEHOLDER_LADDER, (NOTE, WARNING, ERROR, ERROR)),
}
CELLS = [(name, phase, wanted) for name, (_, row) in LADDERS.items() for phase, wanted in zip(PHASES, row, strict=True)]
PAIRS = {
    "draft": {"spec", "impl", "test"},
    "normative": {"spec", "impl", "test", "stable"},
    "deprecated": {"spec", "stable"},
}
NEWER = """\
[[changelog]]
version = "{version}"
date = "2026-06-10"
notes = "A change."

[[changelog]]
version = "0.1.0"
"""


@pytest.mark.parametrize(("name", "phase", "wanted"), CELLS)
def test_each_gap_weighs_in_each_phase_what_the_table_says(name: str, phase: str, wanted: Severity) -> None:
    assert LADDERS[name][0][phase] is wanted


@pytest.mark.parametrize("status", PAIRS)
@pytest.mark.parametrize("phase", PHASES)
def test_each_pair_of_status_and_phase_is_legal_or_found(tmp_path: Path, status: str, phase: str) -> None:
    text = FILES[RFC].replace('"normative"', f'"{status}"').replace('"stable"', f'"{phase}"')
    write_tree(tmp_path, {RFC: text})

    assert ("G0410" in codes(tmp_path)) is (phase not in PAIRS[status])


@pytest.mark.parametrize(("phase", "after"), [("spec", "impl"), ("impl", "test"), ("test", "stable"), ("stable", "")])
def test_phases_follow_one_another(phase: str, after: str) -> None:
    assert next_phase(phase) == after


def gaps(root: Path, phase: str) -> Sequence[str]:
    tree = load_tree(root)
    (covered,) = coverage(tree)
    return open_points(tree, covered, phase)


def test_a_proven_rfc_meets_every_gate(tmp_path: Path) -> None:
    assert gaps(write_tree(tmp_path), "stable") == []


@pytest.mark.parametrize(
    ("files", "phase", "points"),
    [
        ({LOCK: None}, "impl", ["2 sentences are not accepted"]),
        ({CHECKS: ""}, "impl", []),
        ({CHECKS: ""}, "test", ["1 MUST has no check"]),
        ({EVIDENCE: None}, "test", []),
        ({EVIDENCE: None}, "stable", ["there is no evidence"]),
        (edited(CHECKS, "...", "pass"), "stable", ["the evidence is stale (suite)"]),
        ({"suite/mutants.py": "\n"}, "stable", ["the evidence is stale (mutants)", "1 MUST has no mutant that died"]),
        (edited(RFC, '"normative"', '"draft"'), "stable", ["it is draft, not normative"]),
    ],
)
def test_a_gate_names_what_is_open(tmp_path: Path, files: dict[str, str], phase: str, points: list[str]) -> None:
    assert gaps(write_tree(tmp_path, files), phase) == points


def bumped(version: str) -> dict[str, str]:
    text = FILES[RFC].replace('version = "0.1.0"\nstatus', f'version = "{version}"\nstatus')
    return {RFC: text.replace('[[changelog]]\nversion = "0.1.0"\n', NEWER.format(version=version))}


MUST_CHANGED = edited(CLAUSE, "keep one page", "keep three pages")
SHOULD_CHANGED = edited(CLAUSE, "keep two pages", "keep four pages")
SHOULD_TIGHTENED = edited(CLAUSE, "SHOULD keep two", "MUST keep two")
MUST_REMOVED = edited(CLAUSE, '\n[[content.statements]]\nid = "S1"\ntext = "A lane MUST keep one page free."\n', "")
MUST_ADDED = {CLAUSE: FILES[CLAUSE] + '\n[[content.statements]]\nid = "S3"\ntext = "A lane MUST be even."\n'}
AMENDMENTS = {"changed": MUST_CHANGED, "tightened": SHOULD_TIGHTENED, "removed": MUST_REMOVED, "added": MUST_ADDED}


def versions_found(root: Path) -> list[str]:
    return [found.code for found in findings(root) if found.code in {"G0613", "G0614", "G0615"}]


@pytest.mark.parametrize("change", [*AMENDMENTS.values(), SHOULD_CHANGED])
def test_an_amendment_of_a_sealed_version_is_found_even_when_its_sentences_are_accepted(
    tmp_path: Path, change: dict[str, str]
) -> None:
    write_tree(tmp_path, change)
    tree = load_tree(tmp_path)
    withdrawn = [name for name in tree.lock.entries if name not in tree.statement_by_id]
    write(tmp_path, {LOCK: accept(tree, list(tree.statement_by_id), withdrawn, all_new=True).lock.text()})

    assert versions_found(tmp_path) == ["G0613"]


@pytest.mark.parametrize("change", AMENDMENTS.values(), ids=AMENDMENTS)
@pytest.mark.parametrize(("version", "found"), [("0.1.1", ["G0614", "G0615"]), ("0.2.0", ["G0615"])])
def test_a_must_that_is_added_changed_or_removed_needs_a_minor_number(
    tmp_path: Path, change: dict[str, str], version: str, found: list[str]
) -> None:
    write_tree(tmp_path, {**change, **bumped(version)})

    assert versions_found(tmp_path) == found


@pytest.mark.parametrize("version", ["0.1.1", "0.2.0", "1.0.0"])
def test_a_changed_should_may_come_with_a_patch(tmp_path: Path, version: str) -> None:
    write_tree(tmp_path, {**SHOULD_CHANGED, **bumped(version)})

    assert versions_found(tmp_path) == ["G0615"]


def test_a_version_below_a_sealed_one_is_found(tmp_path: Path) -> None:
    write_tree(tmp_path, {RFC: FILES[RFC].replace("0.1.0", "0.0.9")})

    assert "G0614" in versions_found(tmp_path)


def test_in_phase_spec_nothing_is_sealed_and_nothing_is_an_amendment(tmp_path: Path) -> None:
    write_tree(tmp_path, {**MUST_CHANGED, RFC: FILES[RFC].replace('"stable"', '"spec"')})

    assert versions_found(tmp_path) == []


def sealed(root: Path, *names: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    result = accept(load_tree(root), names, [], all_new=False, sealed=["RFC-0001"])
    return result.sealed, result.refused


def test_a_new_version_is_sealed_when_its_sentences_are_accepted(tmp_path: Path) -> None:
    write_tree(tmp_path, {**MUST_CHANGED, **bumped("0.2.0")})

    assert sealed(tmp_path) == ((), ("RFC-0001 cannot be sealed before RFC-0001:C-RULE#S1 is accepted",))
    assert sealed(tmp_path, "RFC-0001:C-RULE#S1") == (("RFC-0001@0.2.0",), ())


def test_a_sealed_version_is_never_sealed_anew(tmp_path: Path) -> None:
    write_tree(tmp_path, MUST_CHANGED)

    assert sealed(tmp_path, "RFC-0001:C-RULE#S1") == (
        (),
        ("RFC-0001@0.1.0 was sealed with other statements: bump the version",),
    )


def test_an_rfc_in_phase_spec_is_not_sealed(tmp_path: Path) -> None:
    write_tree(tmp_path, {RFC: FILES[RFC].replace('"stable"', '"spec"')})

    assert sealed(tmp_path)[1] == ("RFC-0001 is in phase spec, where nothing is sealed",)


@pytest.mark.parametrize(
    ("created", "updated", "is_wrong"),
    [
        ("2026-06-03", "2026-06-03", False),
        ("2026-06-01", "2026-07-01", False),
        ("2026-06-04", "", True),
        ("2026-06-03", "2026-06-02", True),
        ("2026-06-01", "2026-06-02", True),
    ],
)
def test_created_versions_and_updated_are_in_order(
    tmp_path: Path, created: str, updated: str, *, is_wrong: bool
) -> None:
    dates = f'created = "{created}"' + (f'\nupdated = "{updated}"' if updated else "")
    write_tree(tmp_path, edited(RFC, 'created = "2026-06-03"', dates))

    assert ("G0415" in codes(tmp_path)) is is_wrong


@pytest.mark.parametrize(
    ("since", "is_wrong"), [("0.1.0", False), ("0.0.9", True), ("0.2.0", True), ("0.1.00", None), ("v0.1.0", None)]
)
def test_a_statement_is_not_older_than_its_clause_and_not_newer_than_its_rfc(
    tmp_path: Path, since: str, *, is_wrong: bool | None
) -> None:
    write_tree(tmp_path, edited(CLAUSE, 'id = "S1"', f'id = "S1"\nsince = "{since}"'))

    assert ("G0406" in codes(tmp_path)) is bool(is_wrong)
    assert ("G0201" in codes(tmp_path)) is (is_wrong is None)


def test_a_successor_that_is_deprecated_is_a_dead_end(tmp_path: Path) -> None:
    old = (
        FILES[CLAUSE]
        .replace('"C-RULE"', '"C-OLD"')
        .replace("since", 'status = "superseded"\nsuperseded_by = "C-RULE"\nsince')
    )
    rule = FILES[CLAUSE].replace("since", 'status = "deprecated"\nsince')
    write_tree(
        tmp_path,
        {"gov/clauses/RFC-0001/C-OLD.toml": old, CLAUSE: rule, **edited(RFC, '["C-RULE"]', '["C-OLD", "C-RULE"]')},
    )
    found = [item.message for item in findings(tmp_path) if item.code == "G0409"]

    assert found == ["is superseded by RFC-0001:C-RULE, which is deprecated"]


def test_a_mark_of_a_withdrawn_statement_is_found_as_such(tmp_path: Path) -> None:
    write_tree(tmp_path, MUST_REMOVED)
    write(tmp_path, {LOCK: accept(load_tree(tmp_path), [], ["RFC-0001:C-RULE#S1"], all_new=False).lock.text()})
    found = {item.code for item in findings(tmp_path) if "which was withdrawn" in item.message}

    assert found == {"G0310"}
    assert "G0309" not in codes(tmp_path)

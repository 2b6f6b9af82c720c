"""What this specification promises about its proof: coverage, life, amendments, evidence, and no silence."""

from __future__ import annotations

from pathlib import Path

from govctl import load_tree
from govctl.marks import MarkKind
from tests.governance.marks import check
from tests.governance.small_tree import TODAY, Answer, SmallTree
from tests.governance.sound import RULE, SUITE

READING = (
    ("check", "--today", TODAY),
    ("coverage",),
    ("catalogue",),
    ("lock", "--new", "--dry-run"),
    ("render", "--output", "pages", "--check"),
)


@check("governance.demands-are-checked", "RFC-0000:C-COVERAGE#S1")
def test_a_demand_has_a_check_that_runs(tree: SmallTree) -> None:
    """The sentence could be broken for years, and nobody would know."""
    assert tree.found("must-unchecked", "check-skipped", "mutant-without-check") == []


@check("governance.demands-have-mutants", "RFC-0000:C-COVERAGE#S2")
def test_a_demand_has_a_mutant(tree: SmallTree) -> None:
    """A check that cannot fail would pass for proof."""
    assert tree.found("must-without-mutant") == []


@check("governance.marks-cite", "RFC-0000:C-COVERAGE#S3")
def test_a_mark_names_its_statements(tree: SmallTree) -> None:
    """A behaviour would be tested that no sentence demands."""
    assert tree.found("mark-malformed", "mark-not-literal") == []


@check("governance.rows-have-a-home", "RFC-0000:C-COVERAGE#S4")
def test_a_row_of_the_backlog_has_a_statement(tree: SmallTree) -> None:
    """What was agreed upon would be lost in silence."""
    assert tree.found("row-without-home") == []


@check("governance.status-allows-phase", "RFC-0000:C-LIFE#S1")
def test_status_allows_the_phase(tree: SmallTree) -> None:
    """A draft would call itself proven and change tomorrow."""
    assert tree.found("status-and-phase") == []


@check("governance.stable-is-proven", "RFC-0000:C-LIFE#S2")
def test_what_is_stable_is_proven(tree: SmallTree) -> None:
    """Stable would be a word in place of a result."""
    assert tree.found("evidence-missing", "check-not-passing", "mutant-alive") == []


@check("governance.changes-are-suspect", "RFC-0000:C-AMENDMENT#S1")
def test_a_sentence_is_the_accepted_one(tree: SmallTree) -> None:
    """A check would go on to pass for a sentence that it never saw."""
    assert tree.found("sentence-changed", "statement-new") == []


@check("governance.suspects-are-named", "RFC-0000:C-AMENDMENT#S1")
def test_a_changed_sentence_names_its_checks(tree: SmallTree) -> None:
    """Whoever accepts the change would not know what to look at."""
    loaded = load_tree(tree.root)
    demand = next(name for name, found in loaded.statement_by_id.items() if found.text.startswith("A lane MUST"))
    suspects = [check.label for check in loaded.marks_of(MarkKind.CHECK, demand)]
    tree.edit(RULE, "A lane MUST", "Any lane MUST")
    (message,) = [text for text in tree.found("sentence-changed") if demand in text]

    assert [label for label in suspects if label not in message] == []


@check("governance.versions-stay", "RFC-0000:C-AMENDMENT#S2")
def test_a_version_keeps_its_statements(tree: SmallTree) -> None:
    """Two implementers of one version would build two things."""
    assert tree.found("amendment", "version-not-sealed") == []


@check("governance.demands-raise-the-minor-number", "RFC-0000:C-AMENDMENT#S3")
def test_another_demand_is_another_minor_version(tree: SmallTree) -> None:
    """An implementer would take up a patch and break."""
    assert tree.found("bump-too-small") == []


@check("governance.versions-have-entries", "RFC-0000:C-AMENDMENT#S4")
def test_a_version_has_an_entry_in_the_changelog(tree: SmallTree) -> None:
    """A reader could not tell what a version brought."""
    assert tree.found("since-version", "since-missing", "changelog", "date-order") == []


@check("governance.evidence-is-fresh", "RFC-0000:C-EVIDENCE#S1")
def test_evidence_is_of_what_is_there(tree: SmallTree) -> None:
    """A reader would be shown what was, not what is."""
    assert tree.found("evidence-stale") == []


@check("governance.evidence-is-canonical", "RFC-0000:C-EVIDENCE#S2")
def test_evidence_is_in_canonical_form(tree: SmallTree) -> None:
    """Two equal results would differ, and a forged one would pass among them."""
    assert tree.found("evidence-malformed") == []


@check("governance.checks-write-nothing", "RFC-0000:C-EVIDENCE#S3")
def test_a_command_that_checks_writes_nothing(tree: SmallTree) -> None:
    """A check would mend what it was to report."""
    before = tree.files()
    _run_all(tree)
    is_untouched = tree.files() == before
    tree.write(SUITE, f"{before[SUITE].decode()}\nSTALE = True\n")
    stale = tree.files()
    _run_all(tree)

    assert (is_untouched, tree.files() == stale) == (True, True)


@check("governance.same-from-everywhere", "RFC-0000:C-EVIDENCE#S4")
def test_every_folder_of_a_tree_gives_the_same_findings(tree: SmallTree) -> None:
    """The verdict would depend on where somebody happened to stand."""
    assert {_checked(tree, folder).output for folder in ("suite", "gov/rfc")} == {_checked(tree, ".").output}


@check("governance.nothing-is-silent", "RFC-0000:C-SILENCE#S1")
def test_what_cannot_be_used_is_reported(tree: SmallTree) -> None:
    """A misspelt word would switch off what it names, and everything would look well."""
    refused = tree.run("check", "--no-such-option")

    assert (refused.exit_code, "--no-such-option" in refused.output) == (2, True)
    assert tree.found("stray-file", "empty-glob", "unknown-rule", "suppression-unused", "clause-not-listed") == []


def _run_all(tree: SmallTree) -> None:
    for arguments in READING:
        tree.run(*arguments)
    selftest = tree.root.parent / f"{tree.root.name}.selftest.json"
    selftest.write_text('{"selftest": 1, "implementation": {"name": "example"}, "checks": [], "mutants": []}')
    tree.run("evidence", "--from", str(selftest), "--compare")
    Path(selftest).unlink()


def _checked(tree: SmallTree, folder: str) -> Answer:
    return tree.run("check", "--today", TODAY, folder=folder)

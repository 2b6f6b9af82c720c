"""Sound trees broken in their proof, one way each."""

from __future__ import annotations

from tests.governance.marks import mutant
from tests.governance.small_tree import SmallTree
from tests.governance.sound import EVIDENCE, LOCK, MODEL, MUTANTS, REFERENCE, RFC, RULE, SUITE

FIRST_CHECK = """\
@check("room.one-page", "RFC-0001:C-RULE#S1")
def test_one_page(): ...


"""
SKIPPED_CHECK = """

@pytest.mark.skip
@check("room.any-page", "RFC-0001:C-RULE#S1")
def test_any_page(): ...
"""
SECOND_MUTANT = """

@mutant("room.keeps-one", kills="RFC-0001:C-RULE#S2")
class KeepsOne: ...
"""
PATCH = """\
[[changelog]]
version = "0.2.1"
date = "2026-06-04"
notes = "A word."

[[changelog]]
version = "0.2.0"
"""


@mutant(
    "governance.demand-without-check",
    kills="RFC-0000:C-COVERAGE#S1",
    also={"RFC-0000:C-COVERAGE#S2": "the mutant went with the check that was to kill it"},
)
def demand_without_check(tree: SmallTree) -> None:
    """A demand lost its check, and the mutant with it."""
    tree.edit(SUITE, FIRST_CHECK, "")
    tree.write(MUTANTS, "NONE = ()\n")
    tree.prove()


@mutant("governance.check-skipped", kills="RFC-0000:C-COVERAGE#S1")
def check_skipped(tree: SmallTree) -> None:
    """A check of a demand is there, and never runs."""
    tree.write(SUITE, tree.text(SUITE) + SKIPPED_CHECK)
    tree.prove()


@mutant(
    "governance.mutant-without-check",
    kills="RFC-0000:C-COVERAGE#S1",
    also={"RFC-0000:C-LIFE#S2": "what no check looks at is not shown to die"},
)
def mutant_without_check(tree: SmallTree) -> None:
    """A mutant is to die by a statement that no check names."""
    tree.edit(SUITE, '"RFC-0001:C-RULE#S2"', '"RFC-0001:C-RULE#S1"')
    tree.write(MUTANTS, tree.text(MUTANTS) + SECOND_MUTANT)
    tree.prove()


@mutant("governance.demand-without-mutant", kills="RFC-0000:C-COVERAGE#S2")
def demand_without_mutant(tree: SmallTree) -> None:
    """Nobody ever saw the check of a demand fail."""
    tree.write(MUTANTS, "NONE = ()\n")
    tree.prove()


@mutant("governance.check-without-statement", kills="RFC-0000:C-COVERAGE#S3")
def check_without_statement(tree: SmallTree) -> None:
    """A check tests what no sentence demands."""
    tree.write(SUITE, f'{tree.text(SUITE)}\n\n@check("room.three-pages")\ndef test_three_pages(): ...\n')
    tree.prove()


@mutant("governance.computed-id", kills="RFC-0000:C-COVERAGE#S3")
def computed_id(tree: SmallTree) -> None:
    """A check computes the id of its statement, so that no search finds it."""
    tree.write(SUITE, f'{tree.text(SUITE)}\n\n@check("room.three-pages", RULE + "#S1")\ndef test_three_pages(): ...\n')
    tree.prove()


@mutant("governance.row-without-home", kills="RFC-0000:C-COVERAGE#S4")
def row_without_home(tree: SmallTree) -> None:
    """An RFC takes over a row and says nothing about it."""
    tree.edit(RFC, "..ROOM-02", "..ROOM-03")


@mutant("governance.stable-draft", kills="RFC-0000:C-LIFE#S1")
def stable_draft(tree: SmallTree) -> None:
    """A draft is in phase stable."""
    tree.edit(RFC, 'status = "normative"', 'status = "draft"')


@mutant("governance.stable-without-evidence", kills="RFC-0000:C-LIFE#S2")
def stable_without_evidence(tree: SmallTree) -> None:
    """An RFC is stable by its word alone."""
    tree.remove(EVIDENCE)


@mutant("governance.failing-check", kills="RFC-0000:C-LIFE#S2")
def failing_check(tree: SmallTree) -> None:
    """The check of a demand fails on the reference."""
    tree.edit(EVIDENCE, '"room.one-page": "pass"', '"room.one-page": "fail"')


@mutant("governance.vacuous-check", kills="RFC-0000:C-LIFE#S2")
def vacuous_check(tree: SmallTree) -> None:
    """The check of a demand never met its trigger."""
    tree.edit(EVIDENCE, '"room.one-page": "pass"', '"room.one-page": "vacuous"')


@mutant("governance.surviving-mutant", kills="RFC-0000:C-LIFE#S2")
def surviving_mutant(tree: SmallTree) -> None:
    """A mutant died by the check of another statement alone."""
    tree.edit(EVIDENCE, '        "room.one-page"', '        "room.two-pages"')


@mutant("governance.sentence-changed", kills="RFC-0000:C-AMENDMENT#S1")
def sentence_changed(tree: SmallTree) -> None:
    """A sentence says something else than the one that was accepted."""
    tree.edit(RULE, "one page free", "four pages free")
    tree.seal()
    tree.prove()


@mutant("governance.sentence-never-accepted", kills="RFC-0000:C-AMENDMENT#S1")
def sentence_never_accepted(tree: SmallTree) -> None:
    """A new sentence binds before anybody accepted it."""
    more = '\n[[content.statements]]\nid = "S3"\ntext = "A lane MAY keep more."\n'
    tree.write(RULE, tree.text(RULE) + more)
    tree.seal()
    tree.prove()


@mutant("governance.amended-version", kills="RFC-0000:C-AMENDMENT#S2")
def amended_version(tree: SmallTree) -> None:
    """A version got another demand and kept its number."""
    tree.edit(RULE, "one page free", "four pages free")
    tree.accept()
    tree.prove()


@mutant("governance.version-without-seal", kills="RFC-0000:C-AMENDMENT#S2")
def version_without_seal(tree: SmallTree) -> None:
    """Nothing holds what the version demanded when it left phase spec."""
    lines = tree.text(LOCK).split("\n")
    tree.write(LOCK, "\n".join(line for line in lines if not line.startswith("RFC-0001@")))


@mutant("governance.patch-that-demands-more", kills="RFC-0000:C-AMENDMENT#S3")
def patch_that_demands_more(tree: SmallTree) -> None:
    """A patch asks for four pages where its predecessor asked for one."""
    tree.edit(RFC, 'version = "0.2.0"\nstatus', 'version = "0.2.1"\nstatus')
    tree.edit(RFC, '[[changelog]]\nversion = "0.2.0"\n', PATCH)
    tree.edit(RULE, "one page free", "four pages free")
    tree.accept()
    tree.seal()
    tree.prove()


@mutant("governance.version-without-entry", kills="RFC-0000:C-AMENDMENT#S4")
def version_without_entry(tree: SmallTree) -> None:
    """The changelog does not know the version."""
    tree.edit(RFC, 'version = "0.2.0"\nstatus', 'version = "0.3.0"\nstatus')
    tree.seal()


@mutant("governance.since-a-version-to-come", kills="RFC-0000:C-AMENDMENT#S4")
def since_a_version_to_come(tree: SmallTree) -> None:
    """A statement holds since a version that does not exist yet."""
    tree.edit(RULE, 'since = "0.2.0"', 'since = "0.9.0"')


@mutant("governance.clause-of-no-version", kills="RFC-0000:C-AMENDMENT#S4")
def clause_of_no_version(tree: SmallTree) -> None:
    """A clause does not say since when it holds."""
    tree.edit(RULE, 'since = "0.1.0"\n', "")


@mutant("governance.changelog-upside-down", kills="RFC-0000:C-AMENDMENT#S4")
def changelog_upside_down(tree: SmallTree) -> None:
    """The changelog goes back in time below its newest entry."""
    tree.edit(RFC, 'date = "2026-06-03"\nnotes', 'date = "2026-06-05"\nnotes')
    tree.edit(RFC, 'updated = "2026-06-04"', 'updated = "2026-06-05"')


@mutant("governance.update-before-the-version", kills="RFC-0000:C-AMENDMENT#S4")
def update_before_the_version(tree: SmallTree) -> None:
    """An RFC was last updated a day before its newest version."""
    tree.edit(RFC, 'updated = "2026-06-04"', 'updated = "2026-06-03"')


@mutant("governance.check-changed-after-evidence", kills="RFC-0000:C-EVIDENCE#S1")
def check_changed_after_evidence(tree: SmallTree) -> None:
    """A check was weakened after it had passed."""
    tree.edit(SUITE, "def test_one_page(): ...", "def test_one_page(): pass")


@mutant("governance.reference-changed-after-evidence", kills="RFC-0000:C-EVIDENCE#S1")
def reference_changed_after_evidence(tree: SmallTree) -> None:
    """The reference changed after it was proven."""
    tree.write(REFERENCE, "PAGES = 4\n")


@mutant("governance.model-changed-after-evidence", kills="RFC-0000:C-EVIDENCE#S1")
def model_changed_after_evidence(tree: SmallTree) -> None:
    """What is right changed after the checks were judged by it."""
    tree.write(MODEL, "PAGES = 4\n")


@mutant("governance.mutant-changed-after-evidence", kills="RFC-0000:C-EVIDENCE#S1")
def mutant_changed_after_evidence(tree: SmallTree) -> None:
    """A mutant was made harmless after it had died."""
    tree.edit(MUTANTS, "class TakesAll: ...", "class TakesAll: pass")


@mutant("governance.sentence-accepted-after-evidence", kills="RFC-0000:C-EVIDENCE#S1")
def sentence_accepted_after_evidence(tree: SmallTree) -> None:
    """A sentence was changed and accepted, and nothing was run since."""
    tree.edit(RULE, "one page free", "four pages free")
    tree.accept()
    tree.seal()


@mutant("governance.evidence-with-a-date", kills="RFC-0000:C-EVIDENCE#S2")
def evidence_with_a_date(tree: SmallTree) -> None:
    """Evidence says when it was made, so that no two are equal."""
    tree.edit(EVIDENCE, '  "evidence": 1,', '  "date": "2026-06-04",\n  "evidence": 1,')


@mutant("governance.evidence-by-hand", kills="RFC-0000:C-EVIDENCE#S2")
def evidence_by_hand(tree: SmallTree) -> None:
    """Somebody wrote evidence by hand, in an order of their own."""
    tree.edit(EVIDENCE, '  "evidence": 1,\n', "")
    tree.edit(EVIDENCE, '  "rfc": "RFC-0001"', '  "rfc": "RFC-0001",\n  "evidence": 1')


@mutant("governance.tree-in-a-tree", kills="RFC-0000:C-EVIDENCE#S4")
def tree_in_a_tree(tree: SmallTree) -> None:
    """A folder of the tree has settings of its own, and hides the tree from whoever stands in it."""
    tree.write("suite/gov/govctl.toml", '#:schema ../../schema/config.schema.json\n[project]\nname = "inner"\n')

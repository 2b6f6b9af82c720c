"""Sound trees broken in their text, one way each."""

from __future__ import annotations

from tests.governance.marks import mutant
from tests.governance.small_tree import SmallTree
from tests.governance.sound import LOCK, RFC, RULE, SUITE, SUMMARY

SECOND = """
[[content.statements]]
id = "S2"
text = "A lane SHOULD keep two pages free."
since = "0.2.0"
origin = ["ROOM-02"]
"""
SECOND_CHECK = """

@check("room.two-pages", "RFC-0001:C-RULE#S2")
def test_two_pages(): ...
"""


@mutant("governance.two-statements-with-one-id", kills="RFC-0000:C-IDENTITY#S1")
def two_statements_with_one_id(tree: SmallTree) -> None:
    """Two statements of a clause have the number S2."""
    tree.write(RULE, tree.text(RULE) + SECOND.replace("two pages", "three pages"))
    tree.settle()


@mutant("governance.file-of-another-name", kills="RFC-0000:C-IDENTITY#S1")
def file_of_another_name(tree: SmallTree) -> None:
    """A clause stands in a file that another id names."""
    tree.write("gov/clauses/RFC-0001/C-OUTLINE.toml", tree.text(SUMMARY))
    tree.remove(SUMMARY)


@mutant("governance.statement-without-tombstone", kills="RFC-0000:C-IDENTITY#S2")
def statement_without_tombstone(tree: SmallTree) -> None:
    """A statement that was locked is gone with its check, and leaves no trace."""
    tree.edit(RULE, SECOND, "")
    tree.edit(SUITE, SECOND_CHECK, "")
    tree.edit(RFC, "..ROOM-02", "")
    tree.seal()
    tree.prove()


@mutant("governance.statements-renumbered", kills="RFC-0000:C-IDENTITY#S2")
def statements_renumbered(tree: SmallTree) -> None:
    """Two statements have each other's number."""
    for old, new in (('"S1"', '"S0"'), ('"S2"', '"S1"'), ('"S0"', '"S2"')):
        tree.edit(RULE, f"id = {old}", f"id = {new}")
    for old, new in (("#S1", "#S0"), ("#S2", "#S1"), ("#S0", "#S2")):
        tree.edit(SUITE, old, new)
    tree.edit("suite/mutants.py", "#S1", "#S2")
    tree.seal()
    tree.prove()


@mutant("governance.id-used-again", kills="RFC-0000:C-IDENTITY#S2")
def id_used_again(tree: SmallTree) -> None:
    """A new statement has the number of one that was withdrawn."""
    entry = next(line for line in tree.text(LOCK).split("\n") if line.startswith("RFC-0001:C-RULE#S2"))
    tree.edit(LOCK, entry, f"{entry} withdrawn")


@mutant("governance.reference-to-nothing", kills="RFC-0000:C-IDENTITY#S3")
def reference_to_nothing(tree: SmallTree) -> None:
    """The text refers to a clause that does not exist."""
    tree.edit(RULE, "[[RFC-0001:C-SUMMARY]]", "[[RFC-0001:C-SUMMER]]")


@mutant("governance.reference-in-lower-case", kills="RFC-0000:C-IDENTITY#S3")
def reference_in_lower_case(tree: SmallTree) -> None:
    """A reference is right but for the case of its letters."""
    tree.edit(RULE, "[[RFC-0001:C-SUMMARY]]", "[[rfc-0001:c-summary]]")


@mutant("governance.check-of-nothing", kills="RFC-0000:C-IDENTITY#S3")
def check_of_nothing(tree: SmallTree) -> None:
    """A check names a statement that does not exist."""
    tree.write(SUITE, tree.text(SUITE) + SECOND_CHECK.replace("two", "nine").replace("#S2", "#S9"))
    tree.prove()


@mutant("governance.rfc-without-title", kills="RFC-0000:C-RECORDS#S1")
def rfc_without_title(tree: SmallTree) -> None:
    """The record of an RFC has no title."""
    tree.edit(RFC, 'title = "Free room"\n', "")


@mutant("governance.misspelt-key", kills="RFC-0000:C-RECORDS#S1")
def misspelt_key(tree: SmallTree) -> None:
    """A clause has a rational in the place of a rationale."""
    tree.write(SUMMARY, f'{tree.text(SUMMARY)}rational = "It is short."\n')


@mutant("governance.status-of-no-kind", kills="RFC-0000:C-RECORDS#S1")
def status_of_no_kind(tree: SmallTree) -> None:
    """The status of an RFC is a word of nobody's."""
    tree.edit(RFC, 'status = "normative"', 'status = "final"')


@mutant("governance.day-that-never-was", kills="RFC-0000:C-RECORDS#S1")
def day_that_never_was(tree: SmallTree) -> None:
    """An RFC was created on the 31st of June."""
    tree.edit(RFC, 'created = "2026-06-03"', 'created = "2026-06-31"')


@mutant("governance.page-edited", kills="RFC-0000:C-RECORDS#S2")
def page_edited(tree: SmallTree) -> None:
    """Somebody weakened a sentence on its rendered page."""
    tree.run("render", "--output", str(tree.root / "pages"))
    tree.edit("pages/docs/rfc/RFC-0001.md", "keep one page free", "try to keep one page free")


@mutant("governance.page-of-yesterday", kills="RFC-0000:C-RECORDS#S2")
def page_of_yesterday(tree: SmallTree) -> None:
    """A rationale changed after the pages were rendered."""
    tree.run("render", "--output", str(tree.root / "pages"))
    tree.edit(RULE, "stalls every rank", "stalls the ranks that wait for it")


@mutant("governance.summary-last", kills="RFC-0000:C-RECORDS#S3")
def summary_last(tree: SmallTree) -> None:
    """The rule stands before the summary."""
    tree.edit(RFC, '["C-SUMMARY", "C-RULE"]', '["C-RULE", "C-SUMMARY"]')


@mutant("governance.two-keywords", kills="RFC-0000:C-SENTENCES#S1")
def two_keywords(tree: SmallTree) -> None:
    """One statement makes two demands of different strength."""
    tree.edit(RULE, "MUST keep one page free.", "MUST keep one page free and SHOULD say so.")
    tree.settle()


@mutant("governance.two-sentences", kills="RFC-0000:C-SENTENCES#S1")
def two_sentences(tree: SmallTree) -> None:
    """One statement holds a demand and a remark."""
    tree.edit(RULE, "MUST keep one page free.", "MUST keep one page free. The page is any.")
    tree.settle()


@mutant("governance.keyword-in-rationale", kills="RFC-0000:C-SENTENCES#S2")
def keyword_in_rationale(tree: SmallTree) -> None:
    """The rationale demands something in passing."""
    tree.edit(RULE, "stalls every rank.", "MUST stall every rank.")


@mutant("governance.keyword-in-summary", kills="RFC-0000:C-SENTENCES#S2")
def keyword_in_summary(tree: SmallTree) -> None:
    """The summary, which binds nobody, demands something."""
    tree.edit(SUMMARY, "It does not say which.", "Which is free MUST NOT count.")


@mutant("governance.informative-demand", kills="RFC-0000:C-SENTENCES#S2")
def informative_demand(tree: SmallTree) -> None:
    """The summary, which binds nobody, has a statement."""
    more = '\n[[content.statements]]\nid = "S1"\ntext = "A lane MAY have a name."\n'
    tree.write(SUMMARY, tree.text(SUMMARY) + more)
    tree.settle()


@mutant("governance.clause-that-demands-nothing", kills="RFC-0000:C-SENTENCES#S3")
def clause_that_demands_nothing(tree: SmallTree) -> None:
    """A normative clause holds a description alone."""
    empty = tree.text(SUMMARY).replace("C-SUMMARY", "C-SHAPE").replace("informative", "normative")
    tree.write("gov/clauses/RFC-0001/C-SHAPE.toml", empty)
    tree.edit(RFC, '"C-RULE"]', '"C-RULE", "C-SHAPE"]')

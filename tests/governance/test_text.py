"""What this specification promises about its text: ids, records, sentences and decisions."""

from __future__ import annotations

from govctl import load_tree
from tests.governance.marks import check
from tests.governance.small_tree import SmallTree
from tests.governance.summaries import without_summary


@check("governance.one-thing-an-id", "RFC-0000:C-IDENTITY#S1")
def test_an_id_names_one_thing(tree: SmallTree) -> None:
    """A reader who follows an id would arrive at one of two sentences."""
    assert tree.found("duplicate-id", "id-of-file") == []


@check("governance.ids-stay", "RFC-0000:C-IDENTITY#S2")
def test_an_id_stays_with_its_statement(tree: SmallTree) -> None:
    """A report of last year would speak of another sentence."""
    assert tree.found("statement-removed", "statement-renumbered") == []


@check("governance.references-exist", "RFC-0000:C-IDENTITY#S3")
def test_a_reference_names_what_exists(tree: SmallTree) -> None:
    """A reader would follow the reference to nothing."""
    assert tree.found("unknown-reference", "malformed-reference", "unknown-statement") == []


@check("governance.records", "RFC-0000:C-RECORDS#S1")
def test_a_record_follows_its_schema(tree: SmallTree) -> None:
    """A key that is missing or misspelt would be taken for a choice."""
    assert tree.found("schema-value", "unknown-key", "missing-key", "date") == []


@check("governance.rendering", "RFC-0000:C-RECORDS#S2")
def test_rendered_text_equals_its_record(tree: SmallTree) -> None:
    """A reader of the pages would be bound by a text that nobody accepted."""
    if not (tree.root / "pages").exists():
        made = tree.run("render", "--output", str(tree.root / "pages"))
        if "part of the tree could not be read" in made.output:
            return  # nothing is rendered, so nothing differs
    compared = tree.run("render", "--output", str(tree.root / "pages"), "--check")

    assert (compared.exit_code, "not what the tree says" in compared.output) == (0, False)


@check("governance.summary-first", "RFC-0000:C-RECORDS#S3")
def test_an_rfc_begins_with_an_informative_clause(tree: SmallTree) -> None:
    """A reader would be bound before knowing by what."""
    assert without_summary(load_tree(tree.root)) == []


@check("governance.one-demand-a-sentence", "RFC-0000:C-SENTENCES#S1")
def test_a_statement_is_one_sentence_with_one_keyword(tree: SmallTree) -> None:
    """One verdict would stand for two demands, of which one is broken."""
    assert tree.found("keyword-count", "one-sentence") == []


@check("governance.keywords-in-statements", "RFC-0000:C-SENTENCES#S2")
def test_a_keyword_stands_in_a_statement(tree: SmallTree) -> None:
    """A demand without an id could be neither checked nor cited."""
    assert tree.found("keyword-outside", "informative-statements") == []


@check("governance.normative-clauses-demand", "RFC-0000:C-SENTENCES#S3")
def test_a_normative_clause_demands_something(tree: SmallTree) -> None:
    """A clause would look binding and bind nobody."""
    assert tree.found("no-statement") == []

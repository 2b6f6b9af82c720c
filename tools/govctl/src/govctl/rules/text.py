"""Family 04, first part: sentences and keywords.

Knows what a normative sentence looks like. Knows nothing of checks.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl import prose
from govctl.findings import Diagnostic, Severity
from govctl.tree import Tree

_SHOWN = 60  # characters of a sentence that are quoted


def statements_hold_one_keyword(tree: Tree) -> Iterator[Diagnostic]:
    """A statement holds exactly one keyword; two in one sentence of prose are a note."""
    for clause in tree.clauses:
        for statement in clause.statements:
            if len(statement.keywords) == 1:
                continue
            several = ", ".join(statement.keywords)
            yield Diagnostic(
                place=statement.place,
                subject=statement.id,
                message=f"holds the keywords {several}" if several else "holds no upper-case BCP 14 keyword",
                mend="make one sentence for each keyword"
                if several
                else "say how strongly it binds: MUST, SHOULD or MAY",
                severity=None if clause.has_statements else Severity.NOTE,
            )


def statements_are_one_sentence(tree: Tree) -> Iterator[Diagnostic]:
    """A statement is one sentence."""
    for clause in tree.clauses:
        for statement in clause.statements if clause.has_statements else ():
            parts = prose.sentences(statement.text) if prose.may_hold_sentences(statement.text) else ()
            if len(parts) > 1:
                yield Diagnostic(
                    place=statement.document.words_place(statement.path, parts[1]),
                    subject=statement.id,
                    message=f"holds {len(parts)} sentences",
                    mend="move what explains into the clause's text, and what demands into a statement of its own",
                )


def keywords_stand_in_statements(tree: Tree) -> Iterator[Diagnostic]:
    """Titles, rationales, informative clauses, and the text beside statements hold no keyword."""
    for clause in tree.clauses:
        is_informative = not (clause.has_statements or clause.is_normative)
        where = "although it is informative" if is_informative else "outside its statements"
        text = clause.text if clause.has_statements or is_informative else ""
        if not prose.may_hold_keywords(f"{clause.title}\n{clause.rationale}\n{text}"):
            continue
        for key, part in (("title", clause.title), ("rationale", clause.rationale), ("text", text)):
            for line, keywords in prose.keyword_lines(part):
                table = "govctl" if key == "title" else "content"
                yield Diagnostic(
                    place=clause.document.words_place((table, key), line),
                    subject=clause.id,
                    message=f"the {key} holds {', '.join(keywords)} {where}: {_short(line)}",
                    mend="make the sentence a statement, or write the keyword in lower case",
                )


def informative_clauses_have_no_statements(tree: Tree) -> Iterator[Diagnostic]:
    """An informative clause demands nothing."""
    for clause in tree.clauses:
        if clause.has_statements and not clause.is_normative:
            yield Diagnostic(
                place=clause.document.value_place(("govctl", "kind")),
                subject=clause.id,
                message="is informative and has statements",
                mend="make the clause normative, or its statements plain text",
            )


def normative_clauses_have_statements(tree: Tree) -> Iterator[Diagnostic]:
    """An active normative clause demands something."""
    for clause in tree.clauses:
        if clause.is_normative and clause.is_active and not clause.statements:
            yield Diagnostic(
                place=clause.document.value_place(("govctl", "kind")),
                subject=clause.id,
                message="is normative and has no statement",
                mend="add a sentence with an upper-case keyword, or make the clause informative",
            )


def _short(text: str) -> str:
    flat = prose.collapse(text)
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 3]}..."

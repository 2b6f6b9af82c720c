"""Family 04, third part: words that do not say enough.

Knows small lists of words. Knows nothing of what a sentence is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from govctl import prose
from govctl.findings import Diagnostic
from govctl.grammar import without_code
from govctl.rules.severity import PLACEHOLDER_LADDER, on
from govctl.rules.texts import held, texts_with
from govctl.specification import Clause
from govctl.toml_places import Path
from govctl.tree import Tree

_LONGEST = 500  # characters
_PLACEHOLDER = re.compile(
    r"(?<![A-Za-z0-9_])(?:TODO|TBD|TBA|FIXME|XXX|Lorem ipsum)(?![A-Za-z0-9_])|\?{3,}|<[a-z]+ here>"
)
_PLACEHOLDER_ROOTS = ("TODO", "TBD", "TBA", "FIXME", "XXX", "Lorem", "???", "here>")
_LOWER_ROOTS = ("must", "shall")
_LOWER = re.compile(r"(?<![A-Za-z0-9_'-])(?:must|shall)(?:\s+not)?(?![A-Za-z0-9_'-])")
VAGUE_WORDS = (
    "adequate",
    "and/or",
    "appropriate",
    "as needed",
    "etc.",
    "if possible",
    "in general",
    "quickly",
    "reasonable",
    "robust",
    "sufficient",
    "user-friendly",
    "where applicable",
)
_VAGUE = re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, VAGUE_WORDS))})(?![a-z])", re.IGNORECASE)

_Prose = tuple[Path, str]


def nothing_is_left_to_write(tree: Tree) -> Iterator[Diagnostic]:
    """No text holds a placeholder."""
    for prose_text in texts_with(tree, *_PLACEHOLDER_ROOTS):
        rfc = tree.rfc_by_id.get(prose_text.rfc)
        if rfc is None:
            continue
        for match in _PLACEHOLDER.finditer(without_code(prose_text.text)):
            yield Diagnostic(
                place=prose_text.place(match.group()),
                subject=prose_text.subject,
                message=f"holds the placeholder {match.group()}",
                mend="write what is missing, or take the sentence out",
                severity=on(PLACEHOLDER_LADDER, rfc),
            )


def keywords_are_upper_case(tree: Tree) -> Iterator[Diagnostic]:
    """In a normative clause, what binds is written in upper case."""
    if "\\" not in tree.whole_text and not held(tree.whole_text, _LOWER_ROOTS):
        return
    for clause in tree.clauses:
        for path, text in _demanding(clause) if clause.is_normative else ():
            if "must" not in text and "shall" not in text:
                continue
            for match in _LOWER.finditer(without_code(text)):
                yield Diagnostic(
                    place=clause.document.words_place(path, _around(text, match)),
                    subject=clause.id,
                    message=f'holds "{prose.collapse(match.group())}" in lower case, which binds nobody',
                    mend="write a statement with the keyword in upper case, or another verb",
                )


def statements_are_exact(tree: Tree) -> Iterator[Diagnostic]:
    """No statement holds a word that every reader measures differently."""
    words = held("\n".join([statement.text for statement in tree.statement_by_id.values()]), VAGUE_WORDS)
    for statement in tree.statement_by_id.values() if words else ():
        if not held(statement.text, words):
            continue
        for match in _VAGUE.finditer(without_code(statement.text)):
            yield Diagnostic(
                place=statement.document.words_place(statement.path, match.group()),
                subject=statement.id,
                message=f'holds "{match.group()}", which no check can measure',
                mend="say what is seen, and from which number on",
            )


def statements_are_short(tree: Tree) -> Iterator[Diagnostic]:
    """A statement can be read in one breath."""
    for statement in tree.statement_by_id.values():
        if len(statement.text) > _LONGEST:
            yield Diagnostic(
                place=statement.place,
                subject=statement.id,
                message=f"holds {len(statement.text)} characters, more than {_LONGEST}",
                mend="make several statements of it, or move what explains into the clause's text",
            )


def _demanding(clause: Clause) -> Iterator[_Prose]:
    """Yield the texts in which a reader looks for demands; of prose, without its rationale."""
    if clause.has_statements:
        for index, statement in enumerate(clause.statements):
            yield ("content", "statements", index, "text"), statement.text
    yield ("content", "text"), clause.text.partition("**Rationale")[0]


def _around(text: str, match: re.Match[str]) -> str:
    """Return the match with what follows it on its line, so that the right one of several is found."""
    return text[match.start() : match.end() + 40].partition("\n\n")[0]

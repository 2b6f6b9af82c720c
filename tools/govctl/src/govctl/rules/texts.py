"""All prose of a tree, each text with its owner and its place.

Knows which keys hold prose. Knows nothing of what is looked for in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from govctl.places import Place
from govctl.specification import Clause, Rfc
from govctl.toml_places import Path, TomlText
from govctl.tree import Tree

_Prose = tuple[Path, str]


@dataclass(frozen=True, kw_only=True)
class ProseText:
    """One text of an RFC or a clause; `subject` is its id, `rfc` the id of the RFC that it belongs to."""

    subject: str
    rfc: str
    document: TomlText
    path: Path
    text: str

    def place(self, words: str) -> Place:
        """Return where words of the text stand."""
        return self.document.words_place(self.path, words)


def texts_with(tree: Tree, *roots: str) -> Iterator[ProseText]:
    """Yield every text that holds one of these words; plain searches, so that most texts cost next to nothing.

    A text can hold a word that its file does not: as an escape, which a backslash begins.
    """
    used = roots if "\\" in tree.whole_text else held(tree.whole_text, roots)
    return texts_where(tree, lambda text: _holds(text, used)) if used else iter(())


def texts_where(tree: Tree, is_wanted: Callable[[str], bool]) -> Iterator[ProseText]:
    """Yield every text of which this can be said."""
    for rfc in tree.rfcs:
        for path, text in _of_rfc(rfc):
            if is_wanted(text):
                yield ProseText(subject=rfc.id, rfc=rfc.id, document=rfc.document, path=path, text=text)
    for clause in tree.clauses:
        for path, text in _of_clause(clause):
            if is_wanted(text):
                yield ProseText(subject=clause.id, rfc=clause.rfc, document=clause.document, path=path, text=text)


def held(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return those of the words that stand in a text; that a character stands nowhere shows twenty times as fast."""
    return tuple(word for word in words if all(map(text.__contains__, word)) and word in text)


def _holds(text: str, roots: tuple[str, ...]) -> bool:
    for root in roots:  # noqa: SIM110  # any() with a generator takes three times as long
        if root in text:
            return True
    return False


def _of_rfc(rfc: Rfc) -> Iterator[_Prose]:
    yield ("govctl", "title"), rfc.title
    for index, section in enumerate(rfc.sections):
        yield ("sections", index, "title"), section.title
    for index, change in enumerate(rfc.changelog):
        for key, text in change.texts:
            yield ("changelog", index, *key), text


def _of_clause(clause: Clause) -> Iterator[_Prose]:
    yield ("govctl", "title"), clause.title
    yield ("content", "text"), clause.text
    if clause.rationale:
        yield ("content", "rationale"), clause.rationale
    for index, statement in enumerate(clause.statements) if clause.has_statements else ():
        yield ("content", "statements", index, "text"), statement.text
        if statement.excluded:
            yield ("content", "statements", index, "excluded", "reason"), statement.excluded.reason

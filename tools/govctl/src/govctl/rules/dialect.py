"""Family 01, second part: the dialect of TOML.

Knows the forms that TOML 1.1 brought. Knows nothing of keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from govctl.findings import Diagnostic
from govctl.toml_places import TomlText
from govctl.tree import Tree

_TOKENS = re.compile(
    r"""(?P<comment>\#[^\n]*)"""
    r"""|(?P<basic>"{3}(?:\\.|[^\\])*?"{3,5}|"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<literal>'{3}.*?'{3,5}|'[^'\n]*')"""
    r"""|(?P<time>[0-9]{2}:[0-9]{2}(?P<seconds>:[0-9]{2}(?:\.[0-9]+)?)?(?:[+-][0-9]{2}:[0-9]{2})?)"""
    r"""|(?P<comma>,(?:\s|\#[^\n]*)*\})|(?P<mark>[\[\]{}\n])""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\[ex])")
# Each begins with one character, which makes the search for it as cheap as a search can be.
_HINTS = (re.compile(r"\\[ex]"), re.compile(r"\{[^}\n]*(?:\n|,[ \t]*\})"), re.compile(":[0-9]{2}(?![0-9:])"))


def files_are_toml_1_0(tree: Tree) -> Iterator[Diagnostic]:
    """No file uses a form that TOML 1.1 brought; govctl reads it, other readers may not."""
    documents = [tree.config.document]
    if _may_be_1_1(tree.whole_text):  # one search instead of one a file
        documents += [*(rfc.document for rfc in tree.rfcs), *(clause.document for clause in tree.clauses)]
    for document in documents:
        for offset, form in _forms(document):
            yield Diagnostic(
                place=document.place(offset),
                subject=document.file,
                message=f"uses {form}, which a reader of TOML 1.0 refuses",
                mend="write it in a form of TOML 1.0",
            )


def _may_be_1_1(text: str) -> bool:
    return any(hint.search(text) for hint in _HINTS)


def _forms(document: TomlText) -> Iterator[tuple[int, str]]:
    """Yield the offset and the name of each form of TOML 1.1."""
    text = document.text
    if not _may_be_1_1(text):
        return
    open_marks: list[str] = []
    for match in _TOKENS.finditer(text):
        mark = match.group("mark")
        if match.group("basic"):
            for escape in _ESCAPE.finditer(match.group()):
                yield match.start() + escape.start(1), f"the escape {escape.group(1)}"
        elif match.group("time") and not match.group("seconds"):
            yield match.start(), "a time without seconds"
        elif match.group("comma"):
            yield match.start(), "a comma at the end of an inline table"
            open_marks[-1:] = []
        elif mark in {"{", "["}:
            open_marks.append(mark)
        elif mark in {"}", "]"}:
            open_marks[-1:] = []
        elif mark and open_marks[-1:] == ["{"]:
            yield match.start(), "a line break inside an inline table"

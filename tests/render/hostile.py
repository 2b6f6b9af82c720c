"""Text that would be markup if anyone let it, and trees that hold it in every field."""

from __future__ import annotations

from pathlib import Path

from tests.govctl.trees import CLAUSE, CONFIG, FILES, RFC, lock_all, write

TEXTS = (
    "List<int> and Map<K, V>",
    "<script>alert(1)</script>",
    "a < b && c > d",
    "&lt; and &amp;amp; and &#60;",
    "<!-- x --> and <b>bold</b>",
    "[here](javascript:1) and ![x](//x.example/y.png)",
    "{{ x }} and {% y %} and { #stolen .class }",
    "*star* **two** _under_ __dunder__ ~~gone~~ ^up^",
    "# heading",
    "- item",
    "1. first",
    "---",
    "0.2.0 is out",
    "| a | b |",
    "> quote",
    "[ref]: https://x.example",
    "<https://x.example> and https://y.example",
    "back\\slash \\* \\` \\<",
    "trailing #",
    "::: block",
    '!!! note "x"',
    "[^1] and [TOC] and *[abbr]: x",
    "</div></section></div>",
    "«ünï» 漢字 🙂",
)
CODE = "List<T> & {{ x }} *y* |z| [a](b)"


def toml(text: str) -> str:
    """Return text as a TOML string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _clause(name: str, text: str) -> str:
    return f"""\
#:schema ../../../schema/clause.schema.json
[govctl]
id = "{name}"
title = {toml(text)}
kind = "normative"
since = "0.1.0"
tags = ["tag-a"]

[content]
text = {toml(f"Context {text} ends.")}
rationale = {toml(text)}

[[content.statements]]
id = "S1"
text = {toml(f"A lane MUST show {text} whole.")}
excluded = {{ class = "debt", reason = {toml(text)} }}

[[content.statements]]
id = "S2"
text = {toml(f"A lane MUST show `{CODE}` whole.")}
"""


def clause_name(index: int) -> str:
    """Return the name of the clause that holds a text."""
    return f"C-TEXT-{index}"


def write_hostile_tree(root: Path, title: str = "<script>alert(1)</script> &lt; {{ x }}") -> Path:
    """Write a tree in which each text stands in every field of a clause."""
    names = [clause_name(index) for index in range(len(TEXTS))]
    listed = ", ".join(f'"{name}"' for name in names)
    write(
        root,
        {
            CONFIG: FILES[CONFIG].partition("[sources]")[0],
            RFC: FILES[RFC]
            .replace('"Example"', toml(title))
            .replace('"Specification"', toml(TEXTS[0]))
            .replace('"C-RULE"', listed)
            .replace('facet = "room"\n', "")
            .replace('"Initial draft"', toml(TEXTS[1])),
        },
    )
    folder = CLAUSE.rpartition("/")[0]
    write(root, {f"{folder}/{name}.toml": _clause(name, text) for name, text in zip(names, TEXTS, strict=True)})
    lock_all(root)
    return root

"""What source says of a mark beyond its ids: the sentence of its docstring, its lines, its witnesses and its cases.

Knows Python by its syntax tree. Read for pages alone: a check of the tree does not pay for it. Knows no ids.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, kw_only=True)
class Code:
    """A marked definition; `meaning` is the first sentence of its docstring, or its name as words."""

    name: str
    meaning: str
    lines: str
    witnesses: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


NO_CODE = Code(name="", meaning="", lines="")


def code_by_line(text: str) -> dict[int, Code]:
    """Return the marked definitions of a file by the line of each decorator; nothing for a file that is not Python."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    lines = text.split("\n")
    return {line: code for node in ast.walk(module) if isinstance(node, _Definition) for line, code in _of(node, lines)}


def first_sentence(docstring: str | None) -> str:
    """Return the first line of a docstring, or all of its first paragraph where that line ends no sentence."""
    head = (docstring or "").strip().partition("\n\n")[0]
    line = head.partition("\n")[0].strip()
    return line if line.endswith((".", "!", "?")) else " ".join(head.split())


def _of(node: _Definition, lines: list[str]) -> Iterator[tuple[int, Code]]:
    calls = [decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call)]
    if not calls:
        return
    first = min(decorator.lineno for decorator in node.decorator_list)
    source = textwrap.dedent("\n".join(lines[first - 1 : node.end_lineno]))
    meaning = first_sentence(ast.get_docstring(node)) or node.name.replace("_", " ")
    for call in calls:
        names = {keyword.arg: _strings(keyword.value) for keyword in call.keywords}
        yield (
            call.lineno,
            Code(
                name=node.name,
                meaning=meaning,
                lines=source,
                witnesses=names.get("witnesses", ()),
                cases=names.get("cases", ()),
            ),
        )


def _strings(node: ast.expr) -> tuple[str, ...]:
    if not isinstance(node, ast.Tuple | ast.List):
        return ()
    return tuple(part.value for part in node.elts if isinstance(part, ast.Constant) and isinstance(part.value, str))

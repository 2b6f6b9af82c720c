"""Prose of a clause as Markdown: paragraphs, lists, tables and code, each rebuilt from its text.

Knows the blocks that a specification uses. What is no such block is a paragraph, so that headings, quotes, HTML and
definitions of links are shown as they were typed. Knows nothing of clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from govctl.render.inline import Resolve, nowhere, paragraph, without_controls

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"(\s*)([-*+]|[0-9]{1,4}[.)])\s+(.*)")
_RULE_CELL = re.compile(r"\s*:?-+:?\s*")
_Lines = Sequence[str]


def markdown_of(text: str, resolve: Resolve = nowhere) -> str:
    """Return prose as Markdown blocks, an empty line between two."""
    return "\n\n".join(_blocks(text.strip("\n").split("\n"), resolve))


def code_block(text: str, language: str = "") -> str:
    """Return text as fenced code; the fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{without_controls(text).rstrip()}\n{fence}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; cells are Markdown already and hold no line end."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _blocks(lines: _Lines, resolve: Resolve) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        for take in (_code, _table, _list, _paragraph):
            block, size = take(lines[at:], resolve)
            if size:
                yield block
                at += size
                break


def _code(lines: _Lines, _: Resolve) -> tuple[str, int]:
    match = _FENCE.match(lines[0])
    if match is None:
        return "", 0
    fence = match.group(1)
    for size, line in enumerate(lines[1:], start=2):
        if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            return code_block("\n".join(lines[1 : size - 1])), size
    return code_block("\n".join(lines[1:])), len(lines)


def _cells(line: str) -> list[str]:
    """Split a row at its pipes; one in a code span or behind a backslash parts nothing."""
    masked = re.sub(r"\\\||(`+).+?\1", lambda match: "x" * len(match.group()), line.strip())
    cuts = [-1, *(match.start() for match in re.finditer(r"\|", masked)), len(masked)]
    cells = [line.strip()[start + 1 : end].strip() for start, end in pairwise(cuts)]
    cells = cells[1:] if masked.startswith("|") else cells
    return [cell.replace(r"\|", "|") for cell in (cells[:-1] if masked.endswith("|") else cells)]


def _table(lines: _Lines, resolve: Resolve) -> tuple[str, int]:
    is_table = len(lines) > 1 and "|" in lines[0] and "|" in lines[1]
    if not is_table or not all(_RULE_CELL.fullmatch(cell) for cell in _cells(lines[1])):
        return "", 0
    size = next((size for size, line in enumerate(lines) if "|" not in line), len(lines))
    rows = [[paragraph(cell, resolve) for cell in _cells(line)] for line in lines[:size] if line is not lines[1]]
    width = max(map(len, rows))
    header, *body = [[*row, *[""] * (width - len(row))] for row in rows]
    return table(header, body), size


def _list(lines: _Lines, resolve: Resolve) -> tuple[str, int]:
    if _ITEM.match(lines[0]) is None:
        return "", 0
    items: list[tuple[int, str, list[str]]] = []
    size = 0
    for line in lines:
        match = _ITEM.match(line)
        if match is not None:
            items.append((len(match.group(1)), match.group(2), [match.group(3)]))
        elif not line.strip() or _FENCE.match(line):
            break
        else:
            items[-1][2].append(line.strip())
        size += 1
    return "\n".join(_items(items, resolve)), size


def _items(items: Sequence[tuple[int, str, list[str]]], resolve: Resolve) -> Iterator[str]:
    """Yield the items with four blanks a level, whatever the text used."""
    levels: list[int] = []
    for indent, bullet, texts in items:
        while levels and levels[-1] > indent:
            levels.pop()
        if not levels or levels[-1] < indent:
            levels.append(indent)
        mark = f"{bullet[:-1]}." if bullet[0].isdigit() else "-"
        yield f"{'    ' * (len(levels) - 1)}{mark} {paragraph(' '.join(texts), resolve)}"


def _paragraph(lines: _Lines, resolve: Resolve) -> tuple[str, int]:
    size = 1
    while size < len(lines) and lines[size].strip() and not _ITEM.match(lines[size]) and not _FENCE.match(lines[size]):
        if _table(lines[size:], resolve)[1]:
            break
        size += 1
    return paragraph("\n".join(lines[:size]), resolve), size

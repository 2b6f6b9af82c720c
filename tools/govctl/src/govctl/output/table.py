"""Aligned tables of text, and the same as Markdown.

Knows columns and widths. Knows nothing of what stands in them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_Row = Sequence[str]
_PIPE = re.compile(r"(?<!\\)\|")
_ESCAPED_PIPE = r"\\|"


def aligned(rows: Sequence[_Row], right: frozenset[int] = frozenset()) -> list[str]:
    """Return one line a row with aligned columns; the columns in `right` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(_cell(cell, widths[i], i in right) for i, cell in enumerate(row)).rstrip() for row in rows]


def markdown(rows: Sequence[_Row], right: frozenset[int] = frozenset()) -> list[str]:
    """Return a Markdown table; the first row is its head."""
    head, *body = rows
    rule = ["--:" if index in right else "---" for index in range(len(head))]
    return [f"| {' | '.join(_PIPE.sub(_ESCAPED_PIPE, cell) for cell in row)} |" for row in (head, rule, *body)]


def _cell(text: str, width: int, is_right: bool) -> str:  # noqa: FBT001  # private, and read by position
    return text.rjust(width) if is_right else text.ljust(width)

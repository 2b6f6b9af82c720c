"""Where something stands: file, line and column, counted from 1.

Knows offsets and lines of a text. Knows nothing of what the text means.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_GAP = r"(?:\s|\\\n)+"


class Place(NamedTuple):
    """A position in a file of the tree; the file is relative to the root, with forward slashes."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, kw_only=True)
class Text:
    """The text of one file, with LF line ends, that can tell the place of an offset."""

    file: str
    text: str

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, offset: int) -> Place:
        """Return the place of a character."""
        line = bisect_right(self._line_starts, max(0, offset))
        return Place(file=self.file, line=line, column=max(0, offset) - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Return one line without its end; the empty string outside the text."""
        starts = self._line_starts
        if not 0 < number <= len(starts):
            return ""
        end = self.text.find("\n", starts[number - 1])
        return self.text[starts[number - 1] : len(self.text) if end < 0 else end]

    def find(self, needle: str, start: int, end: int) -> int:
        """Return the offset of words inside a stretch, however they are broken into lines; else its start."""
        words = [re.escape(word) for word in needle.split()]
        match = re.compile(_GAP.join(words)).search(self.text, start, end) if words else None
        return match.start() if match else start

"""What every command is given: streams, folder, style.

Knows how a command speaks to the world. Knows no command.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from govctl.findings import Finding
from govctl.loader import find_root, load_tree
from govctl.output.findings_text import render_findings
from govctl.output.style import Style
from govctl.places import Place
from govctl.tree import Tree

CLEAN, FINDINGS, USAGE, INTERNAL = 0, 1, 2, 3


class UsageError(Exception):
    """The command cannot be run as it was called."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, kw_only=True)
class Context:
    """Where a command runs and where its output goes."""

    start: Path
    out: TextIO
    style: Style

    @property
    def root(self) -> Path:
        """Return the root of the tree around the start."""
        return find_root(self.start)

    def tree(self, today: str = "") -> Tree:
        """Load the tree around the start; without a day, no suppression ends."""
        return load_tree(self.root, today=today)

    def say(self, *lines: str) -> None:
        """Print lines of the result."""
        for line in lines:
            self.out.write(f"{line}\n")

    def say_all(self, lines: Iterable[str]) -> None:
        """Print many lines of the result."""
        self.say(*lines)

    def say_findings(self, findings: Sequence[Finding]) -> None:
        """Print findings for a reader, with the lines that they are about."""
        self.say_all(render_findings(findings, self._line, self.style))

    def _line(self, place: Place) -> str:
        try:
            text = (self.root / place.file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        lines = text.split("\n")
        return lines[place.line - 1] if place.line <= len(lines) else ""

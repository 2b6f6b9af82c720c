"""How a run shows that it is alive: one line on a terminal, nothing elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TextIO

from sharedkv_conformance.marks import Check
from sharedkv_conformance.result import CheckResult


class Silent:
    """Shows nothing: the output goes to a file or a pipe."""

    def started(self, check: Check, number: int, total: int) -> None:
        """Show nothing."""

    def finished(self, result: CheckResult) -> None:
        """Show nothing."""

    def show(self, text: str) -> None:
        """Show nothing."""


@dataclass
class Line:
    """Rewrites one line of a terminal, and clears it when a check has ended."""

    stream: TextIO
    columns: int = 80

    def started(self, check: Check, number: int, total: int) -> None:
        """Show which check runs."""
        width = len(str(total))
        self.show(f"[{number:>{width}}/{total}] {check.slug}")

    def finished(self, result: CheckResult) -> None:
        """Clear the line, so that what is printed next stands alone."""
        del result
        self.show("")

    def show(self, text: str) -> None:
        """Write a text over the line; it is cut to the width of the terminal."""
        self.stream.write(f"\r\x1b[K{text[: self.columns - 1]}")
        self.stream.flush()


def progress_on(stream: TextIO, columns: int) -> Silent | Line:
    """Return the progress for a stream: a line where a person is looking."""
    return Line(stream, columns) if stream.isatty() else Silent()

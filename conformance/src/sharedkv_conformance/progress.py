"""How a run shows that it is alive: one line on a terminal, nothing elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from sharedkv_conformance.marks import Check
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status

MINUTE = 60.0


class Shown(Protocol):
    """Is told of every check that is about to run and of every result."""

    def started(self, check: Check, number: int, total: int) -> None:
        """Take note that a check begins; `number` counts from 1."""

    def finished(self, result: CheckResult) -> None:
        """Take note of how a check ended."""


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
    """Rewrites one line of a terminal, and clears it when a check has ended.

    The estimate takes what is left to be like what is done; it is shown as soon as something is.
    """

    stream: TextIO
    columns: int = 80
    clock: Callable[[], float] = time.monotonic
    _begin: float | None = field(default=None, init=False)

    def started(self, check: Check, number: int, total: int) -> None:
        """Show which check runs, and about how long the rest will take."""
        width = len(str(total))
        self.show(f"[{number:>{width}}/{total}] {check.slug}{self._left(number - 1, total)}")

    def finished(self, result: CheckResult) -> None:
        """Clear the line, so that what is printed next stands alone."""
        del result
        self.show("")

    def show(self, text: str) -> None:
        """Write a text over the line; it is cut to the width of the terminal."""
        self.stream.write(f"\r\x1b[K{text[: self.columns - 1]}")
        self.stream.flush()

    def _left(self, done: int, total: int) -> str:
        now = self.clock()
        if self._begin is None or not done:
            self._begin = now
            return ""
        seconds = (now - self._begin) / done * (total - done)
        return f"  about {seconds / MINUTE:.0f} min left" if seconds >= 2 * MINUTE else f"  about {seconds:.0f} s left"


@dataclass
class Hints:
    """Says once what to look at when one check after the other waits in vain for the same."""

    note: Callable[[str], None]
    _before: str = field(default="", init=False)
    _told: bool = field(default=False, init=False)

    def started(self, check: Check, number: int, total: int) -> None:
        """Say nothing."""

    def finished(self, result: CheckResult) -> None:
        """Compare how a check ended with the one before; what was not executed is passed over."""
        if result.status in (Status.BLOCKED, Status.INAPPLICABLE, Status.UNMET):
            return
        waited_for = result.message.partition(";")[0] if result.status is Status.TIMEOUT else ""
        if waited_for and waited_for == self._before and not self._told:
            self._told = True
            self.note(f"two checks in a row: {waited_for}; is each answer flushed? --time-scale gives more time")
        self._before = waited_for


@dataclass(frozen=True)
class Several:
    """Tells several of the same."""

    all: Sequence[Shown]

    def started(self, check: Check, number: int, total: int) -> None:
        """Tell each that a check begins."""
        for one in self.all:
            one.started(check, number, total)

    def finished(self, result: CheckResult) -> None:
        """Tell each how a check ended."""
        for one in self.all:
            one.finished(result)


def progress_on(stream: TextIO, columns: int) -> Silent | Line:
    """Return the progress for a stream: a line where a person is looking."""
    return Line(stream, columns) if stream.isatty() else Silent()

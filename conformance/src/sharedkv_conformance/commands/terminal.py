"""Where a command writes, and what it knows of who reads."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from sharedkv_conformance.console import COLOURS, Paint
from sharedkv_conformance.contract.implementation import Implementation
from sharedkv_conformance.description import Described, DescriptionError, described
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.naming import NamingError, implementation_named
from sharedkv_conformance.status import Status
from sharedkv_conformance.wire.client import Budgets
from sharedkv_conformance.wire.names import COMMAND, STDIO

# What a text of an engine could do to a terminal: move about in it, or turn the reading order. JSON knows the escapes.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_PLAIN = re.compile(_UNSAFE)
_COLOURED = re.compile(rf"(?!\x1b\[(?:0|{'|'.join(sorted(COLOURS))})m){_UNSAFE}")


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """Results go to `out`, everything else to `err`; paths are relative to `folder`."""

    out: TextIO
    err: TextIO
    paint: Paint
    folder: Path
    columns: int = 80

    def say(self, lines: Iterable[str] | str) -> None:
        """Write lines to the output; what the terminal cannot show is escaped."""
        for line in (lines,) if isinstance(lines, str) else lines:
            self.out.write((_COLOURED if self.paint.enabled else _PLAIN).sub(_escaped, line) + "\n")

    def note(self, line: str) -> None:
        """Write a line that is no result."""
        self.err.write(_PLAIN.sub(_escaped, line) + "\n")

    def remove_file(self, path: Path) -> None:
        """Remove the result of an earlier run, so that it cannot pass for that of a run that never ends."""
        try:
            if (self.folder / path).is_file():  # no device, and no pipe that somebody reads
                (self.folder / path).unlink()
        except OSError as error:
            raise CommandError(Exit.USAGE, f"cannot replace {path}: {error.strerror}") from error

    def write_file(self, path: Path, text: str) -> None:
        """Write a result file; its folder is made."""
        target = self.folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise CommandError(Exit.USAGE, f"cannot write {path}: {error.strerror}") from error


def refuse_overwriting(read: Mapping[str, Path], written: Mapping[str, Path], terminal: Terminal) -> None:
    """Raise `CommandError` where a file to write is one to read, or another one to write; keys say what is what."""
    seen = {what: (terminal.folder / path).resolve() for what, path in read.items()}
    for what, path in written.items():
        target = (terminal.folder / path).resolve()
        for other, taken in seen.items():
            if _is_one_file(target, taken):
                raise CommandError(Exit.USAGE, f"{what} would overwrite {other}: it is the same file")
        seen[what] = target


def _is_one_file(path: Path, other: Path) -> bool:
    if path.exists() and not path.is_file():
        return False  # a device or a pipe takes what comes
    return path == other or (path.exists() and other.exists() and path.samefile(other))


def this_terminal(environment: Mapping[str, str] = os.environ) -> Terminal:
    """Return the terminal of this process; colours only where a person looks and wants them."""
    colours = sys.stdout.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return Terminal(
        out=sys.stdout,
        err=sys.stderr,
        paint=Paint(colours),
        folder=Path.cwd(),
        columns=shutil.get_terminal_size().columns,
    )


def opened(name: str, terminal: Terminal, time_scale: float = 1.0) -> Described:
    """Return the implementation of a name, described; a program has the times of its budgets, scaled."""
    try:
        budgets = Budgets().scaled(time_scale)
        found: Implementation = implementation_named(name, folder=terminal.folder, budgets=budgets)
    except NamingError as error:
        raise CommandError(Exit.USAGE, str(error)) from error
    try:
        return described(found)
    except DescriptionError as error:
        problem = _of_start(name, error.__cause__) if isinstance(error.__cause__, Loss) else str(error)
        raise CommandError(Exit.HARNESS, f"--impl {name}: {problem}") from error


def _of_start(name: str, loss: Loss) -> str:
    """Return why a program did not start, and what to try where that is not plain."""
    if loss.status is Status.TIMEOUT and name.startswith(COMMAND):
        hint = f"a program that speaks on stdin and stdout is named {STDIO}..., a slow one gets --time-scale"
        return f"{loss}\n({hint})"
    return str(loss)


def read_text(path: Path, terminal: Terminal) -> str:
    """Return the text of a file that a user named."""
    try:
        return (terminal.folder / path).read_bytes().decode("utf-8")
    except OSError as error:
        raise CommandError(Exit.USAGE, f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(Exit.USAGE, f"{path}: not UTF-8 text: {error.reason} at byte {error.start}") from error

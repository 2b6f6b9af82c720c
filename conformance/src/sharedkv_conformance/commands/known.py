"""`kvconform known`: the file of failures that an implementer knows of, looked at and brought up to a report."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from sharedkv_conformance.catalogue import load_catalogue
from sharedkv_conformance.commands.reporting import read_report
from sharedkv_conformance.commands.terminal import Terminal, read_text
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.known.entry import KnownError, KnownFailures
from sharedkv_conformance.known.linting import known_problems, trace_problems
from sharedkv_conformance.known.reading import parse_known
from sharedkv_conformance.known.updating import updated
from sharedkv_conformance.trace import Trace, TraceError, parse_trace


def lint_command(options: Namespace, terminal: Terminal) -> Exit:
    """Say what is wrong with a file of known failures."""
    known = read_known(options.file, terminal)
    slugs = [check.slug for check in load_catalogue().checks]

    def read(name: str) -> str | None:
        path = options.file.parent / name
        return read_text(path, terminal) if (terminal.folder / path).is_file() else None

    problems = [*known_problems(known, slugs, today()), *trace_problems(known, read)]
    terminal.say(problems or f"{len(known.entries)} known failures, nothing wrong")
    return Exit.UNEXPECTED if problems else Exit.AS_EXPECTED


def update_command(options: Namespace, terminal: Terminal) -> Exit:
    """Bring a file of known failures up to a report."""
    report = read_report(options.report, terminal)
    is_there = (terminal.folder / options.file).exists()
    text = read_text(options.file, terminal) if is_there else ""
    try:
        update = updated(text, report, issue=options.issue)
    except KnownError as error:
        raise CommandError(Exit.UNEXPECTED, _told(options.file, error)) from error
    if update.changes and not options.dry_run:
        terminal.write_file(options.file, update.text)
    terminal.say(update.changes or ("nothing to change",))
    return Exit.AS_EXPECTED


def read_known(path: Path, terminal: Terminal) -> KnownFailures:
    """Return the known failures in a file."""
    try:
        return parse_known(read_text(path, terminal))
    except KnownError as error:
        raise CommandError(Exit.USAGE, _told(path, error)) from error


def known_for_run(path: Path, slugs: list[str], terminal: Terminal) -> KnownFailures:
    """Return the known failures for a run; an entry that matches no check fails it before it begins."""
    known = read_known(path, terminal)
    unmatched = [entry for entry in known.entries if entry.check not in slugs]
    if unmatched:
        problems = tuple(known_problems(KnownFailures(entries=tuple(unmatched)), slugs, date.min))
        raise CommandError(Exit.UNEXPECTED, _told(path, KnownError(problems)))
    return known


def traces_of(known: KnownFailures, checks: frozenset[str], path: Path, terminal: Terminal) -> dict[str, Trace]:
    """Return the traces of the entries that speak of these checks."""
    return dict(_traces(known, checks, path, terminal))


def _traces(
    known: KnownFailures, checks: frozenset[str], path: Path, terminal: Terminal
) -> Iterator[tuple[str, Trace]]:
    for entry in known.entries:
        if entry.trace and entry.check in checks:
            name = path.parent / entry.trace
            try:
                yield entry.check, parse_trace(read_text(name, terminal))
            except TraceError as error:
                raise CommandError(Exit.USAGE, f"{name}: {error}") from error


def today() -> date:
    """Return the day, the same everywhere."""
    return datetime.now(UTC).date()


def _told(path: Path, error: KnownError) -> str:
    return f"{path}:" + "".join(f"\n  {problem}" for problem in error.problems)

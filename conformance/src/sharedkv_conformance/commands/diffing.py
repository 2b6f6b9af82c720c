"""`kvconform diff`: two reports, statement by statement."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence

from sharedkv_conformance.commands.reporting import read_report
from sharedkv_conformance.commands.terminal import Terminal
from sharedkv_conformance.comparison import Change, ComparisonError, Difference, differences
from sharedkv_conformance.console import table
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.report import render_json


def diff_command(options: Namespace, terminal: Terminal) -> Exit:
    """Show what became of each statement; 1 where something did that --fail-on names."""
    before, after = read_report(options.before, terminal), read_report(options.after, terminal)
    try:
        found = differences(before, after, intersect=options.intersect)
    except ComparisonError as error:
        raise CommandError(Exit.UNEXPECTED, str(error)) from error
    terminal.say(_json(found) if options.format == "json" else _lines(found))
    changes = {difference.change for difference in found} - {Change.SAME}
    bad = changes if options.fail_on == "change" else changes & {Change.REGRESSION}
    return Exit.UNEXPECTED if bad and options.fail_on != "nothing" else Exit.AS_EXPECTED


def _lines(found: Sequence[Difference]) -> Iterator[str]:
    differing = [difference for difference in found if difference.change is not Change.SAME]
    if differing:
        rows = [(str(d.change), d.statement, d.level, f"{d.before} -> {d.after}") for d in differing]
        yield from table(("change", "statement", "level", "verdict"), rows)
    counts = [f"{sum(d.change is change for d in found)} {change}" for change in Change]
    yield f"{len(found)} statements: {', '.join(counts)}"


def _json(found: Sequence[Difference]) -> str:
    changed = [vars(difference) for difference in found if difference.change is not Change.SAME]
    return render_json({"diff": 1, "statements": len(found), "changes": changed}).rstrip("\n")

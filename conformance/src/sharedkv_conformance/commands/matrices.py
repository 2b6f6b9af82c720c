"""`kvconform matrix`: implementations by statements."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from sharedkv_conformance.commands.reporting import read_report
from sharedkv_conformance.commands.terminal import Terminal
from sharedkv_conformance.comparison import ComparisonError, Matrix, matrix
from sharedkv_conformance.console import table
from sharedkv_conformance.exits import CommandError, Exit
from sharedkv_conformance.markdown import cell
from sharedkv_conformance.report import render_json


def matrix_command(options: Namespace, terminal: Terminal) -> Exit:
    """Show which implementation has which verdict for each statement."""
    reports = [read_report(path, terminal) for path in options.reports]
    try:
        found = matrix(reports, intersect=options.intersect)
    except ComparisonError as error:
        raise CommandError(Exit.UNEXPECTED, str(error)) from error
    forms = {"text": _lines, "md": _markdown, "json": _json}
    terminal.say(forms[options.format](found))
    return Exit.AS_EXPECTED


def _lines(found: Matrix) -> Iterator[str]:
    yield from table(
        ("statement", "level", *found.implementations),
        [(row.statement, row.level, *row.verdicts) for row in found.rows],
    )
    yield ""
    for name, headline in zip(found.implementations, found.headlines, strict=True):
        yield f"{name}: {headline}"
    yield from _left_out(found)


def _markdown(found: Matrix) -> Iterator[str]:
    names = [cell(name) for name in found.implementations]
    yield f"| statement | level | {' | '.join(names)} |"
    yield "|" + "---|" * (2 + len(names))
    yield f"| verdict | | {' | '.join(cell(headline) for headline in found.headlines)} |"
    for row in found.rows:
        yield f"| {row.statement} | {row.level} | {' | '.join(row.verdicts)} |"
    yield from _left_out(found)


def _json(found: Matrix) -> Iterator[str]:
    yield render_json(
        {
            "matrix": 1,
            "implementations": [
                {"name": name, "headline": headline}
                for name, headline in zip(found.implementations, found.headlines, strict=True)
            ],
            "statements": [
                {"id": row.statement, "level": row.level, "text": row.text, "verdicts": list(row.verdicts)}
                for row in found.rows
            ],
            "left_out": found.left_out,
        }
    ).rstrip("\n")


def _left_out(found: Matrix) -> Iterator[str]:
    if found.left_out:
        yield ""
        yield f"{found.left_out} statements are not the same in every report, and left out"

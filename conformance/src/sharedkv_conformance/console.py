"""What people read on a terminal: tables, results and failures as lines of text.

Knows colours and columns. Writes nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import Claims

COLOURS = GREEN, RED, YELLOW, DIM, BOLD = "32", "31", "33", "2", "1"
COLOUR_OF: Mapping[str, str] = {
    Status.PASS: GREEN,
    Status.INAPPLICABLE: DIM,
    Status.NOT_RUN: DIM,
    Status.VACUOUS: YELLOW,
    Status.BLOCKED: YELLOW,
    Status.UNMET: YELLOW,
}


@dataclass(frozen=True)
class Paint:
    """Colours text, or leaves it alone."""

    enabled: bool = False

    def __call__(self, text: str, colour: str) -> str:
        """Return the text in a colour."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.enabled else text

    def status(self, status: str, width: int = 0) -> str:
        """Return a status in its colour, padded before it is coloured."""
        return self(f"{status:<{width}}", COLOUR_OF.get(status, RED))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as aligned columns under their header."""
    widths = [max(len(str(line[column])) for line in (header, *rows)) for column in range(len(header))]
    for line in (header, *rows):
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()


def result_lines(catalogue: Catalogue, results: Mapping[str, CheckResult], paint: Paint) -> Iterator[str]:
    """Yield one line a check that was asked for."""
    width = max((len(check.slug) for check in catalogue.checks), default=0)
    for check in catalogue.checks:
        result = results[check.slug]
        if result.status is Status.NOT_RUN:
            continue
        detail = f"{result.examples} histories" if result.status is Status.PASS else _first_line(result.message)
        yield f"{paint.status(result.status, 13)} {check.slug:<{width}}  {paint(detail, DIM)}".rstrip()


def claim_lines(claims: Claims, paint: Paint) -> Iterator[str]:
    """Yield what is claimed and not borne out, what is not claimed and not refused, and what could be claimed."""
    for feature in claims.not_met:
        yield f"{paint('not met', RED)}  {feature}: claimed, and no check of it was executed, or one did not pass"
    for slug, result in claims.refusals.items():
        if result.status is not Status.PASS:
            yield f"{paint.status(result.status)}  {slug}: {result.message}"
    for feature in claims.unclaimed_passes:
        yield f"{paint('unclaimed', YELLOW)}  {feature}: passes though not claimed: all of its checks would pass"


def failure_lines(catalogue: Catalogue, result: CheckResult, trace: str, replay: str, paint: Paint) -> Iterator[str]:
    """Yield what a person needs to find the cause of one result: sentence, message, cases, trace and next command."""
    check = next(check for check in catalogue.checks if check.slug == result.check)
    yield f"{paint.status(result.status)}  {paint(check.slug, BOLD)}: {check.meaning}"
    for name in (result.statement,) if result.statement else check.statements:
        statement = catalogue.statements.get(name)
        yield f"  {paint(name, BOLD)}  {statement.text if statement else ''}".rstrip()
    if result.law:
        yield f"  law      {result.law}"
    yield f"  message  {result.message}"
    if check.cases:
        yield f"  cases    {', '.join(f'{case} ({catalogue.cases[case].link})' for case in check.cases)}"
    if trace:
        yield f"  trace    {trace}"
        yield f"  replay   {replay}"


def _first_line(text: str) -> str:
    return text.partition("\n")[0]

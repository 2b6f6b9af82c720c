"""Holds reports side by side: two statement by statement, or many implementations by statements.

Pure. Only what was asked alike compares: the same sentence, proven by the same checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sharedkv_conformance.report_form import ReportForm, StatementForm
from sharedkv_conformance.status import ORDER, Verdict

RANK: dict[str, int] = {
    str(verdict): rank
    for rank, verdict in enumerate((*ORDER[:2], Verdict.EXCLUDED, Verdict.UNPROVEN, Verdict.UNTESTED, *ORDER[2:]))
}


class ComparisonError(Exception):
    """Reports cannot be compared."""

    def __init__(self, digests: tuple[str, ...]) -> None:
        super().__init__(digests)
        self.digests = digests

    def __str__(self) -> str:
        found = ", ".join(digest[:12] for digest in self.digests)
        return f"the reports are of different catalogues ({found}); --intersect compares what they have in common"


class Change(StrEnum):
    """What became of a statement from one report to the next."""

    SAME = "same"
    REGRESSION = "regression"
    IMPROVEMENT = "improvement"
    CHANGED = "changed"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One statement in two reports."""

    statement: str
    level: str
    before: str
    after: str
    change: Change


@dataclass(frozen=True, kw_only=True)
class Row:
    """One statement in many reports, in their order."""

    statement: str
    level: str
    text: str
    verdicts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Implementations by statements; `left_out` counts statements that are not the same in every report."""

    implementations: tuple[str, ...]
    headlines: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: int


def differences(before: ReportForm, after: ReportForm, *, intersect: bool = False) -> tuple[Difference, ...]:
    """Return every statement in two reports; raises `ComparisonError`."""
    table = matrix((before, after), intersect=intersect)
    return tuple(
        Difference(
            statement=row.statement,
            level=row.level,
            before=row.verdicts[0],
            after=row.verdicts[1],
            change=change(*row.verdicts),
        )
        for row in table.rows
    )


def change(before: str, after: str) -> Change:
    """Say what it means that a verdict became another: whatever was proven and is not any more is a regression.

    From one way of being wrong to another is neither better nor worse; it is told.
    """
    if before == after:
        return Change.SAME
    if before == Verdict.PASS:
        return Change.REGRESSION
    if after == Verdict.PASS:
        return Change.IMPROVEMENT
    wrong = RANK[Verdict.NOT_RUN]
    if RANK[before] <= wrong < RANK[after]:
        return Change.REGRESSION
    if RANK[after] <= wrong < RANK[before]:
        return Change.IMPROVEMENT
    return Change.CHANGED


def matrix(reports: Sequence[ReportForm], *, intersect: bool = False) -> Matrix:
    """Return implementations by statements; raises `ComparisonError` where catalogues differ and may not."""
    digests = tuple(dict.fromkeys(report["specification"]["digest"] for report in reports))
    if len(digests) > 1 and not intersect:
        raise ComparisonError(digests)
    tables = [{statement["id"]: statement for statement in report["statements"]} for report in reports]
    rows = [
        Row(
            statement=name,
            level=statement["level"],
            text=statement["text"],
            verdicts=tuple(table[name]["verdict"] for table in tables),
        )
        for name, statement in tables[0].items()
        if all(name in table and _asked_alike(statement, table[name]) for table in tables[1:])
    ]
    everything = {name for table in tables for name in table}
    return Matrix(
        implementations=_labels(reports),
        headlines=tuple(report["profiles"][0]["headline"] for report in reports),
        rows=tuple(rows),
        left_out=len(everything) - len(rows),
    )


def _asked_alike(one: StatementForm, other: StatementForm) -> bool:
    return (one["digest"], one["checks"], one["excluded"]) == (other["digest"], other["checks"], other["excluded"])


def _labels(reports: Sequence[ReportForm]) -> tuple[str, ...]:
    """Return a name for each report; the second of a name is told apart."""
    names = [f"{report['implementation']['name']} {report['implementation']['version']}" for report in reports]
    return tuple(
        name if names.count(name) == 1 else f"{name} ({names[: index + 1].count(name)})"
        for index, name in enumerate(names)
    )

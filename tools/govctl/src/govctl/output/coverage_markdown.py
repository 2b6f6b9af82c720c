"""Coverage as Markdown: one table of all RFCs, then each RFC by clause, with what is open and what is excluded.

Knows the layout. Counts nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from govctl.coverage import RfcCoverage, StatementCoverage, Totals, headline, totals
from govctl.output.coverage_text import gap_of
from govctl.output.table import markdown

_HEAD = ("RFC", "Title", "Version", "Status", "Phase", "MUST", "checked", "passing", "killed", "excluded", "debt")
_CLAUSE_HEAD = ("Clause", "MUST", "checked", "passing", "killed", "SHOULD", "checked", "passing", "MAY", "excluded")
_MARKUP = re.compile(r"([\\`*_\[\]<>|#])")


def coverage_markdown(covered: Sequence[RfcCoverage]) -> Iterator[str]:
    """Yield the coverage of all RFCs as Markdown."""
    if covered:
        yield from markdown([_HEAD, *map(_row, covered)], frozenset(range(5, len(_HEAD))))
        yield ""
    for rfc in covered:
        yield from (f"## {_escaped(f'{rfc.rfc.id} {rfc.rfc.title}')}", "", f"{_escaped(headline(rfc))}.", "")
        yield from markdown(_clause_rows(rfc), frozenset(range(1, len(_CLAUSE_HEAD))))
        yield ""
        yield from _listed("Open", _open(rfc))
        yield from _listed("Excluded", _excluded(rfc))


def _row(covered: RfcCoverage) -> tuple[str, ...]:
    rfc, must = covered.rfc, totals(covered.statements, "MUST")
    excluded = [item.excluded for item in covered.statements if item.excluded]
    debt = sum(exclusion.kind == "debt" for exclusion in excluded)
    counts = (*_shares(must, 4), str(len(excluded) - debt), str(debt))
    return (rfc.id, _escaped(rfc.title), rfc.version, rfc.status, rfc.phase, *counts)


def _clause_rows(rfc: RfcCoverage) -> list[tuple[str, ...]]:
    rows = [(f"`{clause.clause.name}`", *_counts(clause.statements)) for clause in rfc.clauses]
    total = ("all", *_counts(rfc.statements))
    return [_CLAUSE_HEAD, *rows, tuple(f"**{cell}**" if cell else "" for cell in total)]


def _counts(statements: Sequence[StatementCoverage]) -> tuple[str, ...]:
    must, should, may = (totals(statements, level) for level in ("MUST", "SHOULD", "MAY"))
    excluded = must.excluded + should.excluded + may.excluded
    return (*_shares(must, 4), *_shares(should, 3), str(may.declared or ""), str(excluded or ""))


def _shares(counted: Totals, columns: int) -> tuple[str, ...]:
    """Return the first of declared, checked, passing and killed; empty cells where nothing is declared."""
    if not counted.declared:
        return ("",) * columns
    return tuple(map(str, (counted.declared, counted.checked, counted.passing, counted.killed)))[:columns]


def _open(rfc: RfcCoverage) -> Iterator[str]:
    """Name every MUST that is not proven, and every SHOULD that is not checked."""
    for covered in rfc.statements:
        statement = covered.statement
        if covered.excluded:
            continue
        gap = gap_of(covered, has_evidence=rfc.has_evidence) if statement.level == "MUST" else ""
        if statement.level == "SHOULD" and not covered.is_checked:
            gap = "unchecked"
        if gap:
            yield f"`{statement.id}` {statement.keyword}, {_escaped(gap)}: {_escaped(statement.text)}"


def _excluded(rfc: RfcCoverage) -> Iterator[str]:
    for covered in rfc.statements:
        if covered.excluded:
            name = f"`{covered.statement.id}` {covered.statement.keyword}"
            yield f"{name}, {covered.excluded.kind}: {_escaped(covered.excluded.reason)}"


def _listed(title: str, lines: Iterator[str]) -> Iterator[str]:
    items = [f"- {line}" for line in lines]
    if items:
        yield from (f"### {title}", "", *items, "")


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return _MARKUP.sub(r"\\\1", text)

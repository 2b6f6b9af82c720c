"""Coverage for a reader at a terminal: a table by RFC and clause, what is excluded, and one headline an RFC.

Knows the layout. Counts nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from govctl.coverage import RfcCoverage, StatementCoverage, headline, totals
from govctl.output.style import Style
from govctl.output.table import aligned

_HEAD = ("", "MUST", "checked", "passing", "killed", "SHOULD", "checked", "passing", "MAY", "excluded")
_RIGHT = frozenset(range(1, len(_HEAD)))


def coverage_text(covered: Sequence[RfcCoverage], style: Style) -> Iterator[str]:
    """Yield the coverage of all RFCs as text."""
    for rfc in covered:
        head, *body, last = aligned(_rows(rfc), _RIGHT)
        yield style.paint(_title(rfc), "bold")
        yield style.paint(head, "dim")
        yield from body
        yield style.paint(last, "bold")
        yield from (f"  {line}" for line in _remarks(rfc))
        yield ""
    for rfc in covered:
        yield style.paint(headline(rfc), "green" if rfc.is_proven else "yellow")


def _title(rfc: RfcCoverage) -> str:
    return f"{rfc.rfc.id} {rfc.rfc.title} ({rfc.rfc.version}, {rfc.rfc.status}, {rfc.rfc.phase})"


def _rows(rfc: RfcCoverage) -> list[tuple[str, ...]]:
    rows = [(clause.clause.name, *_counts(clause.statements)) for clause in rfc.clauses]
    return [_HEAD, *rows, ("all", *_counts(rfc.statements))]


def _counts(statements: Sequence[StatementCoverage]) -> tuple[str, ...]:
    must, should, may = (totals(statements, level) for level in ("MUST", "SHOULD", "MAY"))
    counts = (must.declared, must.checked, must.passing, must.killed, should.declared, should.checked, should.passing)
    return tuple(str(count) for count in (*counts, may.declared, must.excluded + should.excluded + may.excluded))


def _remarks(rfc: RfcCoverage) -> Iterator[str]:
    """Name every statement that is excluded, and every one that is due and not there yet."""
    for covered in rfc.statements:
        statement = covered.statement
        if covered.excluded:
            yield f"excluded: {statement.id} {statement.keyword} ({covered.excluded.kind}): {covered.excluded.reason}"
        elif statement.level == "MUST" and (gap := gap_of(covered, has_evidence=rfc.has_evidence)):
            yield f"{gap}: {statement.id}"
        elif statement.level == "SHOULD" and not covered.is_checked:
            yield f"unchecked: {statement.id} {statement.keyword}"


def gap_of(covered: StatementCoverage, *, has_evidence: bool) -> str:
    """Say what a MUST lacks; without any evidence the headline says so once for all."""
    if not covered.is_checked:
        return "unchecked"
    if not covered.mutants:
        return "no mutant"
    if has_evidence and not covered.is_passing:
        return f"not passing ({', '.join(check.slug for check in covered.unproven_checks)})"
    if has_evidence and not covered.is_killed:
        return f"alive ({', '.join(mutant.slug for mutant in covered.surviving_mutants)})"
    return ""

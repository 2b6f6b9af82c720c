"""Family 05: what a phase demands of sources.

Knows which statement needs which mark. Whatever is demanded is read from the one computation of coverage.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl import grammar
from govctl.coverage import is_checked, statement_coverage
from govctl.findings import Diagnostic, Related, Severity
from govctl.marks import MarkKind
from govctl.rules.severity import MUST_LADDER, MUTANT_LADDER, SHOULD_LADDER, Ladder, on
from govctl.specification import Statement
from govctl.tree import Tree


def must_statements_are_checked(tree: Tree) -> Iterator[Diagnostic]:
    """Every MUST has a check that runs, or an exclusion."""
    yield from _unchecked(tree, "MUST", MUST_LADDER)


def should_statements_are_checked(tree: Tree) -> Iterator[Diagnostic]:
    """Every SHOULD has a check that runs, or an exclusion."""
    yield from _unchecked(tree, "SHOULD", SHOULD_LADDER)


def must_statements_have_mutants(tree: Tree) -> Iterator[Diagnostic]:
    """Every MUST has a mutant that must die by it, or an exclusion."""
    for severity, statement in _demanded(tree, "MUST", MUTANT_LADDER):
        if not tree.marks_of(MarkKind.MUTANT, statement.id):
            yield Diagnostic(
                place=statement.place,
                subject=statement.id,
                message=f"no mutant is to die by this {statement.keyword}",
                mend=f'write a wrong variant with @mutant("slug", kills="{statement.id}")',
                severity=severity,
            )


def checks_run(tree: Tree) -> Iterator[Diagnostic]:
    """No check is skipped or expected to fail."""
    for check in tree.checks:
        if check.skipped_by:
            yield Diagnostic(
                place=check.place,
                subject=check.label,
                message=f"{check.label} has the mark {check.skipped_by}, and counts for nothing",
                mend="let it run, or exclude its statement with a class and a reason",
            )


def mutants_have_a_check(tree: Tree) -> Iterator[Diagnostic]:
    """The statement that must kill a mutant has a check that runs."""
    for mark in () if tree.is_partial else tree.marks:
        if mark.kind is not MarkKind.MUTANT:
            continue
        (statement,) = mark.statements
        if statement in tree.statement_by_id and not tree.live_checks_of(statement):
            yield Diagnostic(
                place=mark.place,
                subject=mark.label,
                message=f"{mark.label} is to die by {statement}, which no check names",
                mend=f'write @check("slug", "{statement}")',
                related=(Related(place=tree.statement_by_id[statement].place, note="the statement"),),
            )


def backlog_rows_have_a_home(tree: Tree) -> Iterator[Diagnostic]:
    """Every row of an RFC's backlog is the origin of a statement."""
    housed = {row for statement in tree.statement_by_id.values() for row in statement.origin}
    for rfc in tree.rfcs:
        for index, row_range in enumerate(rfc.backlog):
            rows = grammar.rows_of(row_range)
            missing = [row for row in rows or () if row not in housed]
            if rows is None or missing:
                message = f"no statement has the origin {', '.join(missing)}" if rows else f"{row_range} is no range"
                yield Diagnostic(
                    place=rfc.document.value_place(("govctl", "backlog", index)),
                    subject=f"{rfc.id} {row_range}",
                    message=message,
                    mend="name each row in the origin of a statement, if need be of an excluded one",
                )


def _demanded(tree: Tree, level: str, ladder: Ladder) -> Iterator[tuple[Severity, Statement]]:
    """Yield the statements of one level of which something is demanded; nothing when too little could be read."""
    for rfc in () if tree.is_partial else tree.rfc_by_id.values():
        severity = on(ladder, rfc)
        for statement in tree.active_statements_of(rfc.id) if severity is not Severity.OFF else ():
            if statement.level == level and statement.excluded is None:
                yield severity, statement


def _unchecked(tree: Tree, level: str, ladder: Ladder) -> Iterator[Diagnostic]:
    for severity, statement in _demanded(tree, level, ladder):
        if is_checked(tree, statement):
            continue
        skipped = statement_coverage(tree, statement).skipped_checks
        yield Diagnostic(
            place=statement.place,
            subject=statement.id,
            message=f"no check that runs names this {statement.keyword}",
            mend=f'write @check("slug", "{statement.id}"), or exclude the statement with a class and a reason',
            severity=severity,
            related=tuple(Related(place=check.place, note=f"{check.label} is skipped") for check in skipped),
        )

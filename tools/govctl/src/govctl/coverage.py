"""How far each statement is proven: declared, checked, passing, killed.

Knows how sources and evidence become coverage. The only place where it is computed: rules, tables, headlines and
exit codes all read it from here. Knows nothing of output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from govctl.marks import Mark, MarkKind
from govctl.specification import Clause, Exclusion, Rfc, Statement
from govctl.tree import Tree

LEVELS = ("MUST", "SHOULD", "MAY")


@dataclass(frozen=True, kw_only=True)
class StatementCoverage:
    """One statement of an active clause."""

    statement: Statement
    checks: tuple[Mark, ...]
    skipped_checks: tuple[Mark, ...]
    mutants: tuple[Mark, ...]
    unproven_checks: tuple[Mark, ...]
    surviving_mutants: tuple[Mark, ...]

    @property
    def excluded(self) -> Exclusion | None:
        """Return why no check is asked for, or nothing."""
        return self.statement.excluded

    @property
    def is_checked(self) -> bool:
        """Say whether a check that runs names the statement."""
        return bool(self.checks)

    @property
    def is_passing(self) -> bool:
        """Say whether the evidence shows that every check of the statement passes."""
        return self.is_checked and not self.unproven_checks

    @property
    def is_killed(self) -> bool:
        """Say whether it has mutants and the evidence shows that its own checks killed them all."""
        return bool(self.mutants) and not self.surviving_mutants


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Counts over the statements of one level; excluded ones are not among `declared`."""

    declared: int
    checked: int
    passing: int
    killed: int
    excluded: int

    @property
    def is_complete(self) -> bool:
        """Say whether every declared statement is checked, passing and killed."""
        return self.declared == self.checked == self.passing == self.killed


@dataclass(frozen=True, kw_only=True)
class ClauseCoverage:
    """One active normative clause."""

    clause: Clause
    statements: tuple[StatementCoverage, ...]


@dataclass(frozen=True, kw_only=True)
class RfcCoverage:
    """One RFC."""

    rfc: Rfc
    clauses: tuple[ClauseCoverage, ...]
    stale: tuple[str, ...]
    has_evidence: bool

    @property
    def statements(self) -> tuple[StatementCoverage, ...]:
        """Return all statements in reading order."""
        return tuple(statement for clause in self.clauses for statement in clause.statements)

    @property
    def is_proven(self) -> bool:
        """Say whether fresh evidence shows every MUST checked, passing and killed."""
        return self.has_evidence and not self.stale and totals(self.statements, "MUST").is_complete


def coverage(tree: Tree) -> tuple[RfcCoverage, ...]:
    """Return the coverage of every RFC that is not deprecated, by id."""
    live = (rfc for rfc in tree.rfc_by_id.values() if rfc.status != "deprecated")
    return tuple(_of_rfc(tree, rfc) for rfc in sorted(live, key=lambda rfc: rfc.id))


def totals(statements: Sequence[StatementCoverage], level: str) -> Totals:
    """Count the statements of one level."""
    of_level = [statement for statement in statements if statement.statement.level == level]
    live = [statement for statement in of_level if statement.excluded is None]
    return Totals(
        declared=len(live),
        checked=sum(statement.is_checked for statement in live),
        passing=sum(statement.is_passing for statement in live),
        killed=sum(statement.is_killed for statement in live),
        excluded=len(of_level) - len(live),
    )


def headline(covered: RfcCoverage) -> str:
    """Say in one line what is proven of an RFC's MUST statements, with what is excluded and what is debt."""
    must = totals(covered.statements, "MUST")
    if must.is_complete:
        line = f"{must.checked} of {must.declared} MUST checked, passing and killed"
    else:
        line = f"of {must.declared} MUST {must.checked} checked, {must.passing} passing, {must.killed} killed"
    parts = [line, *_excluded_parts(covered.statements)]
    if covered.stale:
        parts.append(f"evidence is stale ({', '.join(covered.stale)})")
    elif not covered.has_evidence:
        parts.append("no evidence")
    return f"{covered.rfc.id}: {'; '.join(parts)}"


def stale_digests(tree: Tree, rfc: str) -> tuple[str, ...]:
    """Return the kinds of sources that moved since the evidence of an RFC was written."""
    if rfc not in tree.evidence:
        return ()
    wanted, found = tree.digests_of(rfc), tree.evidence[rfc].evidence.digests
    return tuple(kind for kind in found if kind in wanted and found[kind] != wanted[kind])


def _excluded_parts(statements: Sequence[StatementCoverage]) -> list[str]:
    kinds = Counter(s.excluded.kind for s in statements if s.excluded and s.statement.level == "MUST")
    debt = kinds.pop("debt", 0)
    parts = []
    if kinds:
        listed = ", ".join(
            f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
        )
        parts.append(f"{kinds.total()} excluded ({listed})")
    if debt:
        parts.append(f"{debt} debt")
    return parts


def _of_rfc(tree: Tree, rfc: Rfc) -> RfcCoverage:
    clauses = (clause for clause in tree.clauses_of(rfc.id) if clause.is_active and clause.is_normative)
    return RfcCoverage(
        rfc=rfc,
        clauses=tuple(
            ClauseCoverage(clause=clause, statements=tuple(statement_coverage(tree, s) for s in clause.statements))
            for clause in clauses
        ),
        stale=stale_digests(tree, rfc.id),
        has_evidence=rfc.id in tree.evidence,
    )


def statement_coverage(tree: Tree, statement: Statement) -> StatementCoverage:
    """Return how far one statement is proven."""
    checks = tree.marks_of(MarkKind.CHECK, statement.id)
    live = tree.live_checks_of(statement.id)
    mutants = tree.marks_of(MarkKind.MUTANT, statement.id)
    return StatementCoverage(
        statement=statement,
        checks=tuple(live),
        skipped_checks=tuple(check for check in checks if check.skipped_by),
        mutants=tuple(mutants),
        unproven_checks=tuple(check for check in live if check_status(tree, check) != "pass"),
        surviving_mutants=tuple(mutant for mutant in mutants if not is_killed(tree, mutant)),
    )


def is_checked(tree: Tree, statement: Statement) -> bool:
    """Say whether a check that runs names the statement; for those who ask for nothing more of it."""
    return bool(tree.live_checks_of(statement.id))


def check_status(tree: Tree, check: Mark) -> str:
    """Return the status of a check in the evidence of the RFC that it belongs to; nothing when it is not there."""
    found = tree.evidence.get(home_of(check))
    return found.evidence.checks.get(check.slug, "") if found else ""


def is_killed(tree: Tree, mutant: Mark) -> bool:
    """Say whether the evidence shows that a check of the statement which must kill the mutant killed it."""
    found = tree.evidence.get(home_of(mutant))
    shown = found.evidence.mutants.get(mutant.slug) if found else None
    own_checks = {check.slug for check in tree.live_checks_of(mutant.statements[0])}
    return shown is not None and shown.kills == mutant.statements[0] and not own_checks.isdisjoint(shown.killed_by)


def home_of(mark: Mark) -> str:
    """Return the RFC whose evidence holds a check or a mutant: that of its first statement."""
    return mark.statements[0].partition(":")[0] if mark.statements else ""

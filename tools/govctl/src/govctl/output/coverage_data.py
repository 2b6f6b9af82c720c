"""Coverage as one JSON document.

The document holds `coverage_format` (1), `catalogue` (digest over statements, sentences and checks) and `rfcs`: each
with its headline, whether it is proven, stale digests, totals by level, and clauses with their statements.
Knows the format. Counts nothing itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from govctl.coverage import LEVELS, ClauseCoverage, RfcCoverage, StatementCoverage, headline, totals

FORMAT_VERSION = 1


def coverage_json(covered: Sequence[RfcCoverage], catalogue: str) -> str:
    """Return the coverage of all RFCs with the digest of the catalogue."""
    document = {"coverage_format": FORMAT_VERSION, "catalogue": catalogue, "rfcs": [_rfc(rfc) for rfc in covered]}
    return json.dumps(document, indent=2, ensure_ascii=True)


def _rfc(covered: RfcCoverage) -> dict[str, object]:
    return {
        "id": covered.rfc.id,
        "title": covered.rfc.title,
        "version": covered.rfc.version,
        "status": covered.rfc.status,
        "phase": covered.rfc.phase,
        "headline": headline(covered),
        "is_proven": covered.is_proven,
        "stale": list(covered.stale),
        "totals": _totals(covered.statements),
        "clauses": [_clause(clause) for clause in covered.clauses],
    }


def _clause(covered: ClauseCoverage) -> dict[str, object]:
    return {
        "id": covered.clause.id,
        "title": covered.clause.title,
        "totals": _totals(covered.statements),
        "statements": [_statement(statement) for statement in covered.statements],
    }


def _totals(statements: Sequence[StatementCoverage]) -> dict[str, dict[str, int]]:
    return {level: dict(vars(totals(statements, level))) for level in LEVELS}


def _statement(covered: StatementCoverage) -> dict[str, object]:
    statement, excluded = covered.statement, covered.excluded
    return {
        "id": statement.id,
        "text": statement.text,
        "keyword": statement.keyword,
        "level": statement.level,
        "digest": statement.digest,
        "origin": list(statement.origin),
        "features": list(statement.features),
        "excluded": {"class": excluded.kind, "reason": excluded.reason} if excluded else None,
        "checks": [check.slug for check in covered.checks],
        "skipped_checks": [check.slug for check in covered.skipped_checks],
        "mutants": [mutant.slug for mutant in covered.mutants],
        "is_checked": covered.is_checked,
        "is_passing": covered.is_passing,
        "is_killed": covered.is_killed,
    }

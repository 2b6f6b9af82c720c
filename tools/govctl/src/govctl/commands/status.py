"""`govctl status`: the whole tree on one screen. Writes nothing."""

from __future__ import annotations

import datetime as dt
import json
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence

from govctl.commands.context import CLEAN, Context
from govctl.coverage import RfcCoverage, coverage, headline, totals
from govctl.findings import Severity
from govctl.output.findings_text import counted, summary
from govctl.output.table import aligned
from govctl.rules.gates import next_phase, open_points
from govctl.rules.run import Judgement, judge
from govctl.tree import Tree

_HEAD = ("RFC", "version", "status", "phase", "MUST", "checked", "passing", "killed", "findings", "title")
_RIGHT = frozenset({4, 5, 6, 7, 8})


def run(arguments: Namespace, context: Context) -> int:
    """Show RFCs, how far each is proven, what its next phase lacks, and how much is found."""
    tree = context.tree(dt.datetime.now(tz=dt.UTC).date().isoformat())
    judgement, covered = judge(tree), coverage(tree)
    if arguments.format == "json":
        context.say(json.dumps(_data(tree, judgement, covered), indent=2, ensure_ascii=True))
        return CLEAN
    rows = [_HEAD, *(_row(item, judgement) for item in covered)]
    head, *body = aligned(rows, _RIGHT)
    sizes = [(len(tree.clauses), "clause"), (len(tree.statement_by_id), "statement")]
    context.say(context.style.paint(f"{tree.config.name}: {', '.join(counted(*size) for size in sizes)}", "bold"))
    context.say(context.style.paint(head, "dim"), *body, "")
    for item in covered:
        context.say(*_next(tree, item))
    borne = f", {len(judgement.borne)} borne" if judgement.borne else ""
    context.say(f"{summary(judgement.findings)}{borne}: govctl check")
    return CLEAN


def _row(covered: RfcCoverage, judgement: Judgement) -> tuple[str, ...]:
    rfc, must = covered.rfc, totals(covered.statements, "MUST")
    counts = (must.declared, must.checked, must.passing, must.killed, _findings_of(rfc.id, judgement).total())
    return (rfc.id, rfc.version, rfc.status, rfc.phase, *map(str, counts), rfc.title)


def _next(tree: Tree, covered: RfcCoverage) -> list[str]:
    """Say what an RFC lacks for the phase that it is in, or else for the next one."""
    here = open_points(tree, covered, covered.rfc.phase)
    phase = covered.rfc.phase if here else next_phase(covered.rfc.phase)
    points = here or (open_points(tree, covered, phase) if phase else [])
    if not phase:
        return []
    verb = "does not hold" if here else "is next"
    return [f"{covered.rfc.id}: {phase} {verb}: {'; '.join(points) or 'nothing is open'}"]


def _findings_of(rfc: str, judgement: Judgement) -> Counter[Severity]:
    """Count the findings in the files of an RFC and about its ids."""
    return Counter(finding.severity for finding in judgement.findings if rfc in finding.place.file + finding.subject)


def _data(tree: Tree, judgement: Judgement, covered: Sequence[RfcCoverage]) -> dict[str, object]:
    return {
        "status_format": 1,
        "project": tree.config.name,
        "rfcs": [
            {
                "id": item.rfc.id,
                "title": item.rfc.title,
                "version": item.rfc.version,
                "status": item.rfc.status,
                "phase": item.rfc.phase,
                "headline": headline(item),
                "must": dict(vars(totals(item.statements, "MUST"))),
                "next_phase": next_phase(item.rfc.phase),
                "open": open_points(tree, item, next_phase(item.rfc.phase) or item.rfc.phase),
                "findings": {str(key): count for key, count in sorted(_findings_of(item.rfc.id, judgement).items())},
            }
            for item in covered
        ],
        "findings": {str(key): count for key, count in sorted(Counter(f.severity for f in judgement.findings).items())},
        "borne": len(judgement.borne),
    }

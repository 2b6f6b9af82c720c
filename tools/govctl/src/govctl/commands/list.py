"""`govctl list`: everything of one kind, one a line. Writes nothing."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable

from govctl.commands.context import CLEAN, Context
from govctl.grammar import rfc_of
from govctl.marks import MarkKind
from govctl.output.table import aligned
from govctl.rules.table import COMPARISON, RULES
from govctl.tree import Tree

_Row = dict[str, str]


def run(arguments: Namespace, context: Context) -> int:
    """List the RFCs, clauses, statements, marks or rules."""
    rows = _LISTS[arguments.kind](context.tree()) if arguments.kind != "rules" else _rules()
    if arguments.rfc:
        rows = [row for row in rows if any(rfc_of(row.get(key, "")) in arguments.rfc for key in ("id", "statements"))]
    if arguments.format == "json":
        context.say(json.dumps(rows, indent=2, ensure_ascii=True))
    elif rows:
        context.say_all(aligned([tuple(rows[0]), *(tuple(row.values()) for row in rows)]))
    else:
        context.say(f"no {arguments.kind}")
    return CLEAN


def _rfcs(tree: Tree) -> list[_Row]:
    return [
        {
            "id": rfc.id,
            "version": rfc.version,
            "status": rfc.status,
            "phase": rfc.phase,
            "facet": rfc.facet,
            "title": rfc.title,
        }
        for rfc in sorted(tree.rfc_by_id.values(), key=lambda rfc: rfc.id)
    ]


def _clauses(tree: Tree) -> list[_Row]:
    return [
        {"id": clause.id, "kind": clause.kind, "status": clause.status, "since": clause.since, "title": clause.title}
        for rfc in sorted({clause.rfc for clause in tree.clauses})
        for clause in tree.clauses_of(rfc)
    ]


def _statements(tree: Tree) -> list[_Row]:
    return [
        {
            "id": statement.id,
            "keyword": statement.keyword,
            "excluded": statement.excluded.kind if statement.excluded else "",
            "checks": str(len(tree.live_checks_of(statement.id))),
            "mutants": str(len(tree.marks_of(MarkKind.MUTANT, statement.id))),
            "text": statement.text,
        }
        for rfc in sorted({clause.rfc for clause in tree.clauses})
        for clause in tree.clauses_of(rfc)
        for statement in clause.statements
    ]


def _marks(*kinds: MarkKind) -> Callable[[Tree], list[_Row]]:
    def rows(tree: Tree) -> list[_Row]:
        marks = sorted((mark for mark in tree.marks if mark.kind in kinds), key=lambda mark: (mark.slug, mark.place))
        return [
            {
                "kind": mark.kind.value,
                "slug": mark.slug or mark.function,
                "statements": " ".join(mark.statements),
                "place": f"{mark.place.file}:{mark.place.line}",
            }
            for mark in marks
        ]

    return rows


def _rules() -> list[_Row]:
    return [
        {"code": rule.code, "name": rule.name, "severity": rule.severity.value, "what must hold": rule.summary}
        for rule in (*RULES, COMPARISON)
    ]


_LISTS: dict[str, Callable[[Tree], list[_Row]]] = {
    "rfcs": _rfcs,
    "clauses": _clauses,
    "statements": _statements,
    "laws": _marks(MarkKind.LAW),
    "checks": _marks(MarkKind.CHECK),
    "mutants": _marks(MarkKind.MUTANT, MarkKind.BENIGN),
}

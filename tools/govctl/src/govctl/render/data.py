"""The data of the pages as JSON, for whoever wants to draw something else from it.

Knows the format. Everything is sorted or in reading order; there are no times and no paths of a machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any  # JSON

from govctl.coverage import check_status, is_killed
from govctl.marks import Mark, MarkKind
from govctl.render import links
from govctl.render.material import Material
from govctl.render.parts import mark_target
from govctl.render.statement_card import cases_behind, verdict
from govctl.specification import Clause, Rfc, Statement

FORMAT_VERSION = 1


def site_data(material: Material) -> str:
    """Return the data of the whole site."""
    document = {
        "site_format": FORMAT_VERSION,
        "project": material.tree.config.name,
        "catalogue": material.tree.catalogue,
        "rfcs": [_rfc(material, rfc) for _, rfc in sorted(material.tree.rfc_by_id.items())],
        "cases": [vars(case) | {"address": case.address} for case in material.cases.values()],
        "reserved": [dict(vars(row)) for row in material.tree.config.site.reserved],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _rfc(material: Material, rfc: Rfc) -> dict[str, Any]:
    return {
        "id": rfc.id,
        "title": rfc.title,
        "version": rfc.version,
        "status": rfc.status,
        "phase": rfc.phase,
        "facet": rfc.facet,
        "page": _address(links.Target(page=links.rfc_page(rfc.id))),
        "clauses": [_clause(material, clause) for clause in material.tree.clauses_of(rfc.id)],
    }


def _clause(material: Material, clause: Clause) -> dict[str, Any]:
    return {
        "id": clause.id,
        "title": clause.title,
        "kind": clause.kind,
        "status": clause.status,
        "since": clause.since,
        "text": clause.text,
        "rationale": clause.rationale,
        "statements": [_statement(material, statement) for statement in clause.statements],
    }


def _statement(material: Material, statement: Statement) -> dict[str, Any]:
    tree, excluded = material.tree, statement.excluded
    target = links.target_of(tree, statement.id)
    return {
        "id": statement.id,
        "text": statement.text,
        "level": statement.level,
        "digest": statement.digest,
        "verdict": verdict(material, statement)[0],
        "page": _address(target) if target else "",
        "origin": list(statement.origin),
        "features": list(statement.features),
        "excluded": {"class": excluded.kind, "reason": excluded.reason} if excluded else None,
        "laws": [_mark(material, mark) for mark in tree.marks_of(MarkKind.LAW, statement.id)],
        "checks": [_check(material, mark) for mark in tree.marks_of(MarkKind.CHECK, statement.id)],
        "mutants": [_mutant(material, mark) for mark in tree.marks_of(MarkKind.MUTANT, statement.id)],
        "declined_by": _reasons(material, MarkKind.BENIGN, statement.id),
        "also_broken_by": _reasons(material, MarkKind.MUTANT, statement.id),
        "cases": [case.id for case in cases_behind(material, statement)],
    }


def _mark(material: Material, mark: Mark) -> dict[str, Any]:
    return {
        "name": mark.slug or mark.function,
        "meaning": material.code_of(mark).meaning,
        "file": mark.place.file,
        "line": mark.place.line,
        "page": _address(mark_target(material, mark)),
    }


def _check(material: Material, check: Mark) -> dict[str, Any]:
    found = {"status": check_status(material.tree, check), "witnesses": list(material.code_of(check).witnesses)}
    return _mark(material, check) | found


def _mutant(material: Material, mutant: Mark) -> dict[str, Any]:
    found = {"is_killed": is_killed(material.tree, mutant), "killed_by": list(material.killers_of(mutant))}
    return _mark(material, mutant) | found


def _reasons(material: Material, kind: MarkKind, statement: str) -> Mapping[str, str]:
    marks = (mark for mark in material.tree.marks if mark.kind is kind and statement in mark.also)
    return {mark.slug: mark.also[statement] for mark in marks}


def _address(target: links.Target) -> str:
    return target.seen_from(links.INDEX)

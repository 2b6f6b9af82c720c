"""Family 06, third part: the catalogue, the statements for those who are installed without `gov/`.

Knows the form of the file and when it is stale. Knows nothing of who reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from govctl.findings import Diagnostic
from govctl.places import Place
from govctl.specification import Clause, Rfc, Statement
from govctl.tree import Tree

FORMAT_VERSION = 1
_WRITE = "write it again: govctl catalogue --write"


def catalogue_is_fresh(tree: Tree) -> Iterator[Diagnostic]:
    """The catalogue file of the settings holds the statements of the tree."""
    file = tree.config.catalogue_file
    if not file or tree.is_specification_partial:
        return
    if tree.catalogue_text is None:
        yield Diagnostic(
            place=tree.config.document.value_place(("catalogue", "file")),
            subject="catalogue",
            message=f"the catalogue {file} cannot be read or is missing",
            mend=_WRITE,
        )
    elif tree.catalogue_text != catalogue_text(tree):
        yield Diagnostic(
            place=Place(file=file),
            subject="catalogue",
            message=f"the catalogue {file} is not what the clauses say",
            mend=_WRITE,
        )


def catalogue_text(tree: Tree) -> str:
    """Return the text of the file: RFCs by id, and the statements of active clauses in reading order."""
    rfcs = sorted(tree.rfc_by_id.values(), key=lambda rfc: rfc.id)
    document = {
        "catalogue": FORMAT_VERSION,
        "generated": "by govctl catalogue from gov/; do not edit",
        "rfcs": {rfc.id: _rfc(rfc) for rfc in rfcs},
        "statements": [
            _statement(clause, statement)
            for rfc in rfcs
            for clause in tree.clauses_of(rfc.id)
            if clause.is_active
            for statement in clause.statements
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _rfc(rfc: Rfc) -> dict[str, str]:
    return {
        "version": rfc.version,
        "status": rfc.status,
        "phase": rfc.phase,
        "facet": rfc.facet,
        "title": rfc.title,
    }


def _statement(clause: Clause, statement: Statement) -> dict[str, object]:
    excluded = statement.excluded
    return {
        "id": statement.id,
        "rfc": clause.rfc,
        "clause": clause.id,
        "level": statement.keyword,
        "text": statement.text,
        "digest": statement.digest,
        "features": list(statement.features),
        "excluded": {"class": excluded.kind, "reason": excluded.reason} if excluded else None,
        "origin": list(statement.origin),
    }

"""Which RFCs begin with something else than a summary.

Knows what comes first in an RFC. Knows nothing of what a summary says.
"""

from __future__ import annotations

from govctl.tree import Tree


def without_summary(tree: Tree) -> list[str]:
    """Return the RFCs whose first clause is not informative; a clause that cannot be read counts as one that is."""
    return [rfc.id for rfc in tree.rfcs if _first_is_normative(tree, rfc.id)]


def _first_is_normative(tree: Tree, rfc: str) -> bool:
    names = [name for section in tree.rfc_by_id[rfc].sections for name in section.clauses]
    first = tree.clause_by_id.get(f"{rfc}:{names[0]}") if names else None
    return not names or (first is not None and first.is_normative)

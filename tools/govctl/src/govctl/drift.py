"""Compare the statements of a tree with its lock.

Knows when a sentence is new, changed, moved, gone or back. Rules report it and `govctl lock` acts on it. Knows
nothing of output.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from govctl import grammar
from govctl.lock import Entry
from govctl.specification import Statement
from govctl.tree import Tree


@dataclass(frozen=True, kw_only=True)
class Drift:
    """What differs, by id in order; `moved` maps a statement to the id whose locked sentence it now holds."""

    new: tuple[Statement, ...]
    changed: tuple[Statement, ...]
    moved: dict[str, str]
    back: tuple[Statement, ...]
    removed: tuple[Entry, ...]


@lru_cache(maxsize=1)  # four rules ask the same of one tree
def drift(tree: Tree) -> Drift:
    """Return what differs between the statements and the lock."""
    locked = tree.lock.entries
    statements = tree.statement_by_id.values()
    different = _ordered([s for s in statements if s.id in locked and locked[s.id].digest != s.digest])
    return Drift(
        new=tuple(_ordered([s for s in statements if s.id not in locked])),
        changed=tuple(s for s in different if not locked[s.id].is_withdrawn),
        moved=_moved(tree, different),
        back=tuple(_ordered([s for s in statements if s.id in locked and locked[s.id].is_withdrawn])),
        removed=tuple(_removed(tree)),
    )


def _ordered(statements: list[Statement]) -> list[Statement]:
    return sorted(statements, key=lambda statement: grammar.sort_key(statement.id))


def _moved(tree: Tree, different: list[Statement]) -> dict[str, str]:
    """Find sentences that stand under another id of their clause than the lock says."""
    moved: dict[str, str] = {}
    for statement in different:
        for entry in tree.lock.of_clause(grammar.clause_of(statement.id)):
            now = tree.statement_by_id.get(entry.id)
            if entry.digest == statement.digest and (now is None or now.digest != entry.digest):
                moved[statement.id] = entry.id
    return moved


def _removed(tree: Tree) -> list[Entry]:
    """Return the locked statements that are gone without a tombstone: a withdrawn clause, or a withdrawn entry."""
    gone = []
    for identifier, entry in tree.lock.entries.items():
        if identifier in tree.statement_by_id:
            continue
        clause = tree.clause_by_id.get(grammar.clause_of(identifier))
        is_tombstoned = entry.is_withdrawn or (clause is not None and not clause.is_active)
        if not is_tombstoned and not tree.knows(identifier):
            gone.append(entry)
    return sorted(gone, key=lambda entry: grammar.sort_key(entry.id))

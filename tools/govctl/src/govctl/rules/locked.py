"""Family 06, first part: sentences against the lock.

Knows what drift means for a reader. Knows nothing of evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl.drift import Drift, drift
from govctl.findings import Diagnostic, Related
from govctl.marks import MarkKind
from govctl.tree import Tree


def sentences_are_as_locked(tree: Tree) -> Iterator[Diagnostic]:
    """No sentence differs from the one that was accepted; its checks are named."""
    differences = _drift(tree)
    for statement in differences.changed:
        if statement.id not in differences.moved:
            marks = [mark for kind in (MarkKind.CHECK, MarkKind.LAW) for mark in tree.marks_of(kind, statement.id)]
            again = ", ".join(mark.label for mark in marks) or "no check names it yet"
            yield Diagnostic(
                place=statement.place,
                subject=statement.id,
                message=f"the sentence of {statement.id} changed; look again at: {again}",
                mend=f"look at them, then accept the sentence: govctl lock '{statement.id}'",
                related=tuple(Related(place=mark.place, note=mark.label) for mark in marks),
            )


def statements_are_locked(tree: Tree) -> Iterator[Diagnostic]:
    """Every statement is in the lock."""
    for statement in _drift(tree).new:
        yield Diagnostic(
            place=statement.place,
            subject=statement.id,
            message=f"{statement.id} is not locked yet",
            mend="accept it: govctl lock --new",
        )


def locked_statements_stay(tree: Tree) -> Iterator[Diagnostic]:
    """No locked statement is gone without a tombstone, and none that was withdrawn is back."""
    differences = _drift(tree)
    for entry in differences.removed:
        yield Diagnostic(
            place=entry.place,
            subject=entry.id,
            message=f"{entry.id} is locked, and gone from its clause",
            mend=f"put it back, deprecate its clause, or leave a tombstone: govctl lock --withdraw '{entry.id}'",
        )
    for statement in differences.back:
        yield Diagnostic(
            place=statement.place,
            subject=statement.id,
            message=f"{statement.id} was withdrawn, and its id is used again",
            mend="give the statement a number that was never used",
            related=(Related(place=tree.lock.entries[statement.id].place, note="the tombstone"),),
        )


def statements_keep_their_number(tree: Tree) -> Iterator[Diagnostic]:
    """No sentence stands under another number than the one it was locked with."""
    for identifier, former in _drift(tree).moved.items():
        yield Diagnostic(
            place=tree.statement_by_id[identifier].place,
            subject=identifier,
            message=f"{identifier} holds the sentence that was locked as {former}: statements are never renumbered",
            mend=f"give the sentence its number {former.partition('#')[2]} back",
            related=(Related(place=tree.lock.entries[former].place, note=f"{former} in the lock"),),
        )


def _drift(tree: Tree) -> Drift:
    if tree.is_lock_broken:
        return Drift(new=(), changed=(), moved={}, back=(), removed=())
    return drift(tree)

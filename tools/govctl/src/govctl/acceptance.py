"""Accept sentences into the lock.

Knows what may be accepted, by name or all that is new, and what is refused. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from govctl import grammar
from govctl.drift import drift
from govctl.lock import Entry, Lock
from govctl.tree import Tree


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """The lock as it shall be, what changed in it, and what was refused; with a refusal nothing is to be written."""

    lock: Lock
    accepted: tuple[str, ...]
    sealed: tuple[str, ...]
    refused: tuple[str, ...]
    left: tuple[str, ...]


def accept(
    tree: Tree, names: Sequence[str], withdrawn: Sequence[str], *, all_new: bool, sealed: Sequence[str] = ()
) -> Acceptance:
    """Accept these statements, and all new ones if asked; mark these as withdrawn; seal the versions of these RFCs."""
    differences = drift(tree)
    refused = [*_refused_names(tree, names), *_refused_withdrawals(tree, withdrawn)]
    refused += [
        f"{name} holds the sentence of {former}: statements are never renumbered"
        for name, former in differences.moved.items()
    ]
    refused += [f"{s.id} was withdrawn, and its id is used again" for s in differences.back]
    gone = [entry.id for entry in differences.removed if entry.id not in withdrawn]
    refused += [f"{name} is gone without a tombstone: --withdraw it, or put it back" for name in gone]
    wanted = {name for name in names if name in tree.statement_by_id}
    wanted |= {statement.id for statement in differences.new} if all_new else set()
    fresh = [s for s in (*differences.new, *differences.changed) if s.id in wanted]
    changes = {s.id: Entry(id=s.id, digest=s.digest) for s in fresh}
    for name in withdrawn:
        if name in tree.lock.entries:
            changes[name] = Entry(id=name, digest=tree.lock.entries[name].digest, is_withdrawn=True)
    left = [s.id for s in (*differences.new, *differences.changed) if s.id not in wanted]
    refused += [reason for rfc in sealed if (reason := _refused_seal(tree, rfc, left))]
    seals = [] if refused else [tree.seal_of(rfc) for rfc in sealed]
    new_seals = [seal for seal in seals if seal.name not in tree.lock.seals]
    return Acceptance(
        lock=tree.lock.with_entries(changes).with_seals(new_seals),
        accepted=tuple(changes),
        sealed=tuple(seal.name for seal in new_seals),
        refused=tuple(refused),
        left=tuple(left),
    )


def _refused_seal(tree: Tree, rfc: str, left: Sequence[str]) -> str:
    """Say why the version of an RFC cannot be sealed, or nothing."""
    if rfc not in tree.rfc_by_id or tree.is_specification_partial:
        return f"{rfc} cannot be sealed: it, or part of it, is not usable"
    if tree.rfc_by_id[rfc].phase == "spec":
        return f"{rfc} is in phase spec, where nothing is sealed"
    if waiting := [name for name in left if grammar.rfc_of(name) == rfc]:
        return f"{rfc} cannot be sealed before {', '.join(waiting)} is accepted"
    wanted = tree.seal_of(rfc)
    if tree.lock.seals.get(wanted.name, wanted) != wanted:
        return f"{wanted.name} was sealed with other statements: bump the version"
    return ""


def _refused_names(tree: Tree, names: Sequence[str]) -> list[str]:
    return [f"{name} is no statement of this tree" for name in names if name not in tree.statement_by_id]


def _refused_withdrawals(tree: Tree, names: Sequence[str]) -> list[str]:
    refused = [f"{name} is not in the lock" for name in names if name not in tree.lock.entries]
    return refused + [
        f"{name} is still in its clause: remove it there first" for name in names if name in tree.statement_by_id
    ]

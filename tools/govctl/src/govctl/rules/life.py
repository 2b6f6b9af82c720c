"""Family 04, second part: versions and the life cycle.

Knows which states and versions go together. Knows nothing of sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from govctl.findings import Diagnostic
from govctl.grammar import version_key
from govctl.places import Place
from govctl.specification import Rfc
from govctl.tree import Tree

PHASES_OF_STATUS = {
    "draft": ("spec", "impl", "test"),
    "normative": ("spec", "impl", "test", "stable"),
    "deprecated": ("spec", "stable"),
}


def since_is_a_version_of_the_rfc(tree: Tree) -> Iterator[Diagnostic]:
    """`since` is a version of the changelog, and not above the RFC's version."""
    for subject, since, place, rfc in _sinces(tree):
        if version_key(since) > version_key(rfc.version):
            message = f"since is {since}, above version {rfc.version} of {rfc.id}"
        elif rfc.changelog and since not in {change.version for change in rfc.changelog}:
            message = f"since is {since}, which is no version in the changelog of {rfc.id}"
        else:
            continue
        yield Diagnostic(
            place=place, subject=subject, message=message, mend="use the version of the RFC that brought it"
        )


def clauses_have_a_since(tree: Tree) -> Iterator[Diagnostic]:
    """After phase spec every clause says since when it holds."""
    for clause in tree.clauses:
        rfc = tree.rfc_by_id.get(clause.rfc)
        if rfc and rfc.phase != "spec" and not clause.since:
            yield Diagnostic(
                place=clause.document.key_place(("govctl",)),
                subject=clause.id,
                message=f"has no since, and {rfc.id} is in phase {rfc.phase}",
                mend=f'add since = "{rfc.version}", or the version that brought the clause',
            )


def changelog_has_the_version(tree: Tree) -> Iterator[Diagnostic]:
    """The changelog begins with the RFC's version, and goes from the newest to the oldest."""
    for rfc in tree.rfcs:
        versions = [change.version for change in rfc.changelog]
        if not versions or versions[0] != rfc.version:
            yield Diagnostic(
                place=rfc.document.value_place(("govctl", "version")),
                subject=rfc.id,
                message=f"version {rfc.version} is not the newest entry of the changelog",
                mend=f'put a [[changelog]] entry with version = "{rfc.version}" first',
            )
        yield from _unordered(rfc)


def _unordered(rfc: Rfc) -> Iterator[Diagnostic]:
    for index, (newer, older) in enumerate(pairwise(rfc.changelog), start=1):
        if version_key(newer.version) <= version_key(older.version) or newer.date < older.date:
            yield Diagnostic(
                place=rfc.document.value_place(("changelog", index, "version")),
                subject=rfc.id,
                message=f"{older.version} of {older.date} stands below {newer.version} of {newer.date}",
                mend="order the changelog from the newest version to the oldest",
            )


def superseded_clauses_have_a_successor(tree: Tree) -> Iterator[Diagnostic]:
    """A clause has a successor if and only if it is superseded, and is not its own."""
    for clause in tree.clauses:
        is_superseded = clause.status == "superseded"
        if is_superseded != bool(clause.superseded_by):
            yield Diagnostic(
                place=clause.document.value_place(("govctl", "status")),
                subject=clause.id,
                message=f"is {clause.status} and has {'a' if clause.superseded_by else 'no'} superseded_by",
                mend="a superseded clause names its successor, any other has none",
            )
        elif is_superseded and clause.superseded_by in {clause.name, clause.id}:
            yield Diagnostic(
                place=clause.document.value_place(("govctl", "superseded_by")),
                subject=clause.id,
                message="is superseded by itself",
                mend="name the clause that took its place",
            )


def status_allows_the_phase(tree: Tree) -> Iterator[Diagnostic]:
    """Status and phase of an RFC go together."""
    for rfc in tree.rfcs:
        allowed = PHASES_OF_STATUS[rfc.status]
        if rfc.phase not in allowed:
            yield Diagnostic(
                place=rfc.document.value_place(("govctl", "phase")),
                subject=rfc.id,
                message=f"is {rfc.status} and in phase {rfc.phase}",
                mend=f"a {rfc.status} RFC is in phase {' or '.join(allowed)}",
            )


def _sinces(tree: Tree) -> Iterator[tuple[str, str, Place, Rfc]]:
    """Yield every `since` with its subject, place and RFC."""
    for clause in tree.clauses:
        rfc = tree.rfc_by_id.get(clause.rfc)
        if rfc is None:
            continue
        if clause.since:
            yield clause.id, clause.since, clause.document.value_place(("govctl", "since")), rfc
        for index, statement in enumerate(clause.statements):
            if statement.since:
                place = clause.document.value_place(("content", "statements", index, "since"))
                yield statement.id, statement.since, place, rfc

"""Family 04, second part: versions and the life cycle.

Knows which states and versions go together. Knows nothing of sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from govctl.findings import Diagnostic
from govctl.grammar import version_key
from govctl.specification import Clause, Rfc
from govctl.toml_places import Path
from govctl.tree import Tree

PHASES_OF_STATUS = {
    "draft": ("spec", "impl", "test"),
    "normative": ("spec", "impl", "test", "stable"),
    "deprecated": ("spec", "stable"),
}


def since_is_a_version_of_the_rfc(tree: Tree) -> Iterator[Diagnostic]:
    """`since` is a version of the changelog, and not above the RFC's version."""
    for clause in tree.clauses:
        rfc = tree.rfc_by_id.get(clause.rfc)
        if rfc is None:
            continue
        for subject, since, path in _sinces(clause):
            if message := _wrong_since(since, clause, rfc):
                yield Diagnostic(
                    place=clause.document.value_place(path),
                    subject=subject,
                    message=message,
                    mend="use the version of the RFC that brought it",
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


def dates_are_in_order(tree: Tree) -> Iterator[Diagnostic]:
    """An RFC is created before its first version, and updated with its newest."""
    for rfc in tree.rfcs:
        dates = [change.date for change in rfc.changelog]
        if dates and min(dates) < rfc.created:
            yield _wrong_date(rfc, "created", f"is created on {rfc.created}, after its version of {min(dates)}")
        if rfc.updated and rfc.updated < max([rfc.created, *dates]):
            newest = max([rfc.created, *dates])
            yield _wrong_date(rfc, "updated", f"is updated on {rfc.updated}, before what is dated {newest}")


def _wrong_date(rfc: Rfc, key: str, message: str) -> Diagnostic:
    return Diagnostic(
        place=rfc.document.value_place(("govctl", key)),
        subject=rfc.id,
        message=message,
        mend="mend the date that is wrong: created, then each version, then updated",
    )


def superseded_clauses_have_a_successor(tree: Tree) -> Iterator[Diagnostic]:
    """A clause has a successor if and only if it is superseded; that is another, and not a deprecated one."""
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
        elif is_superseded and clause.successor in tree.clause_by_id:
            yield from _dead_end(tree.clause_by_id[clause.successor], clause)


def _dead_end(successor: Clause, clause: Clause) -> Iterator[Diagnostic]:
    if successor.status == "deprecated":
        yield Diagnostic(
            place=clause.document.value_place(("govctl", "superseded_by")),
            subject=clause.id,
            message=f"is superseded by {successor.id}, which is deprecated",
            mend="name a clause that is in force, or deprecate this one too",
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


def _sinces(clause: Clause) -> Iterator[tuple[str, str, Path]]:
    """Yield every `since` of a clause with its subject and where it stands."""
    if clause.since:
        yield clause.id, clause.since, ("govctl", "since")
    for index, statement in enumerate(clause.statements):
        if statement.since:
            yield statement.id, statement.since, ("content", "statements", index, "since")


def _wrong_since(since: str, clause: Clause, rfc: Rfc) -> str:
    """Say what is wrong with a `since`, or nothing."""
    if since != rfc.version and version_key(since) > version_key(rfc.version):
        return f"since is {since}, above version {rfc.version} of {rfc.id}"
    if rfc.changelog and since not in rfc.versions:
        return f"since is {since}, which is no version in the changelog of {rfc.id}"
    if clause.since and since != clause.since and version_key(since) < version_key(clause.since):
        return f"since is {since}, below that of its clause, {clause.since}"
    return ""

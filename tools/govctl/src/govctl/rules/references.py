"""Family 03, second part: references in text and in source.

Knows every way in which one thing names another. Knows nothing of coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from govctl import grammar
from govctl.findings import Diagnostic, Related
from govctl.marks import Mark, MarkKind
from govctl.places import Place
from govctl.specification import Clause
from govctl.toml_places import Path
from govctl.tree import Tree

_Reference = tuple[str, Place, str]


def references_exist(tree: Tree) -> Iterator[Diagnostic]:
    """Every id in prose, refs and superseded_by exists."""
    for source, place, target in _references(tree):
        if not tree.knows(target):
            yield Diagnostic(
                place=place,
                subject=source,
                message=f"names {target}, which does not exist",
                mend=_did_you_mean(tree, target),
            )


def references_are_wellformed(tree: Tree) -> Iterator[Diagnostic]:
    """Brackets that look like a reference hold a full id."""
    for clause in tree.clauses:
        for path, text in _texts(clause):
            for citation in grammar.citations(text):
                if not citation.is_wellformed:
                    yield Diagnostic(
                        place=clause.document.words_place(path, f"[[{citation.text}]]"),
                        subject=clause.id,
                        message=f"[[{citation.text}]] is no full id",
                        mend="write [[RFC-0001]], [[RFC-0001:C-NAME]] or [[RFC-0001:C-NAME#S1]]",
                    )


def marks_name_statements(tree: Tree) -> Iterator[Diagnostic]:
    """Every statement that a law, check, mutant or benign variant names exists."""
    for mark in tree.marks:
        for statement in _named_by(mark):
            if not tree.knows(statement):
                yield Diagnostic(
                    place=mark.place,
                    subject=mark.label,
                    message=f"{mark.label} names {statement}, which does not exist",
                    mend=_did_you_mean(tree, statement),
                )


def marks_name_live_statements(tree: Tree) -> Iterator[Diagnostic]:
    """No law, check, mutant or benign variant names a statement of a withdrawn clause."""
    for mark in tree.marks:
        for statement in _named_by(mark):
            clause = tree.clause_by_id.get(grammar.clause_of(statement))
            if clause and not clause.is_active and statement in tree.statement_by_id:
                yield Diagnostic(
                    place=mark.place,
                    subject=mark.label,
                    message=f"{mark.label} names {statement}, whose clause is {clause.status}",
                    mend=_successor_advice(clause),
                )


def slugs_are_unique(tree: Tree) -> Iterator[Diagnostic]:
    """No two checks, and no two mutants or benign variants, have one slug."""
    seen: dict[tuple[bool, str], Mark] = {}
    for mark in tree.marks:
        key = (mark.kind is MarkKind.CHECK, mark.slug)
        if mark.kind is not MarkKind.LAW and key in seen:
            yield Diagnostic(
                place=mark.place,
                subject=mark.label,
                message=f"the slug {mark.slug} is used twice",
                mend="give the newer one a slug of its own that was never used",
                related=(Related(place=seen[key].place, note="the other use"),),
            )
        seen.setdefault(key, mark)


def marks_are_literal(tree: Tree) -> Iterator[Diagnostic]:
    """Ids and reasons in marks are string literals."""
    yield from _bad_marks(tree, is_literal=False)


def marks_are_wellformed(tree: Tree) -> Iterator[Diagnostic]:
    """Marks have the arguments of their kind."""
    yield from _bad_marks(tree, is_literal=True)


def checks_depend_on_checks(tree: Tree) -> Iterator[Diagnostic]:
    """Every check that another depends on exists."""
    slugs = sorted({check.slug for check in tree.checks})
    for check in () if tree.are_sources_broken else tree.checks:
        for slug in check.depends_on:
            if slug not in slugs:
                near = get_close_matches(slug, slugs, n=1)
                yield Diagnostic(
                    place=check.place,
                    subject=check.label,
                    message=f"{check.label} depends on {slug}, which does not exist",
                    mend=f"did you mean {near[0]}?" if near else "name the slug of a check",
                )


def _bad_marks(tree: Tree, *, is_literal: bool) -> Iterator[Diagnostic]:
    for bad in tree.bad_marks:
        if bad.is_literal is is_literal:
            yield Diagnostic(
                place=bad.place,
                subject=bad.label,
                message=f"{bad.label}: {bad.reason}",
                mend='write it as @law("ID"), @check("slug", "ID"), @mutant("slug", kills="ID") or @benign("slug")',
            )


def _named_by(mark: Mark) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*mark.statements, *mark.also)))


def _texts(clause: Clause) -> Iterator[tuple[Path, str]]:
    yield ("content", "text"), clause.text
    if clause.rationale:
        yield ("content", "rationale"), clause.rationale
    if clause.has_statements:
        for index, statement in enumerate(clause.statements):
            yield ("content", "statements", index, "text"), statement.text
            if statement.excluded:
                yield ("content", "statements", index, "excluded", "reason"), statement.excluded.reason


def _references(tree: Tree) -> Iterator[_Reference]:
    for rfc in tree.rfcs:
        for index, target in enumerate(rfc.refs):
            yield rfc.id, rfc.document.value_place(("govctl", "refs", index)), target
    for clause in tree.clauses:
        if clause.superseded_by:
            target = clause.superseded_by if ":" in clause.superseded_by else f"{clause.rfc}:{clause.superseded_by}"
            yield clause.id, clause.document.value_place(("govctl", "superseded_by")), target
        for path, text in _texts(clause):
            for citation in grammar.citations(text):
                if citation.is_wellformed and not tree.knows(citation.text):
                    yield clause.id, clause.document.words_place(path, citation.text), citation.text


def _did_you_mean(tree: Tree, target: str) -> str:
    known: list[str] = sorted(tree.rfc_by_id if ":" not in target else tree.clause_by_id)
    if "#" in target:
        known = sorted(tree.statement_by_id, key=grammar.sort_key)
        same_clause = [name for name in known if grammar.clause_of(name) == grammar.clause_of(target)]
        if same_clause:
            return f"{grammar.clause_of(target)} has {', '.join(name.partition('#')[2] for name in same_clause)}"
    near = get_close_matches(target, known, n=1)
    return f"did you mean {near[0]}?" if near else "name something that exists"


def _successor_advice(clause: Clause) -> str:
    return f"move it to {clause.superseded_by}" if clause.superseded_by else "remove it: nothing is demanded any more"

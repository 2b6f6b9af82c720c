"""Family 03, second part: references in text and in source.

Knows every way in which one thing names another. Knows nothing of coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from govctl import grammar
from govctl.findings import Diagnostic, Related
from govctl.marks import Mark, MarkKind
from govctl.places import Place
from govctl.rules.texts import ProseText, texts_where
from govctl.specification import Clause, Rfc
from govctl.toml_places import Path, TomlText
from govctl.tree import Tree


@dataclass(frozen=True, kw_only=True)
class _Cited:
    """A citation, and the prose that holds it."""

    prose: ProseText
    citation: grammar.Citation


def references_exist(tree: Tree) -> Iterator[Diagnostic]:
    """Every id in prose, refs and superseded_by exists."""
    for source, document, path, target in _named_in_keys(tree):
        if not tree.knows(target):
            yield _unknown(tree, source, target, document.value_place(path))
    for cited in _unresolved(tree):
        target = cited.citation.text
        if cited.citation.is_wellformed:
            yield _unknown(tree, cited.prose.subject, target, cited.prose.place(target))


def references_are_wellformed(tree: Tree) -> Iterator[Diagnostic]:
    """What looks like a reference is a full id, letter by letter."""
    for cited in _unresolved(tree):
        if not cited.citation.is_wellformed:
            written = cited.citation.written
            yield Diagnostic(
                place=cited.prose.place(written),
                subject=cited.prose.subject,
                message=f"{written} is no full id",
                mend=_meant(tree, cited),
            )


def marks_name_statements(tree: Tree) -> Iterator[Diagnostic]:
    """Every statement that a law, check, mutant or benign variant names exists."""
    for mark in tree.marks:
        for statement in _named_by(mark):
            if not tree.knows(statement) and not _is_withdrawn(tree, statement):
                yield Diagnostic(
                    place=mark.place,
                    subject=mark.label,
                    message=f"{mark.label} names {statement}, which does not exist",
                    mend=_did_you_mean(tree, statement),
                )


def marks_name_live_statements(tree: Tree) -> Iterator[Diagnostic]:
    """No law, check, mutant or benign variant names a statement that is withdrawn, or of a withdrawn clause or RFC."""
    live = {statement.id for rfc in _in_force(tree) for statement in tree.active_statements_of(rfc.id)}
    for mark in tree.marks:
        for statement in _named_by(mark):
            if statement not in live and (reason := _withdrawal(tree, statement)):
                yield Diagnostic(
                    place=mark.place,
                    subject=mark.label,
                    message=f"{mark.label} names {statement}, {reason}",
                    mend=_successor_advice(tree.clause_by_id.get(grammar.clause_of(statement))),
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


def _in_force(tree: Tree) -> list[Rfc]:
    return [rfc for rfc in tree.rfc_by_id.values() if rfc.status != "deprecated"]


def _named_by(mark: Mark) -> tuple[str, ...]:
    if len(mark.statements) == 1 and not mark.also:
        return mark.statements
    return tuple(dict.fromkeys((*mark.statements, *mark.also)))


def _unknown(tree: Tree, source: str, target: str, place: Place) -> Diagnostic:
    return Diagnostic(
        place=place,
        subject=source,
        message=f"names {target}, which does not exist",
        mend=_did_you_mean(tree, target),
    )


def _meant(tree: Tree, cited: _Cited) -> str:
    repaired = grammar.repaired(cited.citation.text, cited.prose.subject)
    if tree.knows(repaired):
        return f"did you mean {repaired}?"
    near = get_close_matches(repaired, _relatives(tree, repaired), n=1)
    return f"did you mean {near[0]}?" if near else "write [[RFC-0001]], [[RFC-0001:C-NAME]] or [[RFC-0001:C-NAME#S1]]"


def _relatives(tree: Tree, target: str) -> list[str]:
    """Return what is known of the same kind in the same RFC, in order: all that is worth to be compared."""
    if ":" not in target or grammar.rfc_of(target) not in tree.rfc_by_id:
        return sorted(tree.rfc_by_id)
    clauses = tree.clauses_of(grammar.rfc_of(target))
    if "#" not in target:
        return sorted(clause.id for clause in clauses)
    return [statement.id for clause in clauses for statement in clause.statements]


def _named_in_keys(tree: Tree) -> Iterator[tuple[str, TomlText, Path, str]]:
    for rfc in tree.rfcs:
        for index, target in enumerate(rfc.refs):
            yield rfc.id, rfc.document, ("govctl", "refs", index), target
    for clause in tree.clauses:
        if clause.superseded_by:
            yield clause.id, clause.document, ("govctl", "superseded_by"), clause.successor


@lru_cache(maxsize=1)  # two rules ask the same of one tree
def _unresolved(tree: Tree) -> tuple[_Cited, ...]:
    """Return the citations that lead nowhere: almost none, so that the rest is not even built."""
    found: list[_Cited] = []
    for prose in texts_where(tree, lambda text: not grammar.cites_only(text, tree.known_ids)):
        for mention in grammar.mentions(prose.text):
            if tree.knows(mention.group(1) or mention.group()):
                continue
            if citation := grammar.citation(mention):
                found.append(_Cited(prose=prose, citation=citation))
    return tuple(found)


def _did_you_mean(tree: Tree, target: str) -> str:
    clause = tree.clause_by_id.get(grammar.clause_of(target)) if "#" in target else None
    if clause and clause.statements:
        return f"{clause.id} has {', '.join(statement.id.partition('#')[2] for statement in clause.statements)}"
    near = get_close_matches(target, _relatives(tree, target), n=1)
    return f"did you mean {near[0]}?" if near else "name something that exists"


def _withdrawal(tree: Tree, statement: str) -> str:
    """Say in which way a statement demands nothing any more, or nothing."""
    if statement not in tree.statement_by_id:
        return "which was withdrawn" if _is_withdrawn(tree, statement) else ""
    clause = tree.clause_by_id[grammar.clause_of(statement)]
    rfc = tree.rfc_by_id.get(clause.rfc)
    if not clause.is_active:
        return f"whose clause is {clause.status}"
    return "whose RFC is deprecated" if rfc and rfc.status == "deprecated" else ""


def _is_withdrawn(tree: Tree, statement: str) -> bool:
    entry = tree.lock.entries.get(statement)
    return entry is not None and entry.is_withdrawn


def _successor_advice(clause: Clause | None) -> str:
    successor = clause.superseded_by if clause else ""
    return f"move it to {successor}" if successor else "remove it: nothing is demanded any more"

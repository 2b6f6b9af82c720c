"""What belongs to one RFC, clause, statement or mark, ready to be shown.

Knows which facts a reader asks for. Knows nothing of layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from govctl import grammar
from govctl.coverage import check_status, headline, home_of, is_killed, stale_digests
from govctl.coverage import coverage as coverage_of
from govctl.marks import Mark, MarkKind
from govctl.specification import Clause, Rfc, Statement
from govctl.tree import FacetSources, Tree

_Field = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class View:
    """A heading, a text, and labelled facts in order; a label may occur many times."""

    id: str
    heading: str
    text: str
    fields: tuple[_Field, ...]

    def data(self) -> dict[str, object]:
        """Return the view for machines: the facts as lists by label."""
        facts: dict[str, list[str]] = {}
        for label, value in self.fields:
            facts.setdefault(label, []).append(value)
        return {"id": self.id, "heading": self.heading, "text": self.text, "facts": facts}


def rfc_view(tree: Tree, rfc: Rfc) -> View:
    """Return an RFC with its sections and its headline of coverage."""
    fields = [("file", f"{rfc.document.file}:1"), ("status", f"{rfc.status}, {rfc.phase}")]
    for section in rfc.sections:
        for name in section.clauses:
            clause = tree.clause_by_id.get(f"{rfc.id}:{name}")
            fields.append((section.title, f"{name}  {clause.title if clause else '(no usable file)'}"))
    fields += [("coverage", headline(covered)) for covered in coverage_of(tree) if covered.rfc.id == rfc.id]
    return View(id=rfc.id, heading=f"{rfc.id} {rfc.title} {rfc.version}", text="", fields=tuple(fields))


def clause_view(tree: Tree, clause: Clause) -> View:
    """Return a clause with its statements."""
    fields = [("file", f"{clause.document.file}:1"), ("kind", f"{clause.kind}, {clause.status}")]
    fields += [("since", clause.since)] if clause.since else []
    fields += [("superseded by", clause.superseded_by)] if clause.superseded_by else []
    for statement in clause.statements:
        checks = len(tree.live_checks_of(statement.id))
        mutants = len(tree.marks_of(MarkKind.MUTANT, statement.id))
        state = f"excluded: {statement.excluded.kind}" if statement.excluded else f"{checks} checks, {mutants} mutants"
        fields.append((f"#{statement.id.partition('#')[2]}", f"{statement.text} ({state})"))
    return View(id=clause.id, heading=f"{clause.id} {clause.title}", text=clause.text, fields=tuple(fields))


def statement_view(tree: Tree, statement: Statement) -> View:
    """Return a statement with its laws, checks and mutants, and where model and reference code are."""
    fields = [
        *_statement_fields(tree, statement),
        *_mark_fields(tree, statement),
        *_source_fields(tree, grammar.rfc_of(statement.id)),
    ]
    heading = f"{statement.id} {statement.keyword}"
    return View(id=statement.id, heading=heading, text=statement.text, fields=tuple(fields))


def mark_view(tree: Tree, mark: Mark) -> View:
    """Return a law, check, mutant or benign variant with the statements that it serves."""
    fields = [("place", _place(mark)), ("function", mark.function)]
    label = "must die by" if mark.kind is MarkKind.MUTANT else "statement"
    for name in mark.statements:
        text = tree.statement_by_id[name].text if name in tree.statement_by_id else "(unknown)"
        fields.append((label, f"{name}  {text}"))
    other = "declines" if mark.kind is MarkKind.BENIGN else "also breaks"
    fields += [(other, f"{name}: {reason}") for name, reason in mark.also.items()]
    fields += [("depends on", slug) for slug in mark.depends_on]
    fields += [("evidence", _result(tree, mark))] if mark.kind in {MarkKind.CHECK, MarkKind.MUTANT} else []
    return View(id=mark.slug or mark.function, heading=mark.label, text="", fields=tuple(fields))


def _statement_fields(tree: Tree, statement: Statement) -> Iterator[_Field]:
    clause = tree.clause_by_id[grammar.clause_of(statement.id)]
    place = statement.place
    yield "text", f"{place.file}:{place.line}"
    yield "clause", f"{clause.title} ({clause.kind}, {clause.status})"
    if statement.since or clause.since:
        yield "since", statement.since or clause.since
    if statement.origin:
        yield "origin", ", ".join(statement.origin)
    if statement.features:
        yield "features", ", ".join(statement.features)
    if statement.excluded:
        yield "excluded", f"{statement.excluded.kind}: {statement.excluded.reason}"
    entry = tree.lock.entries.get(statement.id)
    is_same = entry is not None and entry.digest == statement.digest
    yield "locked", "yes" if is_same else "no: changed since" if entry else "no: new"


def _mark_fields(tree: Tree, statement: Statement) -> Iterator[_Field]:
    for mark in tree.marks_of(MarkKind.LAW, statement.id):
        yield "law", f"{mark.function}  {_place(mark)}"
    for mark in tree.marks_of(MarkKind.CHECK, statement.id):
        yield "check", f"{mark.slug}  {_place(mark)}  {_result(tree, mark)}"
    for mark in tree.marks_of(MarkKind.MUTANT, statement.id):
        yield "mutant", f"{mark.slug}  {_place(mark)}  {_result(tree, mark)}"
    for mark in tree.marks:
        if statement.id in mark.also:
            verb = "declined by" if mark.kind is MarkKind.BENIGN else "also broken by"
            yield verb, f"{mark.slug}  {_place(mark)}  {mark.also[statement.id]}"


def _source_fields(tree: Tree, rfc: str) -> Iterator[_Field]:
    facet = tree.config.facet_of(rfc)
    if facet is None:
        return
    yield "facet", facet.word
    for kind in ("model", "reference"):
        for file in tree.sources.get(rfc, FacetSources()).files.get(kind, ()):
            yield kind, file
    stale = stale_digests(tree, rfc)
    state = "none" if rfc not in tree.evidence else f"stale ({', '.join(stale)})" if stale else "fresh"
    yield "evidence", f"{state}  {tree.config.evidence_file(rfc)}"


def _result(tree: Tree, mark: Mark) -> str:
    """Say what the evidence shows of a check or a mutant."""
    if mark.skipped_by:
        return f"skipped ({mark.skipped_by})"
    found = tree.evidence.get(home_of(mark))
    if found is None:
        return "no evidence"
    if mark.kind is MarkKind.CHECK:
        return check_status(tree, mark) or "not in the evidence"
    shown = found.evidence.mutants.get(mark.slug)
    killers = ", ".join(shown.killed_by) if shown else ""
    return f"{'killed' if is_killed(tree, mark) else 'alive'}{f' by {killers}' if killers else ''}"


def _place(mark: Mark) -> str:
    return f"{mark.place.file}:{mark.place.line}"

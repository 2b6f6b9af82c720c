"""The page of one RFC: its state, its clauses in reading order, its changelog.

Knows the order of the page. Knows nothing of what proves a statement.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl.coverage import headline
from govctl.render import links
from govctl.render.blocks import markdown_of
from govctl.render.inline import code, sentence, verbatim
from govctl.render.material import Material
from govctl.render.parts import badge, front_matter, id_link, page, resolver
from govctl.render.statement_card import statement_card
from govctl.specification import Clause, Rfc

_NOTES = "notes"
_STATUS_KINDS = {"normative": "ok", "deprecated": "bad"}


def rfc_page(material: Material, rfc: Rfc) -> str:
    """Return the page of an RFC."""
    return page(
        [
            front_matter(f"{rfc.id} {rfc.title}"),
            f"# {verbatim(rfc.id)} {verbatim(rfc.title)}",
            *_head(material, rfc),
            *_sections(material, rfc),
            *_changelog(rfc),
        ]
    )


def _head(material: Material, rfc: Rfc) -> Iterator[str]:
    here = links.rfc_page(rfc.id)
    badges = [
        badge(rfc.status, _STATUS_KINDS.get(rfc.status, "none")),
        badge(f"phase {rfc.phase}", "ok" if rfc.phase == "stable" else "none"),
        badge(f"version {rfc.version}", "none"),
    ]
    yield f'<p class="badges" markdown="span">{" ".join(badges)}</p>'
    found = [headline(covered) for covered in material.coverage if covered.rfc.id == rfc.id]
    if found:
        yield f'<p class="headline" markdown="span">{verbatim(found[0].partition(": ")[2])}</p>'
    facts = [f"Facet {code(rfc.facet)}"] if rfc.facet else []
    facts += [f"builds upon {', '.join(id_link(material, name, here) for name in rfc.refs)}"] if rfc.refs else []
    facts += [f"created {rfc.created}", *([f"updated {rfc.updated}"] if rfc.updated else [])]
    yield f'<p class="aside" markdown="span">{", ".join(facts)}</p>'


def _sections(material: Material, rfc: Rfc) -> Iterator[str]:
    """Yield each section with the clauses that were not shown before, then the clauses that no section lists.

    The heading of a section whose one clause has the same title is that of the clause.
    """
    left = {clause.name: clause for clause in material.tree.clauses_of(rfc.id)}
    anchors: set[str] = set()
    for section in rfc.sections:
        clauses = [left.pop(name) for name in dict.fromkeys(section.clauses) if name in left]
        anchor = f"section-{links.encoded(section.title)}"
        if anchor in anchors and clauses:
            anchor = f"{anchor}.{clauses[0].name}"
        if [clause.title for clause in clauses] == [section.title]:
            yield _clause(material, clauses[0], "##")
        elif clauses:
            anchors.add(anchor)
            yield f"## {verbatim(section.title)} {{ #{anchor} }}"
            yield from (_clause(material, clause) for clause in clauses)
    if left:
        yield "## Not in any section { #not-in-any-section }"
        yield from (_clause(material, clause) for clause in left.values())


def _clause(material: Material, clause: Clause, heading: str = "###") -> str:
    here = links.rfc_page(clause.rfc)
    resolve = resolver(material, here)
    cards = (statement_card(material, statement, here) for statement in clause.statements)
    return page(
        [
            '<section class="clause" markdown>',
            f"{heading} {verbatim(clause.title)} {{ #{links.statement_anchor(clause.id)} }}",
            f'<p class="badges" markdown="span">{" ".join(_clause_badges(material, clause, here))}</p>',
            '<div class="prose" markdown>',
            markdown_of(clause.text, resolve),
            "</div>",
            *cards,
            *([_rationale(clause, markdown_of(clause.rationale, resolve))] if clause.rationale.strip() else []),
            "</section>",
        ]
    )


def _rationale(clause: Clause, text: str) -> str:
    label = f"Why {clause.name}"
    return f'<aside class="rationale" aria-label="{label}" markdown>\n\n{text}\n\n</aside>'


def _clause_badges(material: Material, clause: Clause, here: str) -> Iterator[str]:
    yield code(clause.name)
    if not clause.is_normative:
        yield badge("informative", "none")
    if not clause.is_active:
        yield badge(clause.status, "bad")
    if clause.superseded_by:
        yield f"by {id_link(material, clause.successor, here)}"
    if clause.since:
        yield badge(f"since {clause.since}", "none")
    yield from (badge(tag, "none") for tag in clause.tags)


def _changelog(rfc: Rfc) -> Iterator[str]:
    if rfc.changelog:
        yield "## Changelog { #changelog }"
    for change in rfc.changelog:
        yield f"**{verbatim(change.version)}**, {verbatim(change.date)}"
        texts = [(str(path[0]), text) for path, text in change.texts]
        yield from (markdown_of(text) for kind, text in texts if kind == _NOTES)
        yield "\n".join(f"- {kind}: {sentence(text)}" for kind, text in texts if kind != _NOTES)

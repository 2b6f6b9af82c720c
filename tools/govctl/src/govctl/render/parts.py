"""Small pieces that several pages are made of: badges, links to marks, places.

Knows how one thing looks wherever it is shown. Knows no page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from govctl.coverage import check_status, is_killed
from govctl.marks import Mark, MarkKind
from govctl.places import Place
from govctl.render import links
from govctl.render.inline import Resolve, attribute, code, link, verbatim, without_markup
from govctl.render.material import Material

LEVEL_KINDS = {"MUST": "must", "SHOULD": "should", "MAY": "may"}


def badge(text: str, kind: str, title: str = "") -> str:
    """Return a badge; its kind gives the colour, its text the meaning."""
    hint = f' title="{attribute(title)}"' if title else ""
    return f'<span class="badge badge--{kind}"{hint}>{verbatim(text)}</span>'


def front_matter(title: str, *, is_searched: bool = True) -> str:
    """Return the head of a page; a page of nothing but references is left out of the search."""
    plain = without_markup(title).replace("\\", "/").replace('"', "'")
    search = "" if is_searched else "search:\n  exclude: true\n"
    return f'---\ntitle: "{plain}"\n{search}---\n'


def page(parts: Iterable[str]) -> str:
    """Join the blocks of a page."""
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def resolver(material: Material, here: str) -> Resolve:
    """Return what turns ids in prose into addresses on a page."""

    def address(identifier: str) -> str | None:
        target = links.target_of(material.tree, identifier)
        return target.seen_from(here) if target else None

    return address


def id_link(material: Material, identifier: str, here: str, shown: str = "") -> str:
    """Return a link to where an id is defined, or its text where it is not."""
    text = code(shown or identifier)
    address = resolver(material, here)(identifier)
    return link(text, address) if address else text


def mark_target(material: Material, mark: Mark) -> links.Target:
    """Return where a mark is shown with its code."""
    word = material.word_of(mark)
    if mark.kind is MarkKind.LAW:
        return links.Target(page=links.checks_page(word), anchor=links.law_anchor(mark.function))
    if mark.kind is MarkKind.CHECK:
        return links.Target(page=links.checks_page(word), anchor=mark.slug)
    return links.Target(page=links.wrong_page(word), anchor=mark.slug)


def mark_link(material: Material, mark: Mark, here: str) -> str:
    """Return a link to a mark by its slug, a law by its function."""
    return link(code(mark.slug or mark.function), mark_target(material, mark).seen_from(here))


def check_links(material: Material, slugs: Sequence[str], here: str) -> str:
    """Return links to checks by their slugs; one that is gone is text."""
    known = material.checks
    return ", ".join(mark_link(material, known[slug], here) if slug in known else code(slug) for slug in slugs)


def place(where: Place) -> str:
    """Return file and line, small."""
    return f'<span class="place">{verbatim(where.file)}:{where.line}</span>'


def check_badge(material: Material, check: Mark) -> str:
    """Return what the evidence shows of a check."""
    if check.skipped_by:
        return badge("skipped", "bad", f"by {check.skipped_by}")
    status = check_status(material.tree, check)
    if not status:
        return badge("no evidence", "none")
    return badge(status, "ok" if status == "pass" else "bad")


def mutant_badge(material: Material, mutant: Mark) -> str:
    """Return what the evidence shows of a mutant."""
    if is_killed(material.tree, mutant):
        return badge("killed", "ok")
    if not material.killers_of(mutant) and material.tree.evidence.get(mutant.statements[0].partition(":")[0]) is None:
        return badge("no evidence", "none")
    return badge("alive", "bad")

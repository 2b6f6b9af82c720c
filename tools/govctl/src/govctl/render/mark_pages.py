"""The code of laws and checks, and of wrong and odd but right implementations: one page a facet and side.

Knows how a mark is shown with its source. Knows nothing of statements beyond their links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from govctl.marks import Mark, MarkKind
from govctl.render import links
from govctl.render.blocks import code_block
from govctl.render.inline import code, link, sentence, verbatim
from govctl.render.material import Material
from govctl.render.parts import (
    check_badge,
    check_links,
    front_matter,
    id_link,
    mutant_badge,
    page,
    place,
)

_CHECKS_INTRO = """\
A check drives an implementation through histories of calls and lets laws judge every answer. A law is a pure function
of one step, bound to one statement. A check whose witnesses never occurred is vacuous, and never a pass.
"""
_WRONG_INTRO = """\
Each is the executable model with one thing changed, and breaks one statement. The checks must tell it from a right
one: that is how the checks are tested. The odd ones at the end are right, and must pass.
"""


def checks_page(material: Material, word: str) -> str:
    """Return the laws and checks of a facet."""
    here = links.checks_page(word)
    marks = material.proving(word)
    checks = [mark for mark in marks if mark.kind is MarkKind.CHECK]
    laws = [mark for mark in marks if mark.kind is MarkKind.LAW]
    return page(
        [
            front_matter(f"Checks of {word}"),
            f"# Checks of {verbatim(word)}",
            _CHECKS_INTRO,
            *_part("Checks", "checks", (_check(material, mark, here) for mark in _first(checks))),
            *_part("Laws", "laws", (_law(material, mark, here) for mark in _first(laws))),
        ]
    )


def wrong_page(material: Material, word: str) -> str:
    """Return the mutants and benign variants of a facet."""
    here = links.wrong_page(word)
    marks = material.wrong(word)
    mutants = [mark for mark in marks if mark.kind is MarkKind.MUTANT]
    benign = [mark for mark in marks if mark.kind is MarkKind.BENIGN]
    return page(
        [
            front_matter(f"Wrong implementations of {word}"),
            f"# Wrong implementations of {verbatim(word)}",
            _WRONG_INTRO,
            *_part("Wrong", "wrong", (_mutant(material, mark, here) for mark in _first(mutants))),
            *_part("Odd but right", "odd-but-right", (_benign(material, mark, here) for mark in _first(benign))),
        ]
    )


def _part(title: str, anchor: str, parts: Iterator[str]) -> Iterator[str]:
    shown = list(parts)
    if shown:
        yield f"## {title} {{ #{anchor} }}"
        yield from shown


def _first(marks: Sequence[Mark]) -> list[Mark]:
    """Keep the first of the marks with one name: an anchor stands once on a page."""
    return list({mark.slug or mark.function: mark for mark in reversed(marks)}.values())[::-1]


def _entry(material: Material, mark: Mark, anchor: str, lines: Sequence[str]) -> str:
    found = material.code_of(mark)
    body = "\n\n".join(f'<p class="aside" markdown="span">{line}</p>' for line in lines if line)
    return page(
        [
            f"### {verbatim(mark.slug or mark.function)} {{ #{anchor} .mono }}",
            sentence(found.meaning),
            body,
            code_block(found.lines, "python") if found.lines else "",
        ]
    )


def _proves(material: Material, mark: Mark, here: str, verb: str) -> str:
    return f"{verb} {', '.join(id_link(material, name, here) for name in mark.statements)}"


def _check(material: Material, check: Mark, here: str) -> str:
    found = material.code_of(check)
    lines = [
        f"{check_badge(material, check)} {_proves(material, check, here, 'for')}",
        f"must have met {' '.join(code(name) for name in found.witnesses)}" if found.witnesses else "",
        f"after {check_links(material, check.depends_on, here)}" if check.depends_on else "",
        f"behind it: {'; '.join(_case_link(material, name) for name in found.cases)}" if found.cases else "",
        place(check.place),
    ]
    return _entry(material, check, check.slug, lines)


def _case_link(material: Material, name: str) -> str:
    case = material.cases.get(name)
    if case is None:
        return verbatim(name)
    title = f"{verbatim(case.id)} {sentence(case.title)}"
    return link(title, case.address) if case.address else title


def _law(material: Material, law: Mark, here: str) -> str:
    lines = [_proves(material, law, here, "for"), place(law.place)]
    return _entry(material, law, links.law_anchor(law.function), lines)


def _mutant(material: Material, mutant: Mark, here: str) -> str:
    killers = check_links(material, material.killers_of(mutant), here)
    lines = [
        f"{mutant_badge(material, mutant)} {_proves(material, mutant, here, 'breaks')}",
        f"killed by {killers}" if killers else "",
        *(f"also breaks {id_link(material, name, here)}: {sentence(why)}" for name, why in sorted(mutant.also.items())),
        place(mutant.place),
    ]
    return _entry(material, mutant, mutant.slug, lines)


def _benign(material: Material, variant: Mark, here: str) -> str:
    declined = (
        f"declines {id_link(material, name, here)}: {sentence(why)}" for name, why in sorted(variant.also.items())
    )
    return _entry(material, variant, variant.slug, [*declined, place(variant.place)])

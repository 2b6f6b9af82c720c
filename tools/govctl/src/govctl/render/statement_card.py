"""One statement as a card: the sentence, what proves it, what breaks it, what stands behind it.

Knows the rows of the card. Knows nothing of the page around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from govctl import grammar
from govctl.coverage import StatementCoverage, stale_digests
from govctl.marks import MarkKind
from govctl.render import links
from govctl.render.cases import Case
from govctl.render.inline import code, link, normative, sentence, verbatim
from govctl.render.material import Material
from govctl.render.parts import (
    LEVEL_KINDS,
    badge,
    check_badge,
    check_links,
    mark_link,
    mutant_badge,
    place,
    resolver,
)
from govctl.specification import Statement


def statement_card(material: Material, statement: Statement, here: str) -> str:
    """Return the card of a statement for a page."""
    anchor = links.statement_anchor(statement.id)
    shown = statement.id.partition(":")[2]
    facts = [_fact(label, items) for label, items in _facts(material, statement, here) if items]
    return "\n\n".join(
        [
            '<div class="statement" markdown>',
            f"#### {verbatim(shown)} {{ #{anchor} }}",
            f'<p class="badges" markdown="span">{" ".join(_badges(material, statement))}</p>',
            f'<p class="sentence" markdown="span">{_text(material, statement, here)}</p>',
            *(['<div class="facts" markdown>', *facts, "</div>"] if facts else []),
            "</div>",
        ]
    )


def verdict(material: Material, statement: Statement) -> tuple[str, str]:
    """Return what is known of a statement, in a word or two, and the kind of its badge."""
    covered = material.covered.get(statement.id)
    if covered is None:
        return "withdrawn", "none"
    if covered.excluded is not None:
        return f"excluded: {covered.excluded.kind}", "bad" if covered.excluded.kind == "debt" else "none"
    if statement.level == "MAY":
        return "allowed", "none"
    return _proof(material, covered)


def _proof(material: Material, covered: StatementCoverage) -> tuple[str, str]:
    rfc = grammar.rfc_of(covered.statement.id)
    if not covered.is_checked:
        return "unchecked", "bad"
    if rfc not in material.tree.evidence:
        return "checked, no evidence yet", "none"
    if stale_digests(material.tree, rfc):
        return "evidence is stale", "bad"
    if not covered.is_passing:
        return "not passing", "bad"
    if covered.is_killed:
        return "proven", "ok"
    return ("a mutant lives", "bad") if covered.mutants else ("passing, no mutant", "none")


def _text(material: Material, statement: Statement, here: str) -> str:
    return normative(statement.text, statement.keywords, resolver(material, here))


def _badges(material: Material, statement: Statement) -> Iterator[str]:
    if statement.keyword:
        yield badge(statement.keyword, LEVEL_KINDS[statement.level])
    yield badge(*verdict(material, statement))
    for feature in statement.features:
        yield badge(f"if {feature}", "none", "Applies only where this feature is claimed")
    if statement.since:
        yield badge(f"since {statement.since}", "none")


def _fact(label: str, items: Sequence[str]) -> str:
    lines = "\n".join(f"- {item}" for item in items)
    return f'<div class="fact" markdown>\n\n<p class="fact-name">{label}</p>\n\n{lines}\n\n</div>'


def _facts(material: Material, statement: Statement, here: str) -> Iterator[tuple[str, list[str]]]:
    resolve = resolver(material, here)
    if statement.excluded is not None:
        yield "Not checked because", [sentence(statement.excluded.reason, resolve)]
    yield "Laws", list(_laws(material, statement, here))
    yield "Checks", list(_checks(material, statement, here))
    yield "Wrong implementations", list(_mutants(material, statement, here))
    yield "Also broken by", list(_also(material, statement, here, MarkKind.MUTANT))
    yield "Right without it", list(_also(material, statement, here, MarkKind.BENIGN))
    yield "Public cases", [_case(case, here) for case in cases_behind(material, statement)]
    yield "Comes from", [" ".join(code(row) for row in statement.origin)] if statement.origin else []


def _laws(material: Material, statement: Statement, here: str) -> Iterator[str]:
    for law in material.tree.marks_of(MarkKind.LAW, statement.id):
        meaning = material.code_of(law).meaning
        is_told = meaning != law.function.replace("_", " ")  # the name says it already where there is no docstring
        head = mark_link(material, law, here)
        yield f"{head}{f' <br>{sentence(meaning)}' if is_told else ''} <br>{place(law.place)}"


def _checks(material: Material, statement: Statement, here: str) -> Iterator[str]:
    for check in material.tree.marks_of(MarkKind.CHECK, statement.id):
        found = material.code_of(check)
        witnesses = " ".join(code(name) for name in found.witnesses)
        seen = f' <br><span class="aside">must have met {witnesses}</span>' if witnesses else ""
        head = f"{mark_link(material, check, here)} {check_badge(material, check)}"
        yield f"{head} <br>{sentence(found.meaning)}{seen} <br>{place(check.place)}"


def _mutants(material: Material, statement: Statement, here: str) -> Iterator[str]:
    for mutant in material.tree.marks_of(MarkKind.MUTANT, statement.id):
        killers = check_links(material, material.killers_of(mutant), here)
        by = f' <br><span class="aside">killed by {killers}</span>' if killers else ""
        head = f"{mark_link(material, mutant, here)} {mutant_badge(material, mutant)}"
        yield f"{head} <br>{sentence(material.code_of(mutant).meaning)}{by}"


def _also(material: Material, statement: Statement, here: str, kind: MarkKind) -> Iterator[str]:
    for mark in material.tree.marks:
        if mark.kind is kind and statement.id in mark.also:
            yield f"{mark_link(material, mark, here)} <br>{sentence(mark.also[statement.id])}"


def cases_behind(material: Material, statement: Statement) -> list[Case]:
    """Return the public cases that the checks of a statement name, each once, by id."""
    checks = material.tree.marks_of(MarkKind.CHECK, statement.id)
    names = {name for check in checks for name in material.code_of(check).cases}
    return [material.cases[name] for name in sorted(names) if name in material.cases]


def _case(case: Case, here: str) -> str:
    source = link(verbatim(case.link), case.address) if case.address else verbatim(case.link)
    name = link(verbatim(case.id), links.case_target(case.id).seen_from(here))
    return f"{name} {sentence(case.title)} ({source}) <br>{sentence(case.summary)}"

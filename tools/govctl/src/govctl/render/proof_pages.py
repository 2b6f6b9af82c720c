"""What is proven, at a glance: the coverage matrix and the kill matrix.

Knows both matrices. Knows nothing of how coverage is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from govctl.coverage import LEVELS, RfcCoverage, StatementCoverage, Totals, headline, is_killed, totals
from govctl.marks import Mark
from govctl.render import links
from govctl.render.blocks import table
from govctl.render.inline import attribute, link, verbatim
from govctl.render.material import Material
from govctl.render.parts import LEVEL_KINDS, badge, front_matter, id_link, mark_link, page
from govctl.render.statement_card import verdict

_LIVE_LEVELS = ("MUST", "SHOULD")
_COVERAGE_INTRO = """\
How far each statement is proven. *Declared*: it stands in the text. *Checked*: a check that runs names it. *Passing*:
the evidence shows that every such check passes. *Killed*: the evidence shows that its checks kill each of its wrong
implementations. *Excluded*: no check can show it, for a reason that is written down.
"""
_KILLS_INTRO = """\
A row is a wrong implementation, a column a statement. A full mark: a check of the statement that the implementation
was written against killed it. A ring: a check of other statements alone killed it too. A row without a full mark
would be a wrong implementation that nobody notices.
"""


def coverage_page(material: Material) -> str:
    """Return the coverage matrix: RFC by clause by statement."""
    return page(
        [
            front_matter("Coverage", is_searched=False),
            "# Coverage",
            _COVERAGE_INTRO,
            summary_table(material, links.COVERAGE),
            *(part for covered in material.coverage for part in _rfc(material, covered)),
        ]
    )


def summary_table(material: Material, here: str) -> str:
    """Return one row an RFC and level; the name stands in the first row of an RFC."""
    rows: list[list[str]] = []
    for covered in material.coverage:
        address = links.Target(page=links.rfc_page(covered.rfc.id)).seen_from(here)
        names = [link(verbatim(f"{covered.rfc.id} {covered.rfc.title}"), address)]
        for level in LEVELS:
            found = totals(covered.statements, level)
            if found.declared or found.excluded:
                rows.append([names.pop() if names else "", badge(level, LEVEL_KINDS[level]), *_numbers(level, found)])
    return _wide(table(["RFC", "Level", "Declared", "Checked", "Passing", "Killed", "Excluded"], rows))


def _numbers(level: str, found: Totals) -> list[str]:
    """Return the counts; what a level does not ask for is a dash."""
    proofs = {"MUST": (found.checked, found.passing, found.killed), "SHOULD": (found.checked, found.passing)}
    shown = [str(number) for number in proofs.get(level, ())]
    return [str(found.declared), *shown, *["-"] * (3 - len(shown)), str(found.excluded)]


def _rfc(material: Material, covered: RfcCoverage) -> Iterator[str]:
    yield f"## {verbatim(covered.rfc.id)} {verbatim(covered.rfc.title)} {{ #{covered.rfc.id} }}"
    yield verbatim(headline(covered).partition(": ")[2])
    rows = []
    for clause in covered.clauses:
        for index, statement in enumerate(clause.statements):
            first = id_link(material, clause.clause.id, links.COVERAGE, clause.clause.name) if index == 0 else ""
            rows.append([first, *_row(material, statement)])
    yield _wide(table(["Clause", "Statement", "Level", "Checked", "Passing", "Killed", "State"], rows))


def _row(material: Material, covered: StatementCoverage) -> list[str]:
    statement = covered.statement
    number = id_link(material, statement.id, links.COVERAGE, statement.id.partition("#")[2])
    level = badge(statement.level, LEVEL_KINDS[statement.level]) if statement.level else ""
    state = badge(*verdict(material, statement))
    if covered.excluded is not None:
        return [number, level, "", "", "", state]
    answers = (covered.is_checked, covered.is_passing, covered.is_killed)
    return [number, level, *("yes" if answer else "no" for answer in answers), state]


def kills_page(material: Material) -> str:
    """Return the kill matrix: wrong implementations by statements."""
    return page(
        [
            front_matter("Kill matrix", is_searched=False),
            "# Kill matrix",
            _KILLS_INTRO,
            *(part for covered in material.coverage for part in _matrix(material, covered)),
        ]
    )


def _matrix(material: Material, covered: RfcCoverage) -> Iterator[str]:
    statements = [s for s in covered.statements if s.excluded is None and s.statement.level in _LIVE_LEVELS]
    rows = [mutant for statement in statements for mutant in statement.mutants]
    if not rows:
        return
    yield f"## {verbatim(covered.rfc.id)} {verbatim(covered.rfc.title)} {{ #{covered.rfc.id} }}"
    killed = sum(is_killed(material.tree, mutant) for mutant in rows)
    if covered.has_evidence:
        yield f"{killed} of {len(rows)} wrong implementations are killed by a check of their own statement."
    else:
        yield f"{len(rows)} wrong implementations; there is no evidence of this RFC yet, so that every row is empty."
    yield "\n".join(_table(material, covered, statements))


def _table(material: Material, covered: RfcCoverage, statements: Sequence[StatementCoverage]) -> Iterator[str]:
    label = attribute(f"Kill matrix of {covered.rfc.id}")
    yield f'<div class="matrix" role="region" tabindex="0" aria-label="{label}" markdown>'
    yield '<table class="kills" markdown>'
    yield "<thead markdown>"
    yield from _head(material, covered, statements)
    yield "</thead>"
    yield "<tbody markdown>"
    for statement in statements:
        for mutant in statement.mutants:
            yield _kill_row(material, mutant, statements)
    yield "</tbody>"
    yield "</table>"
    yield "</div>"


def _head(material: Material, covered: RfcCoverage, statements: Sequence[StatementCoverage]) -> Iterator[str]:
    shown = {statement.statement.id for statement in statements}
    yield '<tr markdown><th scope="col" rowspan="2">Wrong implementation</th>'
    for clause in covered.clauses:
        columns = sum(statement.statement.id in shown for statement in clause.statements)
        if columns:
            name = id_link(material, clause.clause.id, links.KILLS, clause.clause.name)
            yield f'<th scope="colgroup" colspan="{columns}" class="clause-name" markdown="span">{name}</th>'
    yield "</tr>"
    cells = (
        f'<th scope="col" markdown="span">{id_link(material, name, links.KILLS, name.partition("#")[2])}</th>'
        for name in (statement.statement.id for statement in statements)
    )
    yield f"<tr markdown>{''.join(cells)}</tr>"


def _kill_row(material: Material, mutant: Mark, statements: Sequence[StatementCoverage]) -> str:
    killers = [material.checks[slug] for slug in material.killers_of(mutant) if slug in material.checks]
    cells = (_cell(mutant, killers, statement.statement.id) for statement in statements)
    head = f'<th scope="row" markdown="span">{mark_link(material, mutant, links.KILLS)}</th>'
    return f"<tr markdown>{head}{''.join(cells)}</tr>"


def _cell(mutant: Mark, killers: Sequence[Mark], statement: str) -> str:
    own = mutant.statements[0]
    is_own = statement == own
    by = sorted(c.slug for c in killers if statement in c.statements and (is_own or own not in c.statements))
    if not by:
        return "<td></td>"
    hint = attribute(f"{mutant.slug} killed by {', '.join(by)}")
    kind, sign = ("own", "●") if is_own else ("other", "○")
    return f'<td class="{kind}" title="{hint}">{sign}</td>'


def _wide(text: str) -> str:
    """Return a table in a box of its own that scrolls where the screen is narrow."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="Table" markdown>\n\n{text}\n\n</div>'

"""The public cases, and the checks that would have found each.

Knows cases. Knows nothing of statements beyond the checks that serve them.
"""

from __future__ import annotations

from collections.abc import Iterator

from govctl.render import links
from govctl.render.cases import Case
from govctl.render.inline import link, sentence, verbatim
from govctl.render.material import Material
from govctl.render.parts import front_matter, mark_link, page

_INTRO = """\
Faults that engines have met and reported in public, in our words, each with the smallest scenario that shows it here
and the checks that would have found it.
"""


def cases_page(material: Material) -> str:
    """Return every case with its checks."""
    return page(
        [
            front_matter("Public cases"),
            "# Public cases",
            _INTRO,
            *(part for case in material.cases.values() for part in _case(material, case)),
        ]
    )


def _case(material: Material, case: Case) -> Iterator[str]:
    yield f"## {verbatim(case.id)} {sentence(case.title)} {{ #{links.case_target(case.id).anchor} }}"
    source = link(verbatim(case.link), case.address) if case.address else verbatim(case.link)
    yield f'<p class="aside" markdown="span">{source}</p>'
    yield sentence(case.summary)
    if case.restated:
        yield f"Here: {sentence(case.restated)}"
    checks = [check for check in material.tree.checks if case.id in material.code_of(check).cases]
    found = ", ".join(mark_link(material, check, links.CASES) for check in checks)
    yield f"Checked by {found}." if found else "No check names it yet."

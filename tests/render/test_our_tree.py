"""The pages of this specification: complete, and three steps from the start to the wrong lane rule."""

from pathlib import Path

import pytest

from govctl import load_tree
from govctl.render.inline import verbatim
from govctl.render.links import rfc_page, statement_anchor
from tests.render.trees import pages

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """The pages of our own tree."""
    return pages(ROOT)


def test_every_statement_is_on_the_page_of_its_rfc(shown: dict[str, str]) -> None:
    statements = load_tree(ROOT).statement_by_id
    lost = [
        name
        for name in statements
        if f"{{ #{statement_anchor(name)} }}" not in shown[f"docs/{rfc_page(name.partition(':')[0])}"]
    ]

    assert (len(statements) > 50, lost) == (True, [])


def test_every_mark_has_its_code_on_a_page(shown: dict[str, str]) -> None:
    marks = load_tree(ROOT).marks
    code = "\n".join(text for name, text in shown.items() if name.startswith(("docs/checks/", "docs/wrong/")))

    assert [
        mark.label for mark in marks if f"def {mark.function}(" not in code and f"class {mark.function}" not in code
    ] == []


def test_every_check_says_what_would_go_wrong(shown: dict[str, str]) -> None:
    checks = [text for name, text in shown.items() if name.startswith("docs/checks/")]

    assert not any(f"\n\n{verbatim('test ')}" in text for text in checks)


def test_the_start_page_leads_to_the_wrong_lane_rule(shown: dict[str, str]) -> None:
    assert "(rfc/RFC-0001.md#C-OWNER-LANE-INVARIANT.S1)" in shown["docs/index.md"]
    assert "../wrong/allocation.md#allocation.lane-without-minus-one" in shown["docs/rfc/RFC-0001.md"]
    assert "class LaneWithoutMinusOne" in shown["docs/wrong/allocation.md"]


def test_every_reserved_number_is_on_the_map(shown: dict[str, str]) -> None:
    reserved = load_tree(ROOT).config.site.reserved

    assert [row.rfc for row in reserved] == [f"RFC-{number:04}" for number in range(17)]
    assert [row.rfc for row in reserved if row.rfc not in shown["docs/facets.md"]] == []


def test_a_written_rfc_has_the_facet_that_was_reserved_for_it() -> None:
    tree = load_tree(ROOT)
    reserved = {row.rfc: row.facet for row in tree.config.site.reserved}

    assert {rfc.id: rfc.facet for rfc in tree.rfcs} == {rfc.id: reserved[rfc.id] for rfc in tree.rfcs}

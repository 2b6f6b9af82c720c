"""Each page shows what the tree knows: the chain of a statement, the matrices, and what is looked up."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from govctl import load_tree
from govctl.evidence import MutantEvidence
from tests.govctl.trees import CLAUSE, EVIDENCE, FILES, RFC, S1, edited
from tests.render.trees import RFC_PAGE, pages, rich_tree


@pytest.fixture
def shown(tmp_path: Path) -> dict[str, str]:
    """The pages of the rich tree."""
    return pages(rich_tree(tmp_path))


@pytest.fixture
def card(shown: dict[str, str]) -> str:
    """The card of the first statement."""
    return shown[RFC_PAGE].partition("{ #C-RULE.S1 }")[2].partition("{ #C-RULE.S2 }")[0]


@pytest.mark.parametrize(
    "what",
    [
        'A lane <strong class="keyword">MUST</strong> keep one page free.',
        '<span class="badge badge--must">MUST</span>',
        "[<code>one&#95;page&#95;stays&#95;free</code>](../checks/room.md#law-one_page_stays_free)",
        "[<code>room.one-page</code>](../checks/room.md#room.one-page)",
        '<span class="badge badge--ok">pass</span>',
        "A lane without a free page stalls every rank.",
        "must have met <code>lane&#95;is&#95;full</code>",
        '<span class="place">suite/checks.py:5</span>',
        "[<code>room.takes-all</code>](../wrong/room.md#room.takes-all)",
        "Takes the last page too.",
        "killed by [<code>room.one-page</code>](../checks/room.md#room.one-page)",
        "[KV-1](../proof/cases.md#KV-1) A lane runs dry",
        "https://github.com/owner/project/issues/12",
        "Every rank waited for one lane.",
    ],
)
def test_a_card_shows_what_proves_its_statement(card: str, what: str) -> None:
    assert what in card


@pytest.mark.parametrize(
    "what",
    ["one page is enough for it", "[<code>room.keeps-one</code>](../wrong/room.md#room.keeps-one)", "it takes two"],
)
def test_a_card_shows_who_does_without_its_statement(shown: dict[str, str], what: str) -> None:
    assert what in shown[RFC_PAGE].partition("{ #C-RULE.S2 }")[2]


def test_an_exclusion_shows_its_class_and_reason(tmp_path: Path) -> None:
    row = 'text = "A lane MUST keep one page free."\n'
    excluded = 'excluded = { class = "unobservable", reason = "Nobody sees <it>." }\norigin = ["W1-02"]\n'
    page = pages(rich_tree(tmp_path, edited(CLAUSE, row, row + excluded)))[RFC_PAGE]

    assert ">excluded: unobservable</span>" in page
    assert "Nobody sees &#60;it&#62;." in page
    assert "<code>W1-02</code>" in page


def test_a_statement_whose_checks_pass_and_kill_is_called_proven(card: str) -> None:
    assert '<span class="badge badge--ok">proven</span>' in card


@pytest.mark.parametrize(
    ("files", "verdict"),
    [
        ({}, "evidence is stale"),
        ({EVIDENCE: None}, "checked, no evidence yet"),
        ({"suite/checks.py": ""}, "unchecked"),
    ],
)
def test_a_statement_without_fresh_evidence_is_not_called_proven(
    tmp_path: Path, files: dict[str, str | bytes | None], verdict: str
) -> None:
    changed = edited(CLAUSE, "keep one page free", "keep a page free")
    page = pages(rich_tree(tmp_path, {**changed, **files}))[RFC_PAGE]

    assert f">{verdict}</span>" in page
    assert ">proven<" not in page


def test_a_mutant_that_lives_is_not_called_killed(tmp_path: Path) -> None:
    root = rich_tree(tmp_path)
    evidence = load_tree(root).evidence["RFC-0001"].evidence
    alive = {"room.takes-all": MutantEvidence(kills=S1, killed_by=())}
    shown = pages(rich_tree(tmp_path, {EVIDENCE: replace(evidence, mutants=alive).canonical()}))

    assert '<span class="badge badge--bad">alive</span>' in shown[RFC_PAGE]
    assert '<span class="badge badge--bad">a mutant lives</span>' in shown[RFC_PAGE]
    assert ">killed<" not in shown[RFC_PAGE]
    assert 'class="own"' not in shown["docs/proof/kills.md"]


def test_a_check_that_fails_is_not_called_passing(tmp_path: Path) -> None:
    root = rich_tree(tmp_path)
    evidence = load_tree(root).evidence["RFC-0001"].evidence
    failing = replace(evidence, checks={**evidence.checks, "room.one-page": "vacuous"})
    shown = pages(rich_tree(tmp_path, {EVIDENCE: failing.canonical()}))[RFC_PAGE]

    assert '<span class="badge badge--bad">vacuous</span>' in shown
    assert '<span class="badge badge--bad">not passing</span>' in shown


def test_a_prose_clause_shows_its_text_and_a_card_a_sentence(tmp_path: Path) -> None:
    head = FILES[CLAUSE].partition("[content]")[0]
    text = '[content]\ntext = """A lane MUST be even. It is *kept*.\n\n**Rationale:** so."""\n'
    page = pages(rich_tree(tmp_path, {CLAUSE: head + text}))[RFC_PAGE]

    assert "It is <em>kept</em>." in page
    assert "{ #C-RULE.S1 }" in page


def test_a_withdrawn_clause_stays_and_says_so(tmp_path: Path) -> None:
    page = pages(rich_tree(tmp_path, edited(CLAUSE, 'kind = "normative"', 'kind = "normative"\nstatus = "deprecated"')))

    assert "deprecated" in page[RFC_PAGE].partition("{ #C-RULE }")[2].partition("####")[0]
    assert "withdrawn" in page[RFC_PAGE]


def test_a_clause_that_no_section_lists_is_shown_all_the_same(tmp_path: Path) -> None:
    page = pages(rich_tree(tmp_path, edited(RFC, 'clauses = ["C-RULE"]', "clauses = []")))[RFC_PAGE]

    assert page.count("{ #C-RULE }") == 1


def test_a_clause_that_is_listed_twice_is_shown_once(tmp_path: Path) -> None:
    page = pages(rich_tree(tmp_path, edited(RFC, 'clauses = ["C-RULE"]', 'clauses = ["C-RULE", "C-RULE"]')))[RFC_PAGE]

    assert page.count("{ #C-RULE }") == 1


def test_two_sections_with_one_title_have_two_anchors(tmp_path: Path) -> None:
    twice = FILES[RFC].replace(
        "[[changelog]]", '[[sections]]\ntitle = "Specification"\nclauses = ["C-B"]\n\n[[changelog]]'
    )
    second = FILES[CLAUSE].replace('"C-RULE"', '"C-B"')
    page = pages(rich_tree(tmp_path, {RFC: twice, "gov/clauses/RFC-0001/C-B.toml": second}))[RFC_PAGE]

    assert "{ #section-Specification }" in page
    assert "{ #section-Specification.C-B }" in page


def test_the_code_of_a_wrong_implementation_is_shown(shown: dict[str, str]) -> None:
    page = shown["docs/wrong/room.md"]

    assert 'class TakesAll:\n    """Takes the last page too."""' in page
    assert "### room.keeps-one { #room.keeps-one .mono }" in page


def test_the_coverage_matrix_has_a_row_a_statement(shown: dict[str, str]) -> None:
    rows = [line for line in shown["docs/proof/coverage.md"].splitlines() if "#C-RULE.S" in line]

    assert [line.count("| yes ") for line in rows] == [3, 2]


def test_the_kill_matrix_marks_the_statement_that_killed(shown: dict[str, str]) -> None:
    (row,) = [line for line in shown["docs/proof/kills.md"].splitlines() if "room.takes-all" in line]

    assert row.count('class="own"') == 1
    assert 'title="room.takes-all killed by room.one-page"' in row
    assert row.count("<td></td>") == 1


def test_the_kill_matrix_says_when_there_is_no_evidence(tmp_path: Path) -> None:
    assert "there is no evidence" in pages(rich_tree(tmp_path, {EVIDENCE: None}))["docs/proof/kills.md"]


def test_a_code_shows_what_makes_a_tree_invalid(shown: dict[str, str]) -> None:
    page = shown["docs/codes.md"].partition("{ #G0101 }")[2].partition("\n## ")[0]

    assert "-two\n+\\xff" in page
    assert "a.txt:2:1 error G0101 is not UTF-8" in page


def test_every_code_has_its_anchor(shown: dict[str, str]) -> None:
    from govctl.rules.table import COMPARISON, RULES  # noqa: PLC0415  # the table is this test's list

    assert [rule.code for rule in (*RULES, COMPARISON) if f"{{ #{rule.code} }}" not in shown["docs/codes.md"]] == []


@pytest.mark.parametrize(
    "what",
    [
        "### Taken { #room.Taken .mono }",
        "<dt><code>lane: int = 0</code></dt>",
        "<dt><code>FULL = 'full'</code></dt>",
        "<dt><code>take(count: int) -&#62; Taken</code></dt>",
        "Take pages, or raise <code>Full</code>.",
    ],
)
def test_the_contract_is_told_from_its_docstrings(shown: dict[str, str], what: str) -> None:
    assert what in shown["docs/implement/contract.md"]


def test_the_contract_hides_what_is_private(shown: dict[str, str]) -> None:
    assert "Hidden" not in shown["docs/implement/contract.md"]


def test_reserved_numbers_are_listed_beside_written_ones(shown: dict[str, str]) -> None:
    page = shown["docs/facets.md"]

    assert "| <code>RFC-0002</code> | <code>walls</code> | what walls are for |" in page
    assert "[<code>RFC-0001</code>](rfc/RFC-0001.md)" in page


def test_a_case_names_the_checks_that_would_have_found_it(shown: dict[str, str]) -> None:
    page = shown["docs/proof/cases.md"]

    assert "Checked by [<code>room.one-page</code>](../checks/room.md#room.one-page)." in page
    assert "Here: Take all pages of lane 0." in page


def test_a_marker_in_a_written_page_is_filled(shown: dict[str, str]) -> None:
    page = shown["docs/index.md"]

    assert "| RFC | Level |" in page
    assert "govctl:" not in page


def test_the_nav_holds_every_page_once(shown: dict[str, str]) -> None:
    named = [line.rpartition(": ")[2].strip('"') for line in shown["nav.yml"].splitlines() if line.endswith('.md"')]

    assert sorted(named) == sorted(name.removeprefix("docs/") for name in shown if name.endswith(".md"))


def test_the_nav_calls_a_written_page_by_its_heading(shown: dict[str, str]) -> None:
    assert '"How to begin": "guide.md"' in shown["nav.yml"]


def test_without_written_pages_the_start_page_lists_the_rfcs(tmp_path: Path) -> None:
    files = pages(rich_tree(tmp_path, {"hand/index.md": None}))

    assert "[RFC-0001 Example](rfc/RFC-0001.md)" in files["docs/index.md"]


def test_the_data_says_of_a_statement_what_its_card_says(shown: dict[str, str]) -> None:
    (rfc,) = json.loads(shown["docs/site.json"])["rfcs"]
    statement = rfc["clauses"][0]["statements"][0]

    assert statement["page"] == "rfc/RFC-0001.md#C-RULE.S1"
    assert [check["status"] for check in statement["checks"]] == ["pass"]
    assert [mutant["killed_by"] for mutant in statement["mutants"]] == [["room.one-page"]]
    assert statement["cases"] == ["KV-1"]

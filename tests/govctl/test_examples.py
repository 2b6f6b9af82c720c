"""Every rule has a valid and an invalid tree, and finds exactly what is written beside the invalid one."""

from pathlib import Path

import pytest

from govctl.rules.explanations import EXPLANATIONS
from govctl.rules.table import COMPARISON, RULES, Rule
from tests.govctl.trees import findings

EXAMPLES = Path(__file__).parents[2] / "tools" / "govctl" / "examples"
CODES = [rule.code for rule in RULES]


def lines(root: Path) -> list[str]:
    return [f"{found.place} {found.severity} {found.code} {found.message}" for found in findings(root)]


@pytest.mark.parametrize("code", CODES)
def test_the_valid_tree_of_a_rule_has_no_finding(code: str) -> None:
    assert lines(EXAMPLES / code / "valid") == []


@pytest.mark.parametrize("code", CODES)
def test_the_invalid_tree_of_a_rule_has_exactly_the_expected_findings(code: str) -> None:
    expected = (EXAMPLES / code / "invalid" / "expected.txt").read_text(encoding="utf-8").splitlines()

    assert lines(EXAMPLES / code / "invalid") == expected
    assert any(line.split()[2] == code for line in expected)


def test_every_example_belongs_to_a_rule() -> None:
    folders = {path.name for path in EXAMPLES.iterdir()}

    assert folders == {*CODES, "founding"}


def test_codes_and_names_are_unique() -> None:
    words = [word for rule in RULES for word in (rule.code, rule.name)]

    assert len(set(words)) == len(words)


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_says_what_must_hold_and_why(rule: Rule) -> None:
    assert rule.summary.endswith(".")
    assert rule.why


def test_every_code_is_explained() -> None:
    assert sorted(EXPLANATIONS) == sorted([*CODES, COMPARISON.code])


@pytest.mark.parametrize("code", [*CODES, COMPARISON.code])
def test_an_explanation_is_a_few_whole_sentences(code: str) -> None:
    text = EXPLANATIONS[code]

    assert text.endswith(".")
    assert 60 <= len(text) <= 500


def test_a_clause_in_founding_form_has_no_finding() -> None:
    assert lines(EXAMPLES / "founding") == []

# ruff: noqa: PT017 - reading and refusing are both right, a traceback is not

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.cases import CasesError, load_cases, parse_cases

ONE = """
[[cases]]
id = "KV-1"
title = "A title"
link = "an/engine#1"
summary = "A summary."
restated = "C=2."
"""


def test_the_catalogue_of_the_package_can_be_read() -> None:
    cases = load_cases()

    assert {"KV-47", "KV-48", "KV-81"} <= set(cases)


def test_cases_keep_their_order() -> None:
    cases = parse_cases(ONE.replace("KV-1", "KV-9") + ONE)

    assert list(cases) == ["KV-9", "KV-1"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (ONE + ONE, "KV-1 stands twice"),
        (ONE.replace('title = "A title"', 'title = " "'), "title: wanted a text"),
        (ONE + 'colour = "red"', "wanted the keys"),
        ("cases = 3", "wanted an array"),
        ("[[cases", "not TOML"),
    ],
)
def test_what_is_wrong_with_a_catalogue_of_cases_is_told(text: str, problem: str) -> None:
    with pytest.raises(CasesError, match=problem):
        parse_cases(text)


@given(st.text())
def test_any_text_is_cases_or_an_error_that_says_why(text: str) -> None:
    try:
        cases = parse_cases(text)
    except CasesError as error:
        assert error.problems
    else:
        assert all(name == case.id for name, case in cases.items())

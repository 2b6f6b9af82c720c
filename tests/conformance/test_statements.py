# ruff: noqa: PT017 - reading and refusing are both right, a traceback is not

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv_conformance.statements import SpecificationError, load_specification, parse_specification
from tests.conformance.small_world import COUNT, HIDDEN, catalogue_json, specification, statement

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(("id", "rfc", "level", "features", "x")), inner),
    max_leaves=6,
)


def test_the_catalogue_of_the_package_can_be_read() -> None:
    read = load_specification()

    assert "RFC-0001:C-OWNER-LANE-INVARIANT#S1" in read.statements


def test_the_facet_of_a_statement_is_that_of_its_rfc() -> None:
    read = specification()

    assert read.facet(read.statements[COUNT]) == "planning"


def test_an_exclusion_has_its_class_and_its_reason() -> None:
    excluded = specification().statements[HIDDEN].excluded

    assert excluded is not None
    assert (excluded.kind, excluded.reason) == ("unobservable", "it leaves no trace")


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ({"level": "PERHAPS"}, "unknown level"),
        ({"rfc": "RFC-0099"}, "is not listed"),
        ({"text": 3}, "wanted a string 'text'"),
        ({"features": "all"}, "features: wanted strings"),
        ({"excluded": {"class": "debt"}}, "wanted a class and a reason"),
    ],
)
def test_a_broken_statement_is_told_by_its_id(broken: dict[str, Any], problem: str) -> None:
    with pytest.raises(SpecificationError, match=problem) as caught:
        parse_specification(catalogue_json(statement(COUNT) | broken))

    assert COUNT in str(caught.value)


def test_a_statement_that_stands_twice_is_told() -> None:
    with pytest.raises(SpecificationError, match="stands twice"):
        parse_specification(catalogue_json(statement(COUNT), statement(COUNT)))


@given(VALUES, VALUES)
def test_any_json_is_a_specification_or_an_error_that_says_why(rfcs: object, statements: object) -> None:
    text = json.dumps({"catalogue": 1, "rfcs": rfcs, "statements": statements})
    try:
        read = parse_specification(text)
    except SpecificationError as error:
        assert error.problems
    else:
        assert all(name == found.id for name, found in read.statements.items())

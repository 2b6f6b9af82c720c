from typing import Any

import pytest

from sharedkv_conformance.comparison import Change, ComparisonError, change, differences, matrix
from sharedkv_conformance.status import Status
from tests.conformance.small_world import COUNT, OWNERS, Scripted
from tests.conformance.test_report import reported

FINE: Any = reported(Scripted())
WRONG: Any = reported(Scripted(planning_count=Status.FAIL))
OTHER: Any = {**FINE, "specification": {**FINE["specification"], "digest": "f" * 64}}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("pass", "pass", Change.SAME),
        ("pass", "fail", Change.REGRESSION),
        ("pass", "unproven", Change.REGRESSION),
        ("pass", "inapplicable", Change.REGRESSION),
        ("inapplicable", "fail", Change.REGRESSION),
        ("untested", "crash", Change.REGRESSION),
        ("fail", "pass", Change.IMPROVEMENT),
        ("unproven", "pass", Change.IMPROVEMENT),
        ("fail", "inapplicable", Change.IMPROVEMENT),
        ("fail", "crash", Change.CHANGED),
        ("crash", "fail", Change.CHANGED),
        ("unproven", "untested", Change.CHANGED),
    ],
)
def test_what_is_not_proven_any_more_is_a_regression(before: str, after: str, expected: Change) -> None:
    assert change(before, after) is expected


def test_statements_are_compared_one_by_one() -> None:
    found = {difference.statement: difference.change for difference in differences(FINE, WRONG)}

    assert (found[COUNT], found[OWNERS]) == (Change.REGRESSION, Change.REGRESSION)  # one fails, one is blocked
    assert len(found) == len(FINE["statements"])


def test_reports_of_different_catalogues_do_not_compare() -> None:
    with pytest.raises(ComparisonError, match="different catalogues"):
        differences(FINE, OTHER)


def test_what_they_have_in_common_compares_where_it_is_asked_for() -> None:
    first, *rest = OTHER["statements"]
    other: Any = {**OTHER, "statements": [{**first, "digest": "1" * 64}, *rest]}
    found = matrix([FINE, other], intersect=True)

    assert (COUNT in [row.statement for row in found.rows], found.left_out) == (False, 1)


def test_statements_that_other_checks_speak_for_are_not_the_same() -> None:
    first, *rest = OTHER["statements"]
    other: Any = {**OTHER, "statements": [{**first, "checks": ["planning.owners"]}, *rest]}

    assert matrix([FINE, other], intersect=True).left_out == 1


def test_a_matrix_has_a_column_a_report_with_a_name_of_its_own() -> None:
    found = matrix([FINE, WRONG])

    assert found.implementations == ("scripted 1 (1)", "scripted 1 (2)")
    assert found.rows[0].verdicts == ("pass", "fail")

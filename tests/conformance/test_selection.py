import pytest

from sharedkv_conformance.selection import Selection, SelectionError
from tests.conformance.small_world import COUNT, HIDDEN, OWNERS, small_catalogue


def selected(selection: Selection) -> list[str]:
    return [check.slug for check in small_catalogue().checks if selection.selects(check)]


def test_no_filter_selects_everything() -> None:
    assert len(selected(Selection())) == 4
    assert not Selection().is_filtered


def test_values_of_one_kind_widen() -> None:
    assert selected(Selection(statements=(COUNT, OWNERS))) == ["planning.count", "planning.owners"]


def test_kinds_narrow_one_another() -> None:
    assert selected(Selection(checks=("planning.*",), statements=(COUNT,))) == ["planning.count"]


def test_a_glob_selects_by_slug() -> None:
    assert selected(Selection(checks=("*.ow*",))) == ["planning.owners"]


def test_a_clause_selects_its_statements() -> None:
    assert len(selected(Selection(clauses=("RFC-0002:C-SPLIT",)))) == 4


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        (Selection(checks=("planing.count",)), "did you mean planning.count?"),
        (Selection(statements=("RFC-0002:C-SPLIT#S9",)), "no statement"),
        (Selection(clauses=("RFC-0002:C-SPLITS",)), "did you mean RFC-0002:C-SPLIT?"),
        (Selection(facets=("alocation",)), "no facet"),
        (Selection(checks=("planning.count",), statements=(OWNERS,)), "no check is selected by every filter"),
        (Selection(statements=(HIDDEN,)), "no check is selected by every filter"),
    ],
)
def test_a_filter_that_can_match_nothing_is_told(selection: Selection, told: str) -> None:
    with pytest.raises(SelectionError) as caught:
        selection.checked(small_catalogue())

    assert told in str(caught.value)

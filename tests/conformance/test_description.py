# ruff: noqa: ANN401 - laws, fakes and JSON values are of any type

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sharedkv_conformance.contract import Description, Implementation
from sharedkv_conformance.description import DescriptionError, described


def saying(**description: Any) -> Implementation:
    said = {"name": "x", "version": "1", "features": frozenset(), "limits": {}, "environment": {}} | description
    return cast("Implementation", SimpleNamespace(describe=lambda: SimpleNamespace(**said)))


def raising(error: BaseException) -> Implementation:
    def describe() -> Description:
        raise error

    return cast("Implementation", SimpleNamespace(describe=describe))


def test_a_description_is_known_by_its_fields_and_not_by_its_class() -> None:
    found = described(saying(features={"planning"}))

    assert found.describe() == Description(name="x", version="1", features=frozenset({"planning"}))


def test_an_implementation_is_asked_once() -> None:
    answers = iter([SimpleNamespace(name="x", version="1", features=frozenset())])
    found = described(cast("Implementation", SimpleNamespace(describe=lambda: next(answers))))

    assert found.describe() is found.describe()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"name": ""}, "name: wanted a text"),
        ({"version": 1}, "version: wanted a text"),
        ({"features": "planning"}, "features: wanted a set"),
        ({"features": {1}}, "features: wanted a set"),
        ({"limits": {"max_pages": True}}, "limits: wanted"),
        ({"limits": None}, "limits: wanted"),
        ({"limits": {"max_cp": 2}}, "no limit 'max_cp'; did you mean 'max_cp_size'?"),
        ({"limits": {"rows": 2}}, "no limit 'rows'; there are max_cp_size, max_page_size, max_pages"),
        ({"limits": {"max_pages": 7}}, "max_pages has to be at least 8, found 7"),
        ({"limits": {"max_cp_size": 1}}, "max_cp_size has to be at least 2, found 1"),
        ({"limits": {"max_pages": 10**5000}}, "max_pages has to be an integer of 64 bits, found one of 16610 bits"),
        ({"limits": 10**5000}, "limits: wanted a mapping of names to integers, found one of 16610 bits"),
        ({"name": "x" * 5_000_000}, "name: wanted at most 200 printable characters"),
        ({"features": ("x" * 5_000_000,)}, "no feature 'xxx"),
        ({"environment": {"gpu": 1}}, "environment: wanted"),
    ],
)
def test_a_description_of_the_wrong_shape_is_told(said: dict[str, Any], told: str) -> None:
    with pytest.raises(DescriptionError, match=told):
        described(saying(**said))


def test_every_problem_of_a_description_is_told() -> None:
    with pytest.raises(DescriptionError) as caught:
        described(saying(name="", version=""))

    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("error", [RuntimeError("no device"), SystemExit(0)])
def test_a_description_that_raises_is_told(error: BaseException) -> None:
    with pytest.raises(DescriptionError, match=type(error).__name__):
        described(raising(error))


@pytest.mark.parametrize("field", ["name", "version"])
@pytest.mark.parametrize("odd", ["\n", "\r", "\x1b[2J", "\x85", "\u2028", "\u202e", "\x00", "\ud800"])
def test_a_name_cannot_speak_to_a_terminal_or_begin_a_line(field: str, odd: str) -> None:
    with pytest.raises(DescriptionError, match=f"{field}: wanted at most 200 printable characters") as caught:
        described(saying(**{field: f"a{odd}b"}))

    assert str(caught.value).isprintable()


def test_a_problem_is_told_in_a_line_however_long_its_cause_is() -> None:
    with pytest.raises(DescriptionError) as caught:
        described(saying(name="x" * 5_000_000, features=["y" * 5_000_000], environment={"z": [0] * 100_000}))

    assert len(str(caught.value)) < 1_500

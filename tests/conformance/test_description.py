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

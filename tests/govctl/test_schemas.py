"""The schemas: generated, committed, closed, described, and of one mind with the models."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import tomli
from jsonschema import Draft7Validator
from pydantic import ValidationError

from govctl import validation
from govctl.models import MODELS
from govctl.schema_writer import schema_texts
from tests.govctl.trees import CLAUSE, CONFIG, FILES, RFC, Json

ROOT = Path(__file__).parents[2]
KINDS = {"clause": CLAUSE, "config": CONFIG, "rfc": RFC}


@pytest.mark.parametrize("folder", ["schema", "tools/govctl/src/govctl/schemas"])
@pytest.mark.parametrize("name", sorted(schema_texts()))
def test_the_committed_schemas_are_what_the_models_say(folder: str, name: str) -> None:
    assert (ROOT / folder / name).read_bytes() == schema_texts()[name].encode()


@pytest.mark.parametrize("text", schema_texts().values(), ids=schema_texts())
def test_a_schema_is_draft_07(text: str) -> None:
    Draft7Validator.check_schema(json.loads(text))

    assert '"format"' not in text
    assert "$ref" not in text


def tables(node: Json) -> Iterator[dict[str, Json]]:
    if isinstance(node, dict):
        if "properties" in node or "patternProperties" in node:
            yield node
        for value in node.values():
            yield from tables(value)
    elif isinstance(node, list):
        for value in node:
            yield from tables(value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_table_is_closed_and_every_key_described(kind: str) -> None:
    for table in tables(validation.schema(kind)):
        assert table["additionalProperties"] is False
        for key, value in table.get("properties", {}).items():
            assert value.get("title"), key
            assert value.get("description"), key


def variants(node: Json, path: tuple[Json, ...] = ()) -> Iterator[tuple[tuple[Json, ...], Json]]:
    yield path, node
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from variants(value, (*path, key))


def replaced(node: Json, path: tuple[Json, ...], value: Json) -> Json:
    if not path:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = replaced(node[path[0]], path[1:], value)
    return copy


def is_model_valid(kind: str, data: Json) -> bool:
    try:
        MODELS[kind].model_validate(data, strict=True)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_schema_and_model_agree_on_every_wrong_value(kind: str) -> None:
    data = tomli.loads(FILES[KINDS[kind]])
    wrong = [1, True, [], {}, "", "nonsense\n", "RFC-0001\n"]
    cases = [replaced(data, path, value) for path, _ in variants(data) for value in wrong]

    assert validation.errors(kind, data) == []
    for case in cases:
        assert bool(validation.errors(kind, case)) is not is_model_valid(kind, case), case


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_key_is_refused_at_every_level(kind: str) -> None:
    data = tomli.loads(FILES[KINDS[kind]])
    for path, node in variants(data):
        if isinstance(node, dict):
            errors = validation.errors(kind, replaced(data, path, {**node, "Stauts": 1}))

            assert any("Stauts" in error.message for error in errors), path

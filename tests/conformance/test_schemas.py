# ruff: noqa: ANN401 - laws, fakes and JSON values are of any type

"""The schemas that are promises: what they say of themselves, and that the package holds the same ones."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parents[2] / "schema"
NAMES = ("known-failures", "report", "trace")


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / f"{name}.schema.json").read_text(encoding="utf-8"))
    return found


def keys(node: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every schema that stands for a key or an item, with its path."""
    for name, inner in node.get("properties", {}).items():
        yield f"{path}.{name}", inner
        yield from keys(inner, f"{path}.{name}")
    for word in ("items", "additionalProperties"):
        if isinstance(inner := node.get(word), dict):
            yield f"{path}.{word}", inner
            yield from keys(inner, f"{path}.{word}")
    for inner in (*node.get("oneOf", []), *node.get("anyOf", [])):
        yield from keys(inner, path)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft7Validator.check_schema(schema(name))

    assert schema(name)["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("name", NAMES)
def test_the_package_holds_the_same_schema(name: str) -> None:
    packaged = files("sharedkv_conformance").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8")

    assert packaged == (ROOT / f"{name}.schema.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_every_key_has_a_title_and_a_description(name: str) -> None:
    bare = [path for path, node in keys(schema(name)) if not {"title", "description"} <= set(node)]

    assert bare == []


@pytest.mark.parametrize("name", NAMES)
def test_no_object_takes_unknown_keys(name: str) -> None:
    open_ended = [
        path
        for path, node in keys(schema(name))
        if "properties" in node and node.get("additionalProperties") is not False
    ]

    assert open_ended == []

# ruff: noqa: ANN401 - JSON values are of any type

"""The published form of the wire: what it says of itself, and that both ends keep to it."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.wire.schema import schema_text, wire_schema
from sharedkv_conformance.wire.watch import Watcher

PUBLISHED = Path(__file__).parents[2] / "schema" / "wire.schema.json"
SCHEMA = wire_schema()


def nodes(form: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every key, item and definition with its path."""
    for name, inner in form.get("properties", {}).items():
        yield f"{path}.{name}", inner
        yield from nodes(inner, f"{path}.{name}")
    for word in ("items", "additionalProperties"):
        if isinstance(inner := form.get(word), dict):
            yield f"{path}[]", inner
            yield from nodes(inner, f"{path}[]")
    for inner in form.get("anyOf", []):
        if "$ref" not in inner:
            yield path, inner
            yield from nodes(inner, path)


def test_the_published_form_is_made_from_the_table_of_operations() -> None:
    packaged = files("sharedkv_conformance").joinpath("schemas/wire.schema.json").read_text(encoding="utf-8")

    assert PUBLISHED.read_text(encoding="utf-8") == packaged == schema_text()


def test_the_published_form_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_every_operation_has_a_request_and_an_answer() -> None:
    names = {f"{kind}.{operation.name}" for operation in OPERATIONS for kind in ("request", "answer")}

    assert names <= set(SCHEMA["definitions"])


def test_every_key_has_a_title_and_a_description_and_no_object_takes_others() -> None:
    everything = [pair for name, form in SCHEMA["definitions"].items() for pair in [(name, form), *nodes(form, name)]]
    bare = [path for path, form in everything if not {"title", "description"} <= set(form)]
    loose = [path for path, form in everything if "properties" in form and form["additionalProperties"] is not False]

    assert (bare, loose) == ([], [])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"id": 1, "ok": {"free": [1]}}, "received for allocation.lanes: "),
        ({"id": 1, "ok": None, "more": 1}, "received for allocation.lanes: "),
        ({"id": 1, "err": {"error": "Rejected", "reason": "because"}}, "received for allocation.lanes: err"),
        ({"id": 1, "error": {"kind": "protocol", "message": "no idea"}}, "no idea"),
        ({"id": 2, "ok": None}, "what no request is waiting for"),
        ("word", "what no request is waiting for"),
    ],
)
def test_a_wrong_answer_is_told(answer: Any, told: str) -> None:
    watcher = Watcher()
    watcher(b'{"id":1,"session":1,"op":"allocation.lanes","args":{}}\n')
    watcher(json.dumps(answer).encode())

    assert told in "".join(watcher.problems)


def test_a_wrong_request_is_told() -> None:
    watcher = Watcher()
    watcher(b'{"id":1,"session":1,"op":"planning.split","args":{"prefix_tokens":"0","extend_tokens":1}}\n')

    assert "sent planning.split: " in watcher.problems[0]

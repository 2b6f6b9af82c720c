"""Validate a document against its schema: yes or no at once, and every error of one that failed.

Knows JSON Schema. The full list needs `jsonschema`, which is imported for a failing document only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, cast  # a parsed document is Any until it is validated

import fastjsonschema

from govctl.problems import ProblemKind
from govctl.toml_places import Path

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_SCHEMAS = FilePath(__file__).parent / "schemas"
_SHOWN = 60  # characters of a value that are quoted
_TYPES = {"object": "a table", "array": "an array", "string": "a string"}


@dataclass(frozen=True, kw_only=True)
class SchemaError:
    """One error of a document; `is_of_key` says whether the key or the value is to be shown."""

    kind: ProblemKind
    path: Path
    message: str
    mend: str
    is_of_key: bool = False


@cache
def schema(kind: str) -> dict[str, Any]:
    """Return the schema of a kind of file as it is shipped in the package."""
    text = (_SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def _compiled(kind: str) -> Callable[[object], object]:
    compiled: Callable[[object], object] = fastjsonschema.compile(schema(kind), use_default=False)
    return compiled


def errors(kind: str, document: object) -> list[SchemaError]:
    """Return every error of a document; an empty list when it is valid."""
    try:
        _compiled(kind)(document)
    except fastjsonschema.JsonSchemaValueException as error:
        return sorted(_every_error(kind, document), key=_order) or [_only_error(error)]
    return []


def _order(error: SchemaError) -> tuple[str, str]:
    return repr(error.path), error.message


def _only_error(error: fastjsonschema.JsonSchemaValueException) -> SchemaError:
    path = tuple(int(part) if part.isdecimal() else part for part in error.path[1:])
    return SchemaError(kind=ProblemKind.SCHEMA_VALUE, path=path, message=error.message, mend="follow the schema")


def _every_error(kind: str, document: object) -> Iterator[SchemaError]:
    from jsonschema import Draft7Validator  # noqa: PLC0415  # 0.1 s that a clean tree does not pay

    for error in Draft7Validator(schema(kind)).iter_errors(document):
        yield from _translated(error)


def _translated(error: ValidationError) -> Iterator[SchemaError]:
    path = tuple(error.absolute_path)
    match error.validator:
        case "additionalProperties":
            yield from _unknown_keys(error, path)
        case "required":
            yield from _missing_keys(error, path)
        case _:
            message, mend = _value_message(error, ".".join(map(str, path)) or "the file")
            yield SchemaError(kind=ProblemKind.SCHEMA_VALUE, path=path, message=message, mend=mend)


def _unknown_keys(error: ValidationError, path: Path) -> Iterator[SchemaError]:
    table = _schema_of(error)
    instance: dict[str, Any] = cast("dict[str, Any]", error.instance)
    known = sorted(table.get("properties", ()))
    patterns = table.get("patternProperties", ())
    if patterns:
        (pattern,) = patterns
        unknown = sorted(key for key in instance if not re.search(pattern, key))
        advice = f"use a key of the form {pattern}"
    else:
        unknown = sorted(key for key in instance if key not in known)
        advice = f"use one of the keys {', '.join(known)}"
    for key in unknown:
        near = get_close_matches(key, known, n=1)
        mend = f"did you mean {near[0]}?" if near else advice
        yield SchemaError(
            kind=ProblemKind.UNKNOWN_KEY, path=(*path, key), message=f"unknown key {key}", mend=mend, is_of_key=True
        )


def _missing_keys(error: ValidationError, path: Path) -> Iterator[SchemaError]:
    required: list[str] = _schema_of(error)["required"]
    for key in required:
        if error.message.startswith(f"{key!r} "):  # one error a key: tell them apart
            title = _schema_of(error)["properties"][key].get("description", "")
            yield SchemaError(
                kind=ProblemKind.MISSING_KEY,
                path=path,
                message=f"{'.'.join(map(str, (*path, key)))} is missing",
                mend=f"add {key}: {title}",
                is_of_key=True,
            )


def _schema_of(error: ValidationError) -> dict[str, Any]:
    """Return the part of the schema that failed; ours never is a bare true or false."""
    return cast("dict[str, Any]", error.schema)


def _value_message(error: ValidationError, name: str) -> tuple[str, str]:
    shown = _shown(error.instance)
    rule = _schema_of(error)
    described = str(rule.get("description", "follow the schema"))
    match error.validator:
        case "enum" | "const":
            allowed = [str(value) for value in rule.get("enum", [rule.get("const")])]
            near = get_close_matches(str(error.instance), allowed, n=1)
            mend = f"did you mean {near[0]}?" if near else f"use one of {', '.join(allowed)}"
            return f"{name} is {shown}, not one of {', '.join(allowed)}", mend
        case "type":
            return f"{name} is {shown}, not {_TYPES.get(str(error.validator_value), error.validator_value)}", described
        case "pattern":
            return f"{name} is {shown}, which has not the form {error.validator_value}", described
        case "minLength":
            return f"{name} is empty", described
        case _:
            return f"{name}: {error.message}", described


def _shown(value: object) -> str:
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        return "a table"
    elif isinstance(value, list):
        return "an array"
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."

"""From the text of a file of known failures to its entries, or to every reason why it is none.

Knows the form of the file. Does not know which checks exist, and opens no file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from hashlib import sha256
from importlib.resources import files
from typing import Any, cast

import tomli

from sharedkv_conformance.known.conditions import condition_problems
from sharedkv_conformance.known.entry import KnownError, KnownFailure, KnownFailures


def parse_known(text: str) -> KnownFailures:
    """Parse and validate the text of a file; raises `KnownError` with every problem."""
    try:
        data = _plain(tomli.loads(text))
    except (ValueError, RecursionError) as error:
        raise KnownError((f"not TOML: {error}",)) from error
    if problems := tuple(_schema_problems(data)):
        raise KnownError(problems)
    problems = tuple(_entry_problems(data.get("known", [])))
    if problems:
        raise KnownError(problems)
    return KnownFailures(
        entries=tuple(_entry(raw) for raw in data.get("known", [])),
        digest=sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def known_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file."""
    text = files("sharedkv_conformance").joinpath("schemas/known-failures.schema.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


def _plain(data: Any) -> Any:
    """Return TOML data in which dates and times are texts, as JSON has them."""
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    return data.isoformat() if isinstance(data, date | datetime | time) else data


def _schema_problems(data: Any) -> Iterator[str]:
    from jsonschema import Draft7Validator  # noqa: PLC0415 - only a reader needs it

    for error in sorted(Draft7Validator(known_schema()).iter_errors(data), key=lambda error: error.json_path):
        yield f"{error.json_path}: {error.message[:200]}"


def _entry_problems(raw: list[dict[str, Any]]) -> Iterator[str]:
    for number, entry in enumerate(raw, 1):
        where = f"entry {number} ({entry['check']})"
        if "expires" in entry and _date(entry["expires"]) is None:
            yield f"{where}: {entry['expires']} is no day"
        yield from (f"{where}: {problem}" for problem in condition_problems(entry.get("when", {})))
    yield from _contradictions(raw)


def _contradictions(raw: list[dict[str, Any]]) -> Iterator[str]:
    """Yield checks with entries that apply at the same time whatever the run is."""
    for check in dict.fromkeys(entry["check"] for entry in raw):
        conditions = [entry.get("when", {}) for entry in raw if entry["check"] == check]
        twice = any(conditions.count(condition) > 1 for condition in conditions)
        if twice or (len(conditions) > 1 and {} in conditions):
            yield f"{check} has several entries that apply at the same time"


def _entry(raw: Mapping[str, Any]) -> KnownFailure:
    return KnownFailure(
        check=raw["check"],
        expect=raw["expect"],
        message=raw["message"],
        issue=raw["issue"],
        when=dict(raw.get("when", {})),
        expires=_date(raw["expires"]) if "expires" in raw else None,
        trace=raw.get("trace", ""),
    )


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None

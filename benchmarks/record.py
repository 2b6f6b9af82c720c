"""A result with the machine, the command and the date, and its JSON form.

Knows the form that evidence keeps and reads back. Does not know where files are.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.errors import RecordError
from benchmarks.machine import Machine
from benchmarks.result import Column, Goal, Result, Table

FORM_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Record:
    """One run of one benchmark; `date` is the day in UTC."""

    result: Result
    machine: Machine
    command: str
    date: str
    quick: bool


def render_json(record: Record, *, indent: int | None = 1) -> str:
    """Return the record as JSON, on one line without an indent; equal records give equal text."""
    return json.dumps(form(record), indent=indent, sort_keys=True, ensure_ascii=False) + "\n"


def form(record: Record) -> dict[str, Any]:
    """Return the record as JSON values."""
    return {"benchmark": FORM_VERSION, **asdict(record)}


def read_json(name: str, text: str) -> Record:
    """Return the record of a file; `name` is what an error calls it."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordError(name, str(error)) from error
    if not isinstance(found, dict) or found.pop("benchmark", None) != FORM_VERSION:
        raise RecordError(name, f"is no record of version {FORM_VERSION}")
    try:
        return Record(**found | {"result": _result(**found["result"]), "machine": Machine(**found["machine"])})
    except (KeyError, TypeError) as error:
        raise RecordError(name, f"does not have the keys of a record: {error}") from error


def _result(*, tables: list[dict[str, Any]], goals: list[dict[str, Any]], **rest: str) -> Result:
    return Result(
        tables=tuple(_table(**table) for table in tables), goals=tuple(Goal(**goal) for goal in goals), **rest
    )


def _table(*, title: str, columns: list[dict[str, str]], rows: list[list[Any]]) -> Table:
    return Table(title=title, columns=tuple(Column(**column) for column in columns), rows=tuple(map(tuple, rows)))

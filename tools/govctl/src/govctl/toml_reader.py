"""Read one TOML file: bytes to a validated document, or problems.

Knows TOML syntax, the `#:schema` line, dates and the schema of each kind of file. Knows nothing of ids.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any  # a parsed document is Any until it is validated

import tomli

from govctl import grammar, validation
from govctl.files import read_text
from govctl.places import Place
from govctl.problems import ProblemKind, Problems
from govctl.toml_places import Path, TomlText

_DATES: dict[str, tuple[tuple[str, str], ...]] = {
    "rfc": (("govctl", "created"), ("govctl", "updated"), ("changelog", "date")),
    "clause": (),
    "config": (("suppress", "until"),),
}
_SCHEMA_LINES = {
    "rfc": "#:schema ../../schema/rfc.schema.json",
    "clause": "#:schema ../../../schema/clause.schema.json",
    "config": "#:schema ../schema/config.schema.json",
}
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f"
# What nearly every line of a clause is: a key with a string without escapes, a header, a comment; else all the rest.
_PLAIN_TOKEN = re.compile(
    rf'([a-z_]+) = (?:"([^"\\\t\n{_CONTROL}]*)"|"""\n([^"\\{_CONTROL}]*(?:"(?!"")[^"\\{_CONTROL}]*)*)""")\n'
    r"|\[([a-z_]+)\]\n"
    r"|\[\[([a-z_]+)\.([a-z_]+)\]\]\n"
    rf"|(?:#[^\n{_CONTROL}]*)?\n"
    r"|(.+)",
    re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class TomlDocument:
    """A file that is well formed and valid."""

    text: TomlText
    data: dict[str, Any]


def read_document(root: FilePath, file: str, kind: str, problems: Problems) -> TomlDocument | None:
    """Return a valid document; None, and every problem of the file, when it is not valid."""
    source = read_text(root, file, problems)
    if source is None:
        return None
    text = TomlText(file=file, text=source)
    data = _parsed(text, problems)
    if data is None:
        return None
    _check_schema_line(text, kind, problems)
    before = len(problems.found)
    _plain_dates(text, data, kind, problems)
    for error in validation.errors(kind, data):
        place = text.key_place(error.path) if error.is_of_key else text.value_place(error.path)
        problems.add(error.kind, place, error.message, error.mend, subject=_subject(file, error.path))
    return TomlDocument(text=text, data=data) if len(problems.found) == before else None


def _subject(file: str, path: Path) -> str:
    return f"{file}#{'.'.join(str(part) for part in path)}" if path else file


def plain_document(text: str) -> dict[str, Any] | None:
    """Return what a plain document holds, in a third of the time of a whole parser; None when it needs that one."""
    root: dict[str, Any] = {}
    table = root
    for key, line, lines, name, outer, inner, other in _PLAIN_TOKEN.findall(text):
        if key and key not in table:
            table[key] = line or lines
        elif name and name not in root:
            table = root[name] = {}
        elif inner and isinstance(root.get(outer), dict):
            tables = root[outer].setdefault(inner, [])
            if not isinstance(tables, list):
                return None
            table = {}
            tables.append(table)
        elif key or name or inner or other:
            return None
    return root


def _parsed(text: TomlText, problems: Problems) -> dict[str, Any] | None:
    plain = plain_document(text.text)
    if plain is not None:
        return plain
    try:
        return tomli.loads(text.text)
    except tomli.TOMLDecodeError as error:
        place = Place(file=text.file, line=error.lineno, column=error.colno)
        problems.add(ProblemKind.TOML_SYNTAX, place, f"is not TOML: {error.msg}", "mend the syntax at this place")
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, tables nested without end
        problems.add(ProblemKind.TOML_SYNTAX, Place(file=text.file), f"is not usable TOML: {error}", "use plain values")
    return None


def _check_schema_line(text: TomlText, kind: str, problems: Problems) -> None:
    wanted = _SCHEMA_LINES[kind]
    if text.text.startswith(f"{wanted}\n"):
        return
    if text.text.partition("\n")[0].rstrip() != wanted:
        problems.add(
            ProblemKind.SCHEMA_LINE, Place(file=text.file), "has no #:schema line of its kind", f"begin with: {wanted}"
        )


def _plain_dates(text: TomlText, data: dict[str, Any], kind: str, problems: Problems) -> None:
    """Turn a TOML date into the text of a quoted one; a date that is not in the calendar is a problem."""
    for table, key in _DATES[kind]:
        tables = data.get(table, [])
        for index, values in enumerate(tables if isinstance(tables, list) else [tables]):
            if not isinstance(values, dict) or key not in values:
                continue
            if type(values[key]) is dt.date:  # a date-time is not a date
                values[key] = values[key].isoformat()
            path: Path = (table, index, key) if isinstance(tables, list) else (table, key)
            if not _is_in_calendar(values[key]):
                message = f"{key} is {values[key]}, which is no day of the calendar"
                problems.add(ProblemKind.DATE, text.value_place(path), message, "write a real date, such as 2026-06-03")


def _is_in_calendar(value: object) -> bool:
    """Say whether text in the form of a date is one; anything else is left to the schema."""
    if not isinstance(value, str) or not re.fullmatch(grammar.DATE, value):
        return True
    try:
        dt.date.fromisoformat(value)
    except ValueError:
        return False
    return True

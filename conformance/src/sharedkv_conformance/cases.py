"""The catalogue of public cases: faults that were reported in the open and that a check excludes.

Knows the form of `cases.toml`, which needs TOML 1.0 only. Does not know which check covers a case.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any


class CasesError(ValueError):
    """The catalogue of cases is not what it has to be; every problem is listed."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "cases.toml: " + "; ".join(self.problems)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One public report: where it stands, what happened, and what it says under our lane rule."""

    id: str
    title: str
    link: str
    summary: str
    restated: str


def load_cases() -> Mapping[str, Case]:
    """Read the catalogue that the package holds."""
    return parse_cases(files("sharedkv_conformance").joinpath("cases.toml").read_text(encoding="utf-8"))


def parse_cases(text: str) -> Mapping[str, Case]:
    """Parse the text of a catalogue of cases, in its order; raises `CasesError`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CasesError((f"not TOML: {error}",)) from error
    entries = data.get("cases", [])
    if set(data) - {"cases"} or not isinstance(entries, list):
        raise CasesError((f"wanted an array of tables 'cases' and nothing else, found {sorted(data)}",))
    if problems := tuple(_problems(entries)):
        raise CasesError(problems)
    return {entry["id"]: Case(**entry) for entry in entries}


def _problems(entries: list[Any]) -> Iterator[str]:
    wanted = {field.name for field in fields(Case)}
    seen: set[str] = set()
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or set(entry) != wanted:
            found = sorted(entry) if isinstance(entry, dict) else type(entry).__name__
            yield f"case {number}: wanted the keys {sorted(wanted)}, found {found}"
            continue
        if blank := sorted(key for key, value in entry.items() if not isinstance(value, str) or not value.strip()):
            yield f"case {number}: {', '.join(blank)}: wanted a text"
        if str(entry["id"]) in seen:
            yield f"case {number}: {entry['id']} stands twice"
        seen.add(str(entry["id"]))

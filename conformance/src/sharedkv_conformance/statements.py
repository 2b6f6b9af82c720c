"""The statements of the specification as the suite needs them, read from the generated `catalogue.json`.

Knows the form of that file. Knows nothing of checks, laws or implementations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

CATALOGUE_VERSION = 1
MUST_LEVELS = frozenset({"MUST", "MUST NOT", "REQUIRED", "SHALL", "SHALL NOT"})
SHOULD_LEVELS = frozenset({"SHOULD", "SHOULD NOT", "RECOMMENDED", "NOT RECOMMENDED"})
MAY_LEVELS = frozenset({"MAY", "OPTIONAL"})


class SpecificationError(ValueError):
    """`catalogue.json` is not what it has to be; every problem is listed."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "catalogue.json: " + "; ".join(self.problems)


@dataclass(frozen=True, kw_only=True)
class Rfc:
    """One RFC, as far as a report needs it; `facet` is empty where the RFC has none."""

    id: str
    title: str
    version: str
    status: str
    phase: str
    facet: str


@dataclass(frozen=True, kw_only=True)
class Exclusion:
    """Why no check can exist: the class of the reason, and the reason."""

    kind: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One normative sentence. It applies where its facet and all of its `features` are claimed."""

    id: str
    rfc: str
    clause: str
    level: str
    text: str
    digest: str
    features: frozenset[str] = frozenset()
    excluded: Exclusion | None = None
    origin: tuple[str, ...] = ()

    @property
    def is_must(self) -> bool:
        """Say whether an implementation has no choice."""
        return self.level in MUST_LEVELS

    @property
    def is_should(self) -> bool:
        """Say whether an implementation needs a good reason to differ."""
        return self.level in SHOULD_LEVELS


@dataclass(frozen=True, kw_only=True)
class Specification:
    """Every RFC and every statement, by id, in the order of the file."""

    rfcs: Mapping[str, Rfc]
    statements: Mapping[str, Statement]

    def facet(self, statement: Statement) -> str:
        """Return the facet word of a statement, empty where its RFC has none."""
        return self.rfcs[statement.rfc].facet


def load_specification() -> Specification:
    """Read the catalogue that the package holds."""
    try:
        text = files("sharedkv_conformance").joinpath("catalogue.json").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SpecificationError(("the file is missing from the package",)) from error
    return parse_specification(text)


def parse_specification(text: str) -> Specification:
    """Parse the text of a catalogue; raises `SpecificationError`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecificationError((f"not JSON: {error}",)) from error
    if not isinstance(data, dict) or data.get("catalogue") != CATALOGUE_VERSION:
        raise SpecificationError((f"wanted an object with catalogue version {CATALOGUE_VERSION}",))
    rfcs, statements = data.get("rfcs"), data.get("statements")
    if not isinstance(rfcs, dict) or not isinstance(statements, list):
        raise SpecificationError(("wanted an object 'rfcs' and an array 'statements'",))
    if problems := (*_rfc_problems(rfcs), *_statement_problems(statements, rfcs)):
        raise SpecificationError(problems)
    return Specification(
        rfcs={name: _rfc(name, rfc) for name, rfc in rfcs.items()},
        statements={statement["id"]: _statement(statement) for statement in statements},
    )


def _rfc_problems(rfcs: Mapping[str, Any]) -> Iterator[str]:
    for name, rfc in rfcs.items():
        if not isinstance(rfc, dict):
            yield f"{name}: wanted an object"
            continue
        for key in ("version", "status", "phase", "title"):
            if not isinstance(rfc.get(key), str):
                yield f"{name}: wanted a string {key!r}, found {rfc.get(key)!r}"
        if not isinstance(rfc.get("facet") or "", str):
            yield f"{name}: wanted a string 'facet' or nothing, found {rfc['facet']!r}"


def _statement_problems(statements: list[Any], rfcs: Mapping[str, Any]) -> Iterator[str]:
    seen: set[str] = set()
    for number, statement in enumerate(statements):
        if not isinstance(statement, dict):
            yield f"statement {number}: wanted an object"
            continue
        name = statement.get("id", f"statement {number}")
        for key in ("id", "rfc", "clause", "level", "text", "digest"):
            if not isinstance(statement.get(key), str):
                yield f"{name}: wanted a string {key!r}, found {statement.get(key)!r}"
        if statement.get("level") not in [*MUST_LEVELS, *SHOULD_LEVELS, *MAY_LEVELS]:
            yield f"{name}: unknown level {statement.get('level')!r}"
        if statement.get("rfc") not in list(rfcs):
            yield f"{name}: its RFC {statement.get('rfc')!r} is not listed"
        if str(name) in seen:
            yield f"{name}: stands twice"
        seen.add(str(name))
        yield from _detail_problems(str(name), statement)


def _detail_problems(name: str, statement: Mapping[str, Any]) -> Iterator[str]:
    for key in ("features", "origin"):
        items = statement.get(key, [])
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            yield f"{name}: {key}: wanted strings, found {items!r}"
    excluded = statement.get("excluded")
    if excluded is not None and not (
        isinstance(excluded, dict) and all(isinstance(excluded.get(key), str) for key in ("class", "reason"))
    ):
        yield f"{name}: excluded: wanted a class and a reason, found {excluded!r}"


def _rfc(name: str, data: Mapping[str, Any]) -> Rfc:
    return Rfc(
        id=name,
        title=data["title"],
        version=data["version"],
        status=data["status"],
        phase=data["phase"],
        facet=data.get("facet") or "",
    )


def _statement(data: Mapping[str, Any]) -> Statement:
    excluded = data.get("excluded")
    return Statement(
        id=data["id"],
        rfc=data["rfc"],
        clause=data["clause"],
        level=data["level"],
        text=data["text"],
        digest=data["digest"],
        features=frozenset(data.get("features", [])),
        excluded=None if excluded is None else Exclusion(kind=excluded["class"], reason=excluded["reason"]),
        origin=tuple(data.get("origin", [])),
    )

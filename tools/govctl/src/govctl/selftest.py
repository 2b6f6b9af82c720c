"""Project the result of a self-test into evidence.

Knows the keys of `selftest.json` that evidence needs; whatever else is in it is not looked at. Knows nothing of
files.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar  # JSON is Any until it is checked

from govctl.evidence import Evidence, MutantEvidence, load_json
from govctl.grammar import is_statement_id, rfc_of
from govctl.tree import Tree

_Value = TypeVar("_Value")


class SelfTestError(Exception):
    """The result of a self-test has not the shape that evidence needs."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, kw_only=True)
class SelfTest:
    """What evidence needs of a self-test, by RFC; a run that is not full stops at the first kill of each mutant."""

    implementations: Mapping[str, str]
    is_full: bool
    checks: Mapping[str, Mapping[str, str]]
    mutants: Mapping[str, Mapping[str, MutantEvidence]]
    problems: int = 0


def parse_selftest(text: str) -> SelfTest:
    """Return a self-test by RFC; a check belongs to that of its first statement, a mutant to that of its kills."""
    try:
        data = load_json(text)
    except ValueError as error:
        raise SelfTestError(f"is not JSON: {error}") from error
    if not isinstance(data, dict) or data.get("selftest") != 1:
        raise SelfTestError("is no self-test of version 1")
    implementation = data.get("implementation")
    name = implementation.get("name") if isinstance(implementation, dict) else None
    if not isinstance(name, str):
        raise SelfTestError("has no implementation.name")
    checks: dict[str, dict[str, str]] = defaultdict(dict)
    for entry in _entries(data, "checks"):
        rfc = rfc_of(_statement(_texts(entry, "statements"), "check"))
        _put(checks[rfc], _text(entry, "check"), _text(entry, "status"))
    mutants: dict[str, dict[str, MutantEvidence]] = defaultdict(dict)
    for entry in _entries(data, "mutants"):
        kills = _statement([_text(entry, "kills")], "mutant")
        killers = tuple(sorted(set(_texts(entry, "killed_by"))))
        _put(mutants[rfc_of(kills)], _text(entry, "mutant"), MutantEvidence(kills=kills, killed_by=killers))
    return SelfTest(
        implementations=dict.fromkeys({*checks, *mutants}, name),
        is_full=data.get("full") is not False,
        checks=checks,
        mutants=mutants,
        problems=len(_problems(data)),
    )


def merged(selftests: Sequence[SelfTest]) -> SelfTest:
    """Return several self-tests as one; raises `SelfTestError` when two have results for the same RFC."""
    shared = [rfc for rfc, times in Counter(r for s in selftests for r in s.implementations).items() if times > 1]
    if shared:
        raise SelfTestError(f"files have two results for {', '.join(sorted(shared))}")
    return SelfTest(
        implementations={rfc: name for s in selftests for rfc, name in s.implementations.items()},
        is_full=all(s.is_full for s in selftests),
        checks={rfc: checks for s in selftests for rfc, checks in s.checks.items()},
        mutants={rfc: mutants for s in selftests for rfc, mutants in s.mutants.items()},
        problems=sum(s.problems for s in selftests),
    )


def project(selftest: SelfTest, tree: Tree) -> dict[str, Evidence]:
    """Return the evidence of every RFC that has results and a configured facet."""
    return {
        rfc: Evidence(
            rfc=rfc,
            implementation=selftest.implementations[rfc],
            checks=selftest.checks.get(rfc, {}),
            mutants=selftest.mutants.get(rfc, {}),
            digests=tree.digests_of(rfc),
        )
        for rfc in sorted({*selftest.checks, *selftest.mutants})
        if rfc in tree.rfc_by_id and tree.config.facet_of(rfc) is not None
    }


def _problems(data: dict[str, Any]) -> list[Any]:
    problems = data.get("problems", [])
    if not isinstance(problems, list):
        raise SelfTestError("has no list problems")
    return problems


def _put(table: dict[str, _Value], key: str, value: _Value) -> None:
    if key in table:
        raise SelfTestError(f"has two results for {key}")
    table[key] = value


def _entries(data: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    entries = data.get(key)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SelfTestError(f"has no list of tables {key}")
    yield from entries


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise SelfTestError(f"has an entry without the text {key}")
    return value


def _texts(entry: dict[str, Any], key: str) -> list[str]:
    values = entry.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise SelfTestError(f"has an entry without the list of texts {key}")
    return values


def _statement(ids: list[str], what: str) -> str:
    if not ids or not is_statement_id(ids[0]):
        raise SelfTestError(f"has a {what} that is bound to no statement id: {ids[:1]}")
    return ids[0]

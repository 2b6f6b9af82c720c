"""When an entry applies: equality, or a range of versions, on plain facts of the run. Nothing is evaluated as code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from sharedkv_conformance.known.entry import KnownError, KnownFailure

VERSIONS = ("version", "python")
PLAIN = ("effort", "machine", "name", "system")
ENVIRONMENT = "environment."
OPERATORS = "<>=!~"


def facts(
    *,
    name: str,
    version: str,
    environment: Mapping[str, str],
    effort: str,
    versions: Mapping[str, str],
    platform: Mapping[str, str],
) -> dict[str, str]:
    """Return what conditions may ask of a run; takes the parts of a report that hold it."""
    return {
        "name": name,
        "version": version,
        "effort": effort,
        "python": versions.get("python", ""),
        "system": platform.get("system", ""),
        "machine": platform.get("machine", ""),
        **{f"{ENVIRONMENT}{key}": value for key, value in environment.items()},
    }


def condition_problems(when: Mapping[str, str]) -> Iterator[str]:
    """Yield each way in which a condition asks for what no run has."""
    for key, wanted in when.items():
        if key not in (*VERSIONS, *PLAIN) and not key.startswith(ENVIRONMENT):
            close = get_close_matches(key, (*VERSIONS, *PLAIN), 1)
            hint = f"; did you mean {close[0]}?" if close else f"; what an implementation tells is {ENVIRONMENT}NAME"
            yield f"when.{key}: no run has this fact{hint}"
        elif wanted.startswith(tuple(OPERATORS)) and key in VERSIONS:
            try:
                SpecifierSet(wanted)
            except InvalidSpecifier:
                yield f"when.{key}: {wanted!r} is no range of versions"


def applies(entry: KnownFailure, known: Mapping[str, str]) -> bool:
    """Say whether an entry speaks of a run with these facts."""
    return all(key in known and _holds(key, wanted, known[key]) for key, wanted in entry.when.items())


def applying(entries: Iterable[KnownFailure], known: Mapping[str, str]) -> dict[str, KnownFailure]:
    """Return the entry of each check that applies to a run; raises `KnownError` where two do."""
    found: dict[str, KnownFailure] = {}
    problems = []
    for entry in entries:
        if not applies(entry, known):
            continue
        if entry.check in found:
            problems.append(f"{entry.check} has several entries that apply here")
        found[entry.check] = entry
    if problems:
        raise KnownError(tuple(problems))
    return found


def _holds(key: str, wanted: str, found: str) -> bool:
    if key not in VERSIONS or not wanted.startswith(tuple(OPERATORS)):
        return wanted == found
    try:
        return SpecifierSet(wanted).contains(Version(found), prereleases=True)
    except InvalidVersion:
        return False

"""Profiles: what an implementation can be conformant to, and which statements count in each.

Owned by the specification and frozen for versions of its RFCs. Reads `profiles.toml`, which needs TOML 1.0 only. Knows
nothing of results.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

from sharedkv_conformance.contract.implementation import Description
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.statements import Specification, Statement

PROBE = "probe."


class ProfileError(ValueError):
    """Profiles are not what they have to be, or there is none of a name; every problem is listed."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "profiles.toml: " + "; ".join(self.problems)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A named set of statements: those of its RFCs, at these versions, that need no feature beyond `features`.

    Without `features` every statement counts that applies to what is claimed.
    """

    name: str
    meaning: str
    rfcs: Mapping[str, str] = field(default_factory=dict)
    features: frozenset[str] | None = None

    def counts(self, specification: Specification, statement: Statement) -> bool:
        """Say whether a statement counts; one that needs a probe beyond the features does, and may stay unproven."""
        if self.features is None:
            return True
        needed = {specification.facet(statement), *statement.features}
        return statement.rfc in self.rfcs and all(f in self.features or f.startswith(PROBE) for f in needed)

    def missing(self, description: Description) -> tuple[str, ...]:
        """Return the features that the profile requires and the implementation does not claim."""
        return tuple(sorted((self.features or frozenset()) - description.features))


FULL = Profile(name="full", meaning="Everything that the implementation claims.")


def load_profiles() -> Mapping[str, Profile]:
    """Read the profiles that the package holds, `full` first."""
    return parse_profiles(files("sharedkv_conformance").joinpath("profiles.toml").read_text(encoding="utf-8"))


def profile_named(name: str, specification: Specification, profiles: Mapping[str, Profile]) -> Profile:
    """Return a profile that is fit for a specification; raises `ProfileError`."""
    if name not in profiles:
        close = get_close_matches(name, profiles, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise ProfileError((f"there is no profile {name!r}; known: {', '.join(profiles)}{hint}",))
    if problems := tuple(unfrozen(profiles[name], specification)):
        raise ProfileError(problems)
    return profiles[name]


def unfrozen(profile: Profile, specification: Specification) -> Iterator[str]:
    """Yield each RFC that is not the version for which the profile was frozen."""
    for rfc, version in profile.rfcs.items():
        found = specification.rfcs[rfc].version if rfc in specification.rfcs else "missing"
        if found != version:
            yield f"profile {profile.name} is frozen for {rfc} {version}, and the specification has {found}"


def parse_profiles(text: str) -> Mapping[str, Profile]:
    """Parse the text of a file of profiles, in its order after `full`; raises `ProfileError`."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError((f"not TOML: {error}",)) from error
    entries = data.get("profiles")
    if set(data) != {"profiles"} or not isinstance(entries, list):
        raise ProfileError((f"wanted an array of tables 'profiles' and nothing else, found {sorted(data)}",))
    if problems := tuple(_problems(entries)):
        raise ProfileError(problems)
    return {FULL.name: FULL} | {entry["name"]: _profile(entry) for entry in entries}


def _profile(entry: Mapping[str, Any]) -> Profile:
    return Profile(**{**entry, "features": frozenset(entry["features"])})


def _problems(entries: list[Any]) -> Iterator[str]:
    wanted = {field.name for field in fields(Profile)}
    seen = {FULL.name}
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict) or set(entry) != wanted:
            found = sorted(entry) if isinstance(entry, dict) else type(entry).__name__
            yield f"profile {number}: wanted the keys {sorted(wanted)}, found {found}"
            continue
        yield from (f"profile {number}: {problem}" for problem in _problems_of(entry))
        if str(entry["name"]) in seen:
            yield f"profile {number}: {entry['name']} stands twice"
        seen.add(str(entry["name"]))


def _problems_of(entry: Mapping[str, Any]) -> Iterator[str]:
    for key in ("name", "meaning"):
        if not isinstance(entry[key], str) or not entry[key].strip():
            yield f"{key}: wanted a text, found {entry[key]!r}"
    rfcs, features = entry["rfcs"], entry["features"]
    if not isinstance(rfcs, dict) or not rfcs or not all(isinstance(version, str) for version in rfcs.values()):
        yield f"rfcs: wanted a table of RFCs and their versions, found {rfcs!r}"
    if not isinstance(features, list) or not features:
        yield f"features: wanted a list of features, found {features!r}"
        return
    known = {operation.feature for operation in OPERATIONS}
    for feature in features:
        if feature not in known:
            yield f"features: the contract has no feature {feature!r}"

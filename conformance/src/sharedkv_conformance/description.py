"""An implementation with its description: asked once, checked for its shape, and the same from then on.

Knows what a description has to look like. Does not know which features exist: a later suite may know more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.contract.implementation import Description, Implementation, OpenConfig, Session


class DescriptionError(Exception):
    """`describe()` raised, or its answer has the wrong shape; every problem is listed."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "the implementation cannot be described: " + "; ".join(self.problems)


@dataclass(frozen=True)
class Described:
    """An implementation whose description is settled; sessions are opened by the implementation itself."""

    implementation: Implementation
    description: Description

    def describe(self) -> Description:
        """Return the description that was given at first."""
        return self.description

    def open(self, config: OpenConfig) -> Session:
        """Open a session of the implementation."""
        return self.implementation.open(config)


def described(implementation: Implementation) -> Described:
    """Ask an implementation for its description; raises `DescriptionError`."""
    try:
        raw: Any = implementation.describe()
    except (Exception, SystemExit) as error:
        raise DescriptionError((f"describe() raised {type(error).__name__}: {error}",)) from error
    if problems := tuple(_problems(raw)):
        raise DescriptionError(problems)
    return Described(
        implementation,
        Description(
            name=raw.name,
            version=raw.version,
            features=frozenset(raw.features),
            limits=dict(getattr(raw, "limits", {})),
            environment=dict(getattr(raw, "environment", {})),
        ),
    )


def _problems(raw: Any) -> Iterator[str]:
    for field in ("name", "version"):
        value = getattr(raw, field, None)
        if not isinstance(value, str) or not value.strip():
            yield f"{field}: wanted a text, found {value!r}"
    features = getattr(raw, "features", None)
    if not isinstance(features, frozenset | set | tuple | list) or not all(isinstance(word, str) for word in features):
        yield f"features: wanted a set of strings, found {features!r}"
    for field, kind, wanted in (("limits", int, "integers"), ("environment", str, "strings")):
        value = getattr(raw, field, {})
        if not isinstance(value, Mapping) or not all(
            isinstance(key, str) and type(item) is kind for key, item in value.items()
        ):
            yield f"{field}: wanted a mapping of names to {wanted}, found {value!r}"

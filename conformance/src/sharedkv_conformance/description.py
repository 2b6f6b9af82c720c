"""An implementation with its description: asked once, checked for its shape, and the same from then on.

Knows what a description has to look like, and which features the contract has: a misspelt claim would narrow the
verdict in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from sharedkv_conformance.contract.implementation import Description, Implementation, OpenConfig, Session
from sharedkv_conformance.contract.operations import OPERATIONS

FEATURES = frozenset(operation.feature for operation in OPERATIONS)
# Two ranks, pages of two tokens, and two pages a lane: the smallest geometry in which anything can go wrong.
LEAST_LIMITS = {"max_cp_size": 2, "max_page_size": 2, "max_pages": 4}


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
    except KeyboardInterrupt:
        raise
    except BaseException as error:
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
    elif unknown := sorted(set(features) - FEATURES):
        near = get_close_matches(unknown[0], sorted(FEATURES), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        yield f"features: the contract has no feature {unknown[0]!r}{hint}"
    for field, kind, wanted in (("limits", int, "integers"), ("environment", str, "strings")):
        value = getattr(raw, field, {})
        if not isinstance(value, Mapping) or not all(
            isinstance(key, str) and type(item) is kind for key, item in value.items()
        ):
            yield f"{field}: wanted a mapping of names to {wanted}, found {value!r}"
        elif field == "limits":
            yield from _narrow(value)


def _narrow(limits: Mapping[str, int]) -> Iterator[str]:
    """Yield each limit under which nothing can be tried."""
    for name, least in LEAST_LIMITS.items():
        if limits.get(name, least) < least:
            yield f"limits: {name} has to be at least {least}, found {limits[name]}"

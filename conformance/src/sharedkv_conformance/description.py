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
LARGEST_LIMIT = 1 << 63
LONGEST_NAME = 200
# Two ranks, pages of two tokens, and four pages a lane: with less, checks of surplus pages and of free room never meet
# what they wait for, and would be vacuous.
LEAST_LIMITS = {"max_cp_size": 2, "max_page_size": 2, "max_pages": 8}


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
        yield from text_problems(field, getattr(raw, field, None))
    features = getattr(raw, "features", None)
    if not isinstance(features, frozenset | set | tuple | list) or not all(isinstance(word, str) for word in features):
        yield f"features: wanted a set of strings, found {_shown(features)}"
    elif unknown := sorted(set(features) - FEATURES):
        near = get_close_matches(unknown[0], sorted(FEATURES), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        yield f"features: the contract has no feature {_shown(unknown[0])}{hint}"
    for field, kind, wanted in (("limits", int, "integers"), ("environment", str, "strings")):
        value = getattr(raw, field, {})
        if not isinstance(value, Mapping) or not all(
            isinstance(key, str) and type(item) is kind for key, item in value.items()
        ):
            yield f"{field}: wanted a mapping of names to {wanted}, found {_shown(value)}"
        elif field == "limits":
            yield from limit_problems(value)


def text_problems(field: str, value: object) -> Iterator[str]:
    """Yield why a value is no name that can be put into a line, and on a terminal."""
    if not isinstance(value, str) or not value.strip():
        yield f"{field}: wanted a text, found {_shown(value)}"
    elif not value.isprintable() or len(value) > LONGEST_NAME:
        yield f"{field}: wanted at most {LONGEST_NAME} printable characters in one line, found {_shown(value)}"


def limit_problems(limits: Mapping[str, int]) -> Iterator[str]:
    """Yield each limit that the suite would not keep to, and each under which a check could try nothing."""
    for name, found in limits.items():
        if name not in LEAST_LIMITS:
            near = get_close_matches(name, LEAST_LIMITS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(LEAST_LIMITS)}"
            yield f"limits: the contract has no limit {_shown(name)}; {hint}"
        elif not LEAST_LIMITS[name] <= found < LARGEST_LIMIT:
            wanted = f"at least {LEAST_LIMITS[name]}" if found < LEAST_LIMITS[name] else "an integer of 64 bits"
            yield f"limits: {name} has to be {wanted}, found {_shown(found)}"


def _shown(value: object) -> str:
    """Return a value as a line may hold it, whatever its size is."""
    if isinstance(value, int) and not -LARGEST_LIMIT <= value < LARGEST_LIMIT:
        return f"one of {value.bit_length()} bits"
    text = repr(value[: LONGEST_NAME + 1] if isinstance(value, str) else value)
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}..."

"""The marks of checks, mutants and benign variants of this specification's own rules.

Knows what a mark records; `govctl` reads the same marks from the source. Registers nothing, and knows no tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.governance.small_tree import SmallTree

TreeFunction = Callable[[SmallTree], None]
_MARK = "governance_mark"


@dataclass(frozen=True, kw_only=True)
class Check:
    """A function that fails on a tree in which its statements do not hold."""

    slug: str
    statements: tuple[str, ...]
    function: TreeFunction


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A function that makes a sound tree wrong in one way; `also` names what else breaks with it, and why."""

    slug: str
    kills: str
    function: TreeFunction
    also: Mapping[str, str] = field(default_factory=dict)


def check(slug: str, *statements: str) -> Callable[[TreeFunction], TreeFunction]:
    """Bind a check to its statements. It stays a function, so that pytest collects it."""

    def bind(function: TreeFunction) -> TreeFunction:
        vars(function)[_MARK] = Check(slug=slug, statements=statements, function=function)
        return function

    return bind


def mutant(slug: str, *, kills: str, also: Mapping[str, str] | None = None) -> Callable[[TreeFunction], TreeFunction]:
    """Mark a function as one that breaks a sound tree."""

    def bind(function: TreeFunction) -> TreeFunction:
        vars(function)[_MARK] = Mutant(slug=slug, kills=kills, function=function, also=also or {})
        return function

    return bind


def mark_of(value: object) -> Check | Mutant | None:
    """Return the mark of a value, or nothing."""
    found = getattr(value, "__dict__", {}).get(_MARK)
    return found if isinstance(found, Check | Mutant) else None

"""Laws, checks, mutants and benign variants as they stand in Python source.

Knows what a mark says. Knows nothing of how it was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from govctl.places import Place


class MarkKind(StrEnum):
    """The four decorators that bind code to statements."""

    LAW = "law"
    CHECK = "check"
    MUTANT = "mutant"
    BENIGN = "benign"


class Mark(NamedTuple):
    """One decorator; `statements` are the statements it serves: of a mutant, the one that must kill it."""

    kind: MarkKind
    slug: str
    statements: tuple[str, ...]
    function: str
    place: Place
    also: Mapping[str, str] = MappingProxyType({})
    depends_on: tuple[str, ...] = ()
    skipped_by: str = ""

    @property
    def label(self) -> str:
        """Name the mark for a reader: by its slug, a law by its function."""
        return f"{self.kind} {self.slug or self.function}"


@dataclass(frozen=True, kw_only=True)
class BadMark:
    """A decorator that cannot be read; `is_literal` is false when an id is not a string literal."""

    place: Place
    label: str
    reason: str
    is_literal: bool

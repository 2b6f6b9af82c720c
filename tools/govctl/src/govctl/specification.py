"""RFCs, clauses and statements as frozen values.

Knows the parts of a specification. Knows nothing of files, schemas or coverage. What a tree holds by the ten thousand,
here and in other modules, is a named tuple: it is made in a third of the time that a frozen dataclass takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from govctl import prose
from govctl.places import Place
from govctl.toml_places import Path, TomlText


@dataclass(frozen=True, kw_only=True)
class Exclusion:
    """Why a statement has no check."""

    kind: str
    reason: str


class Statement(NamedTuple):
    """One normative sentence; `path` and `needle` tell where its words stand."""

    id: str
    text: str
    digest: str
    keywords: tuple[str, ...]
    document: TomlText
    path: Path
    needle: str
    since: str = ""
    origin: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    excluded: Exclusion | None = None

    @property
    def keyword(self) -> str:
        """Return the keyword of the sentence, or nothing when it has none."""
        return self.keywords[0] if self.keywords else ""

    @property
    def level(self) -> str:
        """Return MUST, SHOULD or MAY, or nothing for a sentence without a keyword."""
        return prose.level(self.keywords[0]) if self.keywords else ""

    @property
    def place(self) -> Place:
        """Return where the sentence begins."""
        return self.document.words_place(self.path, self.needle)


class Clause(NamedTuple):
    """One clause file; `has_statements` tells the two forms apart."""

    id: str
    name: str
    rfc: str
    file_name: str
    title: str
    kind: str
    status: str
    text: str
    rationale: str
    has_statements: bool
    statements: tuple[Statement, ...]
    document: TomlText
    since: str = ""
    superseded_by: str = ""
    tags: tuple[str, ...] = ()

    @property
    def successor(self) -> str:
        """Return the full id of the clause that took its place, or nothing."""
        name = self.superseded_by
        return name if ":" in name or not name else f"{self.rfc}:{name}"

    @property
    def is_active(self) -> bool:
        """Say whether the clause still demands anything."""
        return self.status == "active"

    @property
    def is_normative(self) -> bool:
        """Say whether the clause may hold statements."""
        return self.kind == "normative"


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of an RFC: clause names in reading order."""

    title: str
    clauses: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """One entry of an RFC's changelog; `texts` are its notes and items, each with its key."""

    version: str
    date: str
    texts: tuple[tuple[Path, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rfc:
    """One RFC file."""

    id: str
    file_name: str
    title: str
    version: str
    status: str
    phase: str
    facet: str
    created: str
    updated: str
    refs: tuple[str, ...]
    backlog: tuple[str, ...]
    sections: tuple[Section, ...]
    changelog: tuple[Change, ...]
    document: TomlText

    @cached_property
    def versions(self) -> frozenset[str]:
        """Return the versions of the changelog."""
        return frozenset(change.version for change in self.changelog)

"""The configuration of a tree: `gov/govctl.toml` as frozen values.

Knows the settings. Knows nothing of how they are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from govctl.toml_places import TomlText

SOURCE_KINDS = ("suite", "model", "mutants", "reference")


@dataclass(frozen=True, kw_only=True)
class Facet:
    """One capability: its RFC and the globs of its sources by kind."""

    word: str
    rfc: str
    sources: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Reserved:
    """A number that a capability has, whether its RFC is written or not."""

    rfc: str
    facet: str
    covers: str


@dataclass(frozen=True, kw_only=True)
class Site:
    """What the pages show beside the specification; an empty path is not shown."""

    pages: str = ""
    examples: str = ""
    cases: str = ""
    contract: tuple[str, ...] = ()
    reserved: tuple[Reserved, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Suppression:
    """One finding, or many of one kind, that is known and borne until a day."""

    code: str
    reason: str
    until: str
    id: str = ""
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings; the defaults are those of an empty file."""

    document: TomlText
    name: str = ""
    checks: tuple[str, ...] = ()
    facets: tuple[Facet, ...] = ()
    evidence_directory: str = "evidence/conformance"
    catalogue_file: str = ""
    site: Site = field(default_factory=Site)
    severity: Mapping[str, str] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()

    def facet_of(self, rfc: str) -> Facet | None:
        """Return the facet that an RFC describes."""
        return next((facet for facet in self.facets if facet.rfc == rfc), None)

    def evidence_file(self, rfc: str) -> str:
        """Return the file that holds the evidence of an RFC."""
        return f"{self.evidence_directory}/{rfc}.json"

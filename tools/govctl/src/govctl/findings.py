"""Findings: what a rule saw, and what a reader is told.

Knows the fields of a finding and how they are ordered. Knows no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from govctl.places import Place


class Severity(StrEnum):
    """How much a finding weighs; OFF is never reported."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    OFF = "off"

    @property
    def weight(self) -> int:
        """Return a number that is larger for what weighs more."""
        return {"error": 3, "warning": 2, "note": 1, "off": 0}[self.value]


@dataclass(frozen=True, kw_only=True)
class Related:
    """Another place that a reader has to look at."""

    place: Place
    note: str


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """What a rule yields: it knows neither its code nor, as a rule, its severity."""

    place: Place
    subject: str
    message: str
    mend: str
    severity: Severity | None = None
    related: tuple[Related, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A diagnostic with the code, name and reason of its rule and the severity that counts."""

    code: str
    name: str
    severity: Severity
    place: Place
    subject: str
    message: str
    why: str
    mend: str
    related: tuple[Related, ...] = ()

    @property
    def headline(self) -> str:
        """Return the message, with the subject before it where the message does not name it."""
        is_named = self.subject in self.message or self.subject.startswith(self.place.file)
        return self.message if is_named else f"{self.subject}: {self.message}"

    @property
    def fingerprint(self) -> str:
        """Identify the finding without its line, so that an edit above it changes nothing."""
        parts = (self.code, self.place.file, self.subject, self.message)
        return sha256("\0".join(parts).encode(errors="backslashreplace")).hexdigest()[:16]

    @property
    def order(self) -> tuple[Place, str, str, str]:
        """Return the key by which findings are sorted."""
        return self.place, self.code, self.subject, self.message

"""What can be wrong with a file before any rule has seen its content.

Knows the kinds of such problems and how they are gathered. Rules turn them into findings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from govctl.findings import Diagnostic
from govctl.places import Place


class ProblemKind(StrEnum):
    """One kind for each rule about files."""

    NOT_UTF8 = "not-utf8"
    BYTE_ORDER_MARK = "byte-order-mark"
    CARRIAGE_RETURN = "carriage-return"
    TOML_SYNTAX = "toml-syntax"
    UNREADABLE = "unreadable"
    STRAY = "stray"
    SCHEMA_LINE = "schema-line"
    PYTHON_SYNTAX = "python-syntax"
    EMPTY_GLOB = "empty-glob"
    SCHEMA_VALUE = "schema-value"
    UNKNOWN_KEY = "unknown-key"
    MISSING_KEY = "missing-key"
    DATE = "date"
    LOCK = "lock"
    EVIDENCE = "evidence"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A diagnostic of one kind."""

    kind: ProblemKind
    diagnostic: Diagnostic


@dataclass(frozen=True, kw_only=True)
class Problems:
    """A growing list of problems."""

    found: list[Problem] = field(default_factory=list)

    def add(self, kind: ProblemKind, place: Place, message: str, mend: str, *, subject: str = "") -> None:
        """Note one problem; the subject is the file unless it is named."""
        diagnostic = Diagnostic(place=place, subject=subject or place.file, message=message, mend=mend)
        self.found.append(Problem(kind=kind, diagnostic=diagnostic))

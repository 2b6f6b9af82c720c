"""What a file of known failures says, as values. Knows nothing of TOML, of runs or of the clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

FLAKY = "flaky"


@dataclass(frozen=True, kw_only=True)
class KnownFailure:
    """One check that is known to fail, how, why, and until when.

    `expect` is a status or `flaky`; `message` is how the message begins; the entry applies where every fact of `when`
    is as it says; `trace` is relative to the file.
    """

    check: str
    expect: str
    message: str
    issue: str
    when: Mapping[str, str] = field(default_factory=dict)
    expires: date | None = None
    trace: str = ""

    @property
    def is_flaky(self) -> bool:
        """Say whether the check is known to pass at times."""
        return self.expect == FLAKY


@dataclass(frozen=True, kw_only=True)
class KnownFailures:
    """Every entry of one file, in its order, and the digest of its text."""

    entries: tuple[KnownFailure, ...] = ()
    digest: str = ""


class Expectation(StrEnum):
    """How a result stands to what was expected of it; beside the verdict, never instead of it."""

    AS_EXPECTED = "as-expected"
    UNEXPECTED = "unexpected"
    STALE = "stale"
    CHANGED = "changed"
    SKIPPED = "skipped"
    EXPIRED = "expired"


class KnownError(ValueError):
    """A file of known failures is not what it has to be; every problem is listed."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(self.problems)

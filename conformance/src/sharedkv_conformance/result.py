"""How one check ended. A value: knows nothing of how checks are run, and needs nothing that is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sharedkv_conformance.status import Status

# What a message says where the adapter is at fault: an answer without the contract's shape, or a misspoken wire.
MALFORMED = "malformed answer: "
UNREADABLE, UNASKED = "no message of the wire", "an answer to what was not asked"
MISUSED = "Remote: protocol: "


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """How often the trace of a failure was issued again, and how often it failed again."""

    tries: int
    failed: int

    @property
    def is_flaky(self) -> bool:
        """Say whether the failure did not come back every time."""
        return self.failed < self.tries


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """How one check ended.

    `statement` and `law` say what was broken, `laws` which laws judged the run; `trace` holds the lines of the trace
    of a failure, and `repeats` what became of it when it was issued again.
    """

    check: str
    status: Status
    message: str = ""
    statement: str = ""
    law: str = ""
    examples: int = 0
    witnesses: Mapping[str, int] = field(default_factory=dict)
    laws: frozenset[tuple[str, str]] = frozenset()
    trace: tuple[Mapping[str, Any], ...] = ()
    repeats: Repeats | None = None

"""How the result of a check stands to what was expected. Pure: statuses and messages in, one word out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from sharedkv_conformance.known.entry import Expectation, KnownFailure
from sharedkv_conformance.marks import Check
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status

FINE = frozenset({Status.PASS, Status.INAPPLICABLE, Status.NOT_RUN})
SKIPPED = frozenset({Status.INAPPLICABLE, Status.NOT_RUN, Status.BLOCKED, Status.UNMET})
FAILED = frozenset({Status.FAIL, Status.ERROR, Status.CRASH, Status.TIMEOUT, Status.VACUOUS})


@dataclass(frozen=True, kw_only=True)
class Expectations:
    """What a run expects: the entry of each check that applies, the day, and whether checks were left out."""

    entries: Mapping[str, KnownFailure] = field(default_factory=dict)
    today: date | None = None
    filtered: bool = False

    def of(self, check: Check, results: Mapping[str, CheckResult]) -> Expectation:
        """Return how a check's result stands to what was expected; `results` holds it and those it depends on."""
        result = results[check.slug]
        entry = self.entries.get(check.slug)
        if entry is None:
            return self._unlisted(check, result, results)
        if result.status in SKIPPED:
            left_out = self.filtered and result.status is Status.NOT_RUN
            return Expectation.AS_EXPECTED if left_out else Expectation.SKIPPED
        if entry.expires is not None and self.today is not None and entry.expires < self.today:
            return Expectation.EXPIRED
        if result.status is Status.PASS:
            return Expectation.AS_EXPECTED if entry.is_flaky else Expectation.STALE
        return Expectation.AS_EXPECTED if fails_as_listed(entry, result) else Expectation.CHANGED

    def _unlisted(self, check: Check, result: CheckResult, results: Mapping[str, CheckResult]) -> Expectation:
        """Judge a check without an entry; one that is blocked by known failures alone could do no better."""
        if (
            result.status is Status.BLOCKED
            and check.depends_on
            and all(
                name in self.entries and fails_as_listed(self.entries[name], results[name])
                for name in check.depends_on
                if results[name].status not in FINE
            )
        ):
            return Expectation.AS_EXPECTED
        return Expectation.AS_EXPECTED if result.status in FINE else Expectation.UNEXPECTED


def fails_as_listed(entry: KnownFailure, result: CheckResult) -> bool:
    """Say whether a result is the failure that an entry tells of: its status, and how its message begins."""
    statuses = FAILED if entry.is_flaky else frozenset({entry.expect})
    return result.status in statuses and result.message.startswith(entry.message)

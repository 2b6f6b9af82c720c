"""Runs the tests of the kernels in this process and counts how they ended.

Knows pytest. Does not know what is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

TESTS = Path("tests/kernels/on_device")


@dataclass(frozen=True, kw_only=True)
class Tests:
    """How many tests ended in each way."""

    passed: int
    failed: int
    skipped: int
    exit_status: int

    @property
    def is_good(self) -> bool:
        """Say whether something passed and nothing failed, in a test or around it."""
        return self.passed > 0 and self.failed == 0 and self.exit_status == pytest.ExitCode.OK

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class _Counter:
    """A plugin of pytest: each test counts once, as the worst of its phases."""

    def __init__(self) -> None:
        self._outcomes: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take notice of one phase of one test."""
        if report.when == "call" or report.outcome != "passed":
            self._outcomes[report.nodeid] = report.outcome

    def count(self, outcome: str) -> int:
        """Count the tests that ended so."""
        return list(self._outcomes.values()).count(outcome)


def tested(root: Path, options: Sequence[str]) -> Tests:
    """Run the tests; warnings of foreign packages fail nothing here."""
    counter = _Counter()
    status = pytest.main([str(root / TESTS), f"--rootdir={root}", "-q", "-W", "default", *options], plugins=[counter])
    return Tests(
        passed=counter.count("passed"),
        failed=counter.count("failed"),
        skipped=counter.count("skipped"),
        exit_status=int(status),
    )

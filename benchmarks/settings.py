"""What every benchmark is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.progress import Progress
from benchmarks.result import Result


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How hard to measure, where the repository is, and whom to tell of steps."""

    quick: bool
    root: Path
    progress: Progress

    def rounds(self, full: int) -> int:
        """Return the rounds to measure: a tenth of the full number when quick, at least one."""
        return max(1, full // 10) if self.quick else full


Benchmark = Callable[[Settings], Result]

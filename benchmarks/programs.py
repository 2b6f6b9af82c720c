"""Programs as a user starts them, each run to its end and timed as a whole process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter

from benchmarks.errors import CommandFailedError

OUTPUT_SHOWN = 2_000


@dataclass(frozen=True, kw_only=True)
class ProcessTimes:
    """The seconds of several runs: on the clock, and of processor time, which neighbours change less."""

    clock: tuple[float, ...]
    processor: tuple[float, ...]

    @property
    def minimum(self) -> float:
        """Return the clock time of the fastest run."""
        return min(self.clock)

    @property
    def median(self) -> float:
        """Return the clock time that half of the runs stay below."""
        return median(self.clock)

    @property
    def median_processor(self) -> float:
        """Return the processor time that half of the runs stay below."""
        return median(self.processor)


def timed(module: str, *arguments: str, folder: Path, runs: int = 1, expected: Sequence[int] = (0,)) -> ProcessTimes:
    """Run a Python module in a folder, whole process each time, or raise if it does not end as expected."""
    times = [_once([module, *arguments], folder, expected) for _ in range(runs)]
    return ProcessTimes(clock=tuple(clock for clock, _ in times), processor=tuple(used for _, used in times))


def _once(arguments: Sequence[str], folder: Path, expected: Sequence[int]) -> tuple[float, float]:
    command = [sys.executable, "-m", *arguments]
    used_before = _processor_seconds()
    start = perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    took = perf_counter() - start
    if done.returncode not in expected:
        output = (done.stdout + done.stderr)[:OUTPUT_SHOWN]
        raise CommandFailedError(" ".join(arguments), done.returncode, output)
    return took, _processor_seconds() - used_before


def _processor_seconds() -> float:
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime

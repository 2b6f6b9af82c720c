"""How long calls take, each timed by itself.

Variants take turns, so that a busy machine is busy for all of them; minimum and median say what the code costs, where a
mean would say what the neighbours did. Knows nothing of what is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns

Operation = Callable[[], object]

NS_PER_US = 1_000


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The time of every call, in the order of the rounds."""

    calls_ns: tuple[int, ...]

    @property
    def minimum_us(self) -> float:
        """Return the time of the fastest call."""
        return min(self.calls_ns) / NS_PER_US

    @property
    def median_us(self) -> float:
        """Return the time that half of the calls stay below."""
        return median(self.calls_ns) / NS_PER_US

    def percentile_us(self, percent: int) -> float:
        """Return the time that so many of a hundred calls stay below."""
        return sorted(self.calls_ns)[len(self.calls_ns) * percent // 100] / NS_PER_US

    def first_of_each(self, calls: int) -> Timing:
        """Return the first call of each block of so many: it comes when something else has had the caches."""
        return Timing(calls_ns=self.calls_ns[::calls])

    def __add__(self, other: Timing) -> Timing:
        """Return the time of two calls of each round together."""
        return Timing(calls_ns=tuple(a + b for a, b in zip(self.calls_ns, other.calls_ns, strict=True)))


def one_by_one(operations: Mapping[str, Operation], *, rounds: int) -> dict[str, Timing]:
    """Call every operation once a round, in order, and time each call."""
    calls: dict[str, list[int]] = {name: [] for name in operations}
    for _ in range(rounds):
        for name, operation in operations.items():
            start = perf_counter_ns()
            operation()
            calls[name].append(perf_counter_ns() - start)
    return {name: Timing(calls_ns=tuple(taken)) for name, taken in calls.items()}


def in_turn(
    variants: Mapping[str, Mapping[str, Operation]], *, blocks: int, rounds: int
) -> dict[str, dict[str, Timing]]:
    """Let each variant do a block of rounds, then the next one, and so on; a block of each is not counted."""
    for operations in variants.values():
        one_by_one(operations, rounds=rounds)
    done = [
        {name: one_by_one(operations, rounds=rounds) for name, operations in variants.items()} for _ in range(blocks)
    ]
    return {
        name: {operation: _joined([block[name][operation] for block in done]) for operation in operations}
        for name, operations in variants.items()
    }


def _joined(blocks: Sequence[Timing]) -> Timing:
    return Timing(calls_ns=tuple(took for block in blocks for took in block.calls_ns))

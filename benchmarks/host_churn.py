"""The churn that host pools are measured by: nodes of the prefix tree come, and random ones leave when room is short.

Knows sizes and who leaves; both are drawn from a seed alone, so that every pool does the same work. Does not know which
pool it is, nor what that answers: a `HostPages` says how its answer is read as pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Timing

SEED = 20261129
MEDIAN_NODE_PAGES = 28
SPREAD = 0.7
MOST_NODE_PAGES = 256
FREE_SHARE = 0.03
DRAWS = 4096


class HostPages(Protocol):
    """Gives memory to a node and takes it back; what names the memory is the pool's own affair."""

    def allocate(self, num_pages: int) -> Any:  # noqa: ANN401 - pages here, slots there
        """Allocate pages, of which there are as many."""

    def release(self, memory: Any) -> None:  # noqa: ANN401 - as above
        """Give the memory of a node back."""

    def pages_of(self, memory: Any) -> Sequence[int] | NDArray[np.int64]:  # noqa: ANN401 - as above
        """Read what was allocated as pages, in their order."""

    def memory_of(self, pages: Any) -> Any:  # noqa: ANN401 - as above
        """Name pages in the way in which the pool wants them back."""

    def free_pages(self) -> NDArray[np.int64]:
        """Return the free pages."""


@dataclass(kw_only=True)
class Calls:
    """What was asked for and how long it took, call by call; `num_runs` counts what the allocations lie in."""

    sizes: list[int] = field(default_factory=list)
    allocate_ns: list[int] = field(default_factory=list)
    release_ns: list[int] = field(default_factory=list)
    num_runs: int = 0

    @property
    def allocate(self) -> Timing:
        """Return the times of allocations."""
        return Timing(calls_ns=tuple(self.allocate_ns))

    @property
    def release(self) -> Timing:
        """Return the times of releases."""
        return Timing(calls_ns=tuple(self.release_ns))

    @property
    def runs_each(self) -> float:
        """Return in how many runs an allocation lies, in the mean."""
        return self.num_runs / len(self.sizes)


class Churn:
    """One pool under churn: nearly full after `fill`, and from then on."""

    def __init__(self, pool: HostPages, num_pages: int) -> None:
        self.pool = pool
        self.num_pages = self.num_free = num_pages
        self.nodes: list[Sequence[int] | NDArray[np.int64]] = []
        self.calls = Calls()
        self._keep_free = round(num_pages * FREE_SHARE)
        self._rng = np.random.default_rng(SEED)
        self._sizes: list[int] = []
        self._shares: list[float] = []

    def fill(self) -> None:
        """Allocate nodes until the pool is nearly full."""
        while self.num_free - (size := self._next_size()) >= self._keep_free:
            self._add(self.pool.pages_of(self.pool.allocate(size)))

    def round(self) -> None:
        """Let random nodes leave until the next one has room, then let it come. Calls of the pool alone are timed."""
        size = self._next_size()
        while self.num_free - size < self._keep_free:
            memory = self.pool.memory_of(self._remove())
            start = perf_counter_ns()
            self.pool.release(memory)
            self.calls.release_ns.append(perf_counter_ns() - start)
        start = perf_counter_ns()
        memory = self.pool.allocate(size)
        self.calls.allocate_ns.append(perf_counter_ns() - start)
        self.calls.sizes.append(size)
        pages = self.pool.pages_of(memory)
        self.calls.num_runs += num_runs(pages)
        self._add(pages)

    def burn_in(self, turns: float) -> None:
        """Fill the pool, allocate so many times its volume, and forget how long it took."""
        self.fill()
        asked = 0
        while asked < turns * self.num_pages:
            self.round()
            asked += self.calls.sizes[-1]
        self.calls = Calls()

    def is_whole(self) -> bool:
        """Say whether every page is free or in one node, and in no other."""
        held = [np.asarray(node, dtype=np.int64) for node in self.nodes]
        times = np.bincount(np.concatenate([self.pool.free_pages(), *held]), minlength=self.num_pages)
        return len(times) == self.num_pages and bool((times == 1).all())

    def _add(self, pages: Sequence[int] | NDArray[np.int64]) -> None:
        self.nodes.append(pages)
        self.num_free -= len(pages)

    def _remove(self) -> Sequence[int] | NDArray[np.int64]:
        if not self._shares:
            self._shares = self._rng.random(DRAWS).tolist()
        place = int(self._shares.pop() * len(self.nodes))
        self.nodes[place], self.nodes[-1] = self.nodes[-1], self.nodes[place]
        pages = self.nodes.pop()
        self.num_free += len(pages)
        return pages

    def _next_size(self) -> int:
        if not self._sizes:
            drawn = self._rng.lognormal(np.log(MEDIAN_NODE_PAGES), SPREAD, DRAWS)
            self._sizes = np.clip(np.rint(drawn), 1, MOST_NODE_PAGES).astype(int).tolist()
        return self._sizes.pop()


def num_runs(pages: Sequence[int] | NDArray[np.int64]) -> int:
    """Count the runs of consecutive pages, in the order in which they stand."""
    if isinstance(pages, range):
        return 1
    return 1 + int(np.count_nonzero(np.diff(pages) != 1))

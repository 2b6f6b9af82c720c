"""Which nodes give up their device pages, so that lanes get the pages they are short of.

Knows counts and deficits. Does not know requests, copies or pools, and evicts nobody. The choice is greedy: each round
takes the node with the most missing pages, then the one whose ancestors have most, then the least recent, then the one
created first.

What a node is worth falls with the deficit and never rises. And while every lane that is short misses at least as much
as any node can give, it does not change at all: those rounds are taken in one sorted run. Only near the end of a lane
is each round decided by itself, by one look at all counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sharedkv.errors import Refusal, RefusedError
from sharedkv.eviction_counts import CountedNodes, Flags, Integers, Pages

# A run is sorted when at least so many nodes are sure to fit into it, and is not longer than this.
LEAST_RUN, LONGEST_RUN = 8, 256


@dataclass(frozen=True, kw_only=True, slots=True)
class EvictionPlan:
    """Node numbers in the order of eviction; pages by lane that they free, and that stay missing."""

    victims: tuple[int, ...]
    freed: tuple[int, ...]
    remaining: tuple[int, ...]


def plan(nodes: CountedNodes, deficit: Sequence[int]) -> EvictionPlan:
    """Plan as far as it goes: a lane may stay short. Refuses what is not one count a lane."""
    missing = _checked(nodes, deficit)
    planner = _Planner(nodes, missing)
    planner.run()
    return _answer(nodes, planner.victims, missing)


def plan_load_back(nodes: CountedNodes, deficit: Sequence[int]) -> EvictionPlan:
    """Plan all or nothing: no victim where a lane would stay short. Refuses what is not one count a lane."""
    found = plan(nodes, deficit)
    return _answer(nodes, [], _checked(nodes, deficit)) if any(found.remaining) else found


def _checked(nodes: CountedNodes, deficit: Sequence[int]) -> Integers:
    if len(deficit) != nodes.num_lanes:
        raise RefusedError(Refusal.DEFICIT_MISMATCH, len(deficit))
    if min(deficit, default=0) < 0:
        raise RefusedError(Refusal.DEFICIT_NEGATIVE, min(deficit))
    return np.array(deficit, dtype=np.int64)


def _answer(nodes: CountedNodes, victims: Sequence[int], missing: Integers) -> EvictionPlan:
    freed = nodes.counts[:, victims].sum(1) if victims else np.zeros_like(missing)
    return EvictionPlan(
        victims=tuple(nodes.numbers[victims].tolist()) if victims else (),
        freed=tuple(freed.tolist()),
        remaining=tuple(np.maximum(missing - freed, 0).tolist()),
    )


class _Planner:
    """The rounds of one plan, by slot.

    `left` (lanes,) is what is missing still. `up` (n + 1,) is the nearest resident slot above, the root at last.
    `above` (lanes, n) are the pages of all unlocked ancestors. `num_below` counts the resident slots whose `up` it is.
    """

    def __init__(self, nodes: CountedNodes, missing: Integers) -> None:
        self.counts = nodes.counts
        self.victims: list[int] = []
        self.left = missing
        self._nodes = nodes
        self._root = len(nodes.numbers)
        self._is_resident = np.append(nodes.counts.any(0), True)
        self.up = self._resident_above()
        self.above = self._unlocks()
        resident = np.flatnonzero(self._is_resident[:-1])
        num_below = np.bincount(self.up[resident], minlength=self._root + 1)
        self.is_eligible: Flags = self._is_resident[:-1] & ~nodes.is_held & (num_below[:-1] == 0)
        self._num_below: list[int] = num_below.tolist()
        self._most = np.maximum(_largest(self.counts), _largest(self.above))

    def run(self) -> None:
        """Take victims until nobody is worth it."""
        while self.left.any() and (self._take_run() if self._fits_a_run() else self._take_best()):
            pass

    def _by_recency(self, slots: Integers, *first: Integers) -> Integers:
        """Return the order of ascending slots by what goes before, then by segment, tick and creation."""
        return np.lexsort((self._nodes.last_ticks[slots], self._nodes.is_protected[slots], *first))

    def _resident_above(self) -> Integers:
        """Skip slots without pages: each round doubles the steps that were skipped."""
        up = np.append(self._nodes.parents, self._root)
        while not (is_there := self._is_resident[up]).all():
            up = np.where(is_there, up, up[up])
        return up

    def _unlocks(self) -> Pages:
        """Sum the pages of unlocked ancestors: each round doubles the steps that were summed."""
        sums = np.zeros((len(self.counts), self._root + 1), dtype=self.counts.dtype)
        ahead = self.up
        if (ahead == self._root).all():
            return sums[:, :-1]
        sums[:, :-1] = self.counts * self._unlocked()[:-1]
        while (ahead != self._root).any():
            sums = sums + sums[:, ahead]
            ahead = ahead[ahead]
        return sums[:, self.up[:-1]]

    def _unlocked(self) -> Flags:
        """Mark what can go: every way up from a held slot cannot."""
        is_unlocked = self._is_resident.copy()
        is_unlocked[self._root] = False
        for held in np.flatnonzero(self._nodes.is_held & self._is_resident[:-1]).tolist():
            slot = held
            while is_unlocked[slot]:
                is_unlocked[slot] = False
                slot = int(self.up[slot])
        return is_unlocked

    def _fits_a_run(self) -> bool:
        """Say whether what nodes are worth stays as it is for some rounds."""
        return bool(((self.left >= LEAST_RUN * self._most) | (self.left == 0)).all())

    def _worth(self, pages: Pages) -> Pages:
        """Return of each slot the pages that are missing; no lane has to be told that more is than a slot has."""
        missing = np.minimum(self.left, self._most).astype(pages.dtype)
        worth: Pages = np.add.reduce(np.minimum(pages, missing[:, None]), axis=0, dtype=pages.dtype)
        return worth

    def _take_run(self) -> int:
        """Take the rounds that are sure: up to a lane that may get less than a node has, or to a new eligible slot."""
        slots = np.flatnonzero(self.is_eligible)
        contributions, unlocks = self._worth(self.counts)[slots], self._worth(self.above)[slots]
        scores = contributions * np.int64(unlocks.max(initial=0) + 1) + unlocks
        order = self._by_recency(slots, -scores)[:LONGEST_RUN]
        order = order[scores[order] > 0]
        chosen = slots[order]
        taken = self.counts[:, chosen].cumsum(1, dtype=np.int64)
        before = taken - self.counts[:, chosen]
        short = self.left[:, None]
        is_sure = ((short - before >= self._most[:, None]) | (before == 0) | (short == 0)).all(0)
        num_sure = len(chosen) if is_sure.all() else int(is_sure.argmin())
        num_taken = self._take(chosen[:num_sure])
        if num_taken:
            self.left = np.maximum(self.left - taken[:, num_taken - 1], 0)
        return num_taken

    def _take_best(self) -> int:
        """Take the one victim of this round."""
        contributions = self._worth(self.counts) * self.is_eligible
        most = contributions.max(initial=0)
        alike = (contributions == most if most else self.is_eligible).nonzero()[0]
        if len(alike) != 1 or not most:
            unlocks = self._worth(self.above[:, alike])
            if not most and not unlocks.any():
                return 0
            alike = alike[unlocks == unlocks.max()]
        best = alike[:1] if len(alike) == 1 else alike[self._by_recency(alike)[:1]]
        self.left = np.maximum(self.left - self.counts[:, best[0]], 0)
        return self._take(best)

    def _take(self, slots: Integers) -> int:
        """Take slots as victims, and return how many: no more once a slot above becomes eligible."""
        num_taken = len(slots)
        above = self.up[slots]
        for place in (above != self._root).nonzero()[0].tolist():
            parent = int(above[place])
            self._num_below[parent] -= 1
            if not self._num_below[parent]:
                self.is_eligible[parent] = not self._nodes.is_held[parent]
                num_taken = place + 1
                break
        self.victims += slots[:num_taken].tolist()
        self.is_eligible[slots[:num_taken]] = False
        return num_taken


def _largest(pages: Pages) -> Integers:
    largest: Integers = pages.max(1, initial=0).astype(np.int64)
    return largest

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
# Nobody has so many: a deficit above is as good as this one, and counts stay narrow.
MOST_PAGES = np.iinfo(np.int32).max
# Bits of a key that sorts nodes, beside its sign and one for the segment.
KEY_BITS = 62


@dataclass(frozen=True, kw_only=True, slots=True)
class EvictionPlan:
    """Node numbers in the order of eviction; pages by lane that they free, and that stay missing."""

    victims: tuple[int, ...]
    freed: tuple[int, ...]
    remaining: tuple[int, ...]


def plan(nodes: CountedNodes, deficit: Sequence[int]) -> EvictionPlan:
    """Plan as far as it goes: a lane may stay short. Refuses what is not one count a lane."""
    missing = _checked(nodes, deficit)
    if not missing.any():
        return _answer(nodes, [], missing)
    planner = _Planner(nodes, missing)
    planner.run()
    return _answer(nodes, planner.victims, missing)


def plan_load_back(nodes: CountedNodes, deficit: Sequence[int]) -> EvictionPlan:
    """Plan all or nothing: no victim where a lane would stay short. Refuses what is not one count a lane."""
    missing = _checked(nodes, deficit)
    if not missing.any():
        return _answer(nodes, [], missing)
    planner = _Planner(nodes, missing)
    if planner.can_end():
        planner.run()
    return _answer(nodes, planner.victims, missing)


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
    """The rounds of one plan.

    Nodes with pages stand at places 0..m-1 in the order in which equal ones go: by segment, tick and creation, so that
    the first of equals is the one. Place m is the root. `slots` (m,) has the slot of each place, `counts` (lanes, m)
    its pages, `up` (m + 1,) the nearest place above that has pages, `above` (lanes, m) the pages of all unlocked
    ancestors, or None where no node stands on another. `left` (lanes,) is what is missing still. `num_below` counts the
    places whose `up` it is.
    """

    def __init__(self, nodes: CountedNodes, missing: Integers) -> None:
        self.victims: list[int] = []
        self.left: Pages = np.minimum(missing, MOST_PAGES).astype(np.int32)
        is_resident: Flags = np.logical_or.reduce(nodes.counts, axis=0)
        self.slots = _by_recency(nodes, np.flatnonzero(is_resident))
        self.counts = nodes.counts.take(self.slots, axis=1)
        self._scratch = np.empty_like(self.counts)
        self.up = _places_above(nodes, is_resident, self.slots)
        self._root = len(self.slots)
        self._is_held = nodes.is_held[self.slots]
        num_below = np.bincount(self.up[:-1], minlength=self._root + 1)
        self.is_eligible: Flags = ~self._is_held & (num_below[:-1] == 0)
        self._num_below = num_below.data
        self.above = self._unlocks()
        self._most = _largest(self.counts)
        if self.above is not None:
            self._most = np.maximum(self._most, _largest(self.above))
        self._least_left: list[int] = (LEAST_RUN * self._most).tolist()

    def can_end(self) -> bool:
        """Say whether all that can go, down to the last, is what is missing or more: then rounds end with nothing left.

        While a lane is short, whoever has a page of it is eligible or is unlocked by somebody who is.
        """
        return bool(((self.counts * self._unlocked()).sum(1) >= self.left).all())

    def run(self) -> None:
        """Take victims until nobody is worth it."""
        while self.left.any() and (self._take_run() if self._fits_a_run() else self._take_best()):
            pass

    def _unlocks(self) -> Pages | None:
        """Sum the pages of unlocked ancestors, doubling the steps each round; None where all are below the root."""
        ahead = self.up
        if (ahead == self._root).all():
            return None
        sums = np.zeros((self._root + 1, len(self.counts)), dtype=self.counts.dtype)
        sums[:-1] = (self.counts * self._unlocked()).T
        ahead_of = np.empty_like(sums)
        while (ahead != self._root).any():
            sums += sums.take(ahead, axis=0, out=ahead_of, mode="clip")
            ahead = ahead[ahead]
        return np.ascontiguousarray(sums.take(self.up[:-1], axis=0, out=ahead_of[:-1], mode="clip").T)

    def _unlocked(self) -> Flags:
        """Mark what can go: every way up from a held place cannot."""
        is_unlocked = np.ones(self._root + 1, dtype=np.bool_)
        is_unlocked[self._root] = False
        for held in self._is_held.nonzero()[0].tolist():
            place = held
            while is_unlocked[place]:
                is_unlocked[place] = False
                place = int(self.up[place])
        return is_unlocked[:-1]

    def _fits_a_run(self) -> bool:
        """Say whether what nodes are worth stays as it is for some rounds."""
        return all(not left or left >= least for left, least in zip(self.left.tolist(), self._least_left, strict=True))

    def _worth(self, pages: Pages) -> Pages:
        """Return of each place the pages that are missing."""
        missing = np.minimum(pages, self.left[:, None], out=self._scratch[:, : pages.shape[1]])
        worth: Pages = np.add.reduce(missing, axis=0, dtype=pages.dtype)
        return worth

    def _take_run(self) -> int:
        """Take the rounds that are sure: up to a lane that may get less than a node has, or to a new eligible place."""
        scores = self._worth(self.counts).astype(np.int64)
        if self.above is not None:
            unlocks = self._worth(self.above)
            scores = scores * (int(unlocks.max(initial=0)) + 1) + unlocks
        scores *= self.is_eligible
        chosen = np.argsort(-scores, kind="stable")[:LONGEST_RUN]
        chosen = chosen[scores[chosen] > 0]
        pages = self.counts.take(chosen, axis=1)
        taken = pages.cumsum(1, dtype=np.int64)
        before = taken - pages
        short = self.left[:, None]
        is_sure = ((short - before >= self._most[:, None]) | (before == 0) | (short == 0)).all(0)
        num_sure = len(chosen) if is_sure.all() else int(is_sure.argmin())
        num_taken = self._take(chosen[:num_sure])
        if num_taken:
            self.left = np.maximum(self.left - taken[:, num_taken - 1], 0).astype(np.int32)
        return num_taken

    def _take_best(self) -> int:
        """Take the one victim of this round."""
        contributions = self._worth(self.counts)
        contributions *= self.is_eligible
        most = contributions.max(initial=0)
        alike = (contributions == most if most else self.is_eligible).nonzero()[0]
        unlocked = 0
        if self.above is not None and (len(alike) > 1 or not most):
            unlocks = self._worth(self.above.take(alike, axis=1))
            unlocked = unlocks.max(initial=0)
            alike = alike[unlocks == unlocked]
        if not most and not unlocked:
            return 0
        self.left = np.maximum(self.left - self.counts[:, alike[0]], 0)
        return self._take(alike[:1])

    def _take(self, places: Integers) -> int:
        """Take places as victims, and return how many: no more once a place above becomes eligible."""
        num_taken = len(places)
        above = self.up[places]
        for turn in (above != self._root).nonzero()[0].tolist():
            parent = int(above[turn])
            self._num_below[parent] -= 1
            if not self._num_below[parent]:
                self.is_eligible[parent] = not self._is_held[parent]
                num_taken = turn + 1
                break
        self.victims += self.slots[places[:num_taken]].tolist()
        self.is_eligible[places[:num_taken]] = False
        return num_taken


def _by_recency(nodes: CountedNodes, slots: Integers) -> Integers:
    """Order ascending slots by segment, tick and creation; where these fit into one number, it sorts much faster."""
    ticks, is_protected = nodes.last_ticks[slots], nodes.is_protected[slots]
    oldest, latest = int(ticks.min(initial=0)), int(ticks.max(initial=0))
    tick_bits, slot_bits = (latest - oldest).bit_length(), len(slots).bit_length()
    if tick_bits + slot_bits > KEY_BITS:
        return slots[np.lexsort((ticks, is_protected))]
    keys = ticks - oldest
    keys |= is_protected.astype(np.int64) << tick_bits
    keys <<= slot_bits
    keys |= np.arange(len(slots))
    keys.sort()
    ordered: Integers = slots[keys & ((1 << slot_bits) - 1)]
    return ordered


def _places_above(nodes: CountedNodes, is_resident: Flags, slots: Integers) -> Integers:
    """Return for each place, and the root, the nearest one above that has pages: each round doubles what is skipped."""
    root = len(is_resident)
    up = np.append(nodes.parents, root)
    ends = np.append(is_resident, True)
    while not (is_there := ends[up]).all():
        up = np.where(is_there, up, up[up])
    places = np.append(slots, root)
    place_of = np.empty_like(up)
    place_of[places] = np.arange(len(places))
    above: Integers = place_of[up[places]]
    return above


def _largest(pages: Pages) -> Pages:
    largest: Pages = pages.max(1, initial=0)
    return largest

"""Planners of evictions that the reference is measured beside, from the slowest on; each is a plain way to do it.

All choose alike: the largest contribution, then the least recent of its segment, then the node created first. They know
nodes below the root only, so that no node unlocks another. Pages of a node are a tensor of their lanes, as engines keep
them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

Place = tuple[int, bool, int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class TensorNode:
    """A node below the root; `owners` (pages,) int64 has the lane of each page."""

    node: int
    is_protected: bool
    last_tick: int
    owners: torch.Tensor

    def place(self, contribution: int) -> Place:
        """Return the place of the node in a round; the least is taken."""
        return -contribution, self.is_protected, self.last_tick, self.node


def original(nodes: Sequence[TensorNode], deficit: Sequence[int]) -> Iterator[int]:
    """Yield victims; every round asks the tensor of every candidate once for every lane."""

    def counts(node: TensorNode) -> list[int]:
        return [int((node.owners == lane).sum().item()) for lane in range(len(deficit))]

    return _rounds(nodes, deficit, counts)


def memoized(nodes: Sequence[TensorNode], deficit: Sequence[int]) -> Iterator[int]:
    """Yield victims; every round compares all candidates, whose pages were counted at the start."""
    known = _counted(nodes, len(deficit))
    return _rounds(nodes, deficit, lambda node: known[node.node])


def lazy_heap(nodes: Sequence[TensorNode], deficit: Sequence[int]) -> Iterator[int]:
    """Yield victims; pages are counted at the start, and a round looks at the top of a heap of former scores."""
    known = _counted(nodes, len(deficit))
    by_number = {node.node: node for node in nodes}
    left = list(deficit)
    heap = [node.place(_contribution(known[node.node], left)) for node in nodes]
    heapq.heapify(heap)
    while heap:
        node = by_number[heap[0][-1]]
        place = node.place(_contribution(known[node.node], left))
        if place != heap[0]:
            heapq.heapreplace(heap, place)
            continue
        if not place[0]:
            return
        heapq.heappop(heap)
        yield node.node
        left = _left(left, known[node.node])


def _rounds(
    nodes: Sequence[TensorNode], deficit: Sequence[int], counts: Callable[[TensorNode], list[int]]
) -> Iterator[int]:
    candidates = {node.node: node for node in nodes}
    left = list(deficit)
    while candidates:
        best = min(node.place(_contribution(counts(node), left)) for node in candidates.values())
        if not best[0]:
            return
        victim = candidates.pop(best[-1])
        yield victim.node
        left = _left(left, counts(victim))


def _counted(nodes: Sequence[TensorNode], num_lanes: int) -> dict[int, list[int]]:
    return {node.node: node.owners.bincount(minlength=num_lanes).tolist() for node in nodes}


def _contribution(counts: Sequence[int], left: Sequence[int]) -> int:
    return sum(map(min, counts, left))


def _left(left: Sequence[int], counts: Sequence[int]) -> list[int]:
    return [max(0, short - count) for short, count in zip(left, counts, strict=True)]

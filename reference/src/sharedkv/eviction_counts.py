"""The nodes of a prefix tree as a planner of evictions reads them: pages by lane, parents, holds and recency.

Knows what a tree is, and counts the pages of every node once. Does not know deficits, nor who goes.

    slot     0 1 2 ... n-1   the nodes, in the order of their creation
             n               the root, which is no node and has no pages
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharedkv.errors import Refusal, RefusedError

ROOT = -1
PROTECTED_HITS = 2

Integers = NDArray[np.int64]
# Narrow, for a planner reads all of them: nobody has two thousand million pages.
Pages = NDArray[np.int32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One node of the tree: its number, its parent's, and the lane of each page that it has on the device."""

    node: int
    parent: int
    owners: Sequence[int]
    locked: bool
    pending: bool
    hits: int
    last_tick: int


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedNodes:
    """The nodes by slot; a tree that keeps these up to date counts no page when a plan is made.

    `numbers` (n,), ascending. `parents` (n,), slots. `counts` (lanes, n), in pages. `is_held` (n,): locked or pending.
    `is_protected` (n,), `last_ticks` (n,). `pages_read` says how many owners were looked at to make this.
    """

    numbers: Integers
    parents: Integers
    counts: Pages
    is_held: Flags
    is_protected: Flags
    last_ticks: Integers
    pages_read: int

    @property
    def num_lanes(self) -> int:
        """Count the lanes."""
        return len(self.counts)

    @classmethod
    def of(cls, nodes: Iterable[Node], num_lanes: int) -> CountedNodes:
        """Count the pages of nodes, given in any order; refuses what is no tree over the lanes."""
        ordered = sorted(nodes, key=lambda node: node.node)
        slots = _slots(ordered)
        pages = [len(node.owners) for node in ordered]
        return cls(
            numbers=np.array([node.node for node in ordered], dtype=np.int64),
            parents=np.array(_parents(ordered, slots), dtype=np.int64),
            counts=_counts(ordered, pages, num_lanes),
            is_held=np.array([node.locked or node.pending for node in ordered], dtype=np.bool_),
            is_protected=np.array([node.hits >= PROTECTED_HITS for node in ordered], dtype=np.bool_),
            last_ticks=np.array([node.last_tick for node in ordered], dtype=np.int64),
            pages_read=sum(pages),
        )


def _slots(ordered: Sequence[Node]) -> dict[int, int]:
    """Return the slot of each number, the root's among them."""
    slots = {node.node: slot for slot, node in enumerate(ordered)}
    if ordered and ordered[0].node < 0:
        raise RefusedError(Refusal.NODE_NEGATIVE, ordered[0].node)
    if len(slots) < len(ordered):
        twice = next(node.node for slot, node in enumerate(ordered) if slots[node.node] != slot)
        raise RefusedError(Refusal.NODE_NAMED_TWICE, twice)
    return {**slots, ROOT: len(ordered)}


def _parents(ordered: Sequence[Node], slots: dict[int, int]) -> list[int]:
    for node in ordered:
        if node.parent not in slots:
            raise RefusedError(Refusal.PARENT_UNKNOWN, node.parent)
    parents = [slots[node.parent] for node in ordered]
    root = len(ordered)
    reaches_root = bytearray(root + 1)
    reaches_root[root] = True
    for start in range(root):
        way: list[int] = []
        slot = start
        while not reaches_root[slot]:
            if len(way) > root:
                raise RefusedError(Refusal.TREE_CYCLIC, ordered[start].node)
            way.append(slot)
            slot = parents[slot]
        for passed in way:
            reaches_root[passed] = True
    return parents


def _counts(ordered: Sequence[Node], pages: Sequence[int], num_lanes: int) -> Pages:
    owners = np.array([owner for node in ordered for owner in node.owners], dtype=np.int64)
    outside = owners[(owners < 0) | (owners >= num_lanes)]
    if len(outside):
        raise RefusedError(Refusal.OWNER_OUTSIDE_LANES, int(outside[0]))
    cells = owners * len(ordered) + np.repeat(np.arange(len(ordered)), pages)
    return np.bincount(cells, minlength=num_lanes * len(ordered)).reshape(num_lanes, len(ordered)).astype(np.int32)

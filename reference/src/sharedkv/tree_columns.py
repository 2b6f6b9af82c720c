"""What plans read of the nodes, in columns that every change of a node keeps up to date.

Knows slots, counts by lane on both tiers, holds and recency. Does not know tokens, pages or who asks: a plan for either
tier costs no count of pages, and nothing here is made anew for it but the parents.

Slots are in the order of creation. The slot of a node that left is empty until slots run out; then the columns close
up, or grow where most of them are in use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

import numpy as np

from sharedkv.eviction_counts import PROTECTED_HITS, CountedNodes
from sharedkv.tree_node import Node

FIRST_SLOTS = 64
BELOW_ROOT = -1


class Tier(IntEnum):
    """Where pages are, by the index of its columns."""

    DEVICE = 0
    HOST = 1


class NodeColumns:
    """One slot a node: its number, its parent's slot, pages by lane and hold on each tier, segment and recency."""

    def __init__(self, num_lanes: int) -> None:
        self.num_lanes = num_lanes
        self._nodes: list[Node | None] = []
        self._make(FIRST_SLOTS)

    def append(self, node: Node, parent: Node) -> None:
        """Give a node that is newer than all others the next slot, below its parent."""
        if len(self._nodes) == len(self._numbers):
            self._close_up()
        node.slot = len(self._nodes)
        self._nodes.append(node)
        self._numbers[node.slot] = node.number
        self._parents[node.slot] = parent.slot
        self._counts[:, :, node.slot] = 0
        self.refresh(node)

    def drop(self, node: Node) -> None:
        """Empty the slot of a node that nobody is below."""
        slot = node.slot
        self._nodes[slot] = None
        self._parents[slot] = BELOW_ROOT
        self._counts[:, :, slot] = 0

    def clear(self) -> None:
        """Empty every slot."""
        self._nodes.clear()

    def put_between(self, upper: Node, lower: Node) -> None:
        """Note that a node is below another now."""
        self._parents[lower.slot] = upper.slot

    def refresh(self, node: Node) -> None:
        """Note who holds the node, and how recent it is."""
        slot = node.slot
        is_pending = node.is_backup_pending or node.is_load_pending
        self._is_held[Tier.DEVICE, slot] = is_pending or node.locks > 0
        self._is_held[Tier.HOST, slot] = is_pending or node.locks > 0 or node.readers > 0
        self._is_protected[slot] = node.hits >= PROTECTED_HITS
        self._last_ticks[slot] = node.last_tick

    def counts(self, tier: Tier, node: Node) -> tuple[int, ...]:
        """Return the pages of a node by lane."""
        return tuple(self._counts[tier, :, node.slot].tolist())

    def set_counts(self, tier: Tier, node: Node, lanes: Sequence[int]) -> None:
        """Count the pages of a node from the lane of each."""
        self._counts[tier, :, node.slot] = np.bincount(lanes, minlength=self.num_lanes) if lanes else 0

    def move_counts(self, tier: Tier, lower: Node, upper: Node, lanes: Sequence[int]) -> None:
        """Move the counts of some pages from a node to the one that was put above it."""
        self.set_counts(tier, upper, lanes)
        self._counts[tier, :, lower.slot] -= self._counts[tier, :, upper.slot]

    def counted(self, tier: Tier, kept: Iterable[Node] = ()) -> CountedNodes:
        """Return the nodes as a planner reads them, with `kept` as held; good until the next change."""
        num_slots = len(self._nodes)
        parents = self._parents[:num_slots]
        is_held = self._is_held[tier, :num_slots]
        slots = [node.slot for node in kept]
        if slots:
            is_held = is_held.copy()
            is_held[slots] = True
        return CountedNodes(
            numbers=self._numbers[:num_slots],
            parents=np.where(parents == BELOW_ROOT, num_slots, parents),
            counts=self._counts[tier, :, :num_slots],
            is_held=is_held,
            is_protected=self._is_protected[:num_slots],
            last_ticks=self._last_ticks[:num_slots],
            pages_read=0,
        )

    def _make(self, num_slots: int) -> None:
        self._numbers = np.zeros(num_slots, dtype=np.int64)
        self._parents = np.full(num_slots, BELOW_ROOT, dtype=np.int64)
        self._counts = np.zeros((len(Tier), self.num_lanes, num_slots), dtype=np.int32)
        self._is_held = np.zeros((len(Tier), num_slots), dtype=np.bool_)
        self._is_protected = np.zeros(num_slots, dtype=np.bool_)
        self._last_ticks = np.zeros(num_slots, dtype=np.int64)

    def _close_up(self) -> None:
        """Move the nodes that are there to the first slots, of at least twice as many as there are."""
        old = np.array([slot for slot, node in enumerate(self._nodes) if node is not None], dtype=np.int64)
        slot_now = np.full(len(self._nodes) + 1, BELOW_ROOT, dtype=np.int64)
        slot_now[old] = np.arange(len(old))
        before = (self._numbers, self._parents, self._counts, self._is_held, self._is_protected, self._last_ticks)
        numbers, parents, counts, is_held, is_protected, last_ticks = before
        self._make(max(FIRST_SLOTS, 2 * len(old)))
        self._numbers[: len(old)] = numbers[old]
        self._parents[: len(old)] = slot_now[parents[old]]
        self._counts[:, :, : len(old)] = counts[:, :, old]
        self._is_held[:, : len(old)] = is_held[:, old]
        self._is_protected[: len(old)] = is_protected[old]
        self._last_ticks[: len(old)] = last_ticks[old]
        self._nodes = [node for node in self._nodes if node is not None]
        for slot, node in enumerate(self._nodes):
            if node is not None:
                node.slot = slot

    def invariants(self) -> list[str]:
        """List the laws that the columns break. Counts every page."""
        broken = []
        nodes = [node for node in self._nodes if node is not None]
        for node in nodes:
            if self._nodes[node.slot] is not node or self._numbers[node.slot] != node.number:
                broken.append(f"node {node.number} is not in its slot {node.slot}")
            if node.parent is None or self._parents[node.slot] != node.parent.slot:
                broken.append(f"node {node.number} is not below its parent")
        empty = [slot for slot, node in enumerate(self._nodes) if node is None]
        if self._counts[:, :, empty].any():
            broken.append("an empty slot has pages")
        if (np.diff(self._numbers[: len(self._nodes)]) <= 0).any():
            broken.append("slots are not in the order of creation")
        return broken

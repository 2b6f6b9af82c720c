"""A prefix tree as a plan of eviction sees it: what is wrong with it, who may go, and what lies above whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.eviction import EvictionNode

ROOT = -1
PROTECTED_HITS = 2

Deficit = Sequence[int]


def malformed_tree(nodes: Sequence[EvictionNode], lanes: int) -> frozenset[Reason]:
    """Return every reason why the nodes are no tree over these lanes."""
    parents = {node.node: node.parent for node in nodes}
    faults = {
        Reason.NODE_NEGATIVE: any(node.node < 0 for node in nodes),
        Reason.NODE_NAMED_TWICE: len(parents) < len(nodes),
        Reason.PARENT_UNKNOWN: any(node.parent not in parents and node.parent != ROOT for node in nodes),
        Reason.TREE_CYCLIC: any(_comes_to_no_end(node.node, parents) for node in nodes),
        Reason.OWNER_OUTSIDE_LANES: any(owner not in range(lanes) for node in nodes for owner in node.owners),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def malformed_deficit(deficit: Deficit, lanes: int) -> frozenset[Reason]:
    """Return every reason why the counts are no deficit of these lanes."""
    faults = {
        Reason.DEFICIT_MISMATCH: len(deficit) != lanes,
        Reason.DEFICIT_NEGATIVE: any(count < 0 for count in deficit),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def _comes_to_no_end(start: int, parents: dict[int, int]) -> bool:
    """Say whether the way up from a node never leaves the nodes."""
    node = start
    for _ in parents:
        if node not in parents:
            return False
        node = parents[node]
    return node in parents


def capped(counts: Sequence[int], deficit: Deficit) -> int:
    """Return how many of the pages count: on each lane no more than it is short of."""
    return sum(min(count, short) for count, short in zip(counts, deficit, strict=True))


def left_of(deficit: Deficit, counts: Sequence[int]) -> tuple[int, ...]:
    """Return what each lane is still short of when it got so many pages."""
    return tuple(max(0, short - count) for short, count in zip(deficit, counts, strict=True))


def recency(node: EvictionNode) -> tuple[bool, int]:
    """Return the SLRU place: nodes matched less than twice go first, then the least recent."""
    return node.hits >= PROTECTED_HITS, node.last_tick


class EvictionTree:
    """A well-formed tree; what is asked of it is looked up, or counted over all nodes."""

    def __init__(self, nodes: Sequence[EvictionNode], lanes: int) -> None:
        self.nodes = {node.node: node for node in nodes}
        self.lanes = lanes
        self._above = {node: tuple(self._way_up(node)) for node in self.nodes}
        self._below: dict[int, list[int]] = {node: [] for node in self.nodes}
        for node, above in self._above.items():
            for other in above if self.is_resident(node) else ():
                self._below[other].append(node)

    def _way_up(self, node: int) -> Iterator[int]:
        while (node := self.nodes[node].parent) != ROOT:
            yield node

    def above(self, node: int) -> tuple[int, ...]:
        """Return the nodes above a node, upwards."""
        return self._above[node]

    def below(self, node: int) -> Sequence[int]:
        """Return the resident nodes anywhere below a node."""
        return self._below[node]

    def counts(self, node: int) -> tuple[int, ...]:
        """Return the pages of a node, one count a lane."""
        return tuple(self.nodes[node].owners.count(lane) for lane in range(self.lanes))

    def is_resident(self, node: int) -> bool:
        """Say whether the node has pages on the device."""
        return bool(self.nodes[node].owners)

    def is_held(self, node: int) -> bool:
        """Say whether the node itself has to stay."""
        return self.nodes[node].locked or self.nodes[node].pending

    def is_unlocked(self, node: int) -> bool:
        """Say whether a node could go in this plan: it is resident, and neither it nor a resident one below is held."""
        return self.is_resident(node) and not any(self.is_held(other) for other in (node, *self.below(node)))

    def is_last(self, node: int, gone: Sequence[int]) -> bool:
        """Say whether nothing resident is left below a node."""
        return all(other in gone for other in self.below(node))

    def is_eligible(self, node: int, gone: Sequence[int]) -> bool:
        """Say whether a node may go next: resident, not held, not gone, and nothing resident left below it."""
        return node not in gone and self.is_resident(node) and not self.is_held(node) and self.is_last(node, gone)

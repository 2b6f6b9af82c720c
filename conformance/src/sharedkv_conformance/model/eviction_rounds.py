"""A plan taken apart into its rounds: who could have gone in each, and what every one of them was worth then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sharedkv_conformance.contract.eviction import EvictionNode
from sharedkv_conformance.model.eviction_tree import Deficit, EvictionTree, capped, left_of, recency


class Worth(NamedTuple):
    """What a node is worth in a round; larger contribution, then larger unlock, then smaller recency goes first."""

    contribution: int
    unlock: int
    recency: tuple[bool, int]
    node: int

    @property
    def is_something(self) -> bool:
        """Say whether a lane gets a missing page from the node, or from one above it."""
        return self.contribution > 0 or self.unlock > 0

    @property
    def order(self) -> tuple[int, int, tuple[bool, int], int]:
        """Return the place of the node in its round; the least is taken."""
        return -self.contribution, -self.unlock, self.recency, self.node


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round: what lanes were short of, every node that could go, and who went (None: the plan ended here)."""

    left: tuple[int, ...]
    eligible: tuple[Worth, ...]
    victim: Worth | None

    @property
    def candidates(self) -> tuple[Worth, ...]:
        """Return the nodes that were worth something."""
        return tuple(worth for worth in self.eligible if worth.is_something)


@lru_cache(maxsize=256)
def rounds_of(nodes: tuple[EvictionNode, ...], deficit: tuple[int, ...], victims: tuple[int, ...]) -> tuple[Round, ...]:
    """Return the rounds of a plan, the end among them; they stop before a victim that could not go at its turn."""
    return tuple(_rounds(EvictionTree(nodes, len(deficit)), deficit, victims))


@lru_cache(maxsize=256)
def greedy_rounds(nodes: tuple[EvictionNode, ...], deficit: tuple[int, ...]) -> tuple[Round, ...]:
    """Return the rounds of the plan that the specification has for a tree."""
    return tuple(_rounds(EvictionTree(nodes, len(deficit)), deficit, None))


def _rounds(tree: EvictionTree, deficit: Deficit, victims: Sequence[int] | None) -> Iterator[Round]:
    gone: list[int] = []
    left = tuple(deficit)
    while True:
        eligible = tuple(worth_of(tree, node, left) for node in tree.nodes if tree.is_eligible(node, gone))
        chosen = _chosen(eligible, None if victims is None else victims[len(gone) : len(gone) + 1])
        if chosen is None and victims is not None and len(gone) < len(victims):
            return
        yield Round(left=left, eligible=eligible, victim=chosen)
        if chosen is None:
            return
        gone.append(chosen.node)
        left = left_of(left, tree.counts(chosen.node))


def _chosen(eligible: Sequence[Worth], named: Sequence[int] | None) -> Worth | None:
    """Return the eligible node that is named, or where nobody names one the best that is worth something."""
    if named is None:
        return min((w for w in eligible if w.is_something), key=lambda worth: worth.order, default=None)
    return next((worth for worth in eligible if worth.node in named), None)


def worth_of(tree: EvictionTree, node: int, left: Deficit) -> Worth:
    """Return what a node is worth while lanes are short of so much."""
    above = [tree.counts(other) for other in tree.above(node) if tree.is_unlocked(other)]
    unlocks = [sum(counts[lane] for counts in above) for lane in range(tree.lanes)]
    return Worth(
        contribution=capped(tree.counts(node), left),
        unlock=capped(unlocks, left),
        recency=recency(tree.nodes[node]),
        node=node,
    )

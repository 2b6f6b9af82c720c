"""Eviction: which nodes of the prefix tree give up their device pages when lanes are short of pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class EvictionNode:
    """One node of the prefix tree, as it is when the plan is made.

    `node` is its number in the order of creation, at least 0 and unique; `parent` is the number of the node above, -1
    below the root, which is no node itself. `owners` has the lane of each page that the node has on the device; it is
    empty where the node is not resident. A node is `locked` while a request reads it, and `pending` while a backup or a
    load of it is in flight. `hits` counts its matches, `last_tick` is the logical tick of the last one.
    """

    node: int
    parent: int
    owners: tuple[int, ...]
    locked: bool
    pending: bool
    hits: int
    last_tick: int


@dataclass(frozen=True, kw_only=True)
class EvictionPlan:
    """Whom to evict, and what comes of it; planning evicts nobody.

    `victims` are node numbers in the order of eviction. `freed` and `remaining` have one count a lane, in pages: what
    the victims give up, and what of the deficit is left.
    """

    victims: tuple[int, ...]
    freed: tuple[int, ...]
    remaining: tuple[int, ...]


class Eviction(Protocol):
    """A pure function of a tree and a deficit: nothing is remembered, and nothing is evicted.

    Nodes may be listed in any order; `deficit` has one count a lane, in pages. A tree that is none (a number below 0 or
    given twice, a parent that is not there, a cycle, an owner that is no lane) and a deficit that is none (another
    number of lanes, a count below 0) are `Rejected`.
    """

    def plan(self, nodes: Sequence[EvictionNode], deficit: Sequence[int]) -> EvictionPlan:
        """Plan as far as it goes: a lane may stay short."""

    def plan_load_back(self, nodes: Sequence[EvictionNode], deficit: Sequence[int]) -> EvictionPlan:
        """Plan all or nothing: where a lane would stay short, there is no victim and all of the deficit remains."""

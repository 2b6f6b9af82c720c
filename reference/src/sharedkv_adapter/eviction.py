"""The planner of evictions behind the contract.

Knows both forms of a node. Does not know how victims are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv import eviction
from sharedkv.eviction_counts import CountedNodes, Node
from sharedkv.geometry import Geometry
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract


class ReferenceEviction:
    """Plans for the lanes of one geometry; `touched` counts the owners that the last plan read."""

    def __init__(self, geometry: Geometry) -> None:
        self._num_lanes = geometry.cp_size
        self.touched = 0

    def plan(self, nodes: Sequence[contract.EvictionNode], deficit: Sequence[int]) -> contract.EvictionPlan:
        """Plan as far as it goes."""
        with contract_errors():
            return _written(eviction.plan(self._counted(nodes), deficit))

    def plan_load_back(self, nodes: Sequence[contract.EvictionNode], deficit: Sequence[int]) -> contract.EvictionPlan:
        """Plan all or nothing."""
        with contract_errors():
            return _written(eviction.plan_load_back(self._counted(nodes), deficit))

    def _counted(self, nodes: Sequence[contract.EvictionNode]) -> CountedNodes:
        self.touched = 0
        counted = CountedNodes.of([_read(node) for node in nodes], self._num_lanes)
        self.touched = counted.pages_read
        return counted


def _read(node: contract.EvictionNode) -> Node:
    return Node(
        node=node.node,
        parent=node.parent,
        owners=node.owners,
        locked=node.locked,
        pending=node.pending,
        hits=node.hits,
        last_tick=node.last_tick,
    )


def _written(plan: eviction.EvictionPlan) -> contract.EvictionPlan:
    return contract.EvictionPlan(victims=plan.victims, freed=plan.freed, remaining=plan.remaining)

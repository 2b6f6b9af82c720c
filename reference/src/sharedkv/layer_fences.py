"""Fences of layers: what whoever reads rows of a layer has to wait for, since a load may still bring them.

Knows events by layer and rank. Does not know who loads or who reads.

    load    | layer 0 |e0| layer 1 |e1| layer 2 |e2|      the loads of a rank run in order: the latest event of a layer
    reader             waits e0, reads layer 0 ...        stands for all loads of it before
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sharedkv.streams import Event

PendingLoads = Callable[[int], Sequence[Event]]
"""Given a layer: the events after which its rows are there on each rank that is played."""


def no_loads(_layer: int) -> tuple[Event, ...]:
    """Return the loads that a layer's pages wait for where none are ever pending."""
    return ()


class LayerFences:
    """For each layer and rank the end of its latest load, until that load is known to be done."""

    def __init__(self) -> None:
        self._ends: dict[int, dict[int, Event]] = {}

    def put(self, layer: int, rank: int, end: Event) -> None:
        """Let readers of a layer wait for a load of it on one rank, which comes after those before it."""
        self._ends.setdefault(layer, {})[rank] = end

    def drop(self, layer: int, rank: int, end: Event) -> None:
        """Let nobody wait any more for a load that is done, nor for those before it."""
        ends = self._ends.get(layer, {})
        if ends.get(rank) is end:
            del ends[rank]

    def events(self, layer: int) -> tuple[Event, ...]:
        """Return what readers of a layer wait for."""
        return tuple(self._ends.get(layer, {}).values())

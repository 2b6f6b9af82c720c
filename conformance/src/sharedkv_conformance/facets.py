"""The facets that the suite covers: for each word, its state, how its sessions are opened and how calls are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws import allocation, direct_write, eviction, host_tier, planning, prefetch, reuse
from sharedkv_conformance.history import State
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.host_tier_state import HostTierState
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.model.prefetch_state import PrefetchState
from sharedkv_conformance.model.reuse_state import ReuseState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Facet:
    """One facet of the contract, for the history runner.

    `observations` are calls without arguments that show what the last call did; after each call of a history those
    are issued that a law of the run judges.
    """

    word: str
    state: type[State]
    opening: Callable[[Draw, Mapping[str, int]], OpenConfig]
    next_call: Callable[[Draw, Any], Call]
    observations: tuple[str, ...] = ()


FACETS: Mapping[str, Facet] = {
    facet.word: facet
    for facet in (
        Facet(
            word="planning",
            state=PlanningState,
            opening=planning.opening,
            next_call=planning.next_call,
        ),
        Facet(
            word="allocation",
            state=AllocationState,
            opening=allocation.opening,
            next_call=allocation.next_call,
            observations=("probe.cost", "allocation.lanes", "probe.pages", "probe.events"),
        ),
        Facet(
            word="eviction",
            state=EvictionState,
            opening=eviction.opening,
            next_call=eviction.next_call,
            observations=("probe.cost",),
        ),
        Facet(
            word="host_tier",
            state=HostTierState,
            opening=host_tier.opening,
            next_call=host_tier.next_call,
            observations=("probe.cost", "host_tier.statistics"),
        ),
        Facet(
            word="direct_write",
            state=DirectWriteState,
            opening=direct_write.opening,
            next_call=direct_write.next_call,
            observations=("probe.events",),
        ),
        Facet(
            word="reuse",
            state=ReuseState,
            opening=reuse.opening,
            next_call=reuse.next_call,
            observations=("probe.events", "probe.collectives"),
        ),
        Facet(
            word="prefetch",
            state=PrefetchState,
            opening=prefetch.opening,
            next_call=prefetch.next_call,
            observations=("probe.events",),
        ),
    )
}

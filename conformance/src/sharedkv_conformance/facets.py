"""The facets that the suite covers: for each word, its state, how its sessions are opened and how calls are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws import allocation, planning
from sharedkv_conformance.history import State
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.planning import PlanningState
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
    )
}

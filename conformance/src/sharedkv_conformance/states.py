"""What the laws of each facet read: the state by facet word, for those who draw no calls."""

from __future__ import annotations

from collections.abc import Mapping

from sharedkv_conformance.history import State
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.planning import PlanningState

STATES: Mapping[str, type[State]] = {"planning": PlanningState, "allocation": AllocationState}

"""What the laws of each facet read: the state by facet word, for those who draw no calls."""

from __future__ import annotations

from collections.abc import Mapping

from sharedkv_conformance.history import State
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.host_tier_state import HostTierState
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.model.prefetch_state import PrefetchState
from sharedkv_conformance.model.reuse_state import ReuseState

STATES: Mapping[str, type[State]] = {
    "planning": PlanningState,
    "allocation": AllocationState,
    "eviction": EvictionState,
    "host_tier": HostTierState,
    "direct_write": DirectWriteState,
    "reuse": ReuseState,
    "prefetch": PrefetchState,
}

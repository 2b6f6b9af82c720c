"""What the laws of each facet read: the state by facet word, for those who draw no calls."""

from __future__ import annotations

from collections.abc import Mapping

from sharedkv_conformance.history import State
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.copies_state import CopiesState
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.host_tier_state import HostTierState
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.model.prefetch_state import PrefetchState
from sharedkv_conformance.model.reuse_state import ReuseState
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.model.storage_state import StorageState
from sharedkv_conformance.model.transfer_state import TransferState

STATES: Mapping[str, type[State]] = {
    "planning": PlanningState,
    "allocation": AllocationState,
    "eviction": EvictionState,
    "host_tier": HostTierState,
    "host_tree": HostTreeState,
    "copies": CopiesState,
    "direct_write": DirectWriteState,
    "reuse": ReuseState,
    "prefetch": PrefetchState,
    "storage": StorageState,
    "transfer": TransferState,
    "transfer_rooms": TransferState,
    "sending": SendingState,
    "overlap": SendingState,
    "abort": SendingState,
}

"""The contract: what the suite may ask of an implementation. Standard library only, so that an engine can vendor it.

One module a facet holds the facet's frozen values and its Protocol; `pool` holds what the data-plane facets share,
`errors` the answers that are not results, `implementation` how an implementation is described and opened, `operations`
the table of every call.
"""

from sharedkv_conformance.contract.allocation import (
    Admission,
    Allocation,
    ExtendAllocation,
    ExtendRequest,
    LaneStatistics,
    RoomMade,
)
from sharedkv_conformance.contract.direct_write import DirectWrite
from sharedkv_conformance.contract.errors import (
    CapacityWait,
    ContractError,
    Reason,
    Rejected,
    Unsupported,
)
from sharedkv_conformance.contract.eviction import Eviction, EvictionNode, EvictionPlan
from sharedkv_conformance.contract.host_tier import HostAllocation, HostStatistics, HostTier
from sharedkv_conformance.contract.implementation import (
    Description,
    FreeRoom,
    Implementation,
    OpenConfig,
    Session,
)
from sharedkv_conformance.contract.planning import (
    BatchPlan,
    Descriptor,
    DummyRow,
    LastToken,
    Planning,
    RankPlan,
    RequestSplit,
    Segment,
    SegmentRows,
)
from sharedkv_conformance.contract.pool import BufferRows, Placement, PoolConfig, RankRows
from sharedkv_conformance.contract.prefetch import Prefetch
from sharedkv_conformance.contract.probe import Collective, Event, PageSets, PoolBuffer, Probe, Span
from sharedkv_conformance.contract.reuse import Composed, RankQueries, RankTopK, Reuse, ReuseRequest
from sharedkv_conformance.contract.unclaimed import UnclaimedFacet

CONTRACT_VERSION = "1.1"

__all__ = [
    "CONTRACT_VERSION",
    "Admission",
    "Allocation",
    "BatchPlan",
    "BufferRows",
    "CapacityWait",
    "Collective",
    "Composed",
    "ContractError",
    "Description",
    "Descriptor",
    "DirectWrite",
    "DummyRow",
    "Event",
    "Eviction",
    "EvictionNode",
    "EvictionPlan",
    "ExtendAllocation",
    "ExtendRequest",
    "FreeRoom",
    "HostAllocation",
    "HostStatistics",
    "HostTier",
    "Implementation",
    "LaneStatistics",
    "LastToken",
    "OpenConfig",
    "PageSets",
    "Placement",
    "Planning",
    "PoolBuffer",
    "PoolConfig",
    "Prefetch",
    "Probe",
    "RankPlan",
    "RankQueries",
    "RankRows",
    "RankTopK",
    "Reason",
    "Rejected",
    "RequestSplit",
    "Reuse",
    "ReuseRequest",
    "RoomMade",
    "Segment",
    "SegmentRows",
    "Session",
    "Span",
    "UnclaimedFacet",
    "Unsupported",
]

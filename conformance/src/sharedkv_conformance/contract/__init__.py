"""The contract: what the suite may ask of an implementation. Standard library only, so that an engine can vendor it.

One module a facet holds the facet's frozen values and its Protocol; `pool` holds what the data-plane facets share,
`errors` the answers that are not results, `implementation` how an implementation is described and opened, `operations`
the table of every call.
"""

from sharedkv_conformance.contract.abort import Abort
from sharedkv_conformance.contract.allocation import (
    Admission,
    Allocation,
    ExtendAllocation,
    ExtendRequest,
    LaneStatistics,
    RoomMade,
)
from sharedkv_conformance.contract.copies import Copies
from sharedkv_conformance.contract.direct_write import DirectWrite
from sharedkv_conformance.contract.errors import (
    CapacityWait,
    ContractError,
    Reason,
    Rejected,
    Unsupported,
)
from sharedkv_conformance.contract.eviction import Eviction, EvictionNode, EvictionPlan
from sharedkv_conformance.contract.host_tier import (
    BackupRequest,
    Evicted,
    HostAdmission,
    HostAllocation,
    HostEvicted,
    HostStatistics,
    HostTier,
    Inserted,
    LoadBack,
    Match,
)
from sharedkv_conformance.contract.implementation import (
    Description,
    FreeRoom,
    HostConfig,
    Implementation,
    OpenConfig,
    Session,
    StorageConfig,
    TransferConfig,
)
from sharedkv_conformance.contract.overlap import Overlap, OverlapContext
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
from sharedkv_conformance.contract.probe import (
    Collective,
    ControlMessage,
    CopyInFlight,
    Event,
    Flight,
    HostBuffer,
    PageSets,
    PoolBuffer,
    Probe,
    Span,
    StoredObject,
    TreeNode,
)
from sharedkv_conformance.contract.reuse import Composed, RankQueries, RankTopK, Reuse, ReuseRequest
from sharedkv_conformance.contract.sending import (
    DecodePlace,
    DecodeStatistics,
    Reservation,
    Sending,
    SendReport,
)
from sharedkv_conformance.contract.storage import FetchStatus, Storage, StorageNamespace
from sharedkv_conformance.contract.transfer import (
    Block,
    Fingerprint,
    LayerBuffers,
    PageRange,
    RankPages,
    Transfer,
)
from sharedkv_conformance.contract.unclaimed import UnclaimedFacet

CONTRACT_VERSION = "1.3"

__all__ = [
    "CONTRACT_VERSION",
    "Abort",
    "Admission",
    "Allocation",
    "BackupRequest",
    "BatchPlan",
    "Block",
    "BufferRows",
    "CapacityWait",
    "Collective",
    "Composed",
    "ContractError",
    "ControlMessage",
    "Copies",
    "CopyInFlight",
    "DecodePlace",
    "DecodeStatistics",
    "Description",
    "Descriptor",
    "DirectWrite",
    "DummyRow",
    "Event",
    "Evicted",
    "Eviction",
    "EvictionNode",
    "EvictionPlan",
    "ExtendAllocation",
    "ExtendRequest",
    "FetchStatus",
    "Fingerprint",
    "Flight",
    "FreeRoom",
    "HostAdmission",
    "HostAllocation",
    "HostBuffer",
    "HostConfig",
    "HostEvicted",
    "HostStatistics",
    "HostTier",
    "Implementation",
    "Inserted",
    "LaneStatistics",
    "LastToken",
    "LayerBuffers",
    "LoadBack",
    "Match",
    "OpenConfig",
    "Overlap",
    "OverlapContext",
    "PageRange",
    "PageSets",
    "Placement",
    "Planning",
    "PoolBuffer",
    "PoolConfig",
    "Prefetch",
    "Probe",
    "RankPages",
    "RankPlan",
    "RankQueries",
    "RankRows",
    "RankTopK",
    "Reason",
    "Rejected",
    "RequestSplit",
    "Reservation",
    "Reuse",
    "ReuseRequest",
    "RoomMade",
    "Segment",
    "SegmentRows",
    "SendReport",
    "Sending",
    "Session",
    "Span",
    "Storage",
    "StorageConfig",
    "StorageNamespace",
    "StoredObject",
    "Transfer",
    "TransferConfig",
    "TreeNode",
    "UnclaimedFacet",
    "Unsupported",
]

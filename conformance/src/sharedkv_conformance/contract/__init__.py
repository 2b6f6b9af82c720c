"""The contract: what the suite may ask of an implementation. Standard library only, so that an engine can vendor it.

One module a facet holds the facet's frozen values and its Protocol; `errors` holds the answers that are not
results, `implementation` how an implementation is described and opened, `operations` the table of every call.
"""

from sharedkv_conformance.contract.allocation import (
    Admission,
    Allocation,
    ExtendAllocation,
    ExtendRequest,
    LaneStatistics,
    RoomMade,
)
from sharedkv_conformance.contract.errors import (
    CapacityWait,
    ContractError,
    Reason,
    Rejected,
    Unsupported,
)
from sharedkv_conformance.contract.implementation import (
    Description,
    FreeRoom,
    Implementation,
    OpenConfig,
    Session,
)
from sharedkv_conformance.contract.planning import Planning, RequestSplit, Segment
from sharedkv_conformance.contract.probe import Event, PageSets, Probe

CONTRACT_VERSION = "1.0"

__all__ = [
    "CONTRACT_VERSION",
    "Admission",
    "Allocation",
    "CapacityWait",
    "ContractError",
    "Description",
    "Event",
    "ExtendAllocation",
    "ExtendRequest",
    "FreeRoom",
    "Implementation",
    "LaneStatistics",
    "OpenConfig",
    "PageSets",
    "Planning",
    "Probe",
    "Reason",
    "Rejected",
    "RequestSplit",
    "RoomMade",
    "Segment",
    "Session",
    "Unsupported",
]

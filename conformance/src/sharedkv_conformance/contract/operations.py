"""The table of calls: what each is named, takes, returns and on whose values it depends.

The trace, the history recorder and the wire all read this table; nothing else lists operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sharedkv_conformance.contract.allocation import (
    Admission,
    ExtendAllocation,
    ExtendRequest,
    LaneStatistics,
    RoomMade,
)
from sharedkv_conformance.contract.planning import RequestSplit
from sharedkv_conformance.contract.probe import Event, PageSets


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One call of the contract.

    `parameters` and `result` are types that `codec` can read and write. `takes` says which parameters hold values
    that an earlier answer produced, by kind (`page`, `location`, `snapshot`); `produces` says where the answer
    holds such values, by field name (the empty name is the answer itself).
    """

    name: str
    parameters: Mapping[str, Any]
    result: Any
    feature: str
    takes: Mapping[str, str] = field(default_factory=dict)
    produces: Mapping[str, str] = field(default_factory=dict)

    @property
    def facet(self) -> str:
        """Return the attribute of the session that answers this call."""
        return self.name.partition(".")[0]

    @property
    def method(self) -> str:
        """Return the method of the facet that answers this call."""
        return self.name.partition(".")[2]


_BATCH = {"batch": tuple[ExtendRequest, ...]}
_PAGES = {"pages": tuple[int, ...]}

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="planning.split",
        parameters={"prefix_tokens": int, "extend_tokens": int},
        result=RequestSplit,
        feature="planning",
    ),
    Operation(
        name="allocation.extend",
        parameters=_BATCH,
        result=ExtendAllocation,
        feature="allocation",
        produces={"pages": "page", "locations": "location"},
    ),
    Operation(name="allocation.admit", parameters=_BATCH, result=Admission, feature="allocation"),
    Operation(name="allocation.make_room", parameters=_BATCH, result=RoomMade, feature="allocation.free-room"),
    Operation(name="allocation.retain", parameters=_PAGES, result=None, feature="allocation", takes={"pages": "page"}),
    Operation(name="allocation.release", parameters=_PAGES, result=None, feature="allocation", takes={"pages": "page"}),
    Operation(
        name="allocation.release_locations",
        parameters={"locations": tuple[int, ...]},
        result=None,
        feature="allocation",
        takes={"locations": "location"},
    ),
    Operation(
        name="allocation.allocate_flat",
        parameters={"num_pages": int},
        result=tuple[int, ...],
        feature="allocation",
        produces={"": "page"},
    ),
    Operation(
        name="allocation.owners",
        parameters={"request": str, "pages": tuple[int, ...]},
        result=tuple[int, ...],
        feature="allocation",
        takes={"pages": "page"},
    ),
    Operation(name="allocation.lanes", parameters={}, result=LaneStatistics, feature="allocation"),
    Operation(
        name="allocation.snapshot",
        parameters={},
        result=int,
        feature="allocation.snapshot",
        produces={"": "snapshot"},
    ),
    Operation(
        name="allocation.restore",
        parameters={"snapshot": int},
        result=None,
        feature="allocation.snapshot",
        takes={"snapshot": "snapshot"},
    ),
    Operation(name="probe.cost", parameters={}, result=int, feature="probe.cost"),
    Operation(name="probe.events", parameters={}, result=tuple[Event, ...], feature="probe.events"),
    Operation(name="probe.pages", parameters={}, result=PageSets, feature="probe.pages"),
)

OPERATION_BY_NAME: Mapping[str, Operation] = {operation.name: operation for operation in OPERATIONS}

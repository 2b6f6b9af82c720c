"""The table of calls: what each is named, takes, returns and on whose values it depends.

The trace, the history recorder and the wire all read this table; nothing else lists operations.
"""

from __future__ import annotations

from collections.abc import Mapping

from sharedkv_conformance.contract.allocation import (
    Admission,
    ExtendAllocation,
    ExtendRequest,
    LaneStatistics,
    RoomMade,
)
from sharedkv_conformance.contract.eviction import EvictionNode, EvictionPlan
from sharedkv_conformance.contract.host_tier import (
    BackupRequest,
    Evicted,
    HostAdmission,
    HostAllocation,
    HostEvicted,
    HostStatistics,
    Inserted,
    LoadBack,
    Match,
)
from sharedkv_conformance.contract.operation import Operation
from sharedkv_conformance.contract.operations_transfer import NETWORK_OPERATIONS, TRANSFER_OPERATIONS
from sharedkv_conformance.contract.planning import BatchPlan, Descriptor, RequestSplit
from sharedkv_conformance.contract.pool import Placement, RankRows
from sharedkv_conformance.contract.probe import (
    Collective,
    CopyInFlight,
    Event,
    HostBuffer,
    PageSets,
    PoolBuffer,
    StoredObject,
    TreeNode,
)
from sharedkv_conformance.contract.reuse import Composed, RankQueries, RankTopK, ReuseRequest
from sharedkv_conformance.contract.storage import FetchStatus, StorageNamespace

_BATCH = {"batch": tuple[ExtendRequest, ...]}
_PAGES = {"pages": tuple[int, ...]}
_VIEW = {"layer": int, "epoch": int}
_REUSED = {**_VIEW, "batch": tuple[ReuseRequest, ...]}
_VALUES = tuple[tuple[int, ...], ...]
_DEFICIT = {"deficit": tuple[int, ...]}
_TREE = {"nodes": tuple[EvictionNode, ...], **_DEFICIT}
_REQUIRED = {"required": tuple[int, ...]}
_TOKENS = {"tokens": tuple[int, ...]}
_FETCH = {"fetch": int}

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="planning.split",
        parameters={"prefix_tokens": int, "extend_tokens": int},
        result=RequestSplit,
        feature="planning",
    ),
    Operation(
        name="planning.plan",
        parameters={**_BATCH, "static_multiple": int},
        result=BatchPlan,
        feature="planning.batch",
    ),
    Operation(name="planning.descriptors", parameters=_BATCH, result=tuple[Descriptor, ...], feature="planning.batch"),
    Operation(
        name="planning.deal", parameters={**_BATCH, "values": tuple[int, ...]}, result=_VALUES, feature="planning.batch"
    ),
    Operation(
        name="planning.restore",
        parameters={**_BATCH, "rows": _VALUES},
        result=tuple[int, ...],
        feature="planning.batch",
    ),
    Operation(
        name="planning.collect_last",
        parameters={**_BATCH, "rows": _VALUES},
        result=tuple[int, ...],
        feature="planning.batch",
    ),
    Operation(
        name="planning.strip",
        parameters={**_BATCH, "locations": tuple[int, ...], "static_tokens": int},
        result=tuple[int, ...],
        feature="planning.batch",
    ),
    Operation(
        name="planning.chunk",
        parameters={"prefix_tokens": int, "remaining_tokens": int, "budget_tokens": int},
        result=int,
        feature="planning.batch",
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
    Operation(name="direct_write.place", parameters=_PAGES, result=tuple[Placement, ...], feature="direct_write"),
    Operation(
        name="direct_write.page_at", parameters={"lane": int, "physical": int}, result=int, feature="direct_write"
    ),
    Operation(
        name="direct_write.write",
        parameters={
            "layer": int,
            **_BATCH,
            "locations": tuple[int, ...],
            "static_tokens": int,
            "rows": tuple[RankRows, ...],
        },
        result=None,
        feature="direct_write",
    ),
    Operation(
        name="direct_write.read",
        parameters={"layer": int, "buffer": str, "locations": tuple[int, ...]},
        result=bytes,
        feature="direct_write",
    ),
    Operation(
        name="reuse.compose", parameters={**_REUSED, "rows": tuple[RankRows, ...]}, result=Composed, feature="reuse"
    ),
    Operation(name="reuse.dense", parameters={**_VIEW, "buffer": str}, result=tuple[bytes, ...], feature="reuse"),
    Operation(
        name="reuse.top_k",
        parameters={**_VIEW, "queries": tuple[RankQueries, ...], "count": int},
        result=tuple[RankTopK, ...],
        feature="reuse",
    ),
    Operation(
        name="reuse.attend",
        parameters={**_VIEW, "queries": tuple[RankQueries, ...], "indices": tuple[RankTopK, ...]},
        result=tuple[bytes, ...],
        feature="reuse",
    ),
    Operation(name="prefetch.start", parameters=_REUSED, result=bool, feature="prefetch"),
    Operation(name="prefetch.consume", parameters=_REUSED, result=int, feature="prefetch", produces={"": "lease"}),
    Operation(
        name="prefetch.read",
        parameters={"lease": int, "buffer": str},
        result=tuple[bytes, ...],
        feature="prefetch",
        takes={"lease": "lease"},
    ),
    Operation(
        name="prefetch.release", parameters={"lease": int}, result=None, feature="prefetch", takes={"lease": "lease"}
    ),
    Operation(name="prefetch.live_bytes", parameters={}, result=int, feature="prefetch"),
    Operation(name="eviction.plan", parameters=_TREE, result=EvictionPlan, feature="eviction"),
    Operation(name="eviction.plan_load_back", parameters=_TREE, result=EvictionPlan, feature="eviction"),
    Operation(
        name="host_tier.allocate",
        parameters=_PAGES,
        result=HostAllocation,
        feature="host_tier",
        produces={"pages": "host_page"},
    ),
    Operation(
        name="host_tier.release",
        parameters={"lane": int, **_PAGES},
        result=None,
        feature="host_tier",
        takes={"pages": "host_page:lane"},
    ),
    Operation(name="host_tier.statistics", parameters={}, result=HostStatistics, feature="host_tier"),
    Operation(name="host_tier.free_slots", parameters={"lane": int}, result=tuple[int, ...], feature="host_tier"),
    Operation(name="host_tier.match", parameters=_TOKENS, result=Match, feature="host_tier.tree"),
    Operation(
        name="host_tier.insert",
        parameters={"request": str, **_TOKENS, **_PAGES},
        result=Inserted,
        feature="host_tier.tree",
        takes={"pages": "page"},
        produces={"backups": "copy"},
    ),
    Operation(
        name="host_tier.lock", parameters=_TOKENS, result=int, feature="host_tier.tree", produces={"": "tree_lock"}
    ),
    Operation(
        name="host_tier.unlock",
        parameters={"lock": int},
        result=None,
        feature="host_tier.tree",
        takes={"lock": "tree_lock"},
    ),
    Operation(name="host_tier.evict", parameters=_DEFICIT, result=Evicted, feature="host_tier.tree"),
    Operation(name="host_tier.evict_host", parameters=_DEFICIT, result=HostEvicted, feature="host_tier.tree"),
    Operation(name="host_tier.make_room", parameters=_REQUIRED, result=Evicted, feature="host_tier.tree"),
    Operation(name="host_tier.make_host_room", parameters=_REQUIRED, result=HostEvicted, feature="host_tier.tree"),
    Operation(
        name="host_tier.admit",
        parameters={"batch": tuple[BackupRequest, ...]},
        result=HostAdmission,
        feature="host_tier.tree",
    ),
    Operation(name="host_tier.cancel", parameters={"request": str}, result=None, feature="host_tier.tree"),
    Operation(
        name="host_tier.load_back",
        parameters=_TOKENS,
        result=LoadBack,
        feature="host_tier.tree",
        produces={"copy": "copy", "pages": "page"},
    ),
    Operation(name="host_tier.poll", parameters={}, result=tuple[int, ...], feature="host_tier.tree"),
    Operation(name="host_tier.reset", parameters={}, result=None, feature="host_tier.tree"),
    Operation(name="copies.layer_end", parameters={"layer": int}, result=None, feature="copies"),
    Operation(
        name="storage.keys",
        parameters={"namespace": StorageNamespace, **_TOKENS},
        result=tuple[str, ...],
        feature="storage",
        produces={"": "key"},
    ),
    Operation(name="storage.save", parameters=_TOKENS, result=int, feature="storage", produces={"": "copy"}),
    Operation(name="storage.query", parameters=_TOKENS, result=int, feature="storage"),
    Operation(
        name="storage.fetch",
        parameters={**_TOKENS, "policy": str, "timeout": int},
        result=int,
        feature="storage",
        produces={"": "copy"},
    ),
    Operation(name="storage.check", parameters=_FETCH, result=FetchStatus, feature="storage", takes={"fetch": "copy"}),
    Operation(name="storage.end", parameters=_FETCH, result=int, feature="storage", takes={"fetch": "copy"}),
    Operation(name="storage.revoke", parameters=_FETCH, result=None, feature="storage", takes={"fetch": "copy"}),
    Operation(name="storage.quota", parameters={}, result=int, feature="storage"),
    *TRANSFER_OPERATIONS,
    Operation(name="probe.cost", parameters={}, result=int, feature="probe.cost"),
    Operation(name="probe.events", parameters={}, result=tuple[Event, ...], feature="probe.events"),
    Operation(name="probe.pages", parameters={}, result=PageSets, feature="probe.pages"),
    Operation(name="probe.pool", parameters={"layer": int}, result=tuple[PoolBuffer, ...], feature="probe.pool"),
    Operation(name="probe.collectives", parameters={}, result=tuple[Collective, ...], feature="probe.collectives"),
    Operation(name="probe.inject", parameters={"fault": str}, result=None, feature="probe.inject"),
    Operation(name="probe.tree", parameters={}, result=tuple[TreeNode, ...], feature="probe.tree"),
    Operation(
        name="probe.host_pool", parameters={"layer": int}, result=tuple[HostBuffer, ...], feature="probe.host_pool"
    ),
    Operation(name="probe.copies", parameters={}, result=tuple[CopyInFlight, ...], feature="probe.copies"),
    Operation(name="probe.hold", parameters={}, result=None, feature="probe.copies"),
    Operation(
        name="probe.finish",
        parameters={"copy": int, "source": str, "rank": int},
        result=None,
        feature="probe.copies",
        takes={"copy": "copy"},
    ),
    Operation(
        name="probe.arrive",
        parameters={"fetch": int, "part": str, "pages": int},
        result=None,
        feature="probe.copies",
        takes={"fetch": "copy"},
    ),
    Operation(name="probe.advance", parameters={"ticks": int}, result=None, feature="probe.clock"),
    Operation(name="probe.objects", parameters={}, result=tuple[StoredObject, ...], feature="probe.objects"),
    Operation(
        name="probe.spoil",
        parameters={"key": str, "part": str, "how": str},
        result=None,
        feature="probe.objects",
        takes={"key": "key"},
    ),
    *NETWORK_OPERATIONS,
)

OPERATION_BY_NAME: Mapping[str, Operation] = {operation.name: operation for operation in OPERATIONS}

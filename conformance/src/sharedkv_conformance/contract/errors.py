"""Answers that are not results: every error that may cross the contract.

Any other exception that leaves an implementation is reported as status `error`, never as a correct rejection.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class Reason(StrEnum):
    """Why a call was rejected: the CP shared-KV vocabulary. Reasons are compared, texts never are."""

    PREFIX_NOT_PAGE_ALIGNED = "prefix_not_page_aligned"
    PREFIX_NEGATIVE = "prefix_negative"
    EXTEND_EMPTY = "extend_empty"
    CP_SIZE_TOO_SMALL = "cp_size_too_small"
    PAGE_SIZE_TOO_SMALL = "page_size_too_small"
    SPLIT_NOT_IN_SEQUENCE = "split_not_in_sequence"
    PAGE_NOT_ALLOCATED = "page_not_allocated"
    PAGE_OUTSIDE_POOL = "page_outside_pool"
    PAGE_NAMED_TWICE = "page_named_twice"
    ALLOCATION_WITHOUT_OWNERS = "allocation_without_owners"
    SNAPSHOT_UNKNOWN = "snapshot_unknown"
    BATCH_EMPTY = "batch_empty"
    STATIC_MULTIPLE_INVALID = "static_multiple_invalid"
    ROWS_MISMATCH = "rows_mismatch"
    ROW_BYTES_MISMATCH = "row_bytes_mismatch"
    DOMAIN_UNKNOWN = "domain_unknown"
    LOCATIONS_MISMATCH = "locations_mismatch"
    STATIC_TAIL_UNPROVEN = "static_tail_unproven"
    CHUNK_TOO_SMALL = "chunk_too_small"
    LANE_MISMATCH = "lane_mismatch"
    LAYOUT_UNKNOWN = "layout_unknown"
    LAYER_OUTSIDE_POOL = "layer_outside_pool"
    BUFFER_UNKNOWN = "buffer_unknown"
    TABLE_TOO_SHORT = "table_too_short"
    EPOCH_STALE = "epoch_stale"
    EPOCH_OF_ANOTHER_BATCH = "epoch_of_another_batch"
    VIEW_NOT_COMPOSED = "view_not_composed"
    POSITION_OUTSIDE_REQUEST = "position_outside_request"
    LEASE_UNKNOWN = "lease_unknown"
    FAULT_UNKNOWN = "fault_unknown"
    NODE_NEGATIVE = "node_negative"
    NODE_NAMED_TWICE = "node_named_twice"
    PARENT_UNKNOWN = "parent_unknown"
    TREE_CYCLIC = "tree_cyclic"
    OWNER_OUTSIDE_LANES = "owner_outside_lanes"
    DEFICIT_MISMATCH = "deficit_mismatch"
    DEFICIT_NEGATIVE = "deficit_negative"
    HOST_COUNTS_INVALID = "host_counts_invalid"
    LANE_UNKNOWN = "lane_unknown"
    PAGES_MISMATCH = "pages_mismatch"
    PAGE_IN_TREE = "page_in_tree"
    PREFIX_NOT_RESIDENT = "prefix_not_resident"
    LOCK_UNKNOWN = "lock_unknown"
    REQUEST_NAMED_TWICE = "request_named_twice"
    REQUEST_UNKNOWN = "request_unknown"
    HOST_CONFIG_INVALID = "host_config_invalid"
    COPY_UNKNOWN = "copy_unknown"
    NAMESPACE_INVALID = "namespace_invalid"
    POLICY_UNKNOWN = "policy_unknown"
    FETCH_UNKNOWN = "fetch_unknown"
    OBJECT_UNKNOWN = "object_unknown"
    CHUNK_BACKWARDS = "chunk_backwards"
    PAGE_COUNTS_DIFFER = "page_counts_differ"
    PAGE_BYTES_DIFFER = "page_bytes_differ"
    FINGERPRINT_DIFFERS = "fingerprint_differs"
    ROOM_IN_USE = "room_in_use"
    ROOM_INVALID = "room_invalid"
    ROOM_UNKNOWN = "room_unknown"
    ROOM_NOT_READY = "room_not_ready"
    AUX_TOO_LONG = "aux_too_long"
    CONTEXT_DIFFERS = "context_differs"
    FLIGHT_UNKNOWN = "flight_unknown"
    MESSAGE_UNKNOWN = "message_unknown"
    SLOT_UNKNOWN = "slot_unknown"

    @property
    def clause(self) -> str:
        """Return the id of the clause that this reason belongs to."""
        return _CLAUSE_OF_REASON[self]


_CLAUSE_OF_REASON = {
    Reason.PREFIX_NOT_PAGE_ALIGNED: "RFC-0002:C-SPLIT",
    Reason.PREFIX_NEGATIVE: "RFC-0002:C-SPLIT",
    Reason.EXTEND_EMPTY: "RFC-0002:C-SPLIT",
    Reason.CP_SIZE_TOO_SMALL: "RFC-0002:C-SPLIT",
    Reason.PAGE_SIZE_TOO_SMALL: "RFC-0002:C-SPLIT",
    Reason.SPLIT_NOT_IN_SEQUENCE: "RFC-0002:C-SPLIT",
    Reason.PAGE_NOT_ALLOCATED: "RFC-0001:C-RELEASE",
    Reason.PAGE_OUTSIDE_POOL: "RFC-0001:C-RELEASE",
    Reason.PAGE_NAMED_TWICE: "RFC-0001:C-RELEASE",
    Reason.ALLOCATION_WITHOUT_OWNERS: "RFC-0001:C-CONSERVATION",
    Reason.SNAPSHOT_UNKNOWN: "RFC-0001:C-CONSERVATION",
    Reason.BATCH_EMPTY: "RFC-0002:C-PLAN",
    Reason.STATIC_MULTIPLE_INVALID: "RFC-0002:C-ROWS",
    Reason.ROWS_MISMATCH: "RFC-0002:C-RESTORE",
    Reason.ROW_BYTES_MISMATCH: "RFC-0003:C-VALIDATION",
    Reason.DOMAIN_UNKNOWN: "RFC-0003:C-VALIDATION",
    Reason.LOCATIONS_MISMATCH: "RFC-0002:C-STATIC-TAIL",
    Reason.STATIC_TAIL_UNPROVEN: "RFC-0002:C-STATIC-TAIL",
    Reason.CHUNK_TOO_SMALL: "RFC-0002:C-CHUNKS",
    Reason.LANE_MISMATCH: "RFC-0003:C-VALIDATION",
    Reason.LAYOUT_UNKNOWN: "RFC-0003:C-LAYOUTS",
    Reason.LAYER_OUTSIDE_POOL: "RFC-0003:C-VALIDATION",
    Reason.BUFFER_UNKNOWN: "RFC-0003:C-LAYOUTS",
    Reason.TABLE_TOO_SHORT: "RFC-0004:C-DENSE-VIEW",
    Reason.EPOCH_STALE: "RFC-0004:C-EPOCHS",
    Reason.EPOCH_OF_ANOTHER_BATCH: "RFC-0004:C-EPOCHS",
    Reason.VIEW_NOT_COMPOSED: "RFC-0004:C-EPOCHS",
    Reason.POSITION_OUTSIDE_REQUEST: "RFC-0004:C-ATTENTION",
    Reason.LEASE_UNKNOWN: "RFC-0005:C-BUFFERS",
    Reason.FAULT_UNKNOWN: "RFC-0005:C-BUFFERS",
    Reason.NODE_NEGATIVE: "RFC-0008:C-REFUSALS",
    Reason.NODE_NAMED_TWICE: "RFC-0008:C-REFUSALS",
    Reason.PARENT_UNKNOWN: "RFC-0008:C-REFUSALS",
    Reason.TREE_CYCLIC: "RFC-0008:C-REFUSALS",
    Reason.OWNER_OUTSIDE_LANES: "RFC-0008:C-REFUSALS",
    Reason.DEFICIT_MISMATCH: "RFC-0008:C-REFUSALS",
    Reason.DEFICIT_NEGATIVE: "RFC-0008:C-REFUSALS",
    Reason.HOST_COUNTS_INVALID: "RFC-0006:C-HOST-POOL",
    Reason.LANE_UNKNOWN: "RFC-0006:C-HOST-POOL",
    Reason.PAGES_MISMATCH: "RFC-0006:C-INSERT",
    Reason.PAGE_IN_TREE: "RFC-0006:C-INSERT",
    Reason.PREFIX_NOT_RESIDENT: "RFC-0006:C-LOCKS",
    Reason.LOCK_UNKNOWN: "RFC-0006:C-LOCKS",
    Reason.REQUEST_NAMED_TWICE: "RFC-0006:C-ADMISSION",
    Reason.REQUEST_UNKNOWN: "RFC-0006:C-ADMISSION",
    Reason.HOST_CONFIG_INVALID: "RFC-0006:C-BACKUP",
    Reason.COPY_UNKNOWN: "RFC-0009:C-ACKNOWLEDGEMENT",
    Reason.NAMESPACE_INVALID: "RFC-0010:C-KEYS",
    Reason.POLICY_UNKNOWN: "RFC-0010:C-FETCH",
    Reason.FETCH_UNKNOWN: "RFC-0010:C-FETCH",
    Reason.OBJECT_UNKNOWN: "RFC-0010:C-OBJECTS",
    Reason.CHUNK_BACKWARDS: "RFC-0012:C-CHUNKS",
    Reason.PAGE_COUNTS_DIFFER: "RFC-0012:C-MAPPING",
    Reason.PAGE_BYTES_DIFFER: "RFC-0012:C-BLOCKS",
    Reason.FINGERPRINT_DIFFERS: "RFC-0012:C-FINGERPRINT",
    Reason.ROOM_IN_USE: "RFC-0012:C-ROOMS",
    Reason.ROOM_INVALID: "RFC-0012:C-ROOMS",
    Reason.ROOM_UNKNOWN: "RFC-0012:C-ROOMS",
    Reason.ROOM_NOT_READY: "RFC-0012:C-SEND",
    Reason.AUX_TOO_LONG: "RFC-0012:C-SEND",
    Reason.CONTEXT_DIFFERS: "RFC-0013:C-CONTEXTS",
    Reason.FLIGHT_UNKNOWN: "RFC-0012:C-SEND",
    Reason.MESSAGE_UNKNOWN: "RFC-0012:C-SEND",
    Reason.SLOT_UNKNOWN: "RFC-0012:C-SLOTS",
}


class ContractError(Exception):
    """An error that the contract knows. Its fields cross the wire; its text is for people only."""


class Rejected(ContractError):
    """The call is invalid as it stands; repeating it unchanged cannot succeed, and nothing changed."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"rejected: {self.reason}" + (f" ({self.detail})" if self.detail else "")


class CapacityWait(ContractError):
    """The pool is short now; the same call can succeed once pages were given back, and nothing changed.

    Each field holds one count a lane, in pages: `required` by the call, `available` (free and evictable
    together), and `deficit`, which is what is required beyond what is available, zero where nothing is missing.
    """

    def __init__(self, required: Sequence[int], available: Sequence[int], deficit: Sequence[int]) -> None:
        super().__init__(tuple(required), tuple(available), tuple(deficit))
        self.required = tuple(required)
        self.available = tuple(available)
        self.deficit = tuple(deficit)

    def __str__(self) -> str:
        lanes = ", ".join(
            f"lane {lane}: required {need}, available {have}, deficit {short}"
            for lane, (need, have, short) in enumerate(zip(self.required, self.available, self.deficit, strict=False))
        )
        return f"capacity wait: {lanes}"


class Unsupported(ContractError):
    """The feature is not claimed, and nothing changed."""

    def __init__(self, feature: str) -> None:
        super().__init__(feature)
        self.feature = feature

    def __str__(self) -> str:
        return f"unsupported: {self.feature}"

"""What the reference refuses and what it runs out of.

Knows the vocabulary of refusals. Does not know who asks, nor how an answer crosses a contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum


class Refusal(StrEnum):
    """Why a call is invalid as it stands."""

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


class RefusedError(Exception):
    """A call that can never succeed unchanged; `value` is what was given. Nothing was changed."""

    def __init__(self, reason: Refusal, value: int | str) -> None:
        super().__init__(reason, value)
        self.reason = reason
        self.value = value

    def __str__(self) -> str:
        return f"{self.reason}: {self.value}"


class CapacityWaitError(Exception):
    """A batch that does not fit now and can fit later; one count a lane, in pages. Nothing was changed.

    `available` is free and evictable together, `deficit` what is required beyond it.
    """

    def __init__(self, required: Sequence[int], available: Sequence[int], deficit: Sequence[int]) -> None:
        super().__init__(tuple(required), tuple(available), tuple(deficit))
        self.required = tuple(required)
        self.available = tuple(available)
        self.deficit = tuple(deficit)

    def __str__(self) -> str:
        return f"lanes are short: required {self.required}, available {self.available}, deficit {self.deficit}"


class OutOfExtentsError(Exception):
    """An extent index was asked for more than it holds. Nothing was changed."""

    def __init__(self, wanted: int, num_free: int) -> None:
        super().__init__(wanted, num_free)
        self.wanted = wanted
        self.num_free = num_free

    def __str__(self) -> str:
        return f"wanted {self.wanted}, free {self.num_free}"


class TensorMismatchError(Exception):
    """A tensor that does not have the type, device, shape, stride or values that a call needs. Nothing was changed."""

    def __init__(self, what: str, wanted: object, found: object) -> None:
        super().__init__(what, wanted, found)
        self.what = what
        self.wanted = wanted
        self.found = found

    def __str__(self) -> str:
        return f"{self.what}: wanted {self.wanted}, found {self.found}"


class DescriptorTooLargeError(Exception):
    """A number of a plan does not fit into the type that kernels read it as. Nothing was made."""

    def __init__(self, name: str, value: int, largest: int) -> None:
        super().__init__(name, value, largest)
        self.name = name
        self.value = value
        self.largest = largest

    def __str__(self) -> str:
        return f"descriptor {self.name}: {self.value} is above {self.largest}"

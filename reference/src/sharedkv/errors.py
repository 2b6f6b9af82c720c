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

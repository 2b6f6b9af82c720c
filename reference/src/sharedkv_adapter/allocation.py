"""The owner-lane allocator behind the contract.

Knows which call of the contract is which call of the allocator. Does not know how values are translated.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv.allocation import OwnerLaneAllocator
from sharedkv.geometry import PageId
from sharedkv_adapter import translation
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract


class ReferenceAllocation:
    """The owner-lane allocator, call by call."""

    def __init__(self, allocator: OwnerLaneAllocator) -> None:
        self._allocator = allocator

    def extend(self, batch: Sequence[contract.ExtendRequest]) -> contract.ExtendAllocation:
        """Allocate the batch, or change nothing and raise `Rejected` or `CapacityWait`."""
        with contract_errors():
            return translation.extend_allocation(self._allocator.extend(translation.requests(batch)))

    def admit(self, batch: Sequence[contract.ExtendRequest]) -> contract.Admission:
        """Say whether the batch would fit now."""
        with contract_errors():
            return translation.admission(self._allocator.admit(translation.requests(batch)))

    def make_room(self, batch: Sequence[contract.ExtendRequest]) -> contract.RoomMade:
        """Evict ahead of a batch by the session's free-room policy."""
        with contract_errors():
            return contract.RoomMade(evicted=tuple(self._allocator.make_room(translation.requests(batch))))

    def retain(self, pages: Sequence[int]) -> None:
        """Keep pages in use as evictable cache."""
        with contract_errors():
            self._allocator.retain(_page_ids(pages))

    def release(self, pages: Sequence[int]) -> None:
        """Give pages back."""
        with contract_errors():
            self._allocator.release(_page_ids(pages))

    def release_locations(self, locations: Sequence[int]) -> None:
        """Give back each page that holds one of the token locations, once."""
        with contract_errors():
            self._allocator.release_locations(locations)

    def allocate_flat(self, num_pages: int) -> tuple[int, ...]:
        """Refuse: pages without owners have no right lane."""
        with contract_errors():
            self._allocator.allocate_flat(num_pages)

    def owners(self, request: str, pages: Sequence[int]) -> tuple[int, ...]:
        """Read the lane of each page from its id; no request has owners of its own."""
        del request
        with contract_errors():
            return tuple(self._allocator.owners(_page_ids(pages)))

    def lanes(self) -> contract.LaneStatistics:
        """Count the pages of each lane."""
        return translation.lane_statistics(self._allocator.lanes())

    def snapshot(self) -> int:
        """Remember the state of every lane."""
        return self._allocator.snapshot()

    def restore(self, snapshot: int) -> None:
        """Return every page to the state it had at the snapshot."""
        with contract_errors():
            self._allocator.restore(snapshot)


def _page_ids(pages: Sequence[int]) -> list[PageId]:
    return [PageId(page) for page in pages]

"""One open reference: the facets of the contract over one allocator.

Knows which call of the contract is which call of the reference. Does not know how values are translated.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv.allocation import FreeRoom, OwnerLaneAllocator
from sharedkv.errors import RefusedError
from sharedkv.geometry import Geometry, PageId
from sharedkv.planning import split_request
from sharedkv_adapter import translation
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract


class ReferencePlanning:
    """The split, a pure function of the session's geometry."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry

    def split(self, prefix_tokens: int, extend_tokens: int) -> contract.RequestSplit:
        """Split one request, or raise `Rejected`."""
        with contract_errors():
            return translation.request_split(split_request(self._geometry, prefix_tokens, extend_tokens))


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


class ReferenceProbe:
    """Views of the allocator's inner state; none changes it."""

    def __init__(self, allocator: OwnerLaneAllocator, events: Sequence[contract.Event]) -> None:
        self._allocator = allocator
        self._events = events

    def cost(self) -> int:
        """Return the elements that the last call of the allocator read or wrote."""
        return self._allocator.touched

    def events(self) -> tuple[contract.Event, ...]:
        """Return every refusal of a batch so far."""
        return tuple(self._events)

    def pages(self) -> contract.PageSets:
        """Return the state of every page."""
        return translation.page_sets(self._allocator.pages())


class ReferenceSession:
    """One fresh pool."""

    def __init__(self, geometry: Geometry, free_room: FreeRoom) -> None:
        self._events: list[contract.Event] = []
        allocator = OwnerLaneAllocator(geometry, free_room, on_refused=self._note_refused)
        self._planning = ReferencePlanning(geometry)
        self._allocation = ReferenceAllocation(allocator)
        self._probe = ReferenceProbe(allocator, self._events)

    @property
    def planning(self) -> ReferencePlanning:
        """The split of requests."""
        return self._planning

    @property
    def allocation(self) -> ReferenceAllocation:
        """The allocator."""
        return self._allocation

    @property
    def probe(self) -> ReferenceProbe:
        """Views of inner state."""
        return self._probe

    def close(self) -> None:
        """Hold nothing outside the session, hence give up nothing."""

    def _note_refused(self, refused: RefusedError) -> None:
        self._events.append(contract.Event(kind="rejected", reason=translation.reason(refused).value))


def _page_ids(pages: Sequence[int]) -> list[PageId]:
    return [PageId(page) for page in pages]

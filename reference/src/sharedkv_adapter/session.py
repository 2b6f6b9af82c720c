"""One open reference: the facets of the contract over one allocator and one data plane.

Knows which call of the contract is which call of the reference. Does not know how values are translated. The data plane
needs torch, and is imported when it is first asked for; without torch its facets refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sharedkv.allocation import FreeRoom, OwnerLaneAllocator
from sharedkv.errors import RefusedError
from sharedkv.geometry import Geometry, PageId
from sharedkv.host_pool import HostPool
from sharedkv.layouts import Layout
from sharedkv_adapter import translation
from sharedkv_adapter.eviction import ReferenceEviction
from sharedkv_adapter.host_tier import ReferenceHostTier
from sharedkv_adapter.planning import ReferencePlanning
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract

if TYPE_CHECKING:
    from sharedkv_adapter.data_plane import DataPlane
    from sharedkv_adapter.direct_write import ReferenceDirectWrite
    from sharedkv_adapter.prefetch import ReferencePrefetch
    from sharedkv_adapter.reuse import ReferenceReuse


def has_data_plane() -> bool:
    """Say whether torch can be found, without importing it."""
    return find_spec("torch") is not None


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
    """Views of a session's inner state; none changes it."""

    def __init__(self, session: ReferenceSession, events: Sequence[contract.Event]) -> None:
        self._session = session
        self._events = events

    def cost(self) -> int:
        """Return the elements that the last call read or wrote, of whichever facet it was."""
        return self._session.touched

    def events(self) -> tuple[contract.Event, ...]:
        """Return every event so far."""
        return tuple(self._events)

    def pages(self) -> contract.PageSets:
        """Return the state of every page."""
        return translation.page_sets(self._session.allocator.pages())

    def pool(self, layer: int) -> tuple[contract.PoolBuffer, ...]:
        """Return every buffer of a layer, after all rows that were written."""
        with contract_errors():
            return self._session.plane("probe.pool").shown(layer)

    def collectives(self) -> tuple[contract.Collective, ...]:
        """Return every exchange of the ranks so far."""
        return tuple(self._session.plane("probe.collectives").collectives)

    def inject(self, fault: str) -> None:
        """Bring about a fault of the data plane from now on."""
        with contract_errors():
            self._session.plane("probe.inject").inject(fault)


class ReferenceSession:
    """One fresh pool; what needs memory by the page is made when it is first asked for."""

    def __init__(self, geometry: Geometry, free_room: FreeRoom, layout: Layout, config: contract.OpenConfig) -> None:
        self._geometry = geometry
        self._free_room = free_room
        self._layout = layout
        self._config = config
        self._events: list[contract.Event] = []
        self._planning = ReferencePlanning(geometry)
        self._probe = ReferenceProbe(self, self._events)
        self._asked_last: OwnerLaneAllocator | HostPool | ReferenceEviction | None = None

    @property
    def planning(self) -> ReferencePlanning:
        """The split of requests."""
        return self._planning

    @cached_property
    def allocator(self) -> OwnerLaneAllocator:
        """The allocator behind the facet."""
        return OwnerLaneAllocator(self._geometry, self._free_room, on_refused=self._note_refused)

    @property
    def allocation(self) -> ReferenceAllocation:
        """The allocator."""
        self._asked_last = self.allocator
        return ReferenceAllocation(self.allocator)

    @property
    def touched(self) -> int:
        """The elements that the last call of a facet with a cost read or wrote."""
        return (self._asked_last or self.allocator).touched

    @cached_property
    def direct_write(self) -> ReferenceDirectWrite | contract.UnclaimedFacet:
        """Writes of all ranks."""
        if not has_data_plane():
            return contract.UnclaimedFacet("direct_write")
        from sharedkv_adapter.direct_write import ReferenceDirectWrite  # noqa: PLC0415 - needs torch

        return ReferenceDirectWrite(self.plane("direct_write"))

    @cached_property
    def reuse(self) -> ReferenceReuse | contract.UnclaimedFacet:
        """Dense views of all ranks."""
        if not has_data_plane():
            return contract.UnclaimedFacet("reuse")
        from sharedkv_adapter.reuse import ReferenceReuse  # noqa: PLC0415 - needs torch

        return ReferenceReuse(self.plane("reuse"), self._config.pool)

    @cached_property
    def prefetch(self) -> ReferencePrefetch | contract.UnclaimedFacet:
        """Dense prefixes of all ranks, ahead of time."""
        if not has_data_plane():
            return contract.UnclaimedFacet("prefetch")
        from sharedkv_adapter.prefetch import ReferencePrefetch  # noqa: PLC0415 - needs torch

        return ReferencePrefetch(self.plane("prefetch"), is_on=self._config.prefetch)

    @property
    def eviction(self) -> ReferenceEviction:
        """The planner of evictions."""
        self._asked_last = self._planner
        return self._planner

    @cached_property
    def _planner(self) -> ReferenceEviction:
        return ReferenceEviction(self._geometry)

    @cached_property
    def _host_pool(self) -> HostPool:
        lanes, size = self._geometry.cp_size, self._geometry.page_size
        return HostPool(lanes=lanes, lane_pages=self._config.host_pages, page_size=size)

    @property
    def host_tier(self) -> ReferenceHostTier:
        """The pool of host pages."""
        self._asked_last = self._host_pool
        return ReferenceHostTier(self._host_pool)

    @property
    def probe(self) -> ReferenceProbe:
        """Views of inner state."""
        return self._probe

    def plane(self, feature: str) -> DataPlane:
        """Return what the data-plane facets share, or refuse a feature of it where there is no torch."""
        if not has_data_plane():
            raise contract.Unsupported(feature)
        return self._plane

    @cached_property
    def _plane(self) -> DataPlane:
        from sharedkv_adapter.data_plane import DataPlane  # noqa: PLC0415 - needs torch

        return DataPlane(self._geometry, self._layout, self._config.pool.layers, self._events.append)

    def close(self) -> None:
        """Hold nothing outside the session, hence give up nothing."""

    def _note_refused(self, refused: RefusedError) -> None:
        self._events.append(contract.Event(kind="rejected", reason=translation.reason(refused).value))


def _page_ids(pages: Sequence[int]) -> list[PageId]:
    return [PageId(page) for page in pages]

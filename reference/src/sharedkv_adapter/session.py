"""One open reference: the facets of the contract over one allocator and one data plane.

Knows which call of the contract is which call of the reference. Does not know how values are translated. The data plane
needs torch, and is imported when it is first asked for; without torch its facets refuse.
"""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sharedkv.allocation import OwnerLaneAllocator
from sharedkv.copy_engine import DRAFT, TARGET, CopyEngine, InstantEngine
from sharedkv.copy_ledger import Agreement, CopyLedger, LocalAgreement
from sharedkv.errors import RefusedError
from sharedkv.fingerprint import fingerprint
from sharedkv.geometry import Geometry
from sharedkv.host_cache import HostCache
from sharedkv.host_pool import HostPool
from sharedkv.layouts import Layout
from sharedkv.rooms import Rooms
from sharedkv.storage.objects import PageForm
from sharedkv.storage.ports import PageBytes
from sharedkv.tree_node import Node
from sharedkv_adapter import translation
from sharedkv_adapter.abort import ReferenceAbort
from sharedkv_adapter.allocation import ReferenceAllocation
from sharedkv_adapter.eviction import ReferenceEviction
from sharedkv_adapter.host_tier import ReferenceHostTier, cache_policy
from sharedkv_adapter.overlap import ReferenceOverlap
from sharedkv_adapter.planning import ReferencePlanning
from sharedkv_adapter.probes import ReferenceProbe
from sharedkv_adapter.session_clock import SessionClock
from sharedkv_adapter.sides_on_demand import SidesOnDemand
from sharedkv_adapter.storage import NoBytes, ReferenceStorage
from sharedkv_adapter.stores import Stores
from sharedkv_adapter.transfer import ReferenceTransfer
from sharedkv_conformance import contract

if TYPE_CHECKING:
    from sharedkv_adapter.copies import ReferenceCopies
    from sharedkv_adapter.data_plane import DataPlane
    from sharedkv_adapter.direct_write import ReferenceDirectWrite
    from sharedkv_adapter.prefetch import ReferencePrefetch
    from sharedkv_adapter.reuse import ReferenceReuse
    from sharedkv_adapter.transfer_sides import TransferSides


def has_data_plane() -> bool:
    """Say whether torch can be found, without importing it."""
    return find_spec("torch") is not None


class ReferenceSession:
    """One fresh pool; what needs memory by the page is made when it is first asked for."""

    def __init__(self, geometry: Geometry, layout: Layout, config: contract.OpenConfig, stores: Stores) -> None:
        self._geometry = geometry
        self._free_room = translation.free_room(config.free_room)
        self._layout = layout
        self._config = config
        self._stores = stores
        self._events: list[contract.Event] = []
        self._planning = ReferencePlanning(geometry)
        self._probe = ReferenceProbe(self, self._events)
        self._asked_last: OwnerLaneAllocator | HostPool | ReferenceEviction | None = None
        self.clock = SessionClock()
        self.sides = SidesOnDemand(self._made_sides)

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

    @cached_property
    def copies(self) -> ReferenceCopies | contract.UnclaimedFacet:
        """Copies between the tiers of all ranks."""
        if not has_data_plane():
            return contract.UnclaimedFacet("copies")
        from sharedkv_adapter.copies import ReferenceCopies  # noqa: PLC0415 - needs torch

        return ReferenceCopies(self.plane("copies").copy_engine)

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
        """The pool of host pages, and the tree over both tiers."""
        self._asked_last = self._host_pool
        return ReferenceHostTier(self._host_pool, lambda: self.host_cache)

    @cached_property
    def host_cache(self) -> HostCache:
        """The tree behind the facet, over the allocator and the host pool of the session."""
        policy = cache_policy(self._config)
        ledger: CopyLedger[Node] = CopyLedger(range(self._geometry.cp_size), self._agreement())
        return HostCache(self.allocator, self._host_pool, policy, self._copy_engine(), ledger)

    def _copy_engine(self) -> CopyEngine:
        if has_data_plane():
            return self._plane.copy_engine
        return InstantEngine((TARGET, DRAFT) if self._config.pool.draft_layers else (TARGET,))

    def _agreement(self) -> Agreement:
        """Return how ranks agree: over the group of the data plane, whose exchanges are noted, where there is one."""
        if not has_data_plane():
            return LocalAgreement()
        from sharedkv.collectives import GroupAgreement  # noqa: PLC0415 - needs torch

        return GroupAgreement(self._plane.group)

    @property
    def config(self) -> contract.OpenConfig:
        """What the session was opened with."""
        return self._config

    @property
    def rows(self) -> Layout:
        """What a row of a layer holds."""
        return self._layout

    @cached_property
    def storage(self) -> ReferenceStorage:
        """The third tier, behind the tree."""
        return ReferenceStorage(self, self._stores, self._host_bytes)

    def _host_bytes(self, form: PageForm) -> PageBytes:
        if not has_data_plane():
            return NoBytes(form)
        from sharedkv_adapter.host_bytes import HostBytes  # noqa: PLC0415 - needs torch

        return HostBytes(self._plane)

    @cached_property
    def transfer(self) -> ReferenceTransfer:
        """Both sides of transfers."""
        return ReferenceTransfer(self._geometry, self._fields, self._rooms, self.sides)

    @cached_property
    def overlap(self) -> ReferenceOverlap | contract.UnclaimedFacet:
        """Layers that are sent while a forward runs."""
        return ReferenceOverlap(self.sides) if has_data_plane() else contract.UnclaimedFacet("overlap")

    @cached_property
    def abort(self) -> ReferenceAbort | contract.UnclaimedFacet:
        """Giving up."""
        return ReferenceAbort(self.sides) if has_data_plane() else contract.UnclaimedFacet("abort")

    @cached_property
    def _rooms(self) -> Rooms:
        return Rooms()

    @cached_property
    def _fields(self) -> dict[str, str]:
        pool = self._config.pool
        return fingerprint(self._geometry, self._layout, layers=pool.layers, draft_layers=pool.draft_layers)

    def _made_sides(self, feature: str) -> TransferSides:
        plane = self.plane(feature)
        from sharedkv_adapter.transfer_sides import SessionParts, TransferSides  # noqa: PLC0415 - needs torch

        return TransferSides(
            SessionParts(
                transfer=self._config.transfer,
                fingerprint=self._fields,
                plane=plane,
                allocator=self.allocator,
                rooms=self._rooms,
                clock=self.clock,
            )
        )

    def advance(self, ticks: int) -> None:
        """Let the clock go on, and what is due happen at each tick."""
        if self.sides.made is None:
            self.clock.ticks += ticks
            return
        for _ in range(ticks):
            self.clock.ticks += 1
            self.sides.made.tick()

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

        return DataPlane(self._geometry, self._layout, self._config, self._events.append)

    def close(self) -> None:
        """Give up what is outside the session: the objects of a store of its own, engines and what is in flight."""
        if "storage" in vars(self):
            self.storage.close()
        if self.sides.made is not None:
            self.sides.made.close()

    def _note_refused(self, refused: RefusedError) -> None:
        self._events.append(contract.Event(kind="rejected", reason=translation.reason(refused).value))

"""The probes of the contract over one open reference.

Knows where what they show and bring about is kept. Does not know how any of it works.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from sharedkv.allocation import OwnerLaneAllocator
from sharedkv.host_cache import HostCache
from sharedkv_adapter import translation
from sharedkv_adapter.host_tier import copies_in_flight, tree_nodes
from sharedkv_adapter.sides_on_demand import SidesOnDemand
from sharedkv_adapter.storage import ReferenceStorage
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract

if TYPE_CHECKING:
    from sharedkv_adapter.data_plane import DataPlane
    from sharedkv_adapter.transfer_sides import TransferSides


class ProbedSession(Protocol):
    """What probes look into."""

    @property
    def allocator(self) -> OwnerLaneAllocator:
        """The pages of the pool."""

    @property
    def host_cache(self) -> HostCache:
        """The tree over both tiers."""

    @property
    def storage(self) -> ReferenceStorage:
        """The third tier."""

    @property
    def sides(self) -> SidesOnDemand:
        """Both sides of transfers."""

    @property
    def touched(self) -> int:
        """The elements that the last call of a facet with a cost read or wrote."""

    def plane(self, feature: str) -> DataPlane:
        """Return what the data-plane facets share, or refuse a feature of it."""

    def advance(self, ticks: int) -> None:
        """Let the clock go on."""


class ReferenceProbe:
    """Views of a session's inner state; none changes it."""

    def __init__(self, session: ProbedSession, events: Sequence[contract.Event]) -> None:
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

    def host_pool(self, layer: int) -> tuple[contract.HostBuffer, ...]:
        """Return the host pages of a layer, after all copies that were submitted."""
        with contract_errors():
            return self._session.plane("probe.host_pool").shown_host(layer)

    def tree(self) -> tuple[contract.TreeNode, ...]:
        """Return every node of the prefix tree."""
        return tree_nodes(self._session.host_cache)

    def copies(self) -> tuple[contract.CopyInFlight, ...]:
        """Return every copy that was not acknowledged."""
        return copies_in_flight(self._session.host_cache)

    def hold(self) -> None:
        """Let nobody hear of the end of what is submitted from now on."""
        self._session.host_cache.ledger.hold()

    def finish(self, copy: int, source: str, rank: int) -> None:
        """Let the end of a source of a held copy, or what a held fetch is to bring, be heard of."""
        with contract_errors():
            if source == "query":
                self._session.storage.finish_query(copy, rank)
            else:
                self._session.host_cache.ledger.finish(copy, source, rank)

    def arrive(self, fetch: int, part: str, pages: int) -> None:
        """Let so many more pages of a part of a held fetch arrive."""
        with contract_errors():
            self._session.storage.arrive(fetch, part, pages)

    def advance(self, ticks: int) -> None:
        """Let the clock of the session go on."""
        self._session.advance(ticks)

    def objects(self) -> tuple[contract.StoredObject, ...]:
        """Return every object of the session's store that is whole."""
        return self._session.storage.objects()

    def spoil(self, key: str, part: str, how: str) -> None:
        """Spoil one object of the store."""
        with contract_errors():
            self._session.storage.spoil(key, part, how)

    def collectives(self) -> tuple[contract.Collective, ...]:
        """Return every exchange of the ranks so far."""
        return tuple(self._session.plane("probe.collectives").collectives)

    def inject(self, fault: str) -> None:
        """Bring about a fault of the data plane from now on."""
        with contract_errors():
            self._session.plane("probe.inject").inject(fault)

    def stall(self, what: str) -> None:
        """Let workers, writes or messages not go on by themselves."""
        with contract_errors():
            self._network.stall(what)

    def resume(self, what: str) -> None:
        """Let what was stalled go on, and what waits for it."""
        with contract_errors():
            self._network.resume(what)

    def flights(self) -> tuple[contract.Flight, ...]:
        """Return the flights that have not settled."""
        return self._network.flights()

    def land(self, flight: int) -> None:
        """Let all bytes of a flight land."""
        with contract_errors():
            self._network.land(flight)

    def fail(self, flight: int, pages: int, is_definite: bool) -> None:  # noqa: FBT001 - by contract
        """Let the first pages of a flight land, and the rest fail."""
        with contract_errors():
            self._network.fail(flight, pages, is_definite=is_definite)

    def messages(self) -> tuple[contract.ControlMessage, ...]:
        """Return the messages on the way."""
        return self._network.network.messages()

    def deliver(self, message: int) -> None:
        """Deliver a message, also once more."""
        with self._network.settled():
            self._network.network.deliver(message)

    def garble(self, message: int, how: str) -> None:
        """Deliver a spoilt copy of a message."""
        with self._network.settled():
            self._network.network.garble(message, how)

    def scribble(self, rank: int, slot: int, room: int, epoch: int, data: bytes) -> None:
        """Let metadata land in a slot of a decode rank."""
        with contract_errors():
            self._network.scribble(rank, slot, room, epoch, data)

    def decode_pool(self, rank: int, layer: int) -> tuple[contract.PoolBuffer, ...]:
        """Return every buffer of a layer of a decode rank."""
        with contract_errors():
            return self._session.sides.get("probe.decode_pool").shown(rank, layer)

    @property
    def _network(self) -> TransferSides:
        return self._session.sides.get("probe.network")

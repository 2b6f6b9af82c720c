"""The model as an implementation: what the suite is first run on, and what mutants are variants of."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, TypeVar

from sharedkv_conformance.contract import CONTRACT_VERSION
from sharedkv_conformance.contract.implementation import Description, OpenConfig
from sharedkv_conformance.contract.probe import (
    Collective,
    ControlMessage,
    CopyInFlight,
    Event,
    Flight,
    HostBuffer,
    PageSets,
    PoolBuffer,
    StoredObject,
    TreeNode,
)
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.copies import CopiesModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.direct_write import DirectWriteModel
from sharedkv_conformance.model.eviction import EvictionModel
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.model.prefetch import PrefetchModel
from sharedkv_conformance.model.reuse import ReuseModel
from sharedkv_conformance.model.sending import AbortCalls, SendingModel, TransferCalls
from sharedkv_conformance.model.storage import StorageModel
from sharedkv_conformance.model.storage_objects import Store
from sharedkv_conformance.model.transfer import TransferModel

Costly = AllocationModel | EvictionModel | HostTierModel
Facet = TypeVar("Facet", bound=Costly)


class ModelProbe:
    """Shows the inner state of the models of one session."""

    def __init__(self, session: ModelSession) -> None:
        self._session = session

    @property
    def _allocation(self) -> AllocationModel:
        made: AllocationModel = self._session.made("allocation")
        return made

    @property
    def _plane(self) -> DataPlane:
        return self._session.plane

    def cost(self) -> int:
        """Return the touched elements of the last call, of whichever facet it was."""
        return (self._session.asked_last or self._allocation).cost()

    def events(self) -> tuple[Event, ...]:
        """Return every event so far; an allocator that nobody has asked has none."""
        allocated = self._allocation.events if self._session.has_made("allocation") else ()
        return (*allocated, *self._plane.events)

    def pages(self) -> PageSets:
        """Return the state of every page."""
        return self._allocation.page_sets()

    def pool(self, layer: int) -> tuple[PoolBuffer, ...]:
        """Return every buffer of a layer, rank by rank."""
        return self._plane.pool(layer)

    def collectives(self) -> tuple[Collective, ...]:
        """Return every collective so far."""
        return tuple(self._plane.collectives)

    def inject(self, fault: str) -> None:
        """Bring about a fault from now on."""
        self._plane.inject(fault)

    @property
    def _host_tier(self) -> HostTierModel:
        made: HostTierModel = self._session.made("host_tier")
        return made

    def host_pool(self, layer: int) -> tuple[HostBuffer, ...]:
        """Return the host pages of a layer, lane by lane."""
        return self._plane.host_pool(layer)

    def tree(self) -> tuple[TreeNode, ...]:
        """Return every node of the tree."""
        return self._host_tier.nodes()

    def copies(self) -> tuple[CopyInFlight, ...]:
        """Return every copy in flight, in the order of submission."""
        return self._host_tier.ledger.view()

    def hold(self) -> None:
        """Let no copy that is submitted from now on finish by itself."""
        self._host_tier.ledger.hold()

    def finish(self, copy: int, source: str, rank: int) -> None:
        """Let one source of a held copy finish on one rank, or on all."""
        if source == "query":
            self._storage.finish_query(copy, rank)
        else:
            self._host_tier.ledger.finish(copy, source, rank)

    @property
    def _storage(self) -> StorageModel:
        return self._session.storage

    def arrive(self, fetch: int, part: str, pages: int) -> None:
        """Let so many more pages of one part of a held fetch arrive."""
        self._storage.arrive(fetch, part, pages)

    def advance(self, ticks: int) -> None:
        """Let the clock of the session go on."""
        self._storage.advance(ticks)
        self._network.advance(ticks)

    def objects(self) -> tuple[StoredObject, ...]:
        """Return every whole object of the store of the session."""
        return self._storage.objects()

    def spoil(self, key: str, part: str, how: str) -> None:
        """Spoil one object of the store of the session."""
        self._storage.spoil(key, part, how)

    @property
    def _network(self) -> SendingModel:
        return self._session.sending

    def stall(self, what: str) -> None:
        """Let nothing of a kind go on by itself."""
        self._network.stall(what)

    def resume(self, what: str) -> None:
        """Let go on what was stalled."""
        self._network.resume(what)

    def flights(self) -> tuple[Flight, ...]:
        """Return the flights that have not settled."""
        return self._network.flights()

    def land(self, flight: int) -> None:
        """Land a flight."""
        self._network.land(flight)

    def fail(self, flight: int, pages: int, is_definite: bool) -> None:  # noqa: FBT001 - by contract
        """Let a flight fail behind its first pages."""
        self._network.fail(flight, pages, is_definite)

    def messages(self) -> tuple[ControlMessage, ...]:
        """Return the messages on the way."""
        return self._network.messages()

    def deliver(self, message: int) -> None:
        """Deliver a message."""
        self._network.deliver(message)

    def garble(self, message: int, how: str) -> None:
        """Deliver a spoiled copy of a message."""
        self._network.garble(message, how)

    def scribble(self, rank: int, slot: int, room: int, epoch: int, data: bytes) -> None:
        """Let metadata land in a slot."""
        self._network.scribble(rank, slot, room, epoch, data)

    def decode_pool(self, rank: int, layer: int) -> tuple[PoolBuffer, ...]:
        """Return a layer of a decode rank."""
        return self._network.decode_pool(rank, layer)


class CostlyFacet(Generic[Facet]):
    """The attribute of a facet whose calls have a cost: who reads it asks the facet."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, session: ModelSession, owner: type | None = None) -> Facet:
        facet: Facet = session.made(self._name)
        session.asked_last = facet
        return facet

    def __set__(self, session: ModelSession, facet: Facet) -> None:
        session.put(self._name, facet)


class ModelSession:
    """One session of the models."""

    allocation = CostlyFacet[AllocationModel]()
    eviction = CostlyFacet[EvictionModel]()
    host_tier = CostlyFacet[HostTierModel]()

    def __init__(self, implementation: ModelImplementation, config: OpenConfig) -> None:
        self.planning = implementation.planning(config)
        self.config = config
        implementation.direct_write.refuse_layout(config)
        implementation.host_tier.refuse_config(config)
        implementation.storage.refuse_config(config)
        self.plane = DataPlane(config)
        self.direct_write = implementation.direct_write(config, self.plane)
        self.probe = ModelProbe(self)
        self.asked_last: Costly | None = None
        self._implementation = implementation
        self._made: dict[str, Any] = {}

    def made(self, facet: str) -> Any:
        """Return the model of a facet, made when it is first needed: some have an entry for every page."""
        if facet not in self._made:
            self._made[facet] = getattr(self._implementation, facet)(self.config)
            if facet == "host_tier":
                self._made[facet].attach(partial(self.made, "allocation"), self.plane.collectives)
                self._made[facet].mover = self.copies
        return self._made[facet]

    def has_made(self, facet: str) -> bool:
        """Say whether somebody needed the model of a facet."""
        return facet in self._made

    def put(self, facet: str, stand_in: Any) -> None:
        """Let something else answer for a facet."""
        self._made[facet] = stand_in

    @cached_property
    def reuse(self) -> ReuseModel:
        """Return the model of reuse, made when it is first needed."""
        return self._implementation.reuse(self.config, self.plane)

    @cached_property
    def prefetch(self) -> PrefetchModel:
        """Return the model of prefetch, made when it is first needed."""
        return self._implementation.prefetch(self.config, self.plane)

    @cached_property
    def copies(self) -> CopiesModel:
        """Return the model of copies, which moves the bytes of the host tier of the session."""
        return self._implementation.copies(self.config, self.plane, lambda: self.made("host_tier").reserved_pairs())

    @cached_property
    def storage(self) -> StorageModel:
        """Return the model of storage over the tree of the session, made when it is first needed."""
        store = self._implementation.store(self.config.storage.store)
        return self._implementation.storage(self.config, self.made("host_tier"), store, self.plane)

    @cached_property
    def transfer(self) -> TransferCalls:
        """Return the model of transfer, made when it is first needed."""
        return TransferCalls(self._implementation.transfer(self.config), self.sending)

    @cached_property
    def sending(self) -> SendingModel:
        """Return the model of sending, overlap and abort, made when it is first needed."""
        return self._implementation.sending(self.config, self.plane, partial(self.made, "allocation"))

    @cached_property
    def overlap(self) -> SendingModel:
        """Return what answers the calls of overlap."""
        return self.sending

    @cached_property
    def abort(self) -> AbortCalls:
        """Return what answers the calls of abort."""
        return AbortCalls(self.sending)

    def close(self) -> None:
        """Hold nothing."""


@dataclass(frozen=True, kw_only=True)
class ModelImplementation:
    """The executable specification behind the contract; a variant replaces the model of its facet."""

    planning: type[PlanningModel] = PlanningModel
    allocation: type[AllocationModel] = AllocationModel
    direct_write: type[DirectWriteModel] = DirectWriteModel
    reuse: type[ReuseModel] = ReuseModel
    prefetch: type[PrefetchModel] = PrefetchModel
    eviction: type[EvictionModel] = EvictionModel
    host_tier: type[HostTierModel] = HostTierModel
    copies: type[CopiesModel] = CopiesModel
    storage: type[StorageModel] = StorageModel
    transfer: type[TransferModel] = TransferModel
    sending: type[SendingModel] = SendingModel
    name: str = "model"
    stores: dict[str, Store] = field(default_factory=dict, repr=False)

    FEATURES: ClassVar[frozenset[str]] = frozenset(
        {
            "planning",
            "planning.batch",
            "allocation",
            "allocation.free-room",
            "allocation.snapshot",
            "direct_write",
            "reuse",
            "prefetch",
            "storage",
            "probe.clock",
            "probe.collectives",
            "probe.objects",
            "eviction",
            "host_tier",
            "host_tier.tree",
            "copies",
            "probe.copies",
            "probe.host_pool",
            "transfer",
            "transfer.requests",
            "overlap",
            "abort",
            "probe.network",
            "probe.decode_pool",
            "probe.cost",
            "probe.events",
            "probe.inject",
            "probe.pool",
            "probe.pages",
            "probe.tree",
        }
    )

    @classmethod
    def with_variant(cls, variant: Any) -> ModelImplementation:
        """Return the model with one facet replaced by a variant of it."""
        return cls(name=variant.__name__, **{variant.feature: variant})

    def describe(self) -> Description:
        """Say what this is."""
        return Description(name=self.name, version=CONTRACT_VERSION, features=self.FEATURES)

    def store(self, name: str) -> Store:
        """Return the store of a name, which sessions share; one without a name is nobody else's."""
        return self.stores.setdefault(name, Store()) if name else Store()

    def open(self, config: OpenConfig) -> ModelSession:
        """Open a session of fresh models."""
        return ModelSession(self, config)


def model() -> ModelImplementation:
    """Return the executable specification as an implementation."""
    return ModelImplementation()

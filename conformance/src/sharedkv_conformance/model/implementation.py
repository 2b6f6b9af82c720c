"""The model as an implementation: what the suite is first run on, and what mutants are variants of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from sharedkv_conformance.contract import CONTRACT_VERSION
from sharedkv_conformance.contract.implementation import Description, OpenConfig
from sharedkv_conformance.contract.probe import Collective, Event, PageSets, PoolBuffer
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.direct_write import DirectWriteModel
from sharedkv_conformance.model.eviction import EvictionModel
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.model.prefetch import PrefetchModel
from sharedkv_conformance.model.reuse import ReuseModel

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
    name: str = "model"

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
            "probe.collectives",
            "eviction",
            "host_tier",
            "probe.cost",
            "probe.events",
            "probe.inject",
            "probe.pool",
            "probe.pages",
        }
    )

    @classmethod
    def with_variant(cls, variant: Any) -> ModelImplementation:
        """Return the model with one facet replaced by a variant of it."""
        return cls(name=variant.__name__, **{variant.feature: variant})

    def describe(self) -> Description:
        """Say what this is."""
        return Description(name=self.name, version=CONTRACT_VERSION, features=self.FEATURES)

    def open(self, config: OpenConfig) -> ModelSession:
        """Open a session of fresh models."""
        return ModelSession(self, config)


def model() -> ModelImplementation:
    """Return the executable specification as an implementation."""
    return ModelImplementation()

"""The model as an implementation: what the suite is first run on, and what mutants are variants of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sharedkv_conformance.contract import CONTRACT_VERSION
from sharedkv_conformance.contract.implementation import Description, OpenConfig
from sharedkv_conformance.contract.probe import Event, PageSets
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.planning import PlanningModel


class ModelProbe:
    """Shows the inner state of the models of one session."""

    def __init__(self, allocation: AllocationModel) -> None:
        self._allocation = allocation

    def cost(self) -> int:
        """Return the touched elements of the last call."""
        return self._allocation.cost()

    def events(self) -> tuple[Event, ...]:
        """Return every event so far."""
        return tuple(self._allocation.events)

    def pages(self) -> PageSets:
        """Return the state of every page."""
        return self._allocation.page_sets()


class ModelSession:
    """One session of the models."""

    def __init__(self, planning: PlanningModel, allocation: AllocationModel) -> None:
        self.planning = planning
        self.allocation = allocation
        self.probe = ModelProbe(allocation)

    def close(self) -> None:
        """Hold nothing."""


@dataclass(frozen=True, kw_only=True)
class ModelImplementation:
    """The executable specification behind the contract; a variant replaces the model of its facet."""

    planning: type[PlanningModel] = PlanningModel
    allocation: type[AllocationModel] = AllocationModel
    name: str = "model"

    FEATURES: ClassVar[frozenset[str]] = frozenset(
        {
            "planning",
            "allocation",
            "allocation.free-room",
            "allocation.snapshot",
            "probe.cost",
            "probe.events",
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
        return ModelSession(self.planning(config), self.allocation(config))


def model() -> ModelImplementation:
    """Return the executable specification as an implementation."""
    return ModelImplementation()

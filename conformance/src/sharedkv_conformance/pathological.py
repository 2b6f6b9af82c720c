"""Implementations that must never be green, each with the statuses that it is known to get.

They claim, answer or refuse in one dishonest way everywhere; a suite that can be fooled by one of them proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sharedkv_conformance.contract.allocation import LaneStatistics
from sharedkv_conformance.contract.errors import Unsupported
from sharedkv_conformance.contract.implementation import Description, Implementation, OpenConfig
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.implementation import ModelImplementation, ModelSession
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import Conformance

EVERY_FEATURE = frozenset(operation.feature for operation in OPERATIONS)
Answering = Callable[[str], Any]


@dataclass(frozen=True, kw_only=True)
class Pathological:
    """One dishonest implementation and what a run of all checks on it has to show.

    Each of `gets` occurs at least once, and nothing but `gets` and `may_get` occurs.
    """

    name: str
    meaning: str
    implementation: Implementation
    conformance: Conformance
    gets: frozenset[Status]
    may_get: frozenset[Status] = frozenset()


class UniformFacet:
    """Answers every call in one way."""

    def __init__(self, facet: str, answering: Answering) -> None:
        self._facet = facet
        self._answering = answering

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return the call of that name."""
        return lambda *_arguments: self._answering(f"{self._facet}.{method}")


class UniformSession:
    """A session whose facets all answer in one way."""

    def __init__(self, answering: Answering) -> None:
        self.planning: Any = UniformFacet("planning", answering)
        self.allocation: Any = UniformFacet("allocation", answering)
        self.direct_write: Any = UniformFacet("direct_write", answering)
        self.reuse: Any = UniformFacet("reuse", answering)
        self.prefetch: Any = UniformFacet("prefetch", answering)
        self.eviction: Any = UniformFacet("eviction", answering)
        self.host_tier: Any = UniformFacet("host_tier", answering)
        self.copies: Any = UniformFacet("copies", answering)
        self.storage: Any = UniformFacet("storage", answering)
        self.transfer: Any = UniformFacet("transfer", answering)
        self.overlap: Any = UniformFacet("overlap", answering)
        self.abort: Any = UniformFacet("abort", answering)
        self.probe: Any = UniformFacet("probe", answering)

    def close(self) -> None:
        """Hold nothing."""


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """Opens every geometry and answers every call in one way."""

    name: str
    answering: Answering
    features: frozenset[str] = EVERY_FEATURE

    def describe(self) -> Description:
        """Claim what it was told to claim."""
        return Description(name=self.name, version="1", features=self.features)

    def open(self, config: OpenConfig) -> UniformSession:
        """Open anything."""
        del config
        return UniformSession(self.answering)


def nothing(operation: str) -> None:
    """Answer nothing at all."""
    del operation


def unsupported(operation: str) -> Any:
    """Say of everything that it is not supported."""
    raise Unsupported(operation)


def broken(operation: str) -> Any:
    """Raise what no contract knows."""
    message = f"{operation} is out of order"
    raise RuntimeError(message)


class WithoutFeature:
    """The model behind a facet that lacks some calls."""

    def __init__(self, model: Any, facet: str, missing: frozenset[str]) -> None:
        self._model = model
        self._facet = facet
        self._missing = missing

    def __getattr__(self, method: str) -> Any:
        """Return the model's call, or one that refuses."""
        name = f"{self._facet}.{method}"
        if any(operation.name == name and operation.feature in self._missing for operation in OPERATIONS):
            return lambda *_arguments: unsupported(name)
        return getattr(self._model, method)


@dataclass(frozen=True)
class ClaimsEverything:
    """Claims every feature and has only the facets: optional features and probes are refused."""

    model: ModelImplementation = field(default_factory=ModelImplementation)

    def describe(self) -> Description:
        """Claim everything."""
        return Description(name="claims-everything", version="1", features=EVERY_FEATURE)

    def open(self, config: OpenConfig) -> ModelSession:
        """Open the model behind facets that lack every optional call."""
        session: Any = self.model.open(config)
        missing = frozenset(feature for feature in EVERY_FEATURE if "." in feature)
        for facet in dict.fromkeys(operation.facet for operation in OPERATIONS):
            setattr(session, facet, WithoutFeature(getattr(session, facet), facet, missing))
        return session  # type: ignore[no-any-return]


class OtherPages(PlanningModel):
    """Splits by pages of twice the size that was asked for."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.geometry = replace(self.geometry, page_size=2 * self.geometry.page_size)


class OtherStatistics(AllocationModel):
    """Reports every page of the pool as free, whatever was given out."""

    def lanes(self) -> LaneStatistics:
        """Report an empty pool."""
        true = super().lanes()
        none = (0,) * len(true.capacity)
        return replace(true, free=true.capacity, evictable=none, in_use=none)


def pathological() -> Mapping[str, Pathological]:
    """Return every pathological implementation by name."""
    kinds = (
        Pathological(
            name="null",
            meaning="claims everything and answers nothing",
            implementation=Uniform(name="null", answering=nothing),
            conformance=Conformance.NOT_CONFORMANT,
            gets=frozenset({Status.FAIL}),
            may_get=frozenset({Status.VACUOUS, Status.BLOCKED}),
        ),
        Pathological(
            name="always-unsupported",
            meaning="claims everything and refuses everything",
            implementation=Uniform(name="always-unsupported", answering=unsupported),
            conformance=Conformance.NOT_CONFORMANT,
            gets=frozenset({Status.FAIL, Status.VACUOUS}),
            may_get=frozenset({Status.BLOCKED}),
        ),
        Pathological(
            name="raiser",
            meaning="claims everything and raises what the contract does not know",
            implementation=Uniform(name="raiser", answering=broken),
            conformance=Conformance.NOT_CONFORMANT,
            gets=frozenset({Status.ERROR}),
            may_get=frozenset({Status.BLOCKED, Status.FAIL}),
        ),
        Pathological(
            name="claims-everything",
            meaning="is right, and claims features that it refuses",
            implementation=ClaimsEverything(),
            conformance=Conformance.NOT_CONFORMANT,
            gets=frozenset({Status.PASS, Status.VACUOUS}),
            may_get=frozenset({Status.FAIL, Status.BLOCKED}),
        ),
        Pathological(
            name="liar",
            meaning="uses other pages than were asked for and reports statistics of an empty pool",
            implementation=ModelImplementation(name="liar", planning=OtherPages, allocation=OtherStatistics),
            conformance=Conformance.NOT_CONFORMANT,
            gets=frozenset({Status.PASS, Status.FAIL}),
            may_get=frozenset({Status.BLOCKED, Status.VACUOUS}),
        ),
        Pathological(
            name="silent",
            meaning="is there and claims nothing",
            implementation=Uniform(name="silent", answering=unsupported, features=frozenset()),
            conformance=Conformance.INCOMPLETE,
            gets=frozenset({Status.INAPPLICABLE}),
        ),
    )
    return {kind.name: kind for kind in kinds}

"""One call of the contract: what it is named, takes, returns and on whose values it depends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sharedkv_conformance.contract.unclaimed import UnclaimedFacet


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One call of the contract.

    `parameters` and `result` are types that `codec` can read and write. `takes` says which parameters hold values
    that an earlier answer produced, by kind (`page`, `location`, `copy`, `lease`, ...); `produces` says where the
    answer holds such values, by field names with dots between them (the empty name is the answer itself); tuples on the
    way are gone through. Where an answer holds them lane by lane, a kind `host_page:lane` means those of the lane that
    the argument `lane` names; a kind `slot:rank` of an answer, those beside whose field `rank` stands.
    """

    name: str
    parameters: Mapping[str, Any]
    result: Any
    feature: str
    takes: Mapping[str, str] = field(default_factory=dict)
    produces: Mapping[str, str] = field(default_factory=dict)

    def of(self, session: Any) -> Callable[..., Any]:
        """Return the method of a session that answers this call.

        An adapter of an earlier minor version lacks later facets and calls; these refuse as everything that is not
        claimed does.
        """
        found = getattr(getattr(session, self.facet, None), self.method, None)
        method: Callable[..., Any] = found if callable(found) else getattr(UnclaimedFacet(self.feature), self.method)
        return method

    @property
    def facet(self) -> str:
        """Return the attribute of the session that answers this call."""
        return self.name.partition(".")[0]

    @property
    def method(self) -> str:
        """Return the method of the facet that answers this call."""
        return self.name.partition(".")[2]

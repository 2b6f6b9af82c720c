"""What stands for a facet, or for a call, that an implementation does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sharedkv_conformance.contract.errors import Unsupported


class UnclaimedFacet:
    """A facet that raises `Unsupported` on every call; an adapter can give it for whatever it does not claim."""

    def __init__(self, feature: str) -> None:
        self.feature = feature

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return a call of that name, which refuses.

        Raises:
            AttributeError: the name is one of Python's own, which nobody calls by the contract.

        """
        if method.startswith("_"):
            raise AttributeError(method)
        return self._refuse

    def _refuse(self, *_arguments: object, **_named: object) -> Any:
        raise Unsupported(self.feature)

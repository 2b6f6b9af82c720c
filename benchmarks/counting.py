"""An implementation that counts the calls that reach another one, and the processor time that they take there.

Knows the shape of the contract only: a session has facets, a facet has methods.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time_ns
from typing import Any

from sharedkv_conformance.contract.implementation import Description, Implementation, OpenConfig


class CountedImplementation:
    """Answers as the implementation that it wraps; an opening is a call too."""

    def __init__(self, wrapped: Implementation) -> None:
        self._wrapped = wrapped
        self.calls = 0
        self.inside_ns = 0

    def describe(self) -> Description:
        """Describe the wrapped implementation."""
        return self._wrapped.describe()

    def open(self, config: OpenConfig) -> Any:  # noqa: ANN401 - a session of any facets
        """Open a session whose calls are counted."""
        return _Counted(self.counted(self._wrapped.open, config), self)

    def counted(self, method: Callable[..., object], *args: object, **kwargs: object) -> object:
        """Call a method of the wrapped implementation and count it, also where it raises."""
        self.calls += 1
        start = process_time_ns()
        try:
            return method(*args, **kwargs)
        finally:
            self.inside_ns += process_time_ns() - start


class _Counted:
    """A session or a facet; what it is asked for is asked of the wrapped one."""

    def __init__(self, wrapped: object, owner: CountedImplementation) -> None:
        self._wrapped = wrapped
        self._owner = owner

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the contract has under that name
        found = getattr(self._wrapped, name)
        if not callable(found):
            return _Counted(found, self._owner)
        return lambda *args, **kwargs: self._owner.counted(found, *args, **kwargs)

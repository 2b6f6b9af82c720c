"""What holds objects under names.

Knows names and bytes. Does not know what an object is: whether one is whole is for its reader to find out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Protocol

from sharedkv.storage.objects import ObjectName


class StoreFailedError(Exception):
    """A store did not do what it was asked; an object may be there or not, never in part under its name."""

    def __init__(self, name: ObjectName, what: str) -> None:
        super().__init__(name, what)
        self.name = name
        self.what = what

    def __str__(self) -> str:
        return f"{self.name.key}.{self.name.part}: {self.what}"


class Backend(Protocol):
    """A store of objects, used by many threads and many processes at once.

    Whoever reads a name sees one of the objects that were put under it. While one takes the place of another, a store
    may show none, or bytes that are no object. One that cannot be reached holds nothing for as long as that lasts.
    """

    def put(self, name: ObjectName, *chunks: bytes | memoryview) -> None:
        """Put an object, given in one or more chunks, in place of any that is there.

        Raises:
            StoreFailedError: it could not be put.

        """

    def get(self, names: Sequence[ObjectName]) -> Iterator[bytes | None]:
        """Yield what stands under each name, in order, None where there is nothing."""

    def remove(self, name: ObjectName) -> None:
        """Remove what stands under a name, if anything does."""

    def stamp(self, name: ObjectName) -> Hashable | None:
        """Return what changes with every put of a name; None where there is nothing, or nothing that can be told."""

"""What a library has to do for an engine to stand on it: bounded batches of writes, each with one ticket.

Knows the calls that `engine_of` makes. Does not know deadlines, queues, nor what is registered: those checks come
before.
"""

from __future__ import annotations

from typing import Protocol

from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes


class BatchFailedError(Exception):
    """A batch did not bring all its bytes. Definite: nothing of it lands any more."""

    def __init__(self, what: str, is_definite: bool) -> None:  # noqa: FBT001 - fields in order, for pickle
        super().__init__(what, is_definite)
        self.what = what
        self.is_definite = is_definite

    def __str__(self) -> str:
        return self.what


class Ticket(Protocol):
    """A batch under way."""

    def is_done(self) -> bool:
        """Say whether all of it is where it should be. Does not block; is not asked again once it has ended.

        Raises:
            BatchFailedError: it will not be.

        """


class Carrier(Protocol):
    """One library, as one engine of one process uses it. Calls come one at a time, and none of them blocks for long."""

    @property
    def kind(self) -> str:
        """Name the library; engines of different kinds do not understand one another."""

    @property
    def most_requests(self) -> int:
        """Return how many writes may be under way to one peer."""

    def register(self, region: Region) -> None:
        """Let the library use a region. `RegionRefusedError` where it does not take it."""

    def unregister(self, region: Region) -> None:
        """Take a region back. `RegionRefusedError` where the library does not give it."""

    def contact(self) -> bytes:
        """Return what a peer needs to reach this process, as of now."""

    def meet(self, contact: bytes) -> str:
        """Learn of a peer, also again, and return its name.

        `DescriptionRefusedError` where the contact is none, `PeerUnreachableError` where nobody is there.
        """

    def post(self, peer: str, batch: Writes) -> Ticket:
        """Begin a batch. `BatchFailedError` where it did not begin, or did so in part."""

    def part(self, peer: str) -> None:
        """Forget a peer."""

    def close(self) -> None:
        """Give up what the library holds."""

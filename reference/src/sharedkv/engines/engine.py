"""What a transfer engine does, and what it says when it does not.

Knows addresses, peers and deadlines. Does not know pages, rooms, nor which library moves the bytes.

    register ─> describe ──bytes, by any way──> connect ─> submit ─> poll, or wait
    (receiver: its pools)                       (sender)             done │ failed, definitely │ failed, state unknown

A transfer that failed *definitely* writes nothing any more: its destination may be used again, whatever it holds. After
one whose state is *unknown*, bytes may land at any time: the destination is kept apart until the transfer has settled,
or the peer is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another engine, as `connect` made it known."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How long a transfer may take, in seconds, and the clock; `doze` is how `wait` passes time between two looks.

    The libraries give up after 30 seconds by themselves; the deadline here comes first.
    """

    deadline_s: float = 10.0
    now: Callable[[], float] = time.monotonic
    doze: Callable[[float], None] = time.sleep


class Transfer(Protocol):
    """One submission. It goes on while somebody polls it or waits for it, or does so with another one to its peer."""

    def poll(self) -> bool:
        """Say whether every byte is where it should be. Once it has ended, the answer stays the same.

        Raises:
            TransferFailedError: it will not be, or is not at the deadline.

        """

    def wait(self) -> None:
        """Return when every byte is where it should be.

        Raises:
            TransferFailedError: it will not be, or is not at the deadline.

        """

    def is_settled(self) -> bool:
        """Say whether nothing of it can land any more, however it ended; false for good where nobody can tell."""


class Engine(Protocol):
    """Moves bytes from registered memory of this process to memory that peers registered. Any thread may call it."""

    def register(self, region: Region) -> None:
        """Let the engine read from a region, and let peers that are told of it write there.

        The memory has to stay until the region is unregistered and no peer writes there any more.

        Raises:
            RegionRefusedError: it overlaps one that is registered, or the library does not take it.

        """

    def unregister(self, region: Region) -> None:
        """Take a region back.

        Raises:
            RegionRefusedError: it is not registered, or a transfer that has not settled reads from it.

        """

    def describe(self) -> bytes:
        """Return what a peer has to be given to write here: how to reach this engine, and all that is registered."""

    def connect(self, description: bytes) -> Peer:
        """Make a peer known, or learn what it has registered since. That it is gone may show only at a transfer.

        Raises:
            DescriptionRefusedError: the bytes do not describe an engine of this kind.
            PeerUnreachableError: nobody is there.

        """

    def submit(self, peer: Peer, writes: Writes, deadline_s: float | None = None) -> Transfer:
        """Begin to write. Writes of no bytes are none, and no writes at all are done at once.

        All are checked before the first is begun. At most so many requests as the engine allows are under way to one
        peer; the rest wait their turn. The order in which bytes land is open. A write that fails ends those that wait;
        so does the deadline.

        Raises:
            WriteRefusedError: a source is not in one region here, or a destination not in one of the peer.
            PeerUnknownError: the peer was not connected, or was forgotten.

        """

    def forget(self, peer: Peer) -> None:
        """Take a peer for gone: transfers to it end as failed with unknown state, and their sources are free again.

        What was under way to one that is not gone may still land.
        """

    def close(self) -> None:
        """End: what waits fails definitely, what is under way fails with unknown state. No other call may follow."""


class Side(StrEnum):
    """Which end of a write."""

    SOURCE = "source"
    DESTINATION = "destination"


class TransferFailedError(Exception):
    """A transfer did not bring all its bytes; some may be there. Definite: nothing of it lands any more."""

    def __init__(self, peer: str, what: str, is_definite: bool) -> None:  # noqa: FBT001 - fields in order, for pickle
        super().__init__(peer, what, is_definite)
        self.peer = peer
        self.what = what
        self.is_definite = is_definite

    def __str__(self) -> str:
        state = "nothing lands any more" if self.is_definite else "bytes may still land"
        return f"transfer to {self.peer}: {self.what}; {state}"


class WriteRefusedError(Exception):
    """A write that leaves what is registered. Nothing was begun; `index` counts the writes as they were given."""

    def __init__(self, side: Side, index: int, address: int, num_bytes: int) -> None:
        super().__init__(side, index, address, num_bytes)
        self.side = side
        self.index = index
        self.address = address
        self.num_bytes = num_bytes

    def __str__(self) -> str:
        return f"write {self.index}: {self.side} {self.address:#x}, {self.num_bytes} bytes, is in no registered region"


class RegionRefusedError(Exception):
    """A region that cannot be registered or taken back. Nothing was changed."""

    def __init__(self, region: Region, what: str) -> None:
        super().__init__(region, what)
        self.region = region
        self.what = what

    def __str__(self) -> str:
        return f"region {self.region.address:#x}, {self.region.num_bytes} bytes: {self.what}"


class DescriptionRefusedError(Exception):
    """Bytes that do not describe a peer of this engine. Nothing was changed."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"description of a peer: {self.what}"


class PeerUnreachableError(Exception):
    """A description that is right, of a peer that does not answer. Nothing was changed."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"a peer does not answer: {self.what}"


class PeerUnknownError(Exception):
    """A peer that this engine does not know, or does not know any more. Nothing was changed."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"peer {self.name} is not connected"


class EngineUnavailableError(Exception):
    """An engine cannot be made here; `remedy` says what to do about it."""

    def __init__(self, engine: str, what: str, remedy: str) -> None:
        super().__init__(engine, what, remedy)
        self.engine = engine
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"engine {self.engine}: {self.what}; {self.remedy}"


class EngineClosedError(Exception):
    """A call to an engine that was closed. Nothing was changed."""

    def __str__(self) -> str:
        return "the engine is closed"

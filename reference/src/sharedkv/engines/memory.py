"""The engine for one process: bytes are copied in memory. It is also the one that tests make fail.

Knows addresses of this process. Does not know other processes: engines meet where they share a `Memory`.
"""

from __future__ import annotations

import ctypes
from itertools import count

from sharedkv.engines.carrier import BatchFailedError
from sharedkv.engines.engine import DescriptionRefusedError, Timing
from sharedkv.engines.engine_of import CarriedEngine
from sharedkv.engines.faults import Faults
from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes

_MOST_REQUESTS = 1024


class Memory:
    """What engines of one process have in common: their names, and the faults that a test wants."""

    def __init__(self, faults: Faults | None = None) -> None:
        self.faults = faults or Faults()
        self.names: set[str] = set()
        self._numbers = count()

    def enter(self) -> str:
        """Return a name that no engine had before."""
        name = f"memory-{next(self._numbers)}"
        self.names.add(name)
        return name


class _Ticket:
    """A batch whose bytes move when somebody looks, unless a fault holds them back."""

    def __init__(self, peer: str, batch: Writes, faults: Faults) -> None:
        self._peer = peer
        self._rows = list(zip(batch.destinations.tolist(), batch.sources.tolist(), batch.lengths.tolist(), strict=True))
        self._faults = faults

    def is_done(self) -> bool:
        """Move the bytes, in the order and as far as the faults let them."""
        if self._faults.holds(self._peer):
            return False
        rows = self._rows[::-1] if self._faults.is_reversed else self._rows
        num_right = self._faults.take(len(rows))
        for row in rows[:num_right]:
            ctypes.memmove(*row)
        if num_right < len(rows):
            failure = self._faults.failure
            self._faults.keep_late([] if failure.is_definite else rows[num_right:])
            raise BatchFailedError(failure.what, failure.is_definite)
        return True


class _MemoryCarrier:
    kind = "memory"
    most_requests = _MOST_REQUESTS

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._name = memory.enter()

    def register(self, region: Region) -> None:
        """Take any region: what is registered is checked before."""

    def unregister(self, region: Region) -> None:
        """Give any region."""

    def contact(self) -> bytes:
        return self._name.encode()

    def meet(self, contact: bytes) -> str:
        for name in self._memory.names:
            if name.encode() == contact:
                return name
        raise DescriptionRefusedError(f"no engine of this process: {contact!r}")

    def post(self, peer: str, batch: Writes) -> _Ticket:
        if peer not in self._memory.names:
            raise BatchFailedError("the peer is closed", True)  # noqa: FBT003 - the only other field
        return _Ticket(peer, batch, self._memory.faults)

    def part(self, peer: str) -> None:
        """Nothing is kept of a peer."""

    def close(self) -> None:
        self._memory.names.discard(self._name)


def memory_engine(memory: Memory, timing: Timing | None = None) -> CarriedEngine:
    """Make an engine that meets the others of the same `Memory`."""
    return CarriedEngine(_MemoryCarrier(memory), timing or Timing())

"""Memory of prefill from which metadata is written: one slot for each write under way.

Knows blocks of memory, and who of them is free. Does not know rooms. Memory grows with what is under way at once, and
is registered when it is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sharedkv.engines.engine import Engine
from sharedkv.engines.regions import Region
from sharedkv.transfer.metadata_slots import Bytes, slot_bytes

_SLOTS_A_BLOCK = 64


@dataclass(frozen=True, kw_only=True, eq=False)
class StagedSlot:
    """Some bytes, and their address."""

    memory: Bytes
    address: int


class AuxStaging:
    """Slots of one size in memory that an engine may read."""

    def __init__(self, engine: Engine, aux_bytes: int) -> None:
        self._engine = engine
        self._size = slot_bytes(aux_bytes)
        self._free: list[StagedSlot] = []

    def take(self, data: bytes) -> StagedSlot:
        """Return a slot that holds some bytes."""
        if not self._free:
            self._grow()
        slot = self._free.pop()
        slot.memory[: len(data)] = np.frombuffer(data, dtype=np.uint8)
        return slot

    def give(self, slot: StagedSlot) -> None:
        """Take a slot back that nothing reads any more."""
        self._free.append(slot)

    def _grow(self) -> None:
        memory = np.zeros(_SLOTS_A_BLOCK * self._size, dtype=np.uint8)
        address = int(memory.ctypes.data)
        self._engine.register(Region(address=address, num_bytes=memory.nbytes))
        for first in range(0, memory.nbytes, self._size):
            self._free.append(StagedSlot(memory=memory[first : first + self._size], address=address + first))

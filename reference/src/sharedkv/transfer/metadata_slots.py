"""Metadata slots: what decode gets of a request beside its pages, and whose it is.

Knows bytes of one slot. Does not know which slots are free.

    room, epoch, length     three int64, little-endian; a cleared slot names no room
    data                    `length` bytes of at most `aux_bytes`

A slot is one write, header and data together. What it says is believed only if room and epoch are those that are
waited for: an earlier owner of the slot may write late.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_HEADER = struct.Struct("<qqq")
_NOBODY = -1
_ALIGNED_TO = 8


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """What a slot holds."""

    room: int
    epoch: int
    data: bytes


def slot_bytes(aux_bytes: int) -> int:
    """Count the bytes of a slot."""
    return -(-(_HEADER.size + aux_bytes) // _ALIGNED_TO) * _ALIGNED_TO


def encoded(metadata: Metadata) -> bytes:
    """Return metadata as it lies in a slot; shorter than the slot where the data is."""
    return _HEADER.pack(metadata.room, metadata.epoch, len(metadata.data)) + metadata.data


class MetadataSlots:
    """The slots at the beginning of some memory of one decode rank."""

    def __init__(self, memory: Bytes, num_slots: int, aux_bytes: int) -> None:
        self.num_slots = num_slots
        self.aux_bytes = aux_bytes
        self._size = slot_bytes(aux_bytes)
        self._memory = memory
        if memory.nbytes < num_slots * self._size:
            raise ValueError(f"{num_slots} slots need {num_slots * self._size} bytes, there are {memory.nbytes}")
        for slot in range(num_slots):
            self.clear(slot)

    def address(self, slot: int) -> int:
        """Return where a slot begins, in bytes."""
        return int(self._memory.ctypes.data) + slot * self._size

    def clear(self, slot: int) -> None:
        """Let a slot name no room, and hold zeros."""
        self.write(slot, Metadata(room=_NOBODY, epoch=_NOBODY, data=bytes(self.aux_bytes)))

    def write(self, slot: int, metadata: Metadata) -> None:
        """Write a slot as a flight does: header and data, and no byte behind them."""
        data = encoded(metadata)
        first = slot * self._size
        self._memory[first : first + len(data)] = np.frombuffer(data, dtype=np.uint8)

    def names(self, slot: int, room: int, epoch: int) -> bool:
        """Say whether a slot is of a room and an epoch."""
        return self._header(slot)[:2] == (room, epoch)

    def read(self, slot: int) -> Metadata:
        """Return a copy of what a slot holds. A length that cannot be is read as the whole slot."""
        first = slot * self._size
        room, epoch, length = self._header(slot)
        kept = length if 0 <= length <= self.aux_bytes else self.aux_bytes
        data = self._memory[first + _HEADER.size : first + _HEADER.size + kept].tobytes()
        return Metadata(room=room, epoch=epoch, data=data)

    def _header(self, slot: int) -> tuple[int, int, int]:
        first = slot * self._size
        room, epoch, length = _HEADER.unpack(self._memory[first : first + _HEADER.size].tobytes())
        return room, epoch, length

"""What one decode rank sets aside for rooms: pages, and a metadata slot each.

Knows which pages and slots are free, reserved or quarantined. Does not know rooms, nor the bytes of pages.

    free ──take──> reserved ──give──────────────────> free
                      └─────quarantine──> quarantined ──give──> free

Quarantined pages belong to nobody, and somebody may still write them. Pages that follow one another are preferred: they
are one write.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from sharedkv.cost import CostMeter
from sharedkv.extents import ExtentIndex
from sharedkv.transfer.metadata_slots import Bytes, MetadataSlots, slot_bytes


@dataclass(frozen=True, kw_only=True)
class DecodePlace:
    """What one decode rank set aside for a room: a page for each position, and a slot."""

    rank: int
    pages: tuple[int, ...]
    slot: int


@dataclass(frozen=True, kw_only=True)
class DecodeCounts:
    """The pages of one decode rank by state, and its free slots."""

    rank: int
    free: int
    reserved: int
    quarantined: int
    free_slots: int


def slot_memory_bytes(num_slots: int, aux_bytes: int) -> int:
    """Count the bytes of memory that the slots of a rank need."""
    return num_slots * slot_bytes(aux_bytes)


class DecodeMemory:
    """The pages 1..num_pages and the slots of one decode rank; page 0 is its dummy."""

    def __init__(self, rank: int, num_pages: int, slots: MetadataSlots) -> None:
        self.rank = rank
        self.slots = slots
        self._free = ExtentIndex(num_pages, CostMeter())
        self._free_slots = deque(range(slots.num_slots))
        self._reserved = 0
        self._quarantined = 0

    @property
    def num_free(self) -> int:
        """Count the free pages."""
        return self._free.num_free

    @property
    def num_free_slots(self) -> int:
        """Count the free slots."""
        return len(self._free_slots)

    def take(self, num_pages: int) -> DecodePlace:
        """Reserve pages and a slot, which are free, and clear the slot."""
        pages = tuple(page for run in self._free.take(num_pages) for page in run)
        self._reserved += num_pages
        slot = self._free_slots.popleft()
        self.slots.clear(slot)
        return DecodePlace(rank=self.rank, pages=pages, slot=slot)

    def quarantine(self, pages: Sequence[int]) -> None:
        """Take reserved pages from their room, for nobody."""
        self._reserved -= len(pages)
        self._quarantined += len(pages)

    def give(self, pages: Sequence[int], *, are_quarantined: bool) -> None:
        """Free pages that are reserved, or quarantined."""
        if are_quarantined:
            self._quarantined -= len(pages)
        else:
            self._reserved -= len(pages)
        for run in _runs(sorted(pages)):
            self._free.give(run)

    def give_slot(self, slot: int) -> None:
        """Free a slot."""
        self._free_slots.append(slot)

    def counts(self) -> DecodeCounts:
        """Count pages and slots."""
        return DecodeCounts(
            rank=self.rank,
            free=self.num_free,
            reserved=self._reserved,
            quarantined=self._quarantined,
            free_slots=self.num_free_slots,
        )


def decode_memory(rank: int, num_pages: int, num_slots: int, aux_bytes: int, slot_memory: Bytes) -> DecodeMemory:
    """Return all of one rank free; `slot_memory` is what peers may write, the slots at its beginning."""
    return DecodeMemory(rank, num_pages, MetadataSlots(slot_memory, num_slots, aux_bytes))


def _runs(pages: Sequence[int]) -> list[range]:
    """Return ascending pages as runs."""
    runs: list[range] = []
    for page in pages:
        if runs and runs[-1].stop == page:
            runs[-1] = range(runs[-1].start, page + 1)
        else:
            runs.append(range(page, page + 1))
    return runs

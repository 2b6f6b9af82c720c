"""The memory of decode as plain bytes: the pages and the slots of each rank. Knows nothing of rooms."""

from __future__ import annotations

from functools import cached_property

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import PoolBuffer
from sharedkv_conformance.model.host_memory import page_bytes, page_span
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.sending_parts import Slot


class DecodeMemory:
    """One bytearray for each decode rank, layer and buffer, and the slots of each rank."""

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.pool = config.pool
        self.ranks = range(config.transfer.decode_ranks)
        self.slots = {(rank, slot): Slot() for rank in self.ranks for slot in range(config.transfer.slots)}

    @cached_property
    def buffers(self) -> dict[tuple[int, int, str], bytearray]:
        """Return the pages, which nobody has where nothing was ever sent."""
        pages = 1 + self.config.transfer.decode_pages
        return {
            (rank, layer, buffer): bytearray(pages * page_bytes(self.pool, self.config.page_size, buffer))
            for rank in self.ranks
            for layer in range(self.pool.all_layers)
            for buffer in buffers_of(self.pool)
        }

    def put(self, rank: int, layer: int, buffer: str, page: int, data: bytes) -> None:
        """Write a page of a buffer."""
        self.buffers[rank, layer, buffer][page_span(self.pool, self.config.page_size, buffer, page)] = data

    def page(self, rank: int, layer: int, buffer: str, page: int) -> bytes:
        """Return a page of a buffer."""
        return bytes(self.buffers[rank, layer, buffer][page_span(self.pool, self.config.page_size, buffer, page)])

    def view(self, rank: int, layer: int) -> tuple[PoolBuffer, ...]:
        """Return every buffer of a layer of a rank."""
        if rank not in self.ranks:
            raise Rejected(Reason.ROOM_INVALID, f"decode rank {rank}")
        if layer not in range(self.pool.all_layers):
            raise Rejected(Reason.LAYER_OUTSIDE_POOL, f"layer {layer} of {self.pool.all_layers}")
        return tuple(
            PoolBuffer(rank=rank, buffer=buffer, data=bytes(self.buffers[rank, layer, buffer]))
            for buffer in buffers_of(self.pool)
        )

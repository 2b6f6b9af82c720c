"""Host memory as plain bytes: the pages of each lane, each as its device page is stored."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.model.pool import buffers_of, stored_row_bytes


def page_bytes(pool: PoolConfig, page_size: int, buffer: str) -> int:
    """Return the bytes of a page of one buffer of one layer."""
    return page_size * stored_row_bytes(pool, buffer)


def page_span(pool: PoolConfig, page_size: int, buffer: str, page: int) -> slice:
    """Return where a page lies within its buffer: pages of every buffer follow one another without gaps."""
    size = page_bytes(pool, page_size, buffer)
    return slice(page * size, (page + 1) * size)


class HostMemory:
    """One bytearray for each lane, layer and buffer; host pages are numbered from 0."""

    def __init__(self, config: OpenConfig) -> None:
        self.pool = config.pool
        self.page_size = config.page_size
        self.buffers = {
            (lane, layer, buffer): bytearray(config.host_pages * page_bytes(config.pool, config.page_size, buffer))
            for lane in range(config.cp_size)
            for layer in range(config.pool.all_layers)
            for buffer in buffers_of(config.pool)
        }

    def page(self, lane: int, layer: int, buffer: str, page: int) -> bytes:
        """Return the bytes of a host page."""
        return bytes(self.buffers[lane, layer, buffer][page_span(self.pool, self.page_size, buffer, page)])

    def put(self, lane: int, layer: int, buffer: str, page: int, data: bytes) -> None:
        """Write the bytes of a host page."""
        self.buffers[lane, layer, buffer][page_span(self.pool, self.page_size, buffer, page)] = data

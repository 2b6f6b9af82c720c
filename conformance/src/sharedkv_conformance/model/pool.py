"""The pools of all ranks as plain bytes: where a row lies and how it is stored."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import (
    FP8_ROW_BYTES,
    INDEX_ROW_BYTES,
    INDEX_VALUES,
    LATENT_ROW_BYTES,
    LATENT_VALUES,
    SCALE_TILE,
    PoolConfig,
)
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.numbers import LARGEST_FP8, bf16_values, fp8_code, fp32

LAYOUTS = ("mla_bf16", "mla_fp8", "mha_bf16")
SMALLEST_SCALE = fp32(1e-12)
"""The scale of a tile is at least this, so that a tile of zeros has one."""


def buffers_of(pool: PoolConfig) -> tuple[str, ...]:
    """Return the buffers of a layout, in order."""
    return ("key", "value") if pool.layout == "mha_bf16" else ("latent", "index")


def computed_row_bytes(pool: PoolConfig, buffer: str) -> int:
    """Return the bytes of a row as a rank computes it."""
    if buffer == "index":
        return INDEX_ROW_BYTES
    return LATENT_ROW_BYTES if buffer == "latent" else 2 * pool.kv_heads * pool.head_dim


def stored_row_bytes(pool: PoolConfig, buffer: str) -> int:
    """Return the bytes of a row as a pool keeps it."""
    if buffer == "latent" and pool.layout == "mla_fp8":
        return FP8_ROW_BYTES
    return computed_row_bytes(pool, buffer)


def stored_row(pool: PoolConfig, buffer: str, row: bytes) -> bytes:
    """Return a computed row in stored form."""
    return quantized(row) if buffer == "latent" and pool.layout == "mla_fp8" else row


@lru_cache(maxsize=4096)
def quantized(row: bytes) -> bytes:
    """Return a bf16 latent row as 512 fp8 values, 4 fp32 scales and the rope as it was.

    The scale of 128 values is their largest magnitude / 448, rounded to fp32 and at least `SMALLEST_SCALE`; a value is
    the fp8 nearest to value / scale rounded to fp32.
    """
    latent = bf16_values(row[: 2 * LATENT_VALUES])
    codes, scales = bytearray(), []
    for start in range(0, LATENT_VALUES, SCALE_TILE):
        tile = latent[start : start + SCALE_TILE]
        scale = max(fp32(max(map(abs, tile)) / LARGEST_FP8), SMALLEST_SCALE)
        codes += bytes(fp8_code(fp32(value / scale)) for value in tile)
        scales.append(scale)
    return bytes(codes) + struct.pack(f"<{len(scales)}f", *scales) + row[2 * LATENT_VALUES :]


def row_spans(pool: PoolConfig, page_size: int, buffer: str, physical_location: int) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges (start, length) of a stored row within its buffer."""
    if buffer != "index":
        size = stored_row_bytes(pool, buffer)
        yield physical_location * size, size
        return
    page, offset = divmod(physical_location, page_size)
    first = page * page_size * INDEX_ROW_BYTES
    yield first + offset * INDEX_VALUES, INDEX_VALUES
    yield first + page_size * INDEX_VALUES + 4 * offset, 4


class Pools:
    """One bytearray for each rank, layer and buffer; physical page 0 is the rank's dummy page."""

    def __init__(self, config: OpenConfig) -> None:
        if config.pool.layout not in LAYOUTS:
            raise Rejected(Reason.LAYOUT_UNKNOWN, f"{config.pool.layout!r}, known are {', '.join(LAYOUTS)}")
        self.pool = config.pool
        self.geometry = Geometry.of(config)
        self.buffers = {
            (rank, layer, buffer): bytearray(self.buffer_bytes(buffer))
            for rank in range(config.cp_size)
            for layer in range(config.pool.all_layers)
            for buffer in buffers_of(config.pool)
        }

    def buffer_bytes(self, buffer: str) -> int:
        """Return the size of a buffer of one layer of one rank."""
        rows = (1 + self.geometry.lane_pages) * self.geometry.page_size
        return rows * stored_row_bytes(self.pool, buffer)

    def place(self, location: int) -> tuple[int, int]:
        """Return the lane and the physical location of a logical token location of a page that is not the dummy."""
        page, offset = divmod(location, self.geometry.page_size)
        return self.geometry.lane(page), self.geometry.physical(page) * self.geometry.page_size + offset

    def spans(self, buffer: str, physical_location: int) -> Iterator[tuple[int, int]]:
        """Return the byte ranges (start, length) of a stored row within its buffer."""
        return row_spans(self.pool, self.geometry.page_size, buffer, physical_location)

    def write_row(self, rank: int, layer: int, buffer: str, physical_location: int, stored: bytes) -> None:
        """Write a stored row."""
        target, at = self.buffers[rank, layer, buffer], 0
        for start, length in self.spans(buffer, physical_location):
            target[start : start + length] = stored[at : at + length]
            at += length

    def read_row(self, rank: int, layer: int, buffer: str, physical_location: int) -> bytes:
        """Read a stored row."""
        source = self.buffers[rank, layer, buffer]
        return b"".join(
            bytes(source[start : start + length]) for start, length in self.spans(buffer, physical_location)
        )

    def read(self, layer: int, buffer: str, location: int) -> bytes:
        """Read the stored row of a logical token location from its owner."""
        rank, physical = self.place(location)
        return self.read_row(rank, layer, buffer, physical)

"""Rows that ranks are said to have computed: bytes that tell a request, a position and a layer, from a small palette.

There are few different rows, so that what is derived from them is derived once. Among them are tiles of zeros, tiny
and large ones. Pure: draws nothing.
"""

from __future__ import annotations

import struct
from functools import lru_cache

from sharedkv_conformance.contract.pool import INDEX_VALUES, LATENT_VALUES, ROPE_VALUES, SCALE_TILE, PoolConfig
from sharedkv_conformance.model.numbers import bf16_bytes
from sharedkv_conformance.model.pool import computed_row_bytes

PALETTE = 61
GARBAGE = 0xEE


def row_number(*, turn: int, request: int, position: int, layer: int) -> int:
    """Return the number of a row in the palette; rows of one request differ for 61 positions in sequence."""
    return (17 * turn + 11 * request + 3 * position + 7 * layer) % PALETTE


def computed_row(pool: PoolConfig, buffer: str, number: int) -> bytes:
    """Return a row of the palette as a rank computes it."""
    if buffer == "latent":
        return latent_row(number)
    return index_row(number) if buffer == "index" else head_row(number, buffer, pool.kv_heads * pool.head_dim)


def garbage_row(pool: PoolConfig, buffer: str) -> bytes:
    """Return a row that nobody should keep."""
    return bytes([GARBAGE]) * computed_row_bytes(pool, buffer)


@lru_cache(maxsize=PALETTE)
def latent_row(number: int) -> bytes:
    """Return 512 latents in four tiles, and 64 rope values that no other row has."""
    values = [_latent(number, value) for value in range(LATENT_VALUES)]
    rope = [((number + 1) * (value + 3) % 113) / 8 for value in range(ROPE_VALUES)]
    return bf16_bytes(values + rope)


def _latent(number: int, value: int) -> float:
    tile = value // SCALE_TILE
    if number == 0 or (number % 8 == 4 and tile == number // 8 % 4):  # noqa: PLR2004 - every eighth row
        return 0.0
    magnitude = {3: 2.0**-40, 5: 2.0**-46, 6: 2.0**20}.get(number % 8, 1.0) if tile == number // 16 else 1.0
    return magnitude * ((37 * number + 101 * value) % 251 - 125) / 32


@lru_cache(maxsize=PALETTE)
def index_row(number: int) -> bytes:
    """Return 128 fp8 keys and their scale."""
    keys = bytes(
        (29 * number + 7 * value) % 0x7F | (0x80 if (number + value) % 3 == 0 else 0) for value in range(INDEX_VALUES)
    )
    return keys + struct.pack("<f", 2.0 ** (number % 5 - 2) * (1 + number / 32))


@lru_cache(maxsize=8 * PALETTE)
def head_row(number: int, buffer: str, values: int) -> bytes:
    """Return the keys or values of all heads."""
    start = 0 if buffer == "key" else 64
    return bf16_bytes([(start + number + value) / 4 for value in range(values)])

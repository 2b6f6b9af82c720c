"""Rows and queries for dense views: each a function of what a request says, the position and the layer.

Numbers are small, so that scores are exact in any order of summation; each row differs from every other in some value,
and an index row in its scale, so that a wrong row is far from right. Equal arguments give equal bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache

from sharedkv_conformance.contract.pool import (
    INDEX_VALUES,
    LATENT_VALUES,
    ROPE_VALUES,
    BufferRows,
    PoolConfig,
    RankRows,
)
from sharedkv_conformance.model.numbers import bf16_bytes, fp8_code
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes
from sharedkv_conformance.model.reuse_batch import Place, Places

CONTENTS = 5
"""As many different texts are told apart; that of a request is a number below."""

_FEATURES = (0, 17, 40, 77, 100, 127)
_NOBODY = 0x55


@lru_cache(maxsize=2048)
def latent_row(content: int, position: int, layer: int) -> bytes:
    """Return a computed latent row: ten values that are not zero, spread over latent and rope."""
    number, values = content * 53 + position, [0.0] * (LATENT_VALUES + ROPE_VALUES)
    for at in range(8):
        value = ((number * 5 + at * 3 + layer) % 13 - 6) / 2
        values[(number * 29 + layer * 7 + at * 67) % LATENT_VALUES] = value or 3.5
    for at in range(2):
        values[LATENT_VALUES + (number * 11 + at * 17) % ROPE_VALUES] = 1.0 + at
    return bf16_bytes(values)


@lru_cache(maxsize=2048)
def index_row(content: int, position: int, layer: int) -> bytes:
    """Return an index row: small whole numbers in a few dimensions, and a scale of eight bits that is the row's own."""
    number, key = content * 53 + position, bytearray(INDEX_VALUES)
    for at, dimension in enumerate(_FEATURES):
        key[dimension] = fp8_code(float((number * (at + 3) + at * at + layer) % 7 - 3))
    return bytes(key) + struct.pack("<f", (1 + number % 251 / 256) * 2.0 ** (layer - 3))


@lru_cache(maxsize=2048)
def plain_row(content: int, position: int, layer: int, values: int, salt: int) -> bytes:
    """Return a row of keys or values."""
    number = content * 53 + position
    return bf16_bytes([float((number * (at + 1) + salt + layer) % 17 - 8) + number / 256 for at in range(values)])


@lru_cache(maxsize=2048)
def index_query(content: int, position: int, head: int) -> bytes:
    """Return 128 fp8 values of one head."""
    number, query = content * 53 + position, bytearray(INDEX_VALUES)
    for at, dimension in enumerate(_FEATURES):
        query[dimension] = fp8_code(float((number * 3 + at * 5 + head * (at + 2)) % 5 - 2))
    return bytes(query)


@lru_cache(maxsize=256)
def attention_query(number: int) -> bytes:
    """Return 576 bf16 values of one head."""
    return bf16_bytes([((at * 7 + number * 3) % 5 - 2) / 2 for at in range(LATENT_VALUES + ROPE_VALUES)])


def weights(content: int, position: int, heads: int) -> bytes:
    """Return a weight a head: powers of two that differ between neighbouring rows and heads; some are below 0, or 0."""
    number = content + position
    return struct.pack(
        f"<{heads}f", *(_sign(number, head) * 2.0 ** ((number + 2 * head) % 4 - 1) for head in range(heads))
    )


def _sign(number: int, head: int) -> int:
    """Return the sign of a weight: below zero for all heads of some rows, for one head of others, and rarely zero."""
    if number % 11 == 10 and head == 0:  # noqa: PLR2004 - one row of eleven
        return 0
    return -1 if number % 5 == 2 or (number % 5 == 4 and head == 1) else 1  # noqa: PLR2004 - two rows of five


def computed(pool: PoolConfig, buffer: str, content: int, position: int, layer: int) -> bytes:
    """Return the row of one buffer."""
    if buffer in ("latent", "index"):
        return (latent_row if buffer == "latent" else index_row)(content, position, layer)
    return plain_row(content, position, layer, pool.kv_heads * pool.head_dim, int(buffer == "value"))


def rank_rows(
    pool: PoolConfig, places: Places, domain: str, contents: Sequence[int], layer: int, padding: int = 0
) -> tuple[RankRows, ...]:
    """Return what every rank computed; rows that nobody keeps, and `padding` more of them, are garbage."""
    return tuple(_rows_of_rank(pool, rows + (None,) * padding, domain, contents, layer) for rows in places)


def _rows_of_rank(
    pool: PoolConfig, rows: Sequence[Place | None], domain: str, contents: Sequence[int], layer: int
) -> RankRows:
    def row(buffer: str, place: Place | None) -> bytes:
        if place is None:
            return bytes([_NOBODY]) * computed_row_bytes(pool, buffer)
        return computed(pool, buffer, contents[place[0]], place[1], layer)

    buffers = tuple(
        BufferRows(buffer=buffer, data=b"".join(row(buffer, place) for place in rows)) for buffer in buffers_of(pool)
    )
    return RankRows(domain=domain, rows=len(rows), buffers=buffers)


def joined(places: Sequence[Place | None], contents: Sequence[int], row: Callable[[int, int], bytes]) -> bytes:
    """Return one row after another; a row that nobody keeps repeats the first token of the first request."""
    return b"".join(row(contents[place[0]], place[1]) for place in ((p or (0, 0)) for p in places))

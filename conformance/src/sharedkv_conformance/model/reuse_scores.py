"""The arithmetic of indexer and attention in doubles, row by row: what a score is, and what attention gives.

Rows are decoded to their values that are not zero. Garbage gives infinities and NaN, and never an error.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import lru_cache

from sharedkv_conformance.contract.pool import (
    FP8_ROW_BYTES,
    INDEX_VALUES,
    LATENT_ROW_BYTES,
    LATENT_VALUES,
    ROPE_VALUES,
    SCALE_TILE,
)
from sharedkv_conformance.model.numbers import bf16_values, fp8_table

Sparse = tuple[tuple[int, float], ...]
SCALING = 24.0
"""What a product of query and row is divided by: the root of 576."""

LARGEST = struct.unpack("<f", struct.pack("<I", 0x7F7FFFFF))[0]
_TILES = LATENT_VALUES // SCALE_TILE


@lru_cache(maxsize=4096)
def fp8_values(data: bytes) -> tuple[float, ...]:
    """Return the values of fp8 codes."""
    table = fp8_table()
    return tuple(table[code] for code in data)


@lru_cache(maxsize=4096)
def index_key(row: bytes) -> tuple[Sparse, float]:
    """Return the key values of an index row that are not zero, and its scale."""
    return _sparse(fp8_values(row[:INDEX_VALUES])), struct.unpack("<f", row[INDEX_VALUES:])[0]


def score(query: Sequence[bytes], weights: Sequence[float], row: bytes) -> float:
    """Return the score of an index row: over heads, weight times max(0, query . key), times the key's scale.

    `query` has 128 fp8 codes a head.
    """
    key, scale = index_key(row)
    heads = (sum(values[at] * value for at, value in key) for values in map(fp8_values, query))
    return scale * sum(weight * max(0.0, product) for weight, product in zip(weights, heads, strict=True))


@lru_cache(maxsize=4096)
def latent_values(row: bytes) -> Sparse:
    """Return the values of a stored latent row, 512 latent and then 64 rope, that are not zero."""
    if len(row) != FP8_ROW_BYTES:
        return _sparse(bf16_values(row))
    scales = struct.unpack(f"<{_TILES}f", row[LATENT_VALUES : LATENT_VALUES + 4 * _TILES])
    latent = [code * scales[at // SCALE_TILE] for at, code in enumerate(fp8_values(row[:LATENT_VALUES]))]
    return _sparse([*latent, *bf16_values(row[-2 * ROPE_VALUES :])])


@lru_cache(maxsize=1024)
def _query_values(query: bytes) -> tuple[float, ...]:
    return bf16_values(query)


def attention(query: bytes, rows: Sequence[bytes]) -> list[float]:
    """Return 512 values: softmax of (query . row) / 24 over the rows, times their latents; a query has 576 values."""
    values, latents = _query_values(query), [latent_values(row) for row in rows]
    logits = [sum(values[at] * value for at, value in latent) / SCALING for latent in latents]
    top = max(logits, default=0.0)
    shares = [math.exp(min(0.0, logit - top)) if math.isfinite(logit) else math.nan for logit in logits]
    total, mixed = sum(shares), [0.0] * LATENT_VALUES
    for latent, share in zip(latents, shares, strict=True):
        for at, value in latent:
            if at < LATENT_VALUES:
                mixed[at] += share / total * value
    return mixed


def fp32_bytes(values: Sequence[float]) -> bytes:
    """Return values as little-endian fp32, the largest finite one in place of those beyond it."""
    return struct.pack(f"<{len(values)}f", *(max(-LARGEST, min(LARGEST, value)) for value in values))


def heads_of(data: bytes, row: int, heads: int, head_bytes: int) -> list[bytes]:
    """Return the heads of one row of queries."""
    start = row * heads * head_bytes
    return [data[start + head * head_bytes : start + (head + 1) * head_bytes] for head in range(heads)]


def weights_of(data: bytes, row: int, heads: int) -> tuple[float, ...]:
    """Return the weights of one row of queries."""
    return struct.unpack_from(f"<{heads}f", data, 4 * heads * row)


def _sparse(values: Sequence[float]) -> Sparse:
    return tuple((at, value) for at, value in enumerate(values) if value != 0.0)


QUERY_BYTES = {"top_k": INDEX_VALUES, "attend": LATENT_ROW_BYTES}
"""The bytes of one head of a query row, by the call that takes it."""

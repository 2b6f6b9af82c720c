"""Rows that are a function of their prefix: what a token's row is depends on all tokens up to it, and on nothing else.

So whoever computes a prefix again computes the same rows, as a model does, and a page says by its bytes whose it is.
Pure: draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.pool import BufferRows, PoolConfig, RankRows
from sharedkv_conformance.draws.computed_rows import PALETTE, computed_row
from sharedkv_conformance.model.direct_write_refusals import dealt
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes

Tokens = tuple[int, ...]


@lru_cache(maxsize=65536)
def prefix_row(pool: PoolConfig, buffer: str, layer: int, prefix: Tokens) -> bytes:
    """Return the row of the last token of a prefix as a rank computes it."""
    digest = blake2b(repr((buffer, layer, prefix)).encode(), digest_size=16).digest()
    if buffer == "latent" and pool.layout == "mla_fp8":
        return computed_row(pool, buffer, int.from_bytes(digest, "little") % PALETTE)
    size = computed_row_bytes(pool, buffer)
    return (digest * (size // len(digest) + 1))[:size]


def prefix_rows(
    pool: PoolConfig, geometry: Geometry, layer: int, request: ExtendRequest, tokens: Tokens
) -> tuple[RankRows, ...]:
    """Return what each rank computed of the new tokens of a request."""
    first = request.prefix_tokens
    return tuple(
        RankRows(domain="valid", rows=len(own), buffers=tuple(_buffers(pool, layer, tokens, own, first)))
        for own in dealt(geometry, (request,))
    )


def _buffers(pool: PoolConfig, layer: int, tokens: Tokens, own: Sequence[int], first: int) -> Iterator[BufferRows]:
    for buffer in buffers_of(pool):
        rows = (prefix_row(pool, buffer, layer, tokens[: first + token + 1]) for token in own)
        yield BufferRows(buffer=buffer, data=b"".join(rows))

"""Pools: what a row of a layer holds, how it is stored, and how rows cross the contract.

A session of the data-plane facets (`direct_write`, `reuse`, `prefetch`) plays all ranks of the group: arguments and
answers hold one item a rank. Numbers are little-endian. bf16 is the upper half of an IEEE binary32; fp8 is e4m3 with
largest finite value 448, without infinities (`e4m3fn`).

    layout    buffer      a computed row                          a stored row
    mla_bf16  latent      512 latent, 64 rope, bf16: 1,152 bytes  the same bytes
    mla_fp8   latent      512 latent, 64 rope, bf16: 1,152 bytes  512 fp8, 4 fp32 scales, 64 rope bf16: 656 bytes
    both      index       128 fp8 keys, 1 fp32 scale: 132 bytes   a page is all its keys, then all its scales
    mha_bf16  key, value  kv_heads * head_dim bf16                the same bytes

A scale of `mla_fp8` belongs to 128 latent values, in order. Rows of buffer `index` cross as 132 bytes, key then scale,
wherever these stand in the page.
"""

from __future__ import annotations

from dataclasses import dataclass

LATENT_VALUES = 512
ROPE_VALUES = 64
SCALE_TILE = 128
INDEX_VALUES = 128
INDEX_ROW_BYTES = INDEX_VALUES + 4
LATENT_ROW_BYTES = 2 * (LATENT_VALUES + ROPE_VALUES)
FP8_ROW_BYTES = LATENT_VALUES + 4 * (LATENT_VALUES // SCALE_TILE) + 2 * ROPE_VALUES


@dataclass(frozen=True, kw_only=True)
class PoolConfig:
    """What the pools of one session hold.

    `layout` is `mla_bf16`, `mla_fp8` or `mha_bf16`; any other is refused with `Rejected` when a session is opened that
    claims a data-plane facet. `heads` counts query heads of attention, `index_heads` those of the indexer; `kv_heads`
    and `head_dim` speak of `mha_bf16` alone. Layers are numbered from 0: those of the target, then those of the draft.
    """

    layout: str = "mla_bf16"
    layers: int = 2
    draft_layers: int = 0
    heads: int = 1
    index_heads: int = 1
    kv_heads: int = 1
    head_dim: int = 16

    @property
    def all_layers(self) -> int:
        """Count the layers of target and draft."""
        return self.layers + self.draft_layers


@dataclass(frozen=True, kw_only=True)
class BufferRows:
    """Rows of one buffer (`latent`, `index`, `key`, `value`), one after another."""

    buffer: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class RankRows:
    """What one rank computed for one layer, in its row order.

    `domain` names the rows that are given: `valid`, `compute` or `static` of the batch's plan; `rows` counts them,
    and in the domain `static` is at least the number of compute rows of that rank. `buffers` has each buffer of
    the layout once.
    """

    domain: str
    rows: int
    buffers: tuple[BufferRows, ...]


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where a logical page lies: its lane and its physical page there; the dummy page is physical page 0, lane -1."""

    lane: int
    page: int

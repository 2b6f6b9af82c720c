"""A tiny transformer with latent attention and an indexer: real random weights, and what they make of tokens.

Knows numbers. Does not know ranks, pages or caches.

A number that is multiplied stands on a grid of 1/256 and is small, so that binary64 holds each sum of products exactly,
whatever the order; all else is done number by number. Hence a row does not depend on the rows computed beside it, and
what is stored of a token can be compared bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from sharedkv.demo.scenario import VOCABULARY
from sharedkv.demo.settings import HEADS, INDEX_HEADS
from sharedkv.layouts import INDEX_KEY_BYTES, LATENT_VALUES, ROPE_VALUES

WIDTH = 64
GRID = 256
MOST = 4.0
LARGEST_FP8 = 448.0
MOST_POSITIONS = 1 << 10
QUERY_VALUES = LATENT_VALUES + ROPE_VALUES


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerWeights:
    """Matrices of one layer, binary64, (inputs, outputs)."""

    latent: torch.Tensor
    query: torch.Tensor
    index_key: torch.Tensor
    index_query: torch.Tensor
    index_weight: torch.Tensor
    output: torch.Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class LayerRows:
    """What a layer makes of rows: cached ones, uint8 (rows, 1152) and (rows, 132), and queries.

    `queries` is uint8 (rows, heads * 1152) of bf16, `index_queries` uint8 (rows, index heads * 128) of fp8,
    `index_weights` fp32 (rows, index heads).
    """

    latent: torch.Tensor
    index: torch.Tensor
    queries: torch.Tensor
    index_queries: torch.Tensor
    index_weights: torch.Tensor


class TinyModel:
    """Weights drawn from a seed. Rows are binary64 (rows, width); positions int64 (rows,)."""

    def __init__(self, seed: int, layers: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        self._embedding = self._drawn(VOCABULARY, WIDTH, scale=1.0)
        self.layers = tuple(self._layer() for _ in range(layers))
        angles = torch.outer(
            torch.arange(MOST_POSITIONS, dtype=torch.float64),
            10000.0 ** (-torch.arange(ROPE_VALUES // 2, dtype=torch.float64) / (ROPE_VALUES // 2)),
        )
        self._cosines, self._sines = angles.cos(), angles.sin()

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the rows of tokens, int64 (rows,)."""
        return self._embedding[tokens]

    def project(self, layer: int, rows: torch.Tensor, positions: torch.Tensor) -> LayerRows:
        """Return what a layer caches of rows and what it asks with."""
        weights, count = self.layers[layer], rows.shape[0]
        latent = self._with_rope((rows @ weights.latent).view(count, 1, QUERY_VALUES), positions)
        queries = self._with_rope((rows @ weights.query).view(count, HEADS, QUERY_VALUES), positions)
        keys, key_scales = _as_fp8((rows @ weights.index_key).view(count, 1, INDEX_KEY_BYTES))
        index_queries, scales = _as_fp8((rows @ weights.index_query).view(count, INDEX_HEADS, INDEX_KEY_BYTES))
        key_scales = key_scales.view(torch.uint8).view(count, -1)
        return LayerRows(
            latent=_bf16_bytes(latent).view(count, -1),
            index=torch.cat((keys.view(count, -1), key_scales), dim=1),
            queries=_bf16_bytes(queries).view(count, -1),
            index_queries=index_queries.view(count, -1),
            index_weights=(rows @ weights.index_weight).to(torch.float32) * scales.view(count, INDEX_HEADS),
        )

    def advance(self, layer: int, rows: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """Return the rows of the next layer: what there was, and attention, fp32 (rows, heads, 512), mixed."""
        mixed = attention.reshape(rows.shape[0], -1).to(torch.float64) @ self.layers[layer].output
        return _on_grid((rows + mixed).clamp(-MOST, MOST))

    def _layer(self) -> LayerWeights:
        return LayerWeights(
            latent=self._drawn(WIDTH, QUERY_VALUES, scale=0.125),
            query=self._drawn(WIDTH, HEADS * QUERY_VALUES, scale=0.125),
            index_key=self._drawn(WIDTH, INDEX_KEY_BYTES, scale=0.125),
            index_query=self._drawn(WIDTH, INDEX_HEADS * INDEX_KEY_BYTES, scale=0.125),
            index_weight=self._drawn(WIDTH, INDEX_HEADS, scale=0.125),
            output=self._drawn(HEADS * LATENT_VALUES, WIDTH, scale=0.03),
        )

    def _drawn(self, inputs: int, outputs: int, *, scale: float) -> torch.Tensor:
        drawn = torch.randn((inputs, outputs), generator=self._generator, dtype=torch.float64)
        return _on_grid((drawn * scale).clamp(-MOST, MOST))

    def _with_rope(self, values: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Turn the last 64 values of each head by the row's position; values are (rows, heads, 576)."""
        cosines, sines = self._cosines[positions, None], self._sines[positions, None]
        latent, even, odd = (
            values[..., :LATENT_VALUES],
            values[..., LATENT_VALUES::2],
            values[..., LATENT_VALUES + 1 :: 2],
        )
        turned = torch.stack((even * cosines - odd * sines, even * sines + odd * cosines), dim=-1)
        return torch.cat((latent, turned.flatten(-2)), dim=-1)


def _on_grid(values: torch.Tensor) -> torch.Tensor:
    return torch.round(values * GRID) / GRID


def _bf16_bytes(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.bfloat16).contiguous().view(torch.uint8)


def _as_fp8(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return fp8 codes (uint8, as values) and one fp32 scale a head, of values (rows, heads, 128)."""
    scales = (values.abs().amax(dim=-1, keepdim=True) / LARGEST_FP8).to(torch.float32).clamp_min(1e-12)
    codes = (values.to(torch.float32) / scales).clamp(-LARGEST_FP8, LARGEST_FP8).to(torch.float8_e4m3fn)
    return codes.view(torch.uint8), scales

"""Latent rows as fp8 with scales, and back.

Knows number formats. Does not know pools or slots. The plain torch function is normative; a kernel gives equal bytes.

    computed (1,152 B)   512 latent bf16 | 64 rope bf16
    stored     (656 B)   512 fp8 e4m3    | 4 fp32 scales, one for 128 values | 64 rope bf16, as they came
"""

from __future__ import annotations

import torch

from sharedkv.errors import TensorMismatchError
from sharedkv.layouts import (
    FP8_ROW_BYTES,
    FP32_BYTES,
    LATENT_ROW_BYTES,
    LATENT_VALUES,
    NUM_SCALES,
    ROPE_VALUES,
    SCALE_TILE,
)

LARGEST_FP8 = 448.0
SMALLEST_SCALE = 1e-12
"""The scale of a tile is at least this, so that a tile of zeros has one and stays finite."""

_FP8_NAN = 0x7F
_ROPE_START = LATENT_VALUES + FP32_BYTES * NUM_SCALES


def quantize_latent(rows: torch.Tensor) -> torch.Tensor:
    """Return rows, (n, 576) bf16 or (n, 1152) uint8, as stored rows (n, 656) uint8.

    The scale of 128 values is their largest magnitude / 448, rounded to fp32 and at least `SMALLEST_SCALE`; a value is
    the fp8 nearest to value / scale rounded to fp32, ties to even, saturating. Finite values are kept to a sixteenth, a
    200,000th of their tile's largest or 1e-14, whichever is most; what is kept of a tile with other values is open.

    Raises:
        TensorMismatchError: rows of another type or shape.

    """
    values = _as_bf16(rows)
    if values.is_cuda:
        from sharedkv import kernels  # noqa: PLC0415 - Triton is not everywhere

        stored: torch.Tensor = kernels.quantize_latent(values)
        return stored
    return plain_quantize_latent(values)


def plain_quantize_latent(rows: torch.Tensor) -> torch.Tensor:
    """Do what `quantize_latent` does with plain torch."""
    values = _as_bf16(rows).contiguous()
    num_rows = values.shape[0]
    tiles = values[:, :LATENT_VALUES].to(torch.float32).view(num_rows, NUM_SCALES, SCALE_TILE)
    scales = (tiles.abs().amax(dim=2, keepdim=True) / LARGEST_FP8).clamp_min(SMALLEST_SCALE)
    stored = values.new_empty((num_rows, FP8_ROW_BYTES), dtype=torch.uint8)
    stored[:, :LATENT_VALUES] = _fp8_codes(tiles / scales).view(num_rows, LATENT_VALUES)
    stored[:, LATENT_VALUES:_ROPE_START] = scales.view(num_rows, NUM_SCALES).view(torch.uint8)
    stored[:, _ROPE_START:] = values.view(torch.uint8)[:, 2 * LATENT_VALUES :]
    return stored


def dequantize_latent(stored: torch.Tensor) -> torch.Tensor:
    """Return stored rows (n, 656) uint8 as (n, 576) fp32: latents times their scales, then the rope.

    Raises:
        TensorMismatchError: rows of another type or shape.

    """
    _require(stored, torch.uint8, FP8_ROW_BYTES)
    num_rows = stored.shape[0]
    codes = stored[:, :LATENT_VALUES].view(torch.float8_e4m3fn).to(torch.float32)
    scales = stored[:, LATENT_VALUES:_ROPE_START].contiguous().view(torch.float32)
    latent = codes.view(num_rows, NUM_SCALES, SCALE_TILE) * scales.view(num_rows, NUM_SCALES, 1)
    rope = stored[:, _ROPE_START:].contiguous().view(torch.bfloat16).to(torch.float32)
    return torch.cat((latent.view(num_rows, LATENT_VALUES), rope), dim=1)


def _fp8_codes(values: torch.Tensor) -> torch.Tensor:
    """Return fp32 values as fp8 codes in uint8; NaN has one code, whatever its sign."""
    codes = values.clamp(-LARGEST_FP8, LARGEST_FP8).to(torch.float8_e4m3fn).view(torch.uint8)
    return torch.where(values.isnan(), torch.full_like(codes, _FP8_NAN), codes)


def _as_bf16(rows: torch.Tensor) -> torch.Tensor:
    if rows.dtype == torch.uint8:
        _require(rows, torch.uint8, LATENT_ROW_BYTES)
        return rows.view(torch.bfloat16)
    _require(rows, torch.bfloat16, LATENT_VALUES + ROPE_VALUES)
    return rows


def _require(rows: torch.Tensor, dtype: torch.dtype, columns: int) -> None:
    wanted, found = (dtype, ("n", columns)), (rows.dtype, tuple(rows.shape))
    if rows.dtype != dtype or rows.dim() != 2 or rows.shape[1] != columns:  # noqa: PLR2004 - rows and columns
        raise TensorMismatchError("rows", wanted, found)

"""Quantization: bf16 latent rows to fp8 with scales, bit-equal to plain torch on the CPU.

Knows scales and the two forms of a row. Does not know pools or slots. Divisions are the correctly rounded ones
(`div_rn`), which Triton's `/` is not, nor torch's division by a number on a GPU.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from sharedkv.kernels.arguments import ANY, require, require_same_device, require_tensor
from sharedkv.kernels.fp8_rounding import MAGNITUDE, fp8_codes
from sharedkv.kernels.launching import Launch
from sharedkv.layouts import (
    FP8_ROW_BYTES,
    LATENT_ROW_BYTES,
    LATENT_VALUES,
    NUM_SCALES,
    ROPE_VALUES,
    SCALE_TILE,
)

_ALIGNMENT = 4
_ROWS_A_PROGRAM = 8

_TILE = tl.constexpr(SCALE_TILE)
_TILES = tl.constexpr(NUM_SCALES)
_ROW_VALUES = tl.constexpr(LATENT_VALUES + ROPE_VALUES)
_ROPE_WORDS = tl.constexpr(ROPE_VALUES // 2)
_ROPE_IN = tl.constexpr(LATENT_VALUES // 2)
_STORED_BYTES = tl.constexpr(FP8_ROW_BYTES)
_STORED_WORDS = tl.constexpr(FP8_ROW_BYTES // 4)
_SCALES_OUT = tl.constexpr(LATENT_VALUES // 4)
_ROPE_OUT = tl.constexpr(LATENT_VALUES // 4 + NUM_SCALES)

_LARGEST_FP8 = tl.constexpr(448.0)
_SMALLEST_SCALE_BITS = tl.constexpr(0x2B8CBCCC)
"""The bits of 1e-12 in fp32; of numbers that are not negative, the larger one has the larger bits."""


def quantize_latent(rows: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return rows, (n, 576) bf16 or (n, 1152) uint8, as stored rows (n, 656) uint8; in `out` where it is given.

    The scale of 128 values is their largest magnitude / 448, rounded to fp32 and at least 1e-12; a value is the fp8
    nearest to value / scale rounded to fp32, ties to even, saturating. What is no number gives the one NaN code; the
    bits of its tile's scale are then any NaN.

    Raises:
        TensorMismatchError: a type, device, shape, stride or start is wrong.

    """
    out = rows.new_empty((rows.shape[0], FP8_ROW_BYTES), dtype=torch.uint8) if out is None else out
    quantization_launch(rows, out).run()
    return out


def quantization_launch(rows: torch.Tensor, out: torch.Tensor) -> Launch:
    """Return the launch of `quantize_latent` into `out`."""
    is_bytes = rows.dtype == torch.uint8
    columns = LATENT_ROW_BYTES if is_bytes else LATENT_VALUES + ROPE_VALUES
    require_tensor("rows", rows, torch.uint8 if is_bytes else torch.bfloat16, ANY, columns)
    require_tensor("out", out, torch.uint8, rows.shape[0], FP8_ROW_BYTES)
    require_same_device(rows=rows, out=out)
    for name, tensor in (("rows", rows), ("out", out)):
        start = tensor.data_ptr() | int(tensor.storage_offset()) * tensor.element_size()
        require(f"start of {name} modulo {_ALIGNMENT}", 0, start % _ALIGNMENT)
    num_rows = rows.shape[0]
    return Launch(
        kernel=quantization_kernel,
        programs=-(-num_rows // _ROWS_A_PROGRAM),
        arguments=(rows.view(torch.int16), rows.view(torch.int32), out, out.view(torch.int32), num_rows),
        constants={"ROWS": _ROWS_A_PROGRAM},
    )


@triton.jit(do_not_specialize=["num_rows"])
def quantization_kernel(
    values: tl.tensor,
    words: tl.tensor,
    codes_out: tl.tensor,
    words_out: tl.tensor,
    num_rows: tl.tensor,
    ROWS: tl.constexpr,
) -> None:
    """Quantize ROWS rows a program: their tiles (ROWS * 4, 128), then the rope as it is."""
    first = tl.program_id(0).to(tl.int64) * ROWS
    tile = tl.arange(0, ROWS * _TILES)
    row = first + tile // _TILES
    is_row = row < num_rows
    inside = (tile % _TILES)[:, None] * _TILE + tl.arange(0, _TILE)[None, :]
    bits = tl.load(values + row[:, None] * _ROW_VALUES + inside, mask=is_row[:, None], other=0).to(tl.int32) << 16
    largest = tl.max(bits & MAGNITUDE, axis=1).to(tl.float32, bitcast=True)
    quotient = tl.math.div_rn(largest, tl.full((ROWS * _TILES,), _LARGEST_FP8, tl.float32))
    scale_bits = tl.maximum(quotient.to(tl.int32, bitcast=True), _SMALLEST_SCALE_BITS)
    scale = scale_bits.to(tl.float32, bitcast=True)[:, None]
    scaled = tl.math.div_rn(bits.to(tl.float32, bitcast=True), tl.broadcast_to(scale, (ROWS * _TILES, _TILE)))
    codes = fp8_codes(scaled.to(tl.int32, bitcast=True))
    tl.store(codes_out + row[:, None] * _STORED_BYTES + inside, codes.to(tl.uint8), mask=is_row[:, None])
    tl.store(words_out + row * _STORED_WORDS + _SCALES_OUT + tile % _TILES, scale_bits, mask=is_row)
    copy_rope(words, words_out, first, num_rows, ROWS)


@triton.jit
def copy_rope(
    words: tl.tensor, words_out: tl.tensor, first: tl.tensor, num_rows: tl.tensor, ROWS: tl.constexpr
) -> None:
    """Copy the rope of ROWS rows."""
    row = first + tl.arange(0, ROWS)[:, None]
    word = tl.arange(0, _ROPE_WORDS)[None, :]
    rope = tl.load(words + row * (_ROW_VALUES // 2) + _ROPE_IN + word, mask=row < num_rows)
    tl.store(words_out + row * _STORED_WORDS + _ROPE_OUT + word, rope, mask=row < num_rows)

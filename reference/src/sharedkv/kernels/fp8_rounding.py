"""Rounding to fp8 (e4m3, largest 448, no infinities) as integer arithmetic on the bits of fp32.

Knows bits. Does not know scales or rows. Conversions by the hardware, by torch and by Triton's interpreter need not
agree on every value; this is the same everywhere.

    fp32   sign | 8 exponent, bias 127 | 23 fraction        fp8   sign | 4 exponent, bias 7 | 3 fraction
    normal      drop 20 fraction bits, ties to even; a carry moves into the exponent, as it should
    subnormal   shift the significand until its last bit is worth 2 ** -9, ties to even
"""

from __future__ import annotations

import triton
import triton.language as tl

MAGNITUDE = tl.constexpr(0x7FFFFFFF)
_INFINITY = tl.constexpr(0x7F800000)
_FRACTION_BITS = tl.constexpr(23)
_FRACTION = tl.constexpr((1 << 23) - 1)
_HIDDEN_BIT = tl.constexpr(1 << 23)
_DROPPED_BITS = tl.constexpr(20)
_BELOW_TIE = tl.constexpr((1 << 19) - 1)
_BIAS_DIFFERENCE = tl.constexpr((127 - 7) << 3)
_FIRST_NORMAL = tl.constexpr((127 - 6) << 23)
_SHIFT_OF_EXPONENT_ZERO = tl.constexpr(127 + 23 - 9)
_SHIFT_TO_NOTHING = tl.constexpr(26)
_LARGEST_CODE = tl.constexpr(0x7E)
_NAN_CODE = tl.constexpr(0x7F)
_SIGN = tl.constexpr(0x80)


@triton.jit
def fp8_codes(bits: tl.tensor) -> tl.tensor:
    """Return the bits of fp32 values (int32) as fp8 codes (int32): nearest, saturating; NaN has one code."""
    magnitude = bits & MAGNITUDE
    below_tie = _BELOW_TIE + ((magnitude >> _DROPPED_BITS) & 1)
    normal = ((magnitude + below_tie) >> _DROPPED_BITS) - _BIAS_DIFFERENCE
    code = tl.where(magnitude < _FIRST_NORMAL, subnormal_codes(magnitude), normal)
    sign = (bits >> 24) & _SIGN
    return tl.where(magnitude > _INFINITY, _NAN_CODE, tl.minimum(code, _LARGEST_CODE) | sign)


@triton.jit
def subnormal_codes(magnitude: tl.tensor) -> tl.tensor:
    """Return the codes of magnitudes below the first normal one; of others, anything."""
    significand = (magnitude & _FRACTION) | _HIDDEN_BIT
    shift = _SHIFT_OF_EXPONENT_ZERO - (magnitude >> _FRACTION_BITS)
    shift = tl.maximum(tl.minimum(shift, _SHIFT_TO_NOTHING), 1)
    below_tie = (1 << (shift - 1)) - 1 + ((significand >> shift) & 1)
    return (significand + below_tie) >> shift

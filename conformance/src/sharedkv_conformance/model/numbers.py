"""Number formats of stored rows in plain integers and doubles: bf16, fp32, and fp8 e4m3 (`e4m3fn`).

Knows bits. Does not know rows, pages or scales. A quotient or product of two fp32 values computed in binary64 and
rounded once to fp32 is the correctly rounded one, so no wider arithmetic is needed.
"""

from __future__ import annotations

import struct
from functools import cache

LARGEST_FP8 = 448.0
FP8_NAN = 0x7F
_FP8_BIAS = 7
_FP8_FRACTION_BITS = 3


def fp32(value: float) -> float:
    """Round to binary32, ties to even."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def bf16_values(data: bytes) -> tuple[float, ...]:
    """Return the values of little-endian bf16."""
    widened = b"".join(b"\0\0" + data[at : at + 2] for at in range(0, len(data), 2))
    return struct.unpack(f"<{len(data) // 2}f", widened)


def bf16_bytes(values: tuple[float, ...] | list[float]) -> bytes:
    """Return values as little-endian bf16, rounded to nearest, ties to even. Finite values only."""
    parts = bytearray()
    for value in values:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        bits += 0x7FFF + (bits >> 16 & 1)
        parts += struct.pack("<H", bits >> 16 & 0xFFFF)
    return bytes(parts)


@cache
def fp8_table() -> tuple[float, ...]:
    """Return the value of each of the 256 codes; the two NaN codes give NaN."""
    return tuple(_fp8_value(code) for code in range(256))


def _fp8_value(code: int) -> float:
    sign = -1.0 if code & 0x80 else 1.0
    exponent, fraction = code >> _FP8_FRACTION_BITS & 0xF, code & 0x7
    if code & 0x7F == FP8_NAN:
        return float("nan")
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - _FP8_BIAS - _FP8_FRACTION_BITS)
    return sign * (8 + fraction) * 2.0 ** (exponent - _FP8_BIAS - _FP8_FRACTION_BITS)


def fp8_code(value: float) -> int:
    """Return the nearest code, ties to even, saturating at the largest finite value; NaN gives NaN."""
    if value != value:  # noqa: PLR0124 - what NaN is
        return FP8_NAN
    sign = 0x80 if struct.pack(">d", value)[0] & 0x80 else 0
    return sign | _fp8_magnitude(min(abs(value), LARGEST_FP8))


def _fp8_magnitude(value: float) -> int:
    """Return the code of a value from 0 to the largest finite one: codes ascend with values, ties go to the even."""
    table = fp8_table()
    low, high = 0, FP8_NAN - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if table[middle] <= value else (low, middle - 1)
    if low == FP8_NAN - 1:
        return low
    below, above = value - table[low], table[low + 1] - value
    return low if below < above or (below == above and low % 2 == 0) else low + 1

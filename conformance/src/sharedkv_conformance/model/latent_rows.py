"""What fp8 latents may be: how far a stored row is from the row that was computed, in plain doubles.

A scale belongs to a tile of 128 values. A stored value is near when its product with the scale differs from the
computed value by at most a sixteenth of its magnitude, by a 200,000th of the largest magnitude of its tile, or by
10^-14. Speaks of finite values.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from math import isfinite

from sharedkv_conformance.contract.pool import FP8_ROW_BYTES, LATENT_VALUES, SCALE_TILE
from sharedkv_conformance.model.numbers import FP8_NAN, bf16_values, fp8_table

TILES = LATENT_VALUES // SCALE_TILE
RELATIVE, SHARE_OF_TILE, SMALLEST = 1 / 16, 1 / 200_000, 1e-14
"""Half a step of fp8 is less than a 17th; below the normal range half a step is a 459,000th of the tile's largest,
or, where the scale is the smallest one of 10^-12, 10^-15."""


@lru_cache(maxsize=4096)
def latent_fault(computed: bytes, stored: bytes) -> str:
    """Say what is wrong with a stored fp8 row, or nothing: scales and codes first, then values, then the rope."""
    return unusable(stored) or _far(computed, stored)


@lru_cache(maxsize=4096)
def unusable(stored: bytes) -> str:
    """Say which number of a stored fp8 row is none: a scale that is not finite and positive, or a code of NaN."""
    if len(stored) != FP8_ROW_BYTES:
        return f"{len(stored)} bytes, expected {FP8_ROW_BYTES}"
    for tile, scale in enumerate(_scales(stored)):
        if not isfinite(scale) or scale <= 0:
            return f"the scale of tile {tile} is {scale}"
    for value, code in enumerate(stored[:LATENT_VALUES]):
        if code & 0x7F == FP8_NAN:
            return f"value {value} is no number"
    return ""


def _far(computed: bytes, stored: bytes) -> str:
    latent, table = bf16_values(computed[: 2 * LATENT_VALUES]), fp8_table()
    for tile, scale in enumerate(_scales(stored)):
        of_tile = range(tile * SCALE_TILE, (tile + 1) * SCALE_TILE)
        floor = max(SMALLEST, SHARE_OF_TILE * max(abs(latent[value]) for value in of_tile))
        for value in of_tile:
            found, wanted = table[stored[value]] * scale, latent[value]
            if abs(found - wanted) > max(RELATIVE * abs(wanted), floor):
                return f"value {value} is {found}, expected about {wanted}"
    if stored[LATENT_VALUES + 4 * TILES :] != computed[2 * LATENT_VALUES :]:
        return "the rope is not as it was computed"
    return ""


def _scales(stored: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{TILES}f", stored[LATENT_VALUES : LATENT_VALUES + 4 * TILES])

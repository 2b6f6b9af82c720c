"""What a row of a layer holds and how many bytes it takes, as computed and as stored.

Knows byte counts. Does not know tensors, devices or which rows are in use.

    layout    buffer      a computed row                          a stored row
    mla_bf16  latent      512 latent, 64 rope, bf16: 1,152 bytes  the same bytes
    mla_fp8   latent      512 latent, 64 rope, bf16: 1,152 bytes  512 fp8, 4 fp32 scales, 64 rope bf16: 656 bytes
    both      index       128 fp8 keys, 1 fp32 scale: 132 bytes   a page is all its keys, then all its scales
    mha_bf16  key, value  kv_heads * head_dim bf16                the same bytes
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sharedkv.errors import Refusal, RefusedError

BF16_BYTES = 2
FP32_BYTES = 4
LATENT_VALUES = 512
ROPE_VALUES = 64
SCALE_TILE = 128
NUM_SCALES = LATENT_VALUES // SCALE_TILE
LATENT_ROW_BYTES = BF16_BYTES * (LATENT_VALUES + ROPE_VALUES)
FP8_ROW_BYTES = LATENT_VALUES + FP32_BYTES * NUM_SCALES + BF16_BYTES * ROPE_VALUES
INDEX_KEY_BYTES = 128
INDEX_SCALE_BYTES = FP32_BYTES
INDEX_ROW_BYTES = INDEX_KEY_BYTES + INDEX_SCALE_BYTES

MLA_BF16 = "mla_bf16"
MLA_FP8 = "mla_fp8"
MHA_BF16 = "mha_bf16"
LATENT = "latent"
INDEX = "index"
KEY = "key"
VALUE = "value"


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """One buffer of a layer.

    `is_paged` says that a page is addressed as a whole: all its keys, then all its scales. A row of every other buffer
    is addressed by its token's physical location.
    """

    name: str
    computed_row_bytes: int
    stored_row_bytes: int
    is_paged: bool = False

    @property
    def is_quantized(self) -> bool:
        """Say whether a row is stored in another form than it is computed in."""
        return self.computed_row_bytes != self.stored_row_bytes


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The buffers of a layer, in the order in which they are written."""

    name: str
    buffers: tuple[Buffer, ...]

    @cached_property
    def _by_name(self) -> dict[str, Buffer]:
        return {buffer.name: buffer for buffer in self.buffers}

    def buffer(self, name: str) -> Buffer:
        """Return a buffer, or refuse a name that the layout does not have."""
        if name not in self._by_name:
            raise RefusedError(Refusal.BUFFER_UNKNOWN, name)
        return self._by_name[name]

    @property
    def stored_token_bytes(self) -> int:
        """Return the bytes of one token of one layer in all buffers together."""
        return sum(buffer.stored_row_bytes for buffer in self.buffers)


_INDEX_BUFFER = Buffer(name=INDEX, computed_row_bytes=INDEX_ROW_BYTES, stored_row_bytes=INDEX_ROW_BYTES, is_paged=True)


def layout(name: str, *, kv_heads: int = 1, head_dim: int = 16) -> Layout:
    """Return a layout, or refuse a name that is none; heads speak of `mha_bf16` alone."""
    if name == MHA_BF16:
        row_bytes = BF16_BYTES * kv_heads * head_dim
        return Layout(
            name=name,
            buffers=tuple(
                Buffer(name=buffer, computed_row_bytes=row_bytes, stored_row_bytes=row_bytes) for buffer in (KEY, VALUE)
            ),
        )
    stored = {MLA_BF16: LATENT_ROW_BYTES, MLA_FP8: FP8_ROW_BYTES}
    if name not in stored:
        raise RefusedError(Refusal.LAYOUT_UNKNOWN, name)
    latent = Buffer(name=LATENT, computed_row_bytes=LATENT_ROW_BYTES, stored_row_bytes=stored[name])
    return Layout(name=name, buffers=(latent, _INDEX_BUFFER))

"""The bytes of every page in every round, by which it shows whether each arrived, and not too early.

Knows layers, rounds and places. Does not know how bytes come to decode. Both sides compute them for themselves: random
ones, of which each layer and each round has its own variety.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.errors import DisagreementError
from benchmarks.transfer_shape import PARTS, SEED, Bytes, Pages, TransferShape, pages_of

_SALTS_A_ROUND = 101
_SALTS = 256
_SHOWN = 8


class Content:
    """What the rank computes in its own pages, `places` in its memory of so many pages."""

    def __init__(self, shape: TransferShape, places: Pages) -> None:
        self._num_pages = shape.geometry.lane_capacity
        self._decode_pages = shape.decode_pages
        self._places = places
        self._of_rank = shape.buffers(0, self._num_pages)
        self._of_decode = shape.buffers(0, self._decode_pages)
        generator = np.random.default_rng(SEED)
        self._base = {
            part: generator.integers(0, _SALTS, (self._num_pages, shape.page_bytes(part)), dtype=np.uint8)
            for part in PARTS
        }

    def layers_of(self, memory: Bytes) -> list[Layer]:
        """Return the layers of the rank's memory, each of which writes its pages."""
        buffers = [
            (torch.from_numpy(self._base[each.part]), torch.from_numpy(pages_of(memory, each, self._num_pages)[1:]))
            for each in self._of_rank
        ]
        firsts = range(0, len(buffers), len(PARTS))
        return [Layer(layer, buffers[first : first + len(PARTS)]) for layer, first in enumerate(firsts)]

    def require_at_decode(self, memory: Bytes, pages: Pages, number: int) -> None:
        """Raise unless some pages of decode hold, in the order of `places`, every byte of a round.

        Raises:
            DisagreementError: they do not.

        """
        for buffer in self._of_decode:
            wanted = self._base[buffer.part][self._places - 1] ^ np.uint8(_salt(buffer.layer, number))
            found = pages_of(memory, buffer, self._decode_pages)[pages]
            for at in np.flatnonzero((wanted != found).any(axis=1))[:1]:
                what = f"page {at} of the rank in part {buffer.part} of layer {buffer.layer}, at decode"
                raise DisagreementError(what, wanted[at, :_SHOWN].tobytes().hex(), found[at, :_SHOWN].tobytes().hex())


class Layer:
    """The pages of the rank in all buffers of one layer."""

    def __init__(self, layer: int, buffers: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
        self._layer = layer
        self._buffers = buffers

    def write(self, number: int) -> None:
        """Write them as the forward of a round computes them."""
        salt = _salt(self._layer, number)
        for base, pages in self._buffers:
            torch.bitwise_xor(base, salt, out=pages)


def _salt(layer: int, number: int) -> int:
    return (_SALTS_A_ROUND * number + layer) % _SALTS

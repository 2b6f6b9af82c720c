"""What one prefill rank of several sends: its pages of some requests, and where every buffer lies on both sides.

Knows counts and places. Does not know engines, bytes, who sends, nor when.

    memory of a side    latent of layer 0, index of layer 0, latent of layer 1, ...; in each a dummy page, then pages
    rank                its pages of a request in random order, as a pool gives them that was used for a while
    decode              a page for each page of a request, whichever rank sends it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.geometry import Geometry
from sharedkv.layouts import INDEX, MLA_FP8, layout
from sharedkv.transfer.ports import KV, PlacedBuffer

Bytes = NDArray[np.uint8]
Pages = NDArray[np.int64]

RANKS = 8
RANK = 0
PAGE_SIZE = 64
LAYOUT = layout(MLA_FP8)
PARTS = (KV, INDEX)
SEED = 7


@dataclass(frozen=True, kw_only=True)
class TransferShape:
    """Layers of target and draft together, requests of one batch, and the tokens of each."""

    layers: int
    requests: int
    tokens: int

    @property
    def request_pages(self) -> int:
        """Count the pages of a request on all ranks together."""
        return -(-self.tokens // PAGE_SIZE)

    @property
    def decode_pages(self) -> int:
        """Count the pages of all requests on all ranks together."""
        return self.requests * self.request_pages

    @cached_property
    def geometry(self) -> Geometry:
        """Return a pool of the ranks that the requests fill."""
        a_lane = -(-self.decode_pages // RANKS) + self.requests
        return Geometry(cp_size=RANKS, page_size=PAGE_SIZE, pages=RANKS * a_lane)

    def allocated(self) -> tuple[OwnerLaneAllocator, list[list[int]]]:
        """Return the pool of the ranks, and the logical pages of each request in the order of positions."""
        pool = OwnerLaneAllocator(self.geometry, FreeRoom())
        batch = [
            ExtendRequest(request=str(number), prefix_tokens=0, extend_tokens=self.tokens)
            for number in range(self.requests)
        ]
        pages = np.array(pool.extend(batch).pages)
        mixed = self._mixed(pages)
        return pool, [part.tolist() for part in np.split(mixed, self.requests)]

    def owned(self, pages: Sequence[int]) -> tuple[Pages, Pages]:
        """Return of the pages of a request those of the rank: their positions, and where they lie in its memory."""
        lanes, physical = self.geometry.places(np.array(pages))
        (positions,) = np.nonzero(lanes == RANK)
        return positions, physical[positions]

    def page_bytes(self, part: str) -> int:
        """Count the bytes of a page in one part of one layer."""
        return PAGE_SIZE * sum(
            each.stored_row_bytes for each in LAYOUT.buffers if (each.name == INDEX) == (part == INDEX)
        )

    @cached_property
    def sent_bytes(self) -> int:
        """Count the bytes that the rank sends of all requests, metadata aside."""
        _, pages = self.allocated()
        owned = sum(len(self.owned(each)[0]) for each in pages)
        return owned * self.layers * sum(self.page_bytes(part) for part in PARTS)

    @property
    def index_share(self) -> float:
        """Return the share of the index in what is sent."""
        return self.page_bytes(INDEX) / sum(self.page_bytes(part) for part in PARTS)

    def memory_bytes(self, pages: int) -> int:
        """Count the bytes of a memory of so many pages behind the dummy."""
        return self.layers * (1 + pages) * sum(self.page_bytes(part) for part in PARTS)

    def buffers(self, address: int, pages: int) -> tuple[PlacedBuffer, ...]:
        """Return every buffer of a memory of so many pages that begins at an address."""
        kinds = [(layer, part) for layer in range(self.layers) for part in PARTS]
        sizes = [(1 + pages) * self.page_bytes(part) for _, part in kinds]
        begins = accumulate(sizes, initial=address)
        return tuple(
            PlacedBuffer(layer=layer, part=part, address=begin, page_bytes=self.page_bytes(part))
            for (layer, part), begin in zip(kinds, begins, strict=False)
        )

    def _mixed(self, pages: Pages) -> Pages:
        """Return pages of the same lanes, each lane's in random order."""
        lanes, _ = self.geometry.places(pages)
        generator = np.random.default_rng(SEED)
        mixed = pages.copy()
        for lane in range(RANKS):
            mixed[lanes == lane] = generator.permutation(pages[lanes == lane])
        return mixed


def pages_of(memory: Bytes, buffer: PlacedBuffer, pages: int) -> Bytes:
    """Return the bytes of a buffer of a memory: (the dummy and so many pages, bytes of a page)."""
    begin = buffer.address
    return memory[begin : begin + (1 + pages) * buffer.page_bytes].reshape(1 + pages, buffer.page_bytes)

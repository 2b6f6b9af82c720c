"""What four prefill ranks and one decode process have agreed on: pools, requests, chunks, and the bytes of every page.

Each process computes it for itself; the bytes are the oracle of what decode has to find.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sharedkv.fingerprint import fingerprint
from sharedkv.geometry import Geometry, PageId
from sharedkv.layouts import INDEX, MLA_FP8, layout

GEOMETRY = Geometry(cp_size=4, page_size=4, pages=96)
LAYOUT = layout(MLA_FP8)
LAYERS = 3
DECODE_PAGES = 120
FINGERPRINT = fingerprint(GEOMETRY, LAYOUT, layers=LAYERS, draft_layers=0)
PARTS = ("kv", INDEX)
GROUP = 2
SLOTS = 6
AUX_BYTES = 40


@dataclass(frozen=True, kw_only=True)
class PoolBuffer:
    """One buffer of one layer, and the part of a transfer that it is."""

    number: int
    layer: int
    page_bytes: int
    part: str


BUFFERS = tuple(
    PoolBuffer(
        number=len(LAYOUT.buffers) * layer + place,
        layer=layer,
        page_bytes=each.stored_row_bytes * GEOMETRY.page_size,
        part=INDEX if each.name == INDEX else "kv",
    )
    for layer in range(LAYERS)
    for place, each in enumerate(LAYOUT.buffers)
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request: its room, its logical pages, and the positions at which its chunks end."""

    room: int
    pages: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def aux(self) -> bytes:
        """Return what goes to decode beside the pages."""
        return f"metadata of room {self.room}".encode()

    def chunk(self, number: int) -> tuple[int, ...]:
        """Return the logical pages of a chunk."""
        return self.pages[self.ends[number - 1] if number else 0 : self.ends[number]]


def requests() -> tuple[Request, ...]:
    """Return requests whose pages are runs of a lane, scattered, few, and one whose last chunk is empty."""
    scattered = np.random.default_rng(3).permutation(np.arange(41, 97)).tolist()
    return (
        Request(room=7, pages=tuple(range(1, 33)), ends=(5, 20, 32)),
        Request(room=8, pages=tuple(scattered[:30]), ends=(11, 30)),
        Request(room=9, pages=tuple(scattered[30:33]), ends=(3,)),
        Request(room=10, pages=tuple(scattered[33:50]), ends=(8, 17, 17)),
        Request(room=11, pages=tuple(range(33, 41)), ends=(4, 8)),
    )


def request(room: int) -> Request:
    """Return the request of a room."""
    return next(each for each in requests() if each.room == room)


def page_id(page: int) -> PageId:
    """Take a number for a logical page."""
    return PageId(page)


def page_bytes(buffer: PoolBuffer, page: int) -> bytes:
    """Return what a logical page holds in a buffer."""
    return np.random.default_rng((page, buffer.number)).bytes(buffer.page_bytes)


def buffer_places(num_pages: int) -> tuple[list[int], int]:
    """Return where each buffer begins in a pool of so many pages behind the dummy, and the bytes of the pool."""
    ends = np.cumsum([(num_pages + 1) * buffer.page_bytes for buffer in BUFFERS]).tolist()
    return [0, *ends[:-1]], ends[-1]

"""Which request may write which page of decode, and which bytes it has to write there.

Knows requests, pages and bytes. Does not know senders, messages, nor any class that is under test: it hears from the
test what decode was given and what it gave back, and from the network what landed.

    free ──reserved──> open ──closed──> quarantined ──the last writer is done──> free
                         └─ succeeded, closed: no writer is left ────────────────┘

Every page holds stamps that say whose it is, so that a byte in the wrong place names the request that it came from.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

STAMP = struct.Struct("<IIII")
_SALT = 0x5EED


class PageBrokenError(Exception):
    """A page of decode was written, given away or read where that was not allowed."""


class Hold(StrEnum):
    """What a request has of its pages."""

    OPEN = "open"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A page of decode as part of a request: `serial` is the request's, never used twice."""

    serial: int
    position: int


def stamp(claim: Claim, buffer: int, num_bytes: int) -> bytes:
    """Return what a page of a request holds in a buffer."""
    return STAMP.pack(claim.serial, claim.position, buffer, _SALT) * (num_bytes // STAMP.size)


def meaning(data: bytes) -> str:
    """Say whose bytes these are."""
    found = {STAMP.unpack_from(data, first) for first in range(0, len(data) - STAMP.size + 1, STAMP.size)}
    stamps = sorted(each for each in found if each[3] == _SALT)
    told = [f"request {serial}, position {position}, buffer {buffer}" for serial, position, buffer, _ in stamps]
    return "; ".join(told) or "bytes of nobody"


class Pool:
    """Pages of one rank in all buffers, the dummy first: an array (buffers, pages + 1, bytes of a page)."""

    def __init__(self, num_buffers: int, num_pages: int, page_bytes: int) -> None:
        self.bytes: NDArray[np.uint8] = np.zeros((num_buffers, num_pages + 1, page_bytes), dtype=np.uint8)
        self.num_pages = num_pages
        self.page_bytes = page_bytes
        self.address = int(self.bytes.ctypes.data)

    def buffer_address(self, buffer: int) -> int:
        """Return where a buffer begins."""
        return self.address + buffer * self.bytes.strides[0]

    def holds(self, address: int) -> bool:
        """Say whether an address is one of its bytes."""
        return self.address <= address < self.address + self.bytes.nbytes

    def places(self, address: int, num_bytes: int) -> Iterator[tuple[int, int]]:
        """Name the pages that a write touches, each with its buffer."""
        first, last = address - self.address, address - self.address + num_bytes - 1
        for number in range(first // self.page_bytes, last // self.page_bytes + 1):
            yield divmod(number, self.num_pages + 1)

    def fill(self, page: int, buffer: int, claim: Claim) -> None:
        """Write what a request has in a page."""
        self.bytes[buffer, page] = np.frombuffer(stamp(claim, buffer, self.page_bytes), dtype=np.uint8)


class PageLedger:
    """The pages of one decode rank."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._claims: dict[int, tuple[Claim, Hold]] = {}
        self._image = pool.bytes.copy()

    def reserved(self, serial: int, pages: Iterable[int], written: Iterable[int]) -> None:
        """Hear that a request was given pages, while writes to those of `written` may still land."""
        live = set(written)
        for position, page in enumerate(pages):
            if page in self._claims:
                claim, hold = self._claims[page]
                raise PageBrokenError(f"page {page} of request {claim.serial}, {hold}, was given to {serial}")
            if page in live:
                raise PageBrokenError(f"page {page} was given to {serial} while a write to it is under way")
            if not 1 <= page <= self.pool.num_pages:
                raise PageBrokenError(f"page {page} is none of the pool")
            self._claims[page] = (Claim(serial=serial, position=position), Hold.OPEN)

    def closed(self, serial: int) -> None:
        """Hear that a request is gone, and writes of it may still come."""
        for page in self._pages(serial):
            self._claims[page] = (self._claims[page][0], Hold.QUARANTINED)

    def freed(self, serial: int) -> None:
        """Hear that nobody writes for a request any more."""
        for page in self._pages(serial):
            del self._claims[page]

    def landed(self, address: int, num_bytes: int) -> None:
        """Hear of a write. `PageBrokenError` where it is not one of the request that has the page."""
        for buffer, page in self.pool.places(address, num_bytes):
            found = self.pool.bytes[buffer, page].tobytes()
            if page not in self._claims:
                raise PageBrokenError(f"page {page} is nobody's, and was written: {meaning(found)}")
            claim, _ = self._claims[page]
            if found != stamp(claim, buffer, self.pool.page_bytes):
                wanted = f"request {claim.serial}, position {claim.position}, buffer {buffer}"
                raise PageBrokenError(f"page {page}, wanted {wanted}, found {meaning(found)}")
            self._image[buffer, page] = self.pool.bytes[buffer, page]

    def require_accounted(self) -> None:
        """Raise `PageBrokenError` where a byte is not what the last write that was told of left there."""
        if not np.array_equal(self._image, self.pool.bytes):
            buffer, page, _ = np.argwhere(self._image != self.pool.bytes)[0]
            raise PageBrokenError(f"page {page} of buffer {buffer} was written, and nobody was told")

    def require_whole(self, serial: int) -> None:
        """Raise `PageBrokenError` where a byte of a request is not there."""
        for page in self._pages(serial):
            claim, _ = self._claims[page]
            for buffer in range(len(self.pool.bytes)):
                found = self.pool.bytes[buffer, page].tobytes()
                if found != stamp(claim, buffer, self.pool.page_bytes):
                    raise PageBrokenError(f"request {serial} has not arrived at page {page}: {meaning(found)}")

    def count(self, hold: Hold) -> int:
        """Count pages."""
        return sum(each is hold for _, each in self._claims.values())

    def owner(self, page: int) -> int | None:
        """Return the request that has a page."""
        found = self._claims.get(page)
        return None if found is None else found[0].serial

    def _pages(self, serial: int) -> list[int]:
        return [page for page, (claim, _) in self._claims.items() if claim.serial == serial]

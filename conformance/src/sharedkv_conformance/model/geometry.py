"""Pages, lanes and locations of one pool: the arithmetic that everything else speaks in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """A pool of `cp_size` lanes with `lane_pages` pages each; page 0 is the dummy and lies on no lane."""

    cp_size: int
    page_size: int
    lane_pages: int

    @classmethod
    def of(cls, config: OpenConfig) -> Geometry:
        """Return the geometry of a session; pages beyond a multiple of the CP size are surplus."""
        lane_pages = config.pages // max(1, config.cp_size)
        return cls(cp_size=config.cp_size, page_size=config.page_size, lane_pages=lane_pages)

    def lane(self, page: int) -> int:
        """Return the lane of a logical page."""
        return (page - 1) % self.cp_size

    def physical(self, page: int) -> int:
        """Return the page's number in its own lane, counted from 1."""
        return (page - 1) // self.cp_size + 1

    def logical(self, lane: int, physical: int) -> int:
        """Return the logical page that stands at a physical place of a lane."""
        return (physical - 1) * self.cp_size + lane + 1

    def holds(self, page: int) -> bool:
        """Say whether a page id names a page of the pool: not the dummy, not surplus, not beyond."""
        return 1 <= page <= self.cp_size * self.lane_pages

    def pages_for(self, tokens: int) -> int:
        """Return how many pages hold so many tokens."""
        return -(-tokens // self.page_size)

    def locations(self, pages: Sequence[int], tokens: int) -> Iterator[int]:
        """Yield the locations of a request's new tokens: page after page, the last one as far as it is filled."""
        for index in range(tokens):
            page, offset = divmod(index, self.page_size)
            yield pages[page] * self.page_size + offset


def unsupported_geometry(config: OpenConfig) -> frozenset[Reason]:
    """Return every reason why a session of this geometry is refused."""
    faults = {
        Reason.CP_SIZE_TOO_SMALL: config.cp_size < 2,  # noqa: PLR2004 - one rank shares with nobody
        Reason.PAGE_SIZE_TOO_SMALL: config.page_size < 2,  # noqa: PLR2004 - a lane of tokens is no lane of pages
        Reason.SPLIT_NOT_IN_SEQUENCE: config.split != "in_sequence",
    }
    return frozenset(reason for reason, present in faults.items() if present)


def checked_geometry(config: OpenConfig) -> Geometry:
    """Return the geometry of a session, or raise `Rejected` with the first reason against it."""
    for reason in sorted(unsupported_geometry(config)):
        raise Rejected(reason, f"cp_size {config.cp_size}, page_size {config.page_size}, split {config.split!r}")
    return Geometry.of(config)

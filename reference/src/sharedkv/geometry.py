"""Where a logical page lies: its lane, its physical page there, and the locations of its tokens.

Knows the arithmetic of page ids. Does not know which pages are free, nor which request holds them.

    logical page   0      1 2 3 4 ... C   C+1 C+2 ...       lane of page l      = (l - 1) % C
    lane           none   0 1 2 3 ... C-1   0   1 ...       physical page of l  = (l - 1) // C + 1
    physical page  0      1 1 1 1 ... 1     2   2 ...       page 0 is the dummy, on every rank its own
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NewType, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sharedkv.errors import Refusal, RefusedError

PageId = NewType("PageId", int)
PhysicalPage = NewType("PhysicalPage", int)
Lane = NewType("Lane", int)
Location = NewType("Location", int)

DUMMY_PAGE = PageId(0)
MIN_CP_SIZE = 2
MIN_PAGE_SIZE = 2


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """Ranks, tokens a page, and logical pages 1..pages of one pool.

    Lanes are equal: the surplus of `pages` over a multiple of the ranks is never used.
    """

    cp_size: int
    page_size: int
    pages: int

    def __post_init__(self) -> None:
        if self.cp_size < MIN_CP_SIZE:
            raise RefusedError(Refusal.CP_SIZE_TOO_SMALL, self.cp_size)
        if self.page_size < MIN_PAGE_SIZE:
            raise RefusedError(Refusal.PAGE_SIZE_TOO_SMALL, self.page_size)

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        return np.arange(self.page_size)

    @property
    def lane_capacity(self) -> int:
        """Count the pages of each lane."""
        return max(self.pages, 0) // self.cp_size

    @property
    def last_page(self) -> PageId:
        """Return the highest page that a lane holds; the dummy when lanes are empty."""
        return PageId(self.lane_capacity * self.cp_size)

    def is_in_pool(self, page: int) -> bool:
        """Say whether some lane holds the page; the dummy and the surplus lie on none."""
        return DUMMY_PAGE < page <= self.last_page

    def lane(self, page: PageId) -> Lane:
        """Return the lane of a page that is not the dummy."""
        return Lane((page - 1) % self.cp_size)

    def physical_page(self, page: PageId) -> PhysicalPage:
        """Return the page's place in its lane; the dummy keeps its own."""
        return PhysicalPage((page - 1) // self.cp_size + 1)

    def page(self, lane: Lane, physical: PhysicalPage) -> PageId:
        """Return the logical page that lies at a place of a lane."""
        return PageId((physical - 1) * self.cp_size + lane + 1)

    def places(self, pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the lane and the physical page of each page; none of them is the dummy."""
        above, lanes = np.divmod(pages - 1, self.cp_size)
        return lanes, above + 1

    def run(self, lane: int, physical: range) -> range:
        """Return the logical pages of a run of physical pages: they step by the number of ranks."""
        step = self.cp_size
        return range((physical.start - 1) * step + lane + 1, (physical.stop - 1) * step + lane + 1, step)

    def page_of(self, location: Location) -> PageId:
        """Return the logical page that holds a token location."""
        return PageId(location // self.page_size)

    def pages_of(self, locations: ArrayLike) -> list[PageId]:
        """List each page that holds one of the locations, once, ascending."""
        try:
            rows = np.asarray(locations, dtype=np.int64)
        except OverflowError as error:
            raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, "a location beyond 64 bits") from error
        return cast("list[PageId]", np.unique(rows // self.page_size).tolist())

    def physical_location(self, location: Location) -> Location:
        """Return where the owner of a logical token location keeps its row."""
        page, offset = divmod(location, self.page_size)
        return Location(self.physical_page(PageId(page)) * self.page_size + offset)

    def locations(self, pages: Sequence[int], extends: Sequence[int]) -> NDArray[np.int64]:
        """Return the token locations of extends that lie one after another in `pages`, each on pages of its own.

        Shape (sum of extends,), dtype int64, flattened request-token order; the last page of an extend is as short
        as its tokens.
        """
        size = self.page_size
        first_tokens = np.array(pages, dtype=np.int64) * size
        grid = (first_tokens[:, None] + self._offsets).ravel()
        parts = []
        first = 0
        for tokens in extends:
            parts.append(grid[first : first + tokens])
            first += -(-tokens // size) * size
        return np.concatenate(parts) if parts else grid

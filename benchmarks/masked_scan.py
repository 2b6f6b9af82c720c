"""The straightforward allocator: one array of all free pages, and a mask over it for each lane.

This is how engines choose pages by lane. It is written without waste: the lane of every free page is computed once a
batch, and what was taken is cut out in one copy; still each batch reads the whole array. Without eviction, snapshots
and validation, all of which the reference has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharedkv.allocation import ExtendRequest
from sharedkv.errors import OutOfExtentsError
from sharedkv.geometry import Geometry, PageId
from sharedkv.planning import split_pages


@dataclass(frozen=True, kw_only=True)
class MaskedAllocation:
    """What a batch was given; `owners` and `pages` by new page, `locations` by new token."""

    owners: Sequence[int]
    pages: Sequence[PageId]
    locations: NDArray[np.int64]


class MaskedScanPool:
    """Free pages in the order in which they are given out: lowest first on a fresh pool, latest first after that."""

    def __init__(self, geometry: Geometry, free: NDArray[np.int64] | None = None) -> None:
        self.geometry = geometry
        self.free = np.arange(1, geometry.last_page + 1) if free is None else free

    def extend(self, batch: Sequence[ExtendRequest]) -> MaskedAllocation:
        """Allocate every new page of the batch, or change nothing and raise."""
        owners: list[int] = []
        for request in batch:
            owners += split_pages(self.geometry, request.prefix_tokens, request.extend_tokens).owners()
        places = self._places(np.array(owners, dtype=np.int64))
        pages = self.free[places]
        self.free = np.delete(self.free, places)
        return MaskedAllocation(owners=owners, pages=pages.tolist(), locations=self._locations(pages, batch))

    def release(self, pages: Sequence[PageId]) -> None:
        """Give pages back, to the front."""
        self.free = np.concatenate((np.sort(np.array(pages, dtype=np.int64)), self.free))

    def _places(self, owners: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the place in the array of a free page for each owner, lane by lane from the front."""
        lanes = (self.free - 1) % self.geometry.cp_size
        places = np.empty_like(owners)
        for lane in range(self.geometry.cp_size):
            wanted = owners == lane
            count = int(np.count_nonzero(wanted))
            found = np.flatnonzero(lanes == lane)
            if len(found) < count:
                raise OutOfExtentsError(count, len(found))
            places[wanted] = found[:count]
        return places

    def _locations(self, pages: NDArray[np.int64], batch: Sequence[ExtendRequest]) -> NDArray[np.int64]:
        size = self.geometry.page_size
        rows = pages[:, None] * size + np.arange(size)
        parts = []
        first = 0
        for request in batch:
            last = first - (-request.extend_tokens // size)
            parts.append(rows[first:last].ravel()[: request.extend_tokens])
            first = last
        return np.concatenate(parts)

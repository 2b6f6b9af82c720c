"""Pools to measure on: fresh, and fragmented by freeing a random half of a full one.

Knows how a pool comes to a state through its public calls; equal arguments give equal pools.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.workload import PAGE_SIZE
from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.cost import CostMeter
from sharedkv.geometry import Geometry, PageId
from sharedkv.lanes import LanePool

SEED = 20261129
FRESH, FRAGMENTED = "fresh", "half free"
STATES = (FRESH, FRAGMENTED)
PAGES_A_CALL = 20_000


def geometry_of(cp_size: int, pages: int) -> Geometry:
    """Return the geometry of a pool with whole lanes."""
    return Geometry(cp_size=cp_size, page_size=PAGE_SIZE, pages=pages)


def random_half(geometry: Geometry) -> NDArray[np.int64]:
    """Return the pages that stay free, ascending: each with one chance in two."""
    chosen = np.random.default_rng(SEED).random(geometry.last_page) < 0.5  # noqa: PLR2004 - half
    return np.flatnonzero(chosen) + 1


def num_extents(geometry: Geometry, state: str) -> int:
    """Count the free runs of all lanes."""
    if state == FRESH:
        return geometry.cp_size
    is_free = np.zeros(geometry.last_page, dtype=bool)
    is_free[random_half(geometry) - 1] = True
    rows = is_free.reshape(geometry.lane_capacity, geometry.cp_size)
    return int(np.count_nonzero(rows[0]) + np.count_nonzero(rows[1:] & ~rows[:-1]))


def allocator(geometry: Geometry, state: str) -> OwnerLaneAllocator:
    """Open an allocator and bring its pool to a state."""
    pool = OwnerLaneAllocator(geometry, FreeRoom())
    if state == FRAGMENTED:
        for first in range(0, geometry.last_page, PAGES_A_CALL):
            pages = min(PAGES_A_CALL, geometry.last_page - first)
            pool.extend([ExtendRequest(request="full", prefix_tokens=0, extend_tokens=pages * PAGE_SIZE)])
        for freed in _in_calls(random_half(geometry)):
            pool.release(freed)
    return pool


def lane_pool(geometry: Geometry, state: str) -> LanePool:
    """Open the pool under an allocator, which chooses pages and knows no requests, and bring it to a state."""
    pool = LanePool(geometry, CostMeter())
    if state == FRAGMENTED:
        for lane in range(geometry.cp_size):
            pool.take(lane, geometry.lane_capacity)
        for freed in _in_calls(random_half(geometry)):
            pool.release(freed)
    return pool


def _in_calls(pages: NDArray[np.int64]) -> Iterator[list[PageId]]:
    for first in range(0, len(pages), PAGES_A_CALL):
        yield pages[first : first + PAGES_A_CALL].tolist()

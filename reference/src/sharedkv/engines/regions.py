"""Ranges of memory that an engine may touch, and whether writes stay within them.

Knows addresses. Does not know whose memory it is. Regions of one set never overlap; a write has to lie in one of them,
since libraries refuse one that goes over from a region into the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
_LIMIT = 1 << 63


@dataclass(frozen=True, kw_only=True, order=True)
class Region:
    """Consecutive bytes of memory; at least one, none at address 0, all below 2^63."""

    address: int
    num_bytes: int

    def __post_init__(self) -> None:
        if not (0 < self.address < self.address + self.num_bytes < _LIMIT):
            raise ValueError(f"no region: address {self.address}, {self.num_bytes} bytes")

    @property
    def end(self) -> int:
        """Return the address behind the last byte."""
        return self.address + self.num_bytes

    def overlaps(self, addresses: Integers, lengths: Integers) -> bool:
        """Say whether any of some writes touches it."""
        return bool(np.any((addresses < self.end) & (addresses + lengths > self.address)))


class Regions:
    """A set of regions. Never changes: `added` and `removed` return another one."""

    def __init__(self, regions: Iterable[Region] = ()) -> None:
        self._regions = sorted(regions)
        self._starts = np.array([region.address for region in self._regions], dtype=np.int64)
        self._ends = np.array([region.end for region in self._regions], dtype=np.int64)
        if np.any(self._starts[1:] < self._ends[:-1]):
            raise ValueError("regions overlap")

    def __iter__(self) -> Iterator[Region]:
        return iter(self._regions)

    def __contains__(self, region: Region) -> bool:
        return region in self._regions

    def added(self, region: Region) -> Regions:
        """Return the set with one more. `ValueError` where it overlaps."""
        return Regions([*self._regions, region])

    def removed(self, region: Region) -> Regions:
        """Return the set without one."""
        return Regions(each for each in self._regions if each != region)

    def first_outside(self, addresses: Integers, lengths: Integers) -> int | None:
        """Return the index of the first write that is not within one region, and None where all are."""
        places = np.searchsorted(self._starts, addresses, side="right") - 1
        is_outside = (places < 0) | (lengths < 0)
        if len(self._ends):
            is_outside |= lengths > self._ends[places] - addresses
        found = np.flatnonzero(is_outside)
        return int(found[0]) if len(found) else None

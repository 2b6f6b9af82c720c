"""Mistakes that the ranks make on purpose, so that everybody can see that the comparison finds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from sharedkv.collectives import LocalGroup, Purpose
from sharedkv.geometry import Geometry


class WrongLanes(Geometry):
    """Takes the lane of page l as l % ranks: balanced, and off by one everywhere."""

    @classmethod
    def of(cls, geometry: Geometry) -> WrongLanes:
        """Return the same pools, read by the wrong lanes."""
        return cls(cp_size=geometry.cp_size, page_size=geometry.page_size, pages=geometry.pages)

    def places(self, pages: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the wrong lane and the right physical page of each page."""
        _, physical = super().places(pages)
        return pages % self.cp_size, physical


class SilentGroup(LocalGroup):
    """Notes its sums and never takes them: each rank keeps what it brought itself."""

    def all_reduce_sum(self, contributions: Sequence[torch.Tensor], purpose: Purpose) -> None:
        """Leave every contribution as it is."""
        super().all_reduce_sum([contribution.clone() for contribution in contributions], purpose)

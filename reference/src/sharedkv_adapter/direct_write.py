"""Direct write of the reference, call by call, for all ranks of the group.

Knows which call of the contract is which call of the reference. Does not know streams or storage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import DUMMY_PAGE, Geometry, Lane, PageId, PhysicalPage
from sharedkv_adapter import translation
from sharedkv_adapter.data_plane import DataPlane, as_bytes, computed_rows
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract

NO_LANE = -1


class ReferenceDirectWrite:
    """The writer of all ranks, and what their pools hold."""

    def __init__(self, plane: DataPlane) -> None:
        self._plane = plane

    def place(self, pages: Sequence[int]) -> tuple[contract.Placement, ...]:
        """Say where each logical page lies."""
        with contract_errors():
            return tuple(_placement(self._plane.geometry, page) for page in pages)

    def page_at(self, lane: int, physical: int) -> int:
        """Say which logical page lies at a place; the dummy lies on every rank, and on no lane."""
        geometry = self._plane.geometry
        with contract_errors():
            if physical == DUMMY_PAGE and lane in range(NO_LANE, geometry.cp_size):
                return DUMMY_PAGE
            if lane not in range(geometry.cp_size) or physical not in range(1, 1 + geometry.lane_capacity):
                raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, f"physical page {physical} of lane {lane}")
            return geometry.page(Lane(lane), PhysicalPage(physical))

    def write(
        self,
        layer: int,
        batch: Sequence[contract.ExtendRequest],
        locations: Sequence[int],
        static_tokens: int,
        rows: Sequence[contract.RankRows],
    ) -> None:
        """Enqueue the valid rows of one layer, or change nothing and raise `Rejected`."""
        plane = self._plane
        with contract_errors():
            plane.require_layer(layer)
            computed = computed_rows(plane.layout, rows)
            plane.writer.write(layer, translation.requests(batch), locations, static_tokens, computed)

    def read(self, layer: int, buffer: str, locations: Sequence[int]) -> bytes:
        """Read stored rows, each from its owner, after everything that was written and loaded before."""
        plane = self._plane
        with contract_errors():
            plane.require_layer(layer)
            wanted = plane.layout.buffer(buffer)
            for location in locations:
                _require_in_pool(plane.geometry, location // plane.geometry.page_size)
            return as_bytes(plane.reader.rows(layer, wanted, np.array(locations, dtype=np.int64)))


def _placement(geometry: Geometry, page: int) -> contract.Placement:
    if page == DUMMY_PAGE:
        return contract.Placement(lane=NO_LANE, page=DUMMY_PAGE)
    _require_in_pool(geometry, page)
    return contract.Placement(lane=geometry.lane(PageId(page)), page=geometry.physical_page(PageId(page)))


def _require_in_pool(geometry: Geometry, page: int) -> None:
    if not geometry.is_in_pool(page):
        raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, page)

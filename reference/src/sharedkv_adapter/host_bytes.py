"""Host memory of all ranks as storage reads and writes it.

Knows torch. Does not know objects, nor who may use which page.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from sharedkv.tree_node import HostPage
from sharedkv_adapter.data_plane import DataPlane


class HostBytes:
    """The host memories of one data plane; used by worker threads, which ask no stream for anything."""

    def __init__(self, plane: DataPlane) -> None:
        self._engine = plane.copy_engine
        self._memories = plane.memories

    def settle(self, pages: Sequence[HostPage]) -> None:
        """Return when no copy that was submitted before reads or writes the pages any more."""
        for lane in {page.lane for page in pages}:
            self._engine.settle_host(lane, [page.page for page in pages if page.lane == lane])

    def read(self, page: HostPage, part: str) -> memoryview:
        """Return the bytes of a part of a page, in the order that every host layout has in storage."""
        return self._memories[page.lane].page_part(part, page.page).numpy().data

    def write(self, page: HostPage, part: str, data: bytes | memoryview) -> None:
        """Replace the bytes of a part of a page."""
        rows = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        self._memories[page.lane].put_page_part(part, page.page, rows)

"""Memory with addresses, which another process may map too, and writes between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes


class Arena:
    """Bytes at an address; those of a file are seen by every process that maps it."""

    def __init__(self, num_bytes: int, file: Path | None = None) -> None:
        self.bytes: NDArray[np.uint8]
        if file is None:
            self.bytes = np.zeros(num_bytes, dtype=np.uint8)
        else:
            with file.open("ab") as opened:
                opened.truncate(num_bytes)
            self.bytes = np.memmap(file, dtype=np.uint8, mode="r+", shape=(num_bytes,))
        self.address = int(self.bytes.ctypes.data)

    def region(self, first: int = 0, end: int | None = None) -> Region:
        """Return the region of a range of its bytes."""
        last = len(self.bytes) if end is None else end
        return Region(address=self.address + first, num_bytes=last - first)


def writes_of(rows: Sequence[tuple[int, int, int]]) -> Writes:
    """Make writes of rows: source, destination, bytes."""
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return Writes(
        buffers=np.zeros(len(columns), dtype=np.int64),
        sources=columns[:, 0],
        destinations=columns[:, 1],
        lengths=columns[:, 2],
    )

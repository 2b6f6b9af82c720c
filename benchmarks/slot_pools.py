"""Host pools that keep one array of free token slots, as engines do.

`SlotQueue` takes slots from the front and appends what comes back. `SlotScan` looks for consecutive slots first: it
keeps the array sorted, and scans it at each allocation. Both are written without waste, and neither validates. What the
first does to slots `PageRing` does to pages, so that a pool can be brought to its state in a short time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PAGE_SIZE = 64

Pages = NDArray[np.int64]
Slots = NDArray[np.int64]


def slots_of(pages: Pages) -> Slots:
    """Return the token slots of pages, page after page."""
    return (np.asarray(pages)[:, None] * PAGE_SIZE + np.arange(PAGE_SIZE)).ravel()


def pages_of(slots: Slots) -> Pages:
    """Return the pages of token slots that hold whole pages, page after page."""
    return slots[::PAGE_SIZE] // PAGE_SIZE


class PageRing:
    """Pages in the order in which they came back: what `SlotQueue` does, counted in pages."""

    def __init__(self, num_pages: int) -> None:
        self._ring = np.arange(num_pages)
        self._first, self._behind = 0, num_pages

    def allocate(self, num_pages: int) -> Pages:
        """Take pages from the front."""
        places = np.arange(self._first, self._first + num_pages) % len(self._ring)
        self._first += num_pages
        return self._ring[places]

    def release(self, pages: Pages) -> None:
        """Append pages."""
        self._ring[np.arange(self._behind, self._behind + len(pages)) % len(self._ring)] = pages
        self._behind += len(pages)

    def pages_of(self, pages: Pages) -> Pages:
        """Return pages as they are."""
        return pages

    def memory_of(self, pages: Pages) -> Pages:
        """Return pages as they are."""
        return pages

    def free_pages(self) -> Pages:
        """Return the free pages, the next ones first."""
        return self._ring[np.arange(self._first, self._behind) % len(self._ring)]


class SlotArray:
    """Token slots that are free, in some order."""

    def __init__(self, free_pages: Pages) -> None:
        self.free_slots = slots_of(free_pages)

    def pages_of(self, slots: Slots) -> Pages:
        """Return the pages that slots make up."""
        return pages_of(slots)

    def memory_of(self, pages: Pages) -> Slots:
        """Return the slots that pages are made of."""
        return slots_of(pages)

    def free_pages(self) -> Pages:
        """Return the free pages, in the order of their slots."""
        return pages_of(self.free_slots)


class SlotQueue(SlotArray):
    """The front is sliced off, and what comes back is appended."""

    def allocate(self, num_pages: int) -> Slots:
        """Take slots from the front."""
        count = num_pages * PAGE_SIZE
        taken, self.free_slots = self.free_slots[:count].copy(), self.free_slots[count:]
        return taken

    def release(self, slots: Slots) -> None:
        """Append slots."""
        self.free_slots = np.concatenate((self.free_slots, slots))


class SlotScan(SlotArray):
    """The slots are ascending: the first run that is long enough is cut out, else the front."""

    def __init__(self, free_pages: Pages) -> None:
        super().__init__(np.sort(free_pages))

    def allocate(self, num_pages: int) -> Slots:
        """Take consecutive slots where there are as many."""
        count = num_pages * PAGE_SIZE
        free = self.free_slots
        ends = np.append(np.flatnonzero(np.diff(free) != 1) + 1, len(free))
        starts = np.append(0, ends[:-1])
        long_enough = np.flatnonzero(ends - starts >= count)
        first = starts[long_enough[0]] if len(long_enough) else 0
        taken = free[first : first + count].copy()
        self.free_slots = np.concatenate((free[:first], free[first + count :]))
        return taken

    def release(self, slots: Slots) -> None:
        """Put slots back in their order."""
        self.free_slots = np.sort(np.concatenate((self.free_slots, slots)), kind="stable")

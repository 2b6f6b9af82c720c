"""The order in which retained pages give way.

Knows pages and who was retained before whom, oldest first. Does not know lanes or states. Taking a page out of the
middle can be undone exactly, in reverse order, because the neighbour it had is remembered by the caller.
"""

from __future__ import annotations

from sharedkv.cost import CostMeter

NOBODY = 0


class RetentionOrder:
    """A doubly linked list of pages; the dummy page closes the ring, so that it is before the oldest."""

    __slots__ = ("_meter", "_newer", "_older")

    def __init__(self, meter: CostMeter) -> None:
        self._meter = meter
        self._newer = {NOBODY: NOBODY}
        self._older = {NOBODY: NOBODY}

    def __len__(self) -> int:
        return len(self._newer) - 1

    def append(self, page: int) -> None:
        """Put in a page as the newest."""
        self.insert_after(self._older[NOBODY], page)

    def insert_after(self, older: int, page: int) -> None:
        """Put in a page right after another; after `NOBODY` it is the oldest."""
        newer = self._newer[older]
        self._newer[older] = self._older[newer] = page
        self._newer[page] = newer
        self._older[page] = older
        self._meter.touched += 3

    def remove(self, page: int) -> int:
        """Take a page out and return the one that was retained just before it, or `NOBODY`."""
        older = self._older.pop(page)
        newer = self._newer.pop(page)
        self._newer[older] = newer
        self._older[newer] = older
        self._meter.touched += 3
        return older

    def oldest(self, count: int) -> list[int]:
        """List the `count` oldest pages, oldest first."""
        pages = []
        page = NOBODY
        for _ in range(count):
            page = self._newer[page]
            pages.append(page)
        self._meter.touched += count
        return pages

    def pages(self) -> list[int]:
        """List every page, oldest first."""
        return self.oldest(len(self))

    def invariants(self) -> list[str]:
        """List the laws that the links break."""
        if self._newer.keys() != self._older.keys():
            return ["the two directions of the retention order hold different pages"]
        if any(self._older[newer] != page for page, newer in self._newer.items()):
            return ["the two directions of the retention order disagree"]
        reached = {NOBODY}
        page = self._newer[NOBODY]
        while page not in reached:
            reached.add(page)
            page = self._newer[page]
        return [] if reached == self._newer.keys() else ["the retention order is not one ring"]

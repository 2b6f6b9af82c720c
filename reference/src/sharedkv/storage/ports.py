"""What storage asks of the host tier: bytes of host pages, nodes of the tree, and what ranks have in common.

Knows the questions. Does not know who answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sharedkv.tree_node import HostPage

TARGET, DRAFT_SOURCE = "target", "draft"
NOT_STORED = -1


class PageBytes(Protocol):
    """The bytes of host pages, part by part: buffer by buffer and layer by layer, whatever the layout of host memory.

    Used by worker threads, each page by one of them at a time.
    """

    def settle(self, pages: Sequence[HostPage]) -> None:
        """Return when no copy that was submitted before reads or writes the pages any more."""

    def read(self, page: HostPage, part: str) -> bytes | memoryview:
        """Return the bytes of a part of a page."""

    def write(self, page: HostPage, part: str, data: bytes | memoryview) -> None:
        """Replace the bytes of a part of a page; `data` has as many as the part."""


class SaveProgress(Protocol):
    """How far a save is, on the ranks that this process plays."""

    def is_finished(self, source: str, rank: int) -> bool:
        """Say whether a source is done on a rank. Waits for nothing."""

    def settle(self) -> None:
        """Return when all of it is done. It is told once, when the save is acknowledged or given up."""


class HostTree(Protocol):
    """The tree over host pages, as storage needs it. Every call that raises has changed nothing."""

    def known_pages(self, tokens: Sequence[int]) -> int:
        """Count the leading whole pages of tokens that the tree has, on either tier."""

    def backed_up(self, tokens: Sequence[int]) -> Sequence[HostPage]:
        """Return the host pages of those of them, from the first on, whose backup was acknowledged."""

    def submit_save(
        self, tokens: Sequence[int], positions: Sequence[int], progress: SaveProgress, sources: Sequence[str]
    ) -> int:
        """Enter a save of the pages at some positions; nodes with such a page are read until it is acknowledged."""

    def reserve(self, lanes: Sequence[int], tokens: Sequence[int]) -> Sequence[HostPage] | None:
        """Allocate a host page on each of some lanes, in that order; None, and no change, where they do not fit.

        Where a lane is short, one eviction makes room, all or nothing, and of nothing on the way of `tokens`.
        """

    def attach(self, tokens: Sequence[int], first_page: int, pages: Sequence[HostPage]) -> range:
        """Make a node of host pages that hold the pages of `tokens` from a position on.

        The tree takes what follows on what it has now and is not in it; the answer are the positions that it took.
        """

    def free(self, pages: Sequence[HostPage]) -> None:
        """Give host pages back."""


class Agreement(Protocol):
    """What ranks have in common."""

    def least(self, counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return the least of each count over all ranks, from one row for each rank that this process plays."""


Clock = Callable[[], int]
"""Ticks since some moment; it never goes back."""


@dataclass(frozen=True, kw_only=True)
class HostSide:
    """The host tier as one process has it.

    `ranks` are those that it plays, whose lanes it reads and writes; `next_number` gives one that no copy has.
    """

    tree: HostTree
    page_bytes: PageBytes
    ranks: Sequence[int]
    agreement: Agreement
    next_number: Callable[[], int]

    def agreed_lanes(self, lanes: Sequence[int]) -> list[int]:
        """Return the lanes of pages as all ranks see them, `NOT_STORED` where not all see the same; one exchange.

        Whatever ranks decide from it, they decide alike, although a store may change between their looks at it.
        """
        if not lanes:
            return []
        least = self.agreement.least([[*lanes, *(-lane for lane in lanes)] for _ in self.ranks])
        lowest, highest = least[: len(lanes)], [-lane for lane in least[len(lanes) :]]
        return [low if low == high else NOT_STORED for low, high in zip(lowest, highest, strict=True)]

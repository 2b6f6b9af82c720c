"""The page-aligned in-sequence split of one request over the ranks, and where its chunks end.

Knows lengths and ranks: which rank computes which new page, hence which lane each page belongs on. Does not know
page ids, pools or other requests: every request is planned on its own.

    N new pages make 2C blocks of whole pages, the remainder goes to the earliest; rank r computes blocks r and 2C-1-r

    block   0   1  ...  C-1 | C   ...  2C-2  2C-1
    rank    0   1  ...  C-1 | C-1 ...  1     0
    part    prev            | next
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry

IN_SEQUENCE = "in_sequence"


@dataclass(frozen=True, kw_only=True)
class Segment:
    """New tokens [start, end) of the extend, computed by one rank; the last row sees `kv_tokens` tokens."""

    rank: int
    part: str
    start: int
    end: int
    kv_tokens: int


@dataclass(frozen=True, kw_only=True)
class RequestSplit:
    """Owners by new page, two segments a rank in rank order, and where the last token's row is."""

    owners: tuple[int, ...]
    segments: tuple[Segment, ...]
    last_rank: int
    last_row: int


class PageSplit(NamedTuple):
    """How many new pages each block holds: `base`, and one more in each of the first `remainder` blocks.

    A named tuple, for one is made for every request, and a frozen dataclass takes three times as long to make.
    """

    cp_size: int
    num_pages: int
    base: int
    remainder: int

    def block_pages(self, block: int) -> range:
        """Return the new pages of a block, counted from the first new page."""
        first = block * self.base + min(block, self.remainder)
        return range(first, first + self.base + (block < self.remainder))

    def rank(self, block: int) -> int:
        """Return the rank that computes a block."""
        return block if block < self.cp_size else 2 * self.cp_size - 1 - block

    def lane_counts(self) -> list[int]:
        """Count the new pages of each lane that gets any; those are the first lanes. Lists no page."""
        ranks, low, remainder = self.cp_size, 2 * self.base, self.remainder
        if remainder > ranks:
            return [low + 1] * (2 * ranks - remainder) + [low + 2] * (remainder - ranks)
        return [low + 1] * remainder + [low] * (ranks - remainder if low else 0)

    def owners(self) -> list[int]:
        """Return the owner of each new page, in page order."""
        ranks, base = self.cp_size, self.base
        order = [*range(ranks), *range(ranks - 1, -1, -1)]
        if base == 0:
            return order[: self.remainder]
        owners: list[int] = []
        for rank in order[: self.remainder]:
            owners += [rank] * (base + 1)
        for rank in order[self.remainder :]:
            owners += [rank] * base
        return owners

    def in_page_order(self, lane_pages: Sequence[Sequence[int]]) -> list[int]:
        """Merge pages listed by lane, each lane's in the order of its new pages, into the order of new pages.

        Holds one sequence for each of `lane_counts()`, of that length.
        """
        base, remainder = self.base, self.remainder
        merged: list[int] = []
        for lane, pages in enumerate(lane_pages):
            merged += pages[: base + (lane < remainder)]
        if len(merged) < self.num_pages:
            for lane in range(len(lane_pages) - 1, -1, -1):
                merged += lane_pages[lane][base + (lane < remainder) :]
        return merged


def require_in_sequence(split: str) -> None:
    """Refuse every split whose blocks are not whole pages in sequence."""
    if split != IN_SEQUENCE:
        raise RefusedError(Refusal.SPLIT_NOT_IN_SEQUENCE, split)


def split_pages(geometry: Geometry, prefix_tokens: int, extend_tokens: int) -> PageSplit:
    """Split the new pages of one request, or refuse lengths that have no page-aligned split."""
    page_size, cp_size = geometry.page_size, geometry.cp_size
    if prefix_tokens < 0:
        raise RefusedError(Refusal.PREFIX_NEGATIVE, prefix_tokens)
    if prefix_tokens % page_size:
        raise RefusedError(Refusal.PREFIX_NOT_PAGE_ALIGNED, prefix_tokens)
    if extend_tokens < 1:
        raise RefusedError(Refusal.EXTEND_EMPTY, extend_tokens)
    num_pages = -(-extend_tokens // page_size)
    base, remainder = divmod(num_pages, 2 * cp_size)
    return PageSplit(cp_size, num_pages, base, remainder)


def split_request(geometry: Geometry, prefix_tokens: int, extend_tokens: int) -> RequestSplit:
    """Split one request in full, or refuse it. A pure function of lengths and geometry."""
    pages = split_pages(geometry, prefix_tokens, extend_tokens)
    segments: list[Segment] = []
    for rank in range(geometry.cp_size):
        for part, block in (("prev", rank), ("next", 2 * geometry.cp_size - 1 - rank)):
            new = pages.block_pages(block)
            start = min(new.start * geometry.page_size, extend_tokens)
            end = min(new.stop * geometry.page_size, extend_tokens)
            kv_tokens = prefix_tokens + end
            segments.append(Segment(rank=rank, part=part, start=start, end=end, kv_tokens=kv_tokens))
    owners = pages.owners()
    last_rank = owners[-1]
    # Nothing follows the last token, so its row is the last valid row of its rank, whichever segment holds it.
    rows = sum(segment.end - segment.start for segment in segments if segment.rank == last_rank)
    return RequestSplit(owners=tuple(owners), segments=tuple(segments), last_rank=last_rank, last_row=rows - 1)


def next_chunk(geometry: Geometry, prefix_tokens: int, remaining_tokens: int, budget_tokens: int) -> int:
    """Return how many of a request's remaining tokens its next chunk takes: all within the budget, else whole pages."""
    split_pages(geometry, prefix_tokens, remaining_tokens)
    if budget_tokens >= remaining_tokens:
        return remaining_tokens
    if budget_tokens < geometry.page_size:
        raise RefusedError(Refusal.CHUNK_TOO_SMALL, budget_tokens)
    return budget_tokens // geometry.page_size * geometry.page_size

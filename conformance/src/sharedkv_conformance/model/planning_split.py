"""The executable specification of the page-aligned in-sequence split of one request.

Slow, plain, and right by inspection.
"""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.planning import RequestSplit, Segment
from sharedkv_conformance.model.geometry import Geometry


def unsplittable(geometry: Geometry, prefix_tokens: int, extend_tokens: int) -> frozenset[Reason]:
    """Return every reason why a request has no page-aligned split."""
    faults = {
        Reason.PREFIX_NEGATIVE: prefix_tokens < 0,
        Reason.PREFIX_NOT_PAGE_ALIGNED: prefix_tokens % geometry.page_size != 0,
        Reason.EXTEND_EMPTY: extend_tokens < 1,
    }
    return frozenset(reason for reason, present in faults.items() if present)


def block_pages(geometry: Geometry, new_pages: int) -> list[int]:
    """Return how many pages each of the 2 * cp_size blocks has; remainder pages go to the earliest blocks."""
    base, remainder = divmod(new_pages, 2 * geometry.cp_size)
    return [base + (1 if block < remainder else 0) for block in range(2 * geometry.cp_size)]


def block_rank(geometry: Geometry, block: int) -> int:
    """Return the rank of a block: ascending over the first half, descending over the second."""
    return block if block < geometry.cp_size else 2 * geometry.cp_size - 1 - block


def page_owners(geometry: Geometry, extend_tokens: int) -> tuple[int, ...]:
    """Return the rank that computes each new page of one request, in page order."""
    blocks = block_pages(geometry, geometry.pages_for(extend_tokens))
    return tuple(block_rank(geometry, block) for block, pages in enumerate(blocks) for _ in range(pages))


def block_tokens(geometry: Geometry, extend_tokens: int) -> list[tuple[int, int]]:
    """Return the token range of each block relative to the extend, half open; empty blocks lie at its end."""
    ranges, first_page = [], 0
    for pages in block_pages(geometry, geometry.pages_for(extend_tokens)):
        start = min(first_page * geometry.page_size, extend_tokens)
        first_page += pages
        ranges.append((start, min(first_page * geometry.page_size, extend_tokens)))
    return ranges


def segments(geometry: Geometry, prefix_tokens: int, extend_tokens: int) -> tuple[Segment, ...]:
    """Return the segments in rank order: block r is rank r's `prev`, block 2 * cp_size - 1 - r its `next`."""
    ranges = block_tokens(geometry, extend_tokens)
    return tuple(
        Segment(rank=rank, part=part, start=start, end=end, kv_tokens=prefix_tokens + end)
        for rank in range(geometry.cp_size)
        for part, block in (("prev", rank), ("next", 2 * geometry.cp_size - 1 - rank))
        for start, end in (ranges[block],)
    )


def last_token(split: tuple[Segment, ...], extend_tokens: int) -> tuple[int, int]:
    """Return the rank that computes the last token and its local row there, `prev` rows first."""
    for index, segment in enumerate(split):
        if segment.start < extend_tokens == segment.end:
            rows_before = split[index - 1].end - split[index - 1].start if segment.part == "next" else 0
            return segment.rank, rows_before + segment.end - segment.start - 1
    message = f"no segment of {split} ends at token {extend_tokens}"
    raise AssertionError(message)


def request_split(geometry: Geometry, prefix_tokens: int, extend_tokens: int) -> RequestSplit:
    """Return the whole split of a request that has one."""
    parts = segments(geometry, prefix_tokens, extend_tokens)
    last_rank, last_row = last_token(parts, extend_tokens)
    owners = page_owners(geometry, extend_tokens)
    return RequestSplit(owners=owners, segments=parts, last_rank=last_rank, last_row=last_row)

"""Which pages of a chunk each prefill rank sends, to which pages of decode, and as which writes.

Knows lanes, positions and addresses. Does not know engines, rooms, nor when pages are written.

    pages of the chunk    7   9  10  12    (C = 2: lanes 0 0 1 1)          first position 4
    rank 0                source 4  5      position 4  5
    rank 1                source 5  6      position 6  7

Runs are found once for all buffers: a request of many layers costs its runs, and one multiplication a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry

Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class RankPages:
    """What one rank sends of a chunk, in the order of positions: three lists of one length."""

    rank: int
    sources: tuple[int, ...]
    positions: tuple[int, ...]
    destinations: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class BufferAddresses:
    """Where one buffer of one layer begins on both sides, and the bytes of its pages there."""

    source: int
    destination: int
    source_page_bytes: int
    destination_page_bytes: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Writes:
    """The writes of all buffers, buffer after buffer: arrays (writes,) int64 of one length, addresses in bytes."""

    buffers: Integers
    sources: Integers
    destinations: Integers
    lengths: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class PageShare:
    """What one rank has of some pages: arrays (pages,) int64 of its physical pages and of their positions."""

    sources: Integers
    positions: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class PageRuns:
    """Pages that follow one another on both sides: arrays (runs,) int64 of first pages and of how many they are."""

    sources: Integers
    destinations: Integers
    counts: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class AddressTable:
    """Where buffers begin on both sides, and the bytes of a page: arrays (buffers,) int64."""

    sources: Integers
    destinations: Integers
    page_bytes: Integers

    def of(self, buffers: Integers) -> AddressTable:
        """Return the rows of some buffers."""
        return AddressTable(
            sources=self.sources[buffers],
            destinations=self.destinations[buffers],
            page_bytes=self.page_bytes[buffers],
        )


def chunk_pages(geometry: Geometry, *, sent_tokens: int, end_tokens: int, is_last: bool) -> range:
    """Return the positions that a chunk sends; a page that is not full waits, unless the chunk is the last."""
    if sent_tokens % geometry.page_size:
        raise RefusedError(Refusal.PREFIX_NOT_PAGE_ALIGNED, f"{sent_tokens} tokens sent, pages of {geometry.page_size}")
    if not 0 <= sent_tokens <= end_tokens:
        raise RefusedError(Refusal.CHUNK_BACKWARDS, f"{sent_tokens} tokens sent of {end_tokens}")
    full, tail = divmod(end_tokens, geometry.page_size)
    return range(sent_tokens // geometry.page_size, full + bool(tail and is_last))


def deal(
    geometry: Geometry, pages: Sequence[int], *, first_position: int, destinations: Sequence[int], is_last: bool
) -> tuple[RankPages, ...]:
    """Deal the logical pages of a chunk to the ranks of their lanes; `destinations` are those of the whole request.

    Raises `RefusedError` for a chunk that does not fit into the request, or that is its last and does not end with it,
    for a page outside the pool, and for one that is named twice.
    """
    _require_positions(pages, first_position, destinations, is_last=is_last)
    require_distinct(geometry, pages)
    lanes, sources = geometry.places(np.array(pages, dtype=np.int64))
    positions = np.arange(first_position, first_position + len(pages))
    targets = np.array(destinations[first_position : first_position + len(pages)], dtype=np.int64)
    return tuple(
        RankPages(
            rank=rank,
            sources=tuple(sources[lanes == rank].tolist()),
            positions=tuple(positions[lanes == rank].tolist()),
            destinations=tuple(targets[lanes == rank].tolist()),
        )
        for rank in range(geometry.cp_size)
    )


def _require_positions(
    pages: Sequence[int], first_position: int, destinations: Sequence[int], *, is_last: bool
) -> None:
    if first_position < 0:
        raise RefusedError(Refusal.POSITION_OUTSIDE_REQUEST, first_position)
    end = first_position + len(pages)
    if end > len(destinations) or (is_last and end < len(destinations)):
        summary = f"{len(pages)} source pages from position {first_position}, {len(destinations)} destination pages"
        raise RefusedError(Refusal.PAGE_COUNTS_DIFFER, summary)


def require_distinct(geometry: Geometry, pages: Sequence[int]) -> None:
    """Refuse pages outside the pool, and one that is named twice."""
    for page in pages:
        if not geometry.is_in_pool(page):
            raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, page)
    if len(set(pages)) < len(pages):
        raise RefusedError(Refusal.PAGE_NAMED_TWICE, next(page for page in pages if pages.count(page) > 1))


def share_of(geometry: Geometry, pages: Sequence[int], first_position: int, rank: int) -> PageShare:
    """Return what one rank has of pages of the pool, none of them twice."""
    lanes, sources = geometry.places(np.array(pages, dtype=np.int64))
    (own,) = np.nonzero(lanes == rank)
    return PageShare(sources=sources[own], positions=first_position + own)


def writes(sources: Sequence[int], destinations: Sequence[int], buffers: Sequence[BufferAddresses]) -> Writes:
    """Return the fewest writes that move pages in their order: pages that step by one on both sides are one write.

    Raises `RefusedError` for lists of different length, a page below 0, and a buffer whose pages differ in bytes.
    """
    if len(sources) != len(destinations):
        raise RefusedError(Refusal.PAGE_COUNTS_DIFFER, f"{len(sources)} source pages, {len(destinations)} destinations")
    if min((*sources, *destinations), default=0) < 0:
        raise RefusedError(Refusal.PAGE_OUTSIDE_POOL, min((*sources, *destinations)))
    table = address_table(buffers)
    return writes_of(page_runs(np.array(sources, dtype=np.int64), np.array(destinations, dtype=np.int64)), table)


def address_table(buffers: Sequence[BufferAddresses]) -> AddressTable:
    """Return the addresses of buffers, or refuse one whose pages differ in bytes on the two sides."""
    for number, each in enumerate(buffers):
        if each.source_page_bytes != each.destination_page_bytes:
            summary = (
                f"buffer {number}: {each.source_page_bytes} bytes a page here, {each.destination_page_bytes} there"
            )
            raise RefusedError(Refusal.PAGE_BYTES_DIFFER, summary)
    page_bytes, sources, destinations = (
        np.array([getattr(each, name) for each in buffers], dtype=np.int64)
        for name in ("source_page_bytes", "source", "destination")
    )
    return AddressTable(sources=sources, destinations=destinations, page_bytes=page_bytes)


def page_runs(sources: Integers, destinations: Integers) -> PageRuns:
    """Return the runs of pages that step by one on both sides, in the order of the pages."""
    is_first = np.ones(len(sources), dtype=np.bool_)
    is_first[1:] = (np.diff(sources) != 1) | (np.diff(destinations) != 1)
    starts = np.flatnonzero(is_first)
    counts = np.diff(np.append(starts, len(sources)))
    return PageRuns(sources=sources[starts], destinations=destinations[starts], counts=counts)


def writes_of(runs: PageRuns, table: AddressTable) -> Writes:
    """Return one write for each run in each buffer, buffer after buffer."""
    page_bytes = table.page_bytes[:, None]
    return Writes(
        buffers=np.repeat(np.arange(len(table.page_bytes)), len(runs.counts)),
        sources=(table.sources[:, None] + runs.sources * page_bytes).ravel(),
        destinations=(table.destinations[:, None] + runs.destinations * page_bytes).ravel(),
        lengths=(runs.counts * page_bytes).ravel(),
    )

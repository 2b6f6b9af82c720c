"""What a chunk sends, who sends it, and as which writes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.page_mapping import BufferAddresses, Writes, chunk_pages, deal, writes

GEOMETRY = Geometry(cp_size=3, page_size=4, pages=30)
page_lists = st.lists(st.integers(1, 30), max_size=12, unique=True)


def refusal(call: object, *arguments: object, **named: object) -> Refusal:
    assert callable(call)
    with pytest.raises(RefusedError) as refused:
        call(*arguments, **named)
    return refused.value.reason


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_chunks_of_a_request_send_each_page_once(steps: list[int]) -> None:
    ends = [sum(steps[: count + 1]) for count in range(len(steps))]
    sent, seen = 0, []
    for end in ends:
        pages = chunk_pages(GEOMETRY, sent_tokens=sent, end_tokens=end, is_last=end == ends[-1])
        seen += list(pages)
        sent = pages.stop * 4 if end != ends[-1] else sent
    assert seen == list(range(-(-ends[-1] // 4)))


def test_a_last_chunk_without_pages_is_an_empty_range() -> None:
    assert chunk_pages(GEOMETRY, sent_tokens=8, end_tokens=8, is_last=True) == range(2, 2)


def test_what_is_no_chunk_is_refused() -> None:
    assert refusal(chunk_pages, GEOMETRY, sent_tokens=3, end_tokens=8, is_last=False) == Refusal.PREFIX_NOT_PAGE_ALIGNED
    assert refusal(chunk_pages, GEOMETRY, sent_tokens=12, end_tokens=8, is_last=True) == Refusal.CHUNK_BACKWARDS
    assert refusal(chunk_pages, GEOMETRY, sent_tokens=-4, end_tokens=8, is_last=True) == Refusal.CHUNK_BACKWARDS


@given(page_lists, st.integers(0, 5), st.integers(0, 3))
def test_over_all_ranks_each_page_goes_once_to_its_place(pages: list[int], first: int, behind: int) -> None:
    destinations = list(range(100, 100 + first + len(pages) + behind))[::-1]
    dealt = deal(GEOMETRY, pages, first_position=first, destinations=destinations, is_last=not behind)
    assert [each.rank for each in dealt] == [0, 1, 2]
    found = {
        position: (each.rank, source, destination)
        for each in dealt
        for source, position, destination in zip(each.sources, each.positions, each.destinations, strict=True)
    }
    assert sorted(found) == list(range(first, first + len(pages)))
    for index, page in enumerate(pages):
        assert found[first + index] == ((page - 1) % 3, (page - 1) // 3 + 1, destinations[first + index])


def test_pages_that_are_no_chunk_are_refused() -> None:
    def of(pages: list[int], count: int, *, first: int = 0, is_last: bool = True) -> Refusal:
        return refusal(deal, GEOMETRY, pages, first_position=first, destinations=range(count), is_last=is_last)

    assert of([1, 2], 1) == Refusal.PAGE_COUNTS_DIFFER
    assert of([1, 2], 3) == Refusal.PAGE_COUNTS_DIFFER
    assert of([1, 2], 2, first=1, is_last=False) == Refusal.PAGE_COUNTS_DIFFER
    assert of([0, 2], 2) == Refusal.PAGE_OUTSIDE_POOL
    assert of([31, 2], 2) == Refusal.PAGE_OUTSIDE_POOL
    assert of([2, 2], 2) == Refusal.PAGE_NAMED_TWICE
    assert of([1, 2], 2, first=-1) == Refusal.POSITION_OUTSIDE_REQUEST


def _bytes(made: Writes) -> Counter[tuple[int, int, int]]:
    columns = (made.buffers, made.sources, made.destinations, made.lengths)
    return Counter(
        (buffer, source + offset, destination + offset)
        for buffer, source, destination, length in zip(*(column.tolist() for column in columns), strict=True)
        for offset in range(length)
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8, unique=True), st.integers(0, 3))
def test_writes_move_the_bytes_of_the_pages_and_are_as_few_as_runs(pairs: list[tuple[int, int]], count: int) -> None:
    sizes = [3, 5, 2][:count]
    buffers = [
        BufferAddresses(
            source=1000 * number, destination=9000 + 100 * number, source_page_bytes=size, destination_page_bytes=size
        )
        for number, size in enumerate(sizes)
    ]
    sources, destinations = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    made = writes(sources, destinations, buffers)
    wanted = Counter(
        (number, 1000 * number + size * source + offset, 9000 + 100 * number + size * destination + offset)
        for number, size in enumerate(sizes)
        for source, destination in pairs
        for offset in range(size)
    )
    assert _bytes(made) == wanted
    joints = sum(b == (a[0] + 1, a[1] + 1) for a, b in pairwise(pairs))
    assert len(made.sources) == len(sizes) * (len(pairs) - joints)


def test_pages_that_do_not_pair_are_refused() -> None:
    buffer = BufferAddresses(source=0, destination=0, source_page_bytes=8, destination_page_bytes=8)
    other = BufferAddresses(source=0, destination=0, source_page_bytes=576, destination_page_bytes=656)
    assert refusal(writes, [1], [1, 2], [buffer]) == Refusal.PAGE_COUNTS_DIFFER
    assert refusal(writes, [-1], [1], [buffer]) == Refusal.PAGE_OUTSIDE_POOL
    with pytest.raises(RefusedError, match="buffer 1: 576 bytes a page here, 656 there"):
        writes([1], [1], [buffer, other])

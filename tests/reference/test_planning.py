"""The split of one request: written vectors, and the rule told once more in the slowest words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import Geometry
from sharedkv.planning import RequestSplit, require_in_sequence, split_pages, split_request

Vector = tuple[int, int, int, int, str, list[int], list[int]]

# cp_size, page_size, prefix, extend, owners, valid rows by rank, pages by lane
VECTORS: list[Vector] = [
    (2, 4, 0, 16, "0110", [8, 8], [2, 2]),
    (2, 4, 8, 13, "0110", [5, 8], [2, 2]),
    (2, 4, 0, 5, "01", [4, 1], [1, 1]),
    (2, 4, 0, 1, "0", [1, 0], [1, 0]),
    (2, 4, 0, 32, "00111100", [16, 16], [4, 4]),
    (4, 64, 128, 513, "001233210", [129, 128, 128, 128], [3, 2, 2, 2]),
    (8, 64, 4096, 700, "01234567765", [64] * 5 + [124, 128, 128], [1] * 5 + [2, 2, 2]),
]


def rows_by_rank(split: RequestSplit, cp_size: int) -> list[int]:
    return [sum(part.end - part.start for part in split.segments if part.rank == rank) for rank in range(cp_size)]


def owners_page_by_page(cp_size: int, num_pages: int) -> list[int]:
    """Deal whole pages to 2C blocks, the remainder to the earliest, and fold the blocks back onto the ranks."""
    blocks = [num_pages // (2 * cp_size)] * (2 * cp_size)
    for extra in range(num_pages % (2 * cp_size)):
        blocks[extra] += 1
    return [min(block, 2 * cp_size - 1 - block) for block, pages in enumerate(blocks) for _ in range(pages)]


@pytest.mark.parametrize("vector", VECTORS)
def test_written_vectors_hold(vector: Vector) -> None:
    cp_size, page_size, prefix, extend, owners, rows, lanes = vector
    split = split_request(Geometry(cp_size=cp_size, page_size=page_size, pages=0), prefix, extend)

    assert split.owners == tuple(map(int, owners))
    assert rows_by_rank(split, cp_size) == rows
    assert [split.owners.count(lane) for lane in range(cp_size)] == lanes


def test_long_extend_has_the_written_rows_and_counts() -> None:
    geometry = Geometry(cp_size=8, page_size=64, pages=0)
    split = split_request(geometry, 0, 100_000)

    assert rows_by_rank(split, 8) == [12_448, *[12_480] * 4, *[12_544] * 3]
    assert split_pages(geometry, 0, 100_000).lane_counts() == [*[195] * 5, *[196] * 3]


@given(cp_size=st.integers(2, 9), num_pages=st.integers(1, 200))
def test_owners_follow_the_rule_page_by_page(cp_size: int, num_pages: int) -> None:
    split = split_pages(Geometry(cp_size=cp_size, page_size=4, pages=0), 0, num_pages * 4)

    assert split.owners() == owners_page_by_page(cp_size, num_pages)


@given(cp_size=st.integers(2, 9), num_pages=st.integers(1, 200))
def test_lane_counts_are_the_owners_counted(cp_size: int, num_pages: int) -> None:
    split = split_pages(Geometry(cp_size=cp_size, page_size=4, pages=0), 0, num_pages * 4)
    owners = owners_page_by_page(cp_size, num_pages)

    assert split.lane_counts() == [owners.count(lane) for lane in range(min(cp_size, num_pages))]


@given(cp_size=st.integers(2, 9), num_pages=st.integers(1, 200))
def test_pages_listed_by_lane_merge_into_page_order(cp_size: int, num_pages: int) -> None:
    split = split_pages(Geometry(cp_size=cp_size, page_size=4, pages=0), 0, num_pages * 4)
    owners = split.owners()
    positions = [[page for page in range(num_pages) if owners[page] == lane] for lane in range(max(owners) + 1)]

    assert split.in_page_order(positions) == list(range(num_pages))


@given(cp_size=st.integers(2, 9), prefix_pages=st.integers(0, 5), extend=st.integers(1, 300))
def test_segments_tile_the_extend_and_see_what_is_before_them(cp_size: int, prefix_pages: int, extend: int) -> None:
    split = split_request(Geometry(cp_size=cp_size, page_size=4, pages=0), prefix_pages * 4, extend)
    filled = sorted((part.start, part.end) for part in split.segments if part.start < part.end)

    assert [start for start, _ in filled] == [0, *(end for _, end in filled[:-1])]
    assert filled[-1][1] == extend
    assert all(part.kv_tokens == prefix_pages * 4 + part.end for part in split.segments)


@given(cp_size=st.integers(2, 9), extend=st.integers(1, 300))
def test_last_row_is_the_row_of_the_last_token(cp_size: int, extend: int) -> None:
    split = split_request(Geometry(cp_size=cp_size, page_size=4, pages=0), 0, extend)
    tokens = [token for part in split.segments if part.rank == split.last_rank for token in range(part.start, part.end)]

    assert tokens[split.last_row] == extend - 1


def test_segments_stand_in_rank_order_prev_first() -> None:
    split = split_request(Geometry(cp_size=3, page_size=4, pages=0), 0, 5)

    assert [(part.rank, part.part) for part in split.segments] == [
        (rank, part) for rank in range(3) for part in ("prev", "next")
    ]


@pytest.mark.parametrize(
    ("prefix", "extend", "reason"),
    [
        (3, 8, Refusal.PREFIX_NOT_PAGE_ALIGNED),
        (-4, 8, Refusal.PREFIX_NEGATIVE),
        (-3, 8, Refusal.PREFIX_NEGATIVE),
        (4, 0, Refusal.EXTEND_EMPTY),
        (4, -1, Refusal.EXTEND_EMPTY),
    ],
)
def test_lengths_without_a_page_aligned_split_are_refused(prefix: int, extend: int, reason: Refusal) -> None:
    with pytest.raises(RefusedError) as caught:
        split_request(Geometry(cp_size=2, page_size=4, pages=0), prefix, extend)

    assert caught.value.reason is reason


def test_split_that_is_not_in_sequence_is_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        require_in_sequence("round_robin")

    assert (caught.value.reason, caught.value.value) == (Refusal.SPLIT_NOT_IN_SEQUENCE, "round_robin")

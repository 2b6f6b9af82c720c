"""Whole pages from buffer to buffer, wherever their rows lie."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import TensorMismatchError
from sharedkv.page_moves import move_pages, plain_move_pages


def random_bytes(seed: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


def spread(seed: int, pages: int, rows: int, row_bytes: int, order: str) -> torch.Tensor:
    """Pages of one layer: alone, between the rows of other layers, or between their pages."""
    if order == "alone":
        return random_bytes(seed, pages, rows, row_bytes)
    if order == "rows apart":
        return random_bytes(seed, pages, rows, 3, row_bytes)[:, :, 1]
    return random_bytes(seed, pages, 3, rows, row_bytes)[:, 2]


orders = st.sampled_from(["alone", "rows apart", "pages apart"])


@given(
    seed=st.integers(0, 99),
    rows=st.sampled_from([1, 4]),
    row_bytes=st.sampled_from([5, 32, 656]),
    orders=st.tuples(orders, orders),
    pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=5, unique_by=lambda pair: pair[1]),
)
def test_pages_arrive_and_nothing_else_changes(
    seed: int, rows: int, row_bytes: int, orders: tuple[str, str], pairs: list[tuple[int, int]]
) -> None:
    source, target = spread(seed, 7, rows, row_bytes, orders[0]), spread(seed + 1, 5, rows, row_bytes, orders[1])
    numbers = torch.tensor(pairs, dtype=torch.int64).view(-1, 2)
    expected = target.clone()
    for read, written in pairs:
        expected[written] = source[read]
    plain = target.clone()
    plain_move_pages(source, plain, numbers[:, 0], numbers[:, 1])
    move_pages(source, target, numbers[:, 0], numbers[:, 1])

    assert torch.equal(target, expected)
    assert torch.equal(plain, expected)


@pytest.mark.parametrize(
    ("target", "pages", "what"),
    [
        (random_bytes(0, 5, 4, 31), ([0], [0]), "rows of a page and bytes of a row"),
        (random_bytes(0, 5, 2, 32), ([0], [0]), "rows of a page and bytes of a row"),
        (random_bytes(0, 5, 4, 64)[:, :, ::2], ([0], [0]), "stride of bytes of target"),
        (random_bytes(0, 5, 4, 32), ([0], [5]), "pages of target"),
        (random_bytes(0, 5, 4, 32), ([-1], [0]), "pages of source"),
        (random_bytes(0, 5, 4, 32), ([0, 1], [0]), "number of pages"),
        (random_bytes(0, 5, 4, 32).to(torch.int8), ([0], [0]), "dtype of target"),
        (random_bytes(0, 5, 128), ([0], [0]), "dimensions of target"),
    ],
)
def test_what_does_not_fit_is_refused(target: torch.Tensor, pages: tuple[list[int], list[int]], what: str) -> None:
    before = target.clone()
    with pytest.raises(TensorMismatchError, match=what):
        move_pages(random_bytes(1, 7, 4, 32), target, torch.tensor(pages[0]), torch.tensor(pages[1]))

    assert torch.equal(target, before)

"""Rows by slot: what is named changes, what is not named does not, whichever way the bytes go."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import TensorMismatchError
from sharedkv.rows import (
    gather_index_rows,
    gather_rows,
    plain_gather_index_rows,
    plain_gather_rows,
    plain_write_index_rows,
    plain_write_rows,
    write_index_rows,
    write_rows,
)

NUM_SLOTS = 24
NUM_RUN_SLOTS = 90
PAGE_SIZE = 4
Write = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]


def random_bytes(rows: int, row_bytes: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (rows, row_bytes), dtype=torch.uint8, generator=generator)


@st.composite
def distinct_slots(draw: st.DrawFn) -> torch.Tensor:
    """Slots in any order, some of them dropped."""
    slots = draw(st.permutations(range(NUM_SLOTS)))[: draw(st.integers(0, NUM_SLOTS))]
    dropped = draw(st.sets(st.integers(0, NUM_SLOTS)))
    return torch.tensor([-1 if at in dropped else slot for at, slot in enumerate(slots)], dtype=torch.int64)


def row_by_row(buffer: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
    expected = buffer.clone()
    for row, slot in zip(rows, slots.tolist(), strict=True):
        if slot >= 0:
            expected[slot] = row
    return expected


def paged(rows: torch.Tensor) -> torch.Tensor:
    """Return index rows (n, 132) of whole pages as pages: all keys, then all scales."""
    pages = rows.view(-1, PAGE_SIZE, 132)
    return torch.cat((pages[:, :, :128].flatten(1), pages[:, :, 128:].flatten(1)), dim=1).contiguous()


@pytest.mark.parametrize("write", [write_rows, plain_write_rows])
@pytest.mark.parametrize("row_bytes", [656, 1152, 132, 6, 5])
@given(slots=distinct_slots())
def test_a_write_changes_the_rows_that_it_names_and_no_other(write: Write, row_bytes: int, slots: torch.Tensor) -> None:
    buffer, rows = random_bytes(NUM_SLOTS, row_bytes), random_bytes(len(slots), row_bytes, seed=1)
    expected = row_by_row(buffer, rows, slots)

    write(buffer, rows, slots)

    assert torch.equal(buffer, expected)


@pytest.mark.parametrize("gather", [gather_rows, plain_gather_rows])
@pytest.mark.parametrize("row_bytes", [656, 5])
@given(slots=st.lists(st.integers(-2, NUM_SLOTS - 1), max_size=30))
def test_a_gather_answers_in_the_order_asked_and_with_zeros_for_what_is_dropped(
    gather: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], row_bytes: int, slots: list[int]
) -> None:
    buffer = random_bytes(NUM_SLOTS, row_bytes)
    zeros = torch.zeros(row_bytes, dtype=torch.uint8)
    expected = torch.stack([buffer[slot] if slot >= 0 else zeros for slot in slots] or [zeros])[: len(slots)]

    found = gather(buffer, torch.tensor(slots, dtype=torch.int64))

    assert torch.equal(found, expected)


@st.composite
def slots_in_runs(draw: st.DrawFn) -> torch.Tensor:
    """Slots of neighbours: pieces of an ascending line, cut and dealt anew, some of them dropped."""
    cuts = sorted(draw(st.sets(st.sampled_from(range(1, NUM_RUN_SLOTS // 8)), max_size=6)))
    bounds = [0, *(cut * 8 + draw(st.sampled_from((0, 0, 0, 3))) for cut in cuts), NUM_RUN_SLOTS]
    pieces = draw(st.permutations([range(*pair) for pair in pairwise(bounds)]))
    slots = [slot for piece in pieces for slot in piece][: draw(st.sampled_from((NUM_RUN_SLOTS, 70, 64)))]
    dropped = draw(st.one_of(st.just(frozenset()), st.frozensets(st.integers(0, NUM_RUN_SLOTS), max_size=3)))
    return torch.tensor([-1 if at in dropped else slot for at, slot in enumerate(slots)], dtype=torch.int64)


@given(slots=slots_in_runs())
def test_runs_of_rows_move_as_single_rows_do(slots: torch.Tensor) -> None:
    buffer, rows = random_bytes(NUM_RUN_SLOTS, 24), random_bytes(len(slots), 24, seed=1)
    expected = row_by_row(buffer, rows, slots)

    write_rows(buffer, rows, slots)

    assert torch.equal(buffer, expected)
    assert torch.equal(gather_rows(buffer, slots), plain_gather_rows(buffer, slots))


@pytest.mark.parametrize("first", [-16, -32])
def test_runs_of_dropped_rows_are_dropped(first: int) -> None:
    buffer, slots = random_bytes(NUM_RUN_SLOTS, 8), torch.arange(first, first + 48)
    kept = slots >= 0

    assert torch.equal(gather_rows(buffer, slots), plain_gather_rows(buffer, slots))
    assert torch.equal(gather_rows(buffer, slots)[kept], buffer[: int(kept.sum())])


@pytest.mark.parametrize("write", [write_index_rows, plain_write_index_rows])
@given(slots=distinct_slots())
def test_index_rows_go_to_the_keys_and_to_the_scales_of_their_page(
    write: Callable[[torch.Tensor, torch.Tensor, torch.Tensor, int], None], slots: torch.Tensor
) -> None:
    before, rows = random_bytes(NUM_SLOTS, 132), random_bytes(len(slots), 132, seed=1)
    buffer = paged(before)

    write(buffer, rows, slots, PAGE_SIZE)

    assert torch.equal(buffer, paged(row_by_row(before, rows, slots)))


@pytest.mark.parametrize("gather", [gather_index_rows, plain_gather_index_rows])
@given(slots=st.lists(st.integers(-2, NUM_SLOTS - 1), max_size=30))
def test_index_rows_come_back_as_key_and_scale(
    gather: Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor], slots: list[int]
) -> None:
    rows, at = random_bytes(NUM_SLOTS, 132), torch.tensor(slots, dtype=torch.int64)

    found = gather(paged(rows), at, PAGE_SIZE)

    assert torch.equal(found, gather_rows(rows, at))


def test_a_gather_fills_the_output_that_it_is_given() -> None:
    buffer, out = random_bytes(NUM_SLOTS, 8), torch.full((2, 8), 9, dtype=torch.uint8)

    found = gather_rows(buffer, torch.tensor([3, -1]), out)

    assert found is out
    assert torch.equal(out, torch.stack((buffer[3], torch.zeros(8, dtype=torch.uint8))))


def test_nothing_is_written_when_every_row_is_dropped() -> None:
    for write in (write_rows, plain_write_rows):
        buffer = random_bytes(NUM_SLOTS, 8)
        before = buffer.clone()
        write(buffer, random_bytes(2, 8, seed=1), torch.tensor([-1, -1]))

        assert torch.equal(buffer, before)


def test_a_view_of_a_larger_tensor_is_a_buffer_too() -> None:
    whole = torch.zeros((2, NUM_SLOTS, 8), dtype=torch.uint8)
    write_rows(whole[1], random_bytes(1, 8), torch.tensor([2]))

    assert not whole[0].any()
    assert torch.equal(whole[1, 2], random_bytes(1, 8)[0])


@pytest.mark.parametrize("slot", [NUM_SLOTS, 2**40])
def test_a_slot_beyond_the_buffer_is_refused_and_nothing_is_written(slot: int) -> None:
    buffer = torch.zeros((NUM_SLOTS, 8), dtype=torch.uint8)
    with pytest.raises(TensorMismatchError, match="slot"):
        write_rows(buffer, random_bytes(2, 8), torch.tensor([0, slot]))

    assert not buffer.any()


@pytest.mark.parametrize(
    ("what", "rows", "slots"),
    [
        ("dtype of rows", torch.zeros((1, 8), dtype=torch.int8), torch.tensor([0])),
        ("dtype of slots", torch.zeros((1, 8), dtype=torch.uint8), torch.tensor([0], dtype=torch.int32)),
        ("bytes of a row", torch.zeros((1, 7), dtype=torch.uint8), torch.tensor([0])),
        ("number of slots", torch.zeros((1, 8), dtype=torch.uint8), torch.tensor([0, 1])),
        ("contiguity of rows", torch.zeros((2, 16), dtype=torch.uint8)[:, ::2], torch.tensor([0, 1])),
        ("dimensions of rows", torch.zeros(8, dtype=torch.uint8), torch.tensor([0])),
        ("device of rows", torch.zeros((1, 8), dtype=torch.uint8, device="meta"), torch.tensor([0])),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(what: str, rows: torch.Tensor, slots: torch.Tensor) -> None:
    with pytest.raises(TensorMismatchError) as mismatch:
        write_rows(torch.zeros((4, 8), dtype=torch.uint8), rows, slots)

    assert mismatch.value.what == what


def test_the_page_size_has_to_be_that_of_the_index_buffer() -> None:
    with pytest.raises(TensorMismatchError, match="bytes of a page"):
        gather_index_rows(paged(random_bytes(8, 132)), torch.tensor([0]), PAGE_SIZE * 2)


def test_rows_beyond_two_to_the_31_bytes_have_their_own_address() -> None:
    row_bytes, num_rows = 1152, 2**31 // 1152 + 8
    # Pages that nobody touches take no memory.
    buffer = torch.from_numpy(np.zeros((num_rows, row_bytes), dtype=np.uint8))
    rows = random_bytes(2, row_bytes)
    slots = torch.tensor([num_rows - 1, num_rows - 5])

    write_rows(buffer, rows, slots)

    assert torch.equal(gather_rows(buffer, slots), rows)
    assert torch.equal(plain_gather_rows(buffer, slots), rows)
    assert not buffer[:16].any()

"""Index rows: keys and scales of a page lie apart, and come back as the rows that they were."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sharedkv import kernels, rows
from tests.kernels.on_device.machine import PAGE_SIZES, Machine, distinct_slots, random_bytes, row_counts, seeds

NUM_PAGES = 16
page_sizes = st.sampled_from(PAGE_SIZES)
few = settings(max_examples=20)


@few
@given(page_size=page_sizes, num_rows=row_counts, seed=seeds)
def test_write_leaves_the_bytes_of_the_plain_function(
    machine: Machine, page_size: int, num_rows: int, seed: int
) -> None:
    buffer, given_rows = random_bytes(seed, NUM_PAGES, page_size * 132), random_bytes(seed + 1, num_rows, 132)
    slots = distinct_slots(seed, num_rows, NUM_PAGES * page_size)
    written = machine.put(buffer)

    kernels.write_index_rows(written, machine.put(given_rows), machine.put(slots), page_size)
    rows.plain_write_index_rows(buffer, given_rows, slots, page_size)

    assert torch.equal(written.cpu(), buffer)


@few
@given(page_size=page_sizes, num_rows=row_counts, seed=seeds)
def test_gather_returns_the_bytes_of_the_plain_function(
    machine: Machine, page_size: int, num_rows: int, seed: int
) -> None:
    buffer = random_bytes(seed, NUM_PAGES, page_size * 132)
    slots = distinct_slots(seed, num_rows, NUM_PAGES * page_size)
    gathered = kernels.gather_index_rows(machine.put(buffer), machine.put(slots), page_size)

    assert torch.equal(gathered.cpu(), rows.plain_gather_index_rows(buffer, slots, page_size))


def test_a_page_is_all_its_keys_then_all_its_scales(machine: Machine) -> None:
    buffer = machine.put(torch.zeros((2, 4 * 132), dtype=torch.uint8))
    given_rows = random_bytes(1, 1, 132)

    kernels.write_index_rows(buffer, machine.put(given_rows), machine.put(torch.tensor([4 + 2])), 4)
    page = buffer[1].cpu()

    assert torch.equal(page[2 * 128 : 3 * 128], given_rows[0, :128])
    assert torch.equal(page[4 * 128 + 2 * 4 : 4 * 128 + 3 * 4], given_rows[0, 128:])


def test_nothing_outside_the_buffer_is_written(machine: Machine) -> None:
    around = random_bytes(2, 6, 4 * 132)
    held = machine.put(around)
    slots = torch.tensor([-1, 2 * 4, -9, 2**40, -(2**40), 5])

    kernels.write_index_rows(held[2:4], machine.put(random_bytes(3, 6, 132)), machine.put(slots), 4)
    is_changed = (held.cpu() != around).any(dim=1).nonzero().view(-1)

    assert is_changed.tolist() == [2 + 1]


def test_what_lies_beyond_the_buffer_is_not_read(machine: Machine) -> None:
    held = machine.put(random_bytes(4, 6, 4 * 132))
    gathered = kernels.gather_index_rows(held[2:4], machine.put(torch.tensor([8, 2**40, -(2**40), 7])), 4)

    assert gathered.any(dim=1).tolist() == [False, False, False, True]

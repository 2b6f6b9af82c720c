"""Row write and row gather give the bytes of the plain functions, for rows of any size and any slots."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sharedkv import kernels, rows
from tests.kernels.on_device.machine import ROW_BYTES, Machine, distinct_slots, random_bytes, row_counts, seeds

NUM_SLOTS = 50
row_sizes = st.sampled_from(ROW_BYTES)
few = settings(max_examples=20)


@few
@given(row_bytes=row_sizes, num_rows=row_counts, seed=seeds)
def test_write_leaves_the_bytes_of_the_plain_function(
    machine: Machine, row_bytes: int, num_rows: int, seed: int
) -> None:
    buffer, given_rows = random_bytes(seed, NUM_SLOTS, row_bytes), random_bytes(seed + 1, num_rows, row_bytes)
    slots = distinct_slots(seed, num_rows, NUM_SLOTS)
    written = machine.put(buffer)

    kernels.write_rows(written, machine.put(given_rows), machine.put(slots))
    rows.plain_write_rows(buffer, given_rows, slots)

    assert torch.equal(written.cpu(), buffer)


@few
@given(row_bytes=row_sizes, num_rows=row_counts, seed=seeds)
def test_gather_returns_the_bytes_of_the_plain_function(
    machine: Machine, row_bytes: int, num_rows: int, seed: int
) -> None:
    buffer, slots = random_bytes(seed, NUM_SLOTS, row_bytes), distinct_slots(seed, num_rows, NUM_SLOTS)
    gathered = kernels.gather_rows(machine.put(buffer), machine.put(slots))

    assert torch.equal(gathered.cpu(), rows.plain_gather_rows(buffer, slots))


def test_a_slot_may_be_gathered_many_times(machine: Machine) -> None:
    buffer, slots = random_bytes(1, NUM_SLOTS, 656), torch.tensor([7, 7, -1, 7, 0, 49, 49])
    gathered = kernels.gather_rows(machine.put(buffer), machine.put(slots))

    assert torch.equal(gathered.cpu(), rows.plain_gather_rows(buffer, slots))


@pytest.mark.parametrize("row_bytes", [656, 1152])
def test_whole_pages_of_a_thousand_rows_arrive(machine: Machine, row_bytes: int) -> None:
    buffer, given_rows = random_bytes(2, 1600, row_bytes), random_bytes(3, 1000, row_bytes)
    slots = (torch.randperm(25, generator=torch.Generator().manual_seed(4))[:, None] * 64 + torch.arange(64)).view(-1)
    written = machine.put(buffer)

    kernels.write_rows(written, machine.put(given_rows), machine.put(slots[:1000]))
    rows.plain_write_rows(buffer, given_rows, slots[:1000])

    assert torch.equal(written.cpu(), buffer)


@few
@given(row_bytes=row_sizes, seed=seeds)
def test_nothing_outside_the_buffer_is_written(machine: Machine, row_bytes: int, seed: int) -> None:
    around = random_bytes(seed, NUM_SLOTS, row_bytes)
    slots = torch.tensor([-1, 20, -20, 10, 2**40, -(2**40), 19])
    held = machine.put(around)

    kernels.write_rows(held[20:40], machine.put(random_bytes(seed + 1, 7, row_bytes)), machine.put(slots))
    is_changed = (held.cpu() != around).any(dim=1).nonzero().view(-1)

    assert set(is_changed.tolist()) <= {20 + 10, 20 + 19}


def test_what_lies_beyond_the_buffer_is_not_read(machine: Machine) -> None:
    held = machine.put(random_bytes(5, NUM_SLOTS, 656))
    gathered = kernels.gather_rows(held[20:40], machine.put(torch.tensor([20, 2**40, -(2**40), -1, 19])))

    assert gathered.any(dim=1).tolist() == [False, False, False, False, True]


@pytest.mark.parametrize("first_byte", [1, 2, 4, 8])
def test_a_buffer_may_begin_at_any_byte(machine: Machine, first_byte: int) -> None:
    held, slots = machine.put(random_bytes(6, 50 * 656 + 16)), torch.tensor([3, -1, 49, 0])
    buffer = held[first_byte : first_byte + 50 * 656].view(50, 656)
    given_rows = random_bytes(7, 4, 656)

    kernels.write_rows(buffer, machine.put(given_rows), machine.put(slots))
    gathered = kernels.gather_rows(buffer, machine.put(slots)).cpu()

    assert torch.equal(gathered, given_rows * (slots >= 0).view(-1, 1))


def test_an_output_that_is_given_is_filled_and_returned(machine: Machine) -> None:
    buffer, slots = random_bytes(8, NUM_SLOTS, 656), torch.tensor([5, -1])
    out = machine.put(random_bytes(9, 2, 656))
    returned = kernels.gather_rows(machine.put(buffer), machine.put(slots), out)

    assert (returned is out, torch.equal(out.cpu(), rows.plain_gather_rows(buffer, slots))) == (True, True)

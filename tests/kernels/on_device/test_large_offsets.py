"""Addresses beyond 32 bits are exact: the last slot of a pool of 2 ** 31 words round-trips, slot 0 is untouched.

The pools are never touched but for a few rows, so that on a CPU they cost address space and no memory.
"""

import pytest
import torch

from sharedkv import kernels
from tests.kernels.on_device.machine import Machine, random_bytes

PAGE_SIZE = 64
INDEX_PAGES_BEYOND_32_BITS = 2**31 // (33 * PAGE_SIZE) + 2


@pytest.mark.parametrize(
    ("row_bytes", "last_slot"),
    [
        pytest.param(576, 3_728_271, id="the-first-slot-beyond-two-gibibytes"),
        pytest.param(577, 2**31 // 577 + 1, id="rows-of-single-bytes"),
    ],
)
def test_the_last_row_of_a_large_pool_round_trips(machine: Machine, row_bytes: int, last_slot: int) -> None:
    buffer = torch.empty((last_slot + 1, row_bytes), dtype=torch.uint8, device=machine.device)
    buffer[0] = 0
    given_rows, slots = random_bytes(1, 1, row_bytes), machine.put(torch.tensor([last_slot]))

    kernels.write_rows(buffer, machine.put(given_rows), slots)
    gathered = kernels.gather_rows(buffer, slots)

    assert (torch.equal(gathered.cpu(), given_rows), int(buffer[0].count_nonzero())) == (True, 0)
    assert torch.equal(buffer[last_slot:].cpu(), given_rows)


def test_the_last_of_very_many_rows_arrives(cuda: Machine) -> None:
    """An interpreter would need hours for as many programs."""
    num_rows = 2**31 // 577 + 2
    rows = torch.empty((num_rows, 577), dtype=torch.uint8, device=cuda.device)
    slots = torch.full((num_rows,), -1, device=cuda.device)
    slots[-1] = 1
    buffer, last_row = cuda.put(random_bytes(3, 2, 577)), random_bytes(4, 1, 577)
    rows[-1:] = cuda.put(last_row)

    kernels.write_rows(buffer, rows, slots)
    kernels.gather_rows(buffer, slots, rows)

    assert torch.equal(buffer[1:].cpu(), last_row)
    assert torch.equal(rows[-1:].cpu(), last_row)


def test_the_last_index_row_of_a_large_pool_round_trips(machine: Machine) -> None:
    shape = (INDEX_PAGES_BEYOND_32_BITS, PAGE_SIZE * 132)
    buffer = torch.empty(shape, dtype=torch.uint8, device=machine.device)
    buffer[0] = 0
    slots = machine.put(torch.tensor([INDEX_PAGES_BEYOND_32_BITS * PAGE_SIZE - 1]))
    given_rows = random_bytes(2, 1, 132)

    kernels.write_index_rows(buffer, machine.put(given_rows), slots, PAGE_SIZE)
    gathered = kernels.gather_index_rows(buffer, slots, PAGE_SIZE)

    assert (torch.equal(gathered.cpu(), given_rows), int(buffer[0].count_nonzero())) == (True, 0)
    assert torch.equal(buffer[-1, -4:].cpu(), given_rows[0, 128:])

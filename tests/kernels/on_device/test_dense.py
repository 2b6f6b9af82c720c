"""Into the dense view: a rank contributes its rows and zeros, and selected positions get their request's base."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sharedkv import dense, kernels
from tests.kernels.on_device.machine import ROW_BYTES, Machine, distinct_slots, random_bytes, row_counts, seeds

NUM_TOKENS = 50
NUM_REQUESTS = 5
few = settings(max_examples=20)


@few
@given(row_bytes=st.sampled_from(ROW_BYTES), num_rows=row_counts, seed=seeds)
def test_fill_leaves_the_bytes_of_the_plain_function(
    machine: Machine, row_bytes: int, num_rows: int, seed: int
) -> None:
    view, given_rows = random_bytes(seed, NUM_TOKENS, row_bytes), random_bytes(seed + 1, num_rows, row_bytes)
    positions = distinct_slots(seed, num_rows, NUM_TOKENS)
    filled = machine.put(view)

    kernels.fill_current_rows(filled, machine.put(given_rows), machine.put(positions))
    dense.plain_fill_current_rows(view, given_rows, positions)

    assert torch.equal(filled.cpu(), view)


def test_what_a_buffer_held_before_is_gone_after_a_fill(machine: Machine) -> None:
    view = machine.put(random_bytes(1, NUM_TOKENS, 656))

    kernels.fill_current_rows(view, machine.put(random_bytes(2, 1, 656)), machine.put(torch.tensor([9])))

    assert view.any(dim=1).nonzero().view(-1).tolist() == [9]


def selections(seed: int, num_rows: int, count: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Selected positions with gaps, requests with dummies and strangers, bases beyond 32 bits; on the CPU."""
    generator = torch.Generator().manual_seed(seed)
    selected = torch.randint(-1, 60, (num_rows, count), generator=generator)
    requests = torch.randint(-2, NUM_REQUESTS + 2, (num_rows,), generator=generator)
    return selected, requests, torch.arange(NUM_REQUESTS) * 2**33


@few
@given(count=st.sampled_from((1, 2, 7, 64, 2048)), num_rows=row_counts, seed=seeds)
def test_emission_returns_the_positions_of_the_plain_function(
    machine: Machine, count: int, num_rows: int, seed: int
) -> None:
    arguments = selections(seed, num_rows, count)
    emitted = kernels.emit_top_k(*map(machine.put, arguments))

    assert torch.equal(emitted.cpu(), dense.plain_emit_top_k(*arguments))


def test_emission_by_hand(machine: Machine) -> None:
    selected = torch.tensor([[0, 4, -1], [3, 2, 1], [0, 1, 2]])
    emitted = kernels.emit_top_k(*map(machine.put, (selected, torch.tensor([0, 1, -1]), torch.tensor([0, 10]))))

    assert emitted.tolist() == [[0, 4, -1], [13, 12, 11], [-1, -1, -1]]


def test_emission_may_take_the_place_of_what_was_selected(machine: Machine) -> None:
    arguments = selections(1, 100, 48)
    selected, requests, bases = map(machine.put, arguments)

    kernels.emit_top_k(selected, requests, bases, out=selected)

    assert torch.equal(selected.cpu(), dense.plain_emit_top_k(*arguments))

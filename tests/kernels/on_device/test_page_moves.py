"""Page move gives the bytes of the plain function, wherever the rows of a page lie on either side."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sharedkv import kernels
from sharedkv.geometry import Geometry
from sharedkv.host_memory import ORDERS, HostMemory, HostShape, device_pages
from sharedkv.layouts import MHA_BF16, MLA_FP8, layout
from sharedkv.page_moves import move_pages, plain_move_pages
from sharedkv.pools import Pool
from tests.kernels.on_device.machine import Machine, random_bytes, seeds

orders = st.sampled_from(["alone", "rows apart", "pages apart"])
shapes = st.sampled_from([(64, 656), (4, 1152), (3, 24), (2, 5), (1, 64 * 132), (1, 128 * 132), (1, 3 * 132)])
LAYERS = 3
few = settings(max_examples=20)


def buffer_of(machine: Machine, seed: int, pages: int, shape: tuple[int, int], order: str) -> torch.Tensor:
    """Pages of one layer on the device: alone, between the rows of other layers, or between their pages."""
    rows, row_bytes = shape
    if order == "alone":
        return machine.put(random_bytes(seed, pages, rows, row_bytes))
    if order == "rows apart":
        return machine.put(random_bytes(seed, pages, rows, LAYERS, row_bytes))[:, :, 1]
    return machine.put(random_bytes(seed, pages, LAYERS, rows, row_bytes))[:, 2]


@few
@given(
    shape=shapes,
    order=st.tuples(orders, orders),
    pairs=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=5, unique_by=lambda pair: pair[1]),
    seed=seeds,
)
def test_moved_pages_are_those_of_the_plain_function(
    machine: Machine, shape: tuple[int, int], order: tuple[str, str], pairs: list[tuple[int, int]], seed: int
) -> None:
    source, target = buffer_of(machine, seed, 7, shape, order[0]), buffer_of(machine, seed + 1, 5, shape, order[1])
    numbers = torch.tensor(pairs, dtype=torch.int64).view(-1, 2)
    read, written = machine.put(numbers[:, 0].contiguous()), machine.put(numbers[:, 1].contiguous())
    expected = target.cpu().clone()
    plain_move_pages(source.cpu(), expected, numbers[:, 0], numbers[:, 1])
    kernels.move_pages(source, target, read, written)

    assert torch.equal(target.cpu(), expected)


def test_pairs_with_a_page_that_is_not_there_are_dropped(machine: Machine) -> None:
    source, target = (machine.put(random_bytes(seed, 3, 4, 656)) for seed in (1, 2))
    expected = target.cpu().clone()
    expected[1] = source.cpu()[2]
    read, written = (torch.tensor(pages) for pages in ([2, -1, 3, 0, 1], [1, 0, 2, -1, 3]))
    kernels.move_pages(source, target, machine.put(read), machine.put(written))

    assert torch.equal(target.cpu(), expected)


def test_no_pages_move_nothing(machine: Machine) -> None:
    source, target = (machine.put(random_bytes(seed, 3, 4, 656)) for seed in (1, 2))
    none = machine.put(torch.empty(0, dtype=torch.int64))
    before = target.cpu().clone()
    kernels.move_pages(source, target, none, none)

    assert torch.equal(target.cpu(), before)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", [MLA_FP8, MHA_BF16])
def test_pages_go_to_pinned_memory_of_the_host_and_come_back(cuda: Machine, name: str, order: str) -> None:
    pool = Pool(Geometry(cp_size=2, page_size=64, pages=32), layout(name), 3, cuda.device)
    shape = HostShape(layout=pool.layout, page_size=64, layers=2, draft_layers=1, order=order)
    memory = HostMemory(shape, 8, is_pinned=True)
    physical, host = (torch.tensor(pages, device=cuda.device) for pages in ([3, 9, 1], [7, 0, 4]))
    elsewhere = torch.tensor([5, 2, 11], device=cuda.device)
    for layer in range(3):
        for at, buffer in enumerate(pool.layout.buffers):
            device = device_pages(pool, layer, buffer)
            device.copy_(random_bytes(10 * layer + at, *device.shape))
            move_pages(device, memory.pages(layer, buffer.name), physical, host)
            move_pages(memory.pages(layer, buffer.name), device, host, elsewhere)
    torch.cuda.synchronize()

    for layer in range(3):
        for buffer in pool.layout.buffers:
            device = device_pages(pool, layer, buffer)

            assert torch.equal(memory.pages(layer, buffer.name)[host.cpu()], device[physical].cpu())
            assert torch.equal(device[elsewhere], device[physical])

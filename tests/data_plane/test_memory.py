"""Zeroed memory of any size, owned by its tensor."""

import gc

import pytest
import torch

from sharedkv.memory import HUGE_PAGE_BYTES, zeroed

CPU = torch.device("cpu")


@pytest.mark.parametrize("rows", [0, 3, HUGE_PAGE_BYTES // 656 + 1])
def test_memory_of_any_size_is_zero_and_can_be_written(rows: int) -> None:
    found = zeroed((rows, 656), CPU)

    assert (found.shape, found.dtype, found.is_contiguous()) == ((rows, 656), torch.uint8, True)
    assert not found.any()
    assert bool(found.fill_(7).all())


def test_memory_lives_as_long_as_a_view_of_it() -> None:
    part = zeroed((2, HUGE_PAGE_BYTES), CPU)[1, -8:].fill_(7)
    gc.collect()

    assert part.view(torch.int64).item() == 0x0707070707070707


def test_memory_of_another_device_is_of_that_device() -> None:
    assert zeroed((2, HUGE_PAGE_BYTES), torch.device("meta")).device.type == "meta"

"""Kernels run beside the host: they keep to the current stream, and nothing on their way waits for the device."""

from collections.abc import Callable, Iterator

import pytest
import torch

from sharedkv import dense, kernels, quantization, rows
from tests.kernels.on_device.machine import Machine, random_bytes

# To switch the mode on is to be told that it does not find every wait.
pytestmark = pytest.mark.filterwarnings("ignore:Synchronization debug mode")

ABOUT_A_TENTH_OF_A_SECOND = 200_000_000
"""Cycles of a GPU."""


@pytest.fixture
def waits_are_errors(cuda: Machine) -> Iterator[Callable[[], None]]:
    """Make every wait for the device an error from the moment of the call."""
    yield lambda: torch.cuda.set_sync_debug_mode("error")
    torch.cuda.set_sync_debug_mode("default")
    torch.cuda.synchronize(cuda.device)


def test_write_and_gather_paths_never_wait(cuda: Machine, waits_are_errors: Callable[[], None]) -> None:
    buffer, given_rows = cuda.put(random_bytes(1, 50, 656)), cuda.put(random_bytes(2, 20, 656))
    pages, index_rows = cuda.put(random_bytes(3, 4, 64 * 132)), cuda.put(random_bytes(4, 20, 132))
    slots, latents = cuda.put(torch.arange(20) * 2), cuda.put(torch.ones((20, 576), dtype=torch.bfloat16))
    selected, requests, bases = slots.view(-1, 2).clone(), slots[:10] // 2 % 3, slots[:3] * 10

    def all_paths() -> None:
        rows.write_rows(buffer, given_rows, slots)
        rows.gather_rows(buffer, slots)
        rows.write_index_rows(pages, index_rows, slots, 64)
        rows.gather_index_rows(pages, slots, 64)
        dense.fill_current_rows(buffer, given_rows, slots)
        dense.emit_top_k(selected, requests, bases)
        quantization.quantize_latent(latents)

    all_paths()
    torch.cuda.synchronize(cuda.device)
    waits_are_errors()
    all_paths()


def test_a_wait_is_noticed(cuda: Machine, waits_are_errors: Callable[[], None]) -> None:
    value = cuda.put(torch.ones(1))
    waits_are_errors()

    with pytest.raises(RuntimeError, match="synchroniz"):
        value.item()


def test_work_follows_the_current_stream(cuda: Machine) -> None:
    buffer = cuda.put(torch.zeros((50, 656), dtype=torch.uint8))
    given_rows, slots = random_bytes(5, 20, 656), cuda.put(torch.arange(20))
    on_device = cuda.put(torch.zeros_like(given_rows))
    kernels.write_rows(buffer, on_device, slots)
    torch.cuda.synchronize(cuda.device)
    side, pinned, done = torch.cuda.Stream(), given_rows.pin_memory(), torch.cuda.Event()

    with torch.cuda.stream(side):
        torch.cuda._sleep(ABOUT_A_TENTH_OF_A_SECOND)
        on_device.copy_(pinned, non_blocking=True)
        kernels.write_rows(buffer, on_device, slots)
        done.record()
    is_still_busy = not done.query()
    torch.cuda.synchronize(cuda.device)

    assert (is_still_busy, torch.equal(buffer[:20].cpu(), given_rows)) == (True, True)

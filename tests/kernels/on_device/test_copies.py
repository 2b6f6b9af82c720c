"""Copies between the tiers on streams of a GPU: pinned memory, no wait of the host, every byte back."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
import torch

from sharedkv.host_memory import ORDERS
from sharedkv.layouts import MHA_BF16, MLA_FP8
from sharedkv.streams import CudaBackend
from tests.data_plane.two_tiers import TwoTiers
from tests.kernels.on_device.machine import Machine

# To switch the mode on is to be told that it does not find every wait.
pytestmark = pytest.mark.filterwarnings("ignore:Synchronization debug mode")

PAIRS = ((1, 0), (2, 3), (4, 1), (7, 5))
ELSEWHERE = ((9, 0), (10, 3), (12, 1), (15, 5))
PAGES = [page for page, _ in PAIRS]


@contextmanager
def waits_are_errors() -> Iterator[None]:
    torch.cuda.set_sync_debug_mode("error")
    yield
    torch.cuda.set_sync_debug_mode("default")


def two_tiers(machine: Machine, *, name: str = MLA_FP8, order: str = ORDERS[0]) -> TwoTiers:
    return TwoTiers(name=name, order=order, backend=CudaBackend(machine.device), device=machine.device)


def fill(tiers: TwoTiers, pages: Sequence[int], seed: int) -> None:
    tiers.fill_all(pages, seed)
    tiers.backend.synchronize()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", [MLA_FP8, MHA_BF16])
def test_backup_and_load_bring_every_byte_back_and_the_host_waits_for_neither(
    cuda: Machine, name: str, order: str
) -> None:
    tiers = two_tiers(cuda, name=name, order=order)
    fill(tiers, PAGES, 1)
    with waits_are_errors():
        (backup,) = tiers.engine.submit_backups([tiers.moves(PAIRS)], None)
        load = tiers.engine.submit_load(tiers.moves(ELSEWHERE))
    load.settle()
    backup.settle()

    assert tiers.host_has(tiers.moves(PAIRS), seed=1)
    assert tiers.device_has({new: old for (new, _), (old, _) in zip(ELSEWHERE, PAIRS, strict=True)}, seed=1)


def test_layers_that_end_one_by_one_are_backed_up_behind_the_forward(cuda: Machine) -> None:
    tiers = two_tiers(cuda)
    tiers.engine.admitted("a", tiers.moves(PAIRS))
    for layer in tiers.layers:
        tiers.fill(layer, PAGES, seed=1)
        with waits_are_errors():
            tiers.engine.layer_end(layer)
    (backup,) = tiers.engine.submit_backups([tiers.moves(PAIRS)], "a")
    tiers.fill_all(PAGES, seed=2)
    backup.settle()
    tiers.backend.synchronize()

    assert tiers.host_has(tiers.moves(PAIRS), seed=1)
    assert tiers.device_has({page: page for page in PAGES}, seed=2)
    assert all(backup.is_finished(source, rank) for source in tiers.engine.sources for rank in range(2))

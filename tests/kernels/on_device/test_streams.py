"""Writing and prefetching on streams: of a GPU where there is one, recorded and late on the CPU."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
import torch

from sharedkv.allocation import ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.batching import plan_batch
from sharedkv.collectives import LocalGroup
from sharedkv.dense_positions import ReuseRequest
from sharedkv.geometry import Geometry
from sharedkv.layouts import MLA_FP8, layout
from sharedkv.pools import Pool
from sharedkv.prefetching import Plumbing, Prefetcher
from sharedkv.row_domains import VALID
from sharedkv.streams import Backend, CudaBackend, RecordingBackend
from sharedkv.writing import ComputedRows, GroupWriter, compute_stream
from tests.kernels.on_device.machine import Machine, random_bytes

# To switch the mode on is to be told that it does not find every wait.
pytestmark = pytest.mark.filterwarnings("ignore:Synchronization debug mode")

RANKS = 2
TOKENS = 41
GEOMETRY = Geometry(cp_size=RANKS, page_size=4, pages=64)


class Cache:
    """Pools of all ranks on a device, with the pages of one request."""

    def __init__(self, device: torch.device, backend: Backend) -> None:
        self.pools = [Pool(GEOMETRY, layout(MLA_FP8), 1, device) for _ in range(RANKS)]
        self.backend = backend
        self.writer = GroupWriter(GEOMETRY, self.pools, backend)
        self.batch = [ExtendRequest(request="a", prefix_tokens=0, extend_tokens=TOKENS)]
        self.given = OwnerLaneAllocator(GEOMETRY, FreeRoom()).extend(self.batch)

    def rows(self) -> list[ComputedRows]:
        """Return the same rows on every device."""
        device = self.pools[0].device
        counts = plan_batch(GEOMETRY, self.batch).valid_rows.tolist()
        return [
            ComputedRows(
                domain=VALID,
                num_rows=num_rows,
                buffers={
                    "latent": torch.arange(num_rows * 576)
                    .view(num_rows, 576)
                    .to(torch.bfloat16)
                    .view(torch.uint8)
                    .to(device),
                    "index": random_bytes(rank, num_rows, 132).to(device),
                },
            )
            for rank, num_rows in enumerate(counts)
        ]

    def write(self, rows: Sequence[ComputedRows]) -> None:
        self.writer.write(0, self.batch, self.given.locations.tolist(), TOKENS, rows)

    def prefetcher(self) -> Prefetcher:
        plumbing = Plumbing(
            pools=self.pools, group=LocalGroup(RANKS), backend=self.backend, page_writes=self.writer.page_writes
        )
        return Prefetcher(plumbing, self, is_on=True)

    def on_fallback(self, reason: str, layer: int) -> None:
        raise AssertionError(reason, layer)

    def reader(self) -> list[ReuseRequest]:
        """Return a request whose prefix is the first eight pages that were written."""
        return [ReuseRequest(request="a", prefix_tokens=32, extend_tokens=1, table=tuple(self.given.pages))]


def on(machine: Machine) -> Cache:
    if machine.device.type == "cuda":
        current = torch.cuda.current_stream(machine.device)
        existing = {compute_stream(rank): current for rank in range(RANKS)}
        return Cache(machine.device, CudaBackend(machine.device, existing))
    return Cache(machine.device, RecordingBackend(late=True))


def expected() -> Cache:
    """Return what the CPU does, without streams that are late."""
    cache = Cache(torch.device("cpu"), RecordingBackend())
    cache.write(cache.rows())
    return cache


@contextmanager
def waiting_is_an_error(machine: Machine) -> Iterator[None]:
    """Let a wait for the device raise, where there is one."""
    if machine.device.type != "cuda":
        yield
        return
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_rows_reach_the_pools_of_a_device_without_a_wait(machine: Machine) -> None:
    cache, wanted = on(machine), expected()
    rows = cache.rows()
    cache.write(rows)  # kernels are compiled once, and that waits
    with waiting_is_an_error(machine):
        cache.write(rows)
    cache.backend.synchronize()

    for found, right in zip(cache.pools, wanted.pools, strict=True):
        for buffer in ("latent", "index"):
            assert torch.equal(found.buffer(0, buffer).cpu(), right.buffer(0, buffer))


def test_a_prefetch_is_ordered_after_writes_and_before_readers_without_a_wait(machine: Machine) -> None:
    cache, wanted = on(machine), expected()
    prefetcher, rows = cache.prefetcher(), cache.rows()
    cache.write(rows)
    prefetcher.release(prefetcher.consume(0, 1, cache.reader()))  # kernels are compiled once, and that waits
    with waiting_is_an_error(machine):
        cache.write(rows)
        prefetcher.start(0, 2, cache.reader())
        lease = prefetcher.consume(0, 2, cache.reader())
    cache.backend.synchronize()
    right = wanted.prefetcher()
    known = right.consume(0, 1, wanted.reader())

    for buffer in ("latent", "index"):
        for found, known_rows in zip(prefetcher.rows(lease, buffer), right.rows(known, buffer), strict=True):
            assert torch.equal(found.cpu(), known_rows)

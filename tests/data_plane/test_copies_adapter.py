"""The tree and the bytes together, behind the contract: whatever is late or given up, a prefix is what was computed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

import sharedkv_adapter
from sharedkv.batching import plan_batch
from sharedkv.geometry import Geometry
from sharedkv.host_memory import ORDERS
from sharedkv.layouts import MLA_FP8, layout
from sharedkv_adapter.session import ReferenceSession
from sharedkv_conformance import contract
from tests.data_plane.small_batches import random_rows

PAGE_SIZE = 4
LAYERS, DRAFT_LAYERS = 2, 1
LAYER_RANGE = range(LAYERS + DRAFT_LAYERS)
LATE = ("late_writes", "late_backups", "late_loads", "late_copies")


class Conversation:
    """One session, asked as an engine asks: allocate, admit, write layer by layer, insert."""

    def __init__(self, *, order: str = ORDERS[0], host_pages: int = 4, is_late: bool = True) -> None:
        self.geometry = Geometry(cp_size=2, page_size=PAGE_SIZE, pages=8)
        self.layout = layout(MLA_FP8)
        pool = contract.PoolConfig(layout=MLA_FP8, layers=LAYERS, draft_layers=DRAFT_LAYERS)
        config = contract.OpenConfig(
            cp_size=2,
            page_size=PAGE_SIZE,
            pages=self.geometry.pages,
            pool=pool,
            host_pages=host_pages,
            host=contract.HostConfig(layout=order),
        )
        self.session: ReferenceSession = sharedkv_adapter.cpu().open(config)
        for fault in LATE if is_late else ():
            self.session.probe.inject(fault)

    def forward(self, request: str, num_tokens: int, seed: int, *, told: Sequence[int] = LAYER_RANGE) -> list[int]:
        """Run a forward of new tokens with a reservation, telling of some layers; return the pages."""
        batch = [contract.ExtendRequest(request=request, prefix_tokens=0, extend_tokens=num_tokens)]
        given = self.session.allocation.extend(batch)
        self.session.host_tier.admit(
            [contract.BackupRequest(request=request, extend_tokens=num_tokens, pages=given.pages)]
        )
        counts = plan_batch(self.geometry, batch).valid_rows.tolist()
        for layer in LAYER_RANGE:
            self.session.direct_write.write(layer, batch, given.locations, num_tokens, self.rows(counts, layer, seed))
            if layer in told:
                self.session.copies.layer_end(layer)
        return list(given.pages)

    def rows(self, counts: Sequence[int], layer: int, seed: int) -> list[contract.RankRows]:
        """Return what each rank computes for a layer: rows of a seed."""
        generator = torch.Generator().manual_seed(100 * seed + layer)
        return [
            contract.RankRows(
                domain="valid",
                rows=count,
                buffers=tuple(
                    contract.BufferRows(
                        buffer=buffer.name, data=random_rows(buffer, count, generator).numpy().tobytes()
                    )
                    for buffer in self.layout.buffers
                ),
            )
            for count in counts
        ]

    def read(self, pages: Sequence[int]) -> list[bytes]:
        """Return the rows of pages in every buffer of every layer."""
        locations = [page * PAGE_SIZE + offset for page in pages for offset in range(PAGE_SIZE)]
        return [
            self.session.direct_write.read(layer, buffer.name, locations)
            for layer in LAYER_RANGE
            for buffer in self.layout.buffers
        ]


def tokens(seed: int, count: int) -> list[int]:
    return [100 * seed + at for at in range(count)]


def quiet(num_tokens: int, seed: int) -> list[bytes]:
    """What a session in which nothing is late reads of the same forward."""
    plain = Conversation(is_late=False)
    return plain.read(plain.forward("quiet", num_tokens, seed))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("told", [(), (0,), (2, 0), (0, 1, 2)])
def test_a_prefix_that_was_evicted_comes_back_as_it_was_computed(order: str, told: tuple[int, ...]) -> None:
    talk = Conversation(order=order)
    tier = talk.session.host_tier
    tier.insert("a", tokens(1, 16), talk.forward("a", 16, 1, told=told))
    tier.poll()
    tier.evict([4, 4])
    tier.insert("b", tokens(2, 16), talk.forward("b", 16, 2, told=told))
    tier.poll()
    tier.evict([4, 4])
    loaded = tier.load_back(tokens(1, 16))

    assert talk.read(loaded.pages) == quiet(16, 1)


def test_host_pages_that_a_request_gave_back_hold_what_the_next_one_computed() -> None:
    talk = Conversation(host_pages=2)
    tier = talk.session.host_tier
    pages = talk.forward("a", 16, 1)
    tier.cancel("a")
    talk.session.allocation.release(pages)
    tier.insert("b", tokens(2, 16), talk.forward("b", 16, 2, told=()))
    tier.poll()
    tier.evict([4, 4])
    loaded = tier.load_back(tokens(2, 16))

    assert talk.read(loaded.pages) == quiet(16, 2)


def test_after_a_reset_with_copies_in_flight_everything_is_free_and_right() -> None:
    talk = Conversation(host_pages=4)
    tier = talk.session.host_tier
    tier.insert("a", tokens(1, 16), talk.forward("a", 16, 1, told=(1,)))
    tier.poll()
    tier.evict([2, 2])
    talk.session.probe.hold()
    tier.load_back(tokens(1, 16))
    talk.session.allocation.release(talk.forward("b", 8, 2))
    tier.reset()
    lanes, host = talk.session.allocation.lanes(), tier.statistics()

    assert (talk.session.probe.copies(), talk.session.probe.tree()) == ((), ())
    assert (lanes.free, host.free) == (lanes.capacity, host.capacity)
    assert talk.read(talk.forward("c", 16, 3)) == quiet(16, 3)

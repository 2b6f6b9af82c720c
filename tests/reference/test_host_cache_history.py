"""A long history near full: after every call, every page is somewhere, once, and every law of the cache holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from sharedkv.allocation import FreeRoom
from sharedkv.copy_ledger import CopyKind, LocalAgreement
from sharedkv.tier_values import CachePolicy, WritePolicy
from sharedkv.tree_node import HostPage, Node
from tests.reference.cache_histories import NUM_LANES, CacheHistory, LateEngine, cache_of

RANKS = range(NUM_LANES)
ROOM = FreeRoom(target=1, min_chunk=2)
RARE = (
    "backups",
    "duplicates",
    "host pages gave way",
    "loads",
    "published",
    "reserved",
    "save",
    "several nodes of a copy",
    "short",
    "waited",
)


def by_lane(lanes: Iterable[int]) -> tuple[int, ...]:
    counts = Counter(lanes)
    return tuple(counts[lane] for lane in RANKS)


class Ledger:
    """Where every page is, seen from outside: that of copies in flight has to stay where it was."""

    def __init__(self, history: CacheHistory) -> None:
        self.history = history
        self.cache = history.cache
        self.used: dict[int, tuple[list[int], list[HostPage]]] = {}

    def require_conserved(self) -> None:
        """Demand that the free pages, those of the tree and those of the caller make up every lane of both tiers."""
        cache, nodes = self.cache, self.cache.tree.nodes.values()
        device = [page for node in nodes for page in node.pages] + self.history.callers_pages()
        host = [page for node in nodes for page in node.host] + cache.reserved_pages()
        host += self.history.callers_host_pages()

        assert sorted(device) == sorted(page for lane in cache.allocator.pages().in_use for page in lane)
        assert cache.allocator.lanes().in_use == by_lane(cache.tree.lane(page) for page in device)
        assert len(set(host)) == len(host)
        assert [sorted({*self.free_host(lane), *numbers}) for lane, numbers in enumerate(by_number(host))] == [
            [*range(cache.pool.lane_pages)] for _ in RANKS
        ]
        assert len(host) + sum(cache.pool.statistics().free) == len(RANKS) * cache.pool.lane_pages
        assert cache.invariants() == []

    def free_host(self, lane: int) -> list[int]:
        size = self.cache.tree.geometry.page_size
        return [slot // size for slot in self.cache.pool.free_slots(lane)[::size].tolist()]

    def require_in_place(self) -> None:
        """Demand that no page that a copy in flight reads or writes is another's, or free."""
        in_flight = {copy.copy: copy for copy in self.cache.ledger.in_flight()}
        self.used = {number: pages for number, pages in self.used.items() if number in in_flight}
        for number, copy in in_flight.items():
            reads_device = copy.kind is not CopyKind.SAVE
            now = pages_of(copy.owners) if reads_device else ([], pages_of(copy.owners)[1])

            assert self.used.setdefault(number, now) == now


def by_number(host: Sequence[HostPage]) -> list[list[int]]:
    return [[page.page for page in host if page.lane == lane] for lane in RANKS]


def pages_of(nodes: Sequence[Node]) -> tuple[list[int], list[HostPage]]:
    return sorted(page for node in nodes for page in node.pages), sorted(page for node in nodes for page in node.host)


@pytest.mark.parametrize(
    ("write", "operations"),
    [
        (WritePolicy.WRITE_THROUGH, 10_000),
        (WritePolicy.WRITE_THROUGH_SELECTIVE, 3_000),
        (WritePolicy.WRITE_BACK, 3_000),
    ],
)
def test_ten_thousand_operations_near_full_keep_every_law(write: WritePolicy, operations: int) -> None:
    policy = CachePolicy(write=write, free_room=ROOM, host_free_room=ROOM, load_back_most=20)
    engine = LateEngine(1, RANKS)
    history = CacheHistory(cache_of(engine, LocalAgreement(), RANKS, policy), 20261130, engine.late)
    ledger = Ledger(history)
    for _ in range(operations):
        history.step()
        ledger.require_conserved()
        ledger.require_in_place()

    assert min((history.seen[what], what) for what in RARE) > (operations // 1000, "")

"""The churn of host pages does the same work on every pool, and pools of slots are what they are said to be."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.host_churn import FREE_SHARE, Churn, HostPages, num_runs
from benchmarks.host_pool import FreeRuns, OneLane
from benchmarks.slot_pools import PAGE_SIZE, PageRing, SlotQueue, SlotScan, pages_of, slots_of

NUM_PAGES = 3_000

POOLS: dict[str, Callable[[], HostPages]] = {
    "reference": lambda: OneLane(NUM_PAGES),
    "selection": lambda: FreeRuns(NUM_PAGES),
    "ring": lambda: PageRing(NUM_PAGES),
    "queue": lambda: SlotQueue(np.arange(NUM_PAGES)),
    "scan": lambda: SlotScan(np.arange(NUM_PAGES)),
}


def churned(name: str, rounds: int = 50) -> Churn:
    churn = Churn(POOLS[name](), NUM_PAGES)
    churn.fill()
    for _ in range(rounds):
        churn.round()
    return churn


@pytest.mark.parametrize("name", POOLS)
def test_every_page_is_free_or_in_one_node(name: str) -> None:
    assert churned(name).is_whole()


@pytest.mark.parametrize("name", POOLS)
def test_pool_stays_near_full(name: str) -> None:
    assert NUM_PAGES * FREE_SHARE <= churned(name).num_free < NUM_PAGES * FREE_SHARE + 300


def test_every_pool_is_asked_for_the_same_and_holds_nodes_of_the_same_sizes() -> None:
    churns = [churned(name) for name in POOLS]

    assert len({tuple(churn.calls.sizes) for churn in churns}) == 1
    assert len({tuple(map(len, churn.nodes)) for churn in churns}) == 1


def test_selection_gives_what_the_pool_gives() -> None:
    pool, selection = churned("reference"), churned("selection")

    assert [*map(list, pool.nodes)] == [*map(list, selection.nodes)]
    assert pool.pool.free_pages().tolist() == selection.pool.free_pages().tolist()


def test_queue_gives_what_the_ring_gives() -> None:
    ring, queue = churned("ring"), churned("queue")

    assert [node.tolist() for node in map(np.asarray, ring.nodes)] == [
        node.tolist() for node in map(np.asarray, queue.nodes)
    ]
    assert ring.pool.free_pages().tolist() == queue.pool.free_pages().tolist()


def test_burn_in_is_not_timed() -> None:
    churn = Churn(POOLS["reference"](), NUM_PAGES)
    churn.burn_in(1.0)

    assert (churn.calls.sizes, churn.calls.allocate_ns, churn.calls.release_ns) == ([], [], [])
    assert len(churn.nodes) > 0


def test_lost_page_is_noticed() -> None:
    churn = churned("reference")
    churn.nodes.pop()

    assert not churn.is_whole()


def test_page_of_two_nodes_is_noticed() -> None:
    churn = churned("reference")
    churn.nodes.append(churn.nodes[0])

    assert not churn.is_whole()


def test_scan_takes_the_first_run_that_is_long_enough() -> None:
    pool = SlotScan(np.array([7, 0, 3, 4, 6, 8]))

    assert pool.pages_of(pool.allocate(3)).tolist() == [6, 7, 8]
    assert pool.pages_of(pool.allocate(2)).tolist() == [3, 4]


def test_scan_takes_the_front_where_no_run_is_long_enough() -> None:
    pool = SlotScan(np.array([7, 0, 3, 4]))

    assert pool.pages_of(pool.allocate(3)).tolist() == [0, 3, 4]


def test_pages_and_slots_stand_for_one_another() -> None:
    pages = np.array([5, 2, 3])

    assert pages_of(slots_of(pages)).tolist() == [5, 2, 3]
    assert len(slots_of(pages)) == 3 * PAGE_SIZE


@pytest.mark.parametrize(("pages", "runs"), [(range(4, 9), 1), ((4, 5, 7), 2), ((5, 4), 2), (np.array([1, 2]), 1)])
def test_runs_are_counted_in_the_order_of_the_pages(pages: Sequence[int] | NDArray[np.int64], runs: int) -> None:
    assert num_runs(pages) == runs

"""The pool of host pages against sets of pages, through long churn near full."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.errors import CapacityWaitError, Refusal, RefusedError
from sharedkv.host_pool import HostPool, HostStatistics, runs_of

PAGE_SIZE = 4


def pool_of(*, lanes: int = 2, lane_pages: int = 8) -> HostPool:
    return HostPool(lanes=lanes, lane_pages=lane_pages, page_size=PAGE_SIZE)


def with_holes(*allocated: int, lane_pages: int = 10) -> HostPool:
    """Return a pool of one lane of which these pages are allocated."""
    pool = pool_of(lanes=1, lane_pages=lane_pages)
    pool.allocate([lane_pages])
    pool.release(0, [page for page in range(lane_pages) if page not in allocated])
    return pool


def slots_of(pages: Sequence[int]) -> list[int]:
    return [page * PAGE_SIZE + offset for page in sorted(pages) for offset in range(PAGE_SIZE)]


def refusal_of(pool: HostPool, lane: int, pages: Sequence[int]) -> Refusal:
    with pytest.raises(RefusedError) as caught:
        pool.release(lane, pages)
    return caught.value.reason


def fewest_runs(free: set[int], count: int) -> int:
    lengths = sorted((len(run) for run in runs_of(sorted(free))), reverse=True)
    taken = 0
    while count > 0:
        count -= lengths[taken]
        taken += 1
    return taken


class NearFullChurn:
    """Nodes come to three lanes and leave them; what each lane should have free is kept in sets."""

    LANES, LANE_PAGES, KEEP_FREE = 3, 40, 6

    def __init__(self) -> None:
        self.rng = np.random.default_rng(20261129)
        self.pool = pool_of(lanes=self.LANES, lane_pages=self.LANE_PAGES)
        self.free = [set(range(self.LANE_PAGES)) for _ in range(self.LANES)]
        self.nodes: list[tuple[Sequence[int], ...]] = []
        self.seen = Counter[str]()

    def counts(self) -> tuple[int, ...]:
        return tuple(map(len, self.free))

    def step(self) -> None:
        """Let a node come while there is room for it; let one leave where it has to wait, and while room is short."""
        wanted = self.rng.integers(0, 7, self.LANES).tolist()
        if sum(self.counts()) <= self.KEEP_FREE:
            self.seen["near full"] += 1
            self.leave()
        elif all(need <= have for need, have in zip(wanted, self.counts(), strict=True)):
            self.come(wanted)
        else:
            self.wait(wanted)
            self.leave()

    def come(self, wanted: list[int]) -> None:
        given_pages = self.pool.allocate(wanted)

        assert list(map(len, given_pages)) == wanted
        for free, pages in zip(self.free, given_pages, strict=True):
            assert len(free.intersection(pages)) == len(pages)
            assert len(runs_of(pages)) == fewest_runs(free, len(pages))
            self.seen["scattered"] += len(runs_of(pages)) > 1
            free.difference_update(pages)
        self.nodes.append(given_pages)

    def wait(self, wanted: list[int]) -> None:
        with pytest.raises(CapacityWaitError) as caught:
            self.pool.allocate(wanted)
        self.seen["waited"] += 1

        assert (caught.value.required, caught.value.available) == (tuple(wanted), self.counts())

    def leave(self) -> None:
        """Release a node, its pages in any order, and then again."""
        node = self.nodes.pop(int(self.rng.integers(len(self.nodes))))
        for lane, pages in enumerate(node):
            shuffled = self.rng.permutation(pages).tolist() if pages else []
            self.pool.release(lane, shuffled)
            self.free[lane].update(pages)
            if pages:
                assert refusal_of(self.pool, lane, shuffled) is Refusal.PAGE_NOT_ALLOCATED


def test_ten_thousand_operations_near_full_keep_every_law() -> None:
    churn = NearFullChurn()
    for operation in range(10_000):
        churn.step()
        lane = operation % churn.LANES

        assert churn.pool.statistics() == HostStatistics(capacity=(40, 40, 40), free=churn.counts())
        assert churn.pool.free_slots(lane).tolist() == slots_of(list(churn.free[lane]))
        assert churn.pool.invariants() == []

    assert min(churn.seen[what] for what in ("near full", "waited", "scattered")) > 300


def test_pages_count_from_zero_in_each_lane() -> None:
    assert [list(pages) for pages in pool_of().allocate([8, 3])] == [[*range(8)], [0, 1, 2]]


def test_run_is_taken_where_one_is_long_enough() -> None:
    assert [*with_holes(0, 2, 5).allocate([4])[0]] == [6, 7, 8, 9]


def test_longest_runs_go_first_where_none_is_long_enough() -> None:
    assert with_holes(0, 2, 5).allocate([6])[0] == (3, 4, 6, 7, 8, 9)


def test_short_lane_leaves_the_others_as_they_were() -> None:
    pool = pool_of()
    pool.allocate([0, 6])
    with pytest.raises(CapacityWaitError) as caught:
        pool.allocate([8, 3])

    assert (caught.value.required, caught.value.available, caught.value.deficit) == ((8, 3), (8, 2), (0, 1))
    assert pool.statistics().free == (8, 2)
    assert pool.invariants() == []


@pytest.mark.parametrize("counts", [[], [1], [1, 1, 0], [1, -1], [-1, 9]])
def test_what_is_not_one_count_a_lane_is_refused(counts: list[int]) -> None:
    pool = pool_of()
    with pytest.raises(RefusedError) as caught:
        pool.allocate(counts)

    assert caught.value.reason is Refusal.HOST_COUNTS_INVALID
    assert pool.statistics().free == (8, 8)


@pytest.mark.parametrize("lane", [-1, 2])
def test_lane_that_is_not_there_is_refused(lane: int) -> None:
    pool = pool_of()
    pool.allocate([8, 8])
    with pytest.raises(RefusedError) as caught:
        pool.free_slots(lane)

    assert caught.value.reason is Refusal.LANE_UNKNOWN
    assert refusal_of(pool, lane, [0]) is Refusal.LANE_UNKNOWN


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ([0, 1, 8], Refusal.PAGE_OUTSIDE_POOL),
        ([0, -1], Refusal.PAGE_OUTSIDE_POOL),
        ([0, 7], Refusal.PAGE_NOT_ALLOCATED),
        ([0, 1, 2, 0], Refusal.PAGE_NAMED_TWICE),
        ([2, 3, 1, 2], Refusal.PAGE_NAMED_TWICE),
        ([3, 3], Refusal.PAGE_NAMED_TWICE),
    ],
)
def test_misnamed_pages_are_refused_and_change_nothing(pages: list[int], reason: Refusal) -> None:
    pool = pool_of()
    pool.allocate([5, 0])

    assert refusal_of(pool, 0, pages) is reason
    assert pool.statistics().free == (3, 8)
    assert pool.invariants() == []


def test_slots_that_were_shown_stay_as_they_were() -> None:
    pool = pool_of(lanes=1, lane_pages=3)
    shown = pool.free_slots(0)
    pool.allocate([2])

    assert shown.tolist() == slots_of([0, 1, 2])
    assert pool.free_slots(0).tolist() == slots_of([2])


def test_shown_slots_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        pool_of().free_slots(0)[0] = 7


def test_slots_are_made_once_while_nothing_moves() -> None:
    pool = pool_of()
    shown = pool.free_slots(0)
    pool.allocate([0, 2])

    assert pool.free_slots(0) is shown


def test_slots_are_int64() -> None:
    assert pool_of().free_slots(0).dtype == np.int64


def test_cost_does_not_grow_with_the_pool() -> None:
    touched = []
    for lane_pages in (1_000, 1_000_000):
        pool = pool_of(lanes=1, lane_pages=lane_pages)
        pool.allocate([36])
        touched.append(pool.touched)
        pool.release(0, range(36))
        touched.append(pool.touched)

    assert touched[:2] == touched[2:]


def test_pool_without_pages_serves_nothing_and_shows_nothing() -> None:
    pool = pool_of(lane_pages=0)

    assert pool.allocate([0, 0]) == ((), ())
    assert pool.free_slots(1).tolist() == []
    assert pool.statistics() == HostStatistics(capacity=(0, 0), free=(0, 0))


def test_broken_state_is_named() -> None:
    pool = pool_of(lanes=1)
    pool._states[0][3] = 1

    assert pool.invariants() == ["lane 0: the free runs differ from the states"]


@given(pages=st.lists(st.integers(-3, 12)))
def test_runs_hold_the_pages_in_their_order(pages: list[int]) -> None:
    runs = runs_of(pages)

    assert [page for run in runs for page in run] == pages
    assert all(runs)
    assert all(before.stop != after.start for before, after in pairwise(runs))

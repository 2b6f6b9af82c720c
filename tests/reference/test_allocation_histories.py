"""The allocator against a naive pool of sets, over histories."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import hypothesis.strategies as st
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sharedkv.allocation import ExtendAllocation, ExtendRequest, FreeRoom, OwnerLaneAllocator
from sharedkv.errors import CapacityWaitError
from sharedkv.geometry import Geometry, PageId
from sharedkv.planning import split_request

GEOMETRY = Geometry(cp_size=3, page_size=4, pages=20)
ROOM = FreeRoom(target=2, min_chunk=2)
ALL_PAGES = frozenset(range(1, 19))

requests = st.builds(
    ExtendRequest,
    request=st.just("r"),
    prefix_tokens=st.integers(0, 3).map(lambda pages: pages * GEOMETRY.page_size),
    extend_tokens=st.integers(1, 28),
)
batches = st.lists(requests, min_size=1, max_size=3)


def lane(page: int) -> int:
    return (page - 1) % GEOMETRY.cp_size


@dataclass
class NaivePool:
    """Sets, lists and full scans."""

    in_use: list[int] = field(default_factory=list)
    retained: list[int] = field(default_factory=list)

    def copy(self) -> "NaivePool":
        return NaivePool(in_use=list(self.in_use), retained=list(self.retained))

    def free(self) -> set[int]:
        return set(ALL_PAGES) - set(self.in_use) - set(self.retained)

    def kept(self, on_lane: int) -> list[int]:
        return [page for page in self.retained if lane(page) == on_lane]

    def count_free(self, on_lane: int) -> int:
        return sum(lane(page) == on_lane for page in self.free())

    def required(self, batch: list[ExtendRequest]) -> list[int]:
        owners = self.owners(batch)
        return [owners.count(on_lane) for on_lane in range(GEOMETRY.cp_size)]

    @staticmethod
    def owners(batch: list[ExtendRequest]) -> list[int]:
        return [
            owner
            for request in batch
            for owner in split_request(GEOMETRY, request.prefix_tokens, request.extend_tokens).owners
        ]

    def oldest(self, counts: list[int]) -> list[int]:
        return [page for on_lane, count in enumerate(counts) for page in self.kept(on_lane)[: max(0, count)]]

    def lacking(self, batch: list[ExtendRequest]) -> list[int]:
        return [need - self.count_free(on_lane) for on_lane, need in enumerate(self.required(batch))]

    def fits(self, batch: list[ExtendRequest]) -> bool:
        return all(lack <= len(self.kept(on_lane)) for on_lane, lack in enumerate(self.lacking(batch)))

    def room(self, batch: list[ExtendRequest]) -> list[int]:
        """Say how many pages each lane gives way ahead of a batch."""
        return [max(ROOM.min_chunk, lack) if -lack < ROOM.target else 0 for lack in self.lacking(batch)]

    def discard(self, pages: list[int]) -> None:
        self.in_use = [page for page in self.in_use if page not in pages]
        self.retained = [page for page in self.retained if page not in pages]


def token_locations(batch: list[ExtendRequest], pages: Sequence[int]) -> list[int]:
    locations = []
    first_page = 0
    for request in batch:
        for token in range(request.extend_tokens):
            page_index, offset = divmod(token, GEOMETRY.page_size)
            locations.append(pages[first_page + page_index] * GEOMETRY.page_size + offset)
        first_page += -(-request.extend_tokens // GEOMETRY.page_size)
    return locations


class AllocatorHistories(RuleBasedStateMachine):
    """Every answer and every state is what the naive pool says; a twin hears the same calls."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = OwnerLaneAllocator(GEOMETRY, ROOM)
        self.twin = OwnerLaneAllocator(GEOMETRY, ROOM)
        self.naive = NaivePool()
        self.snapshots: dict[int, NaivePool] = {}

    @initialize(batch=batches, keep=st.booleans())
    def begin_with_pages_in_use_or_kept(self, batch: list[ExtendRequest], keep: bool) -> None:  # noqa: FBT001
        self.extend(batch)
        if keep:
            for pool in (self.pool, self.twin):
                pool.retain([PageId(page) for page in self.naive.in_use])
            self.naive = NaivePool(retained=self.naive.in_use)

    @rule(batch=batches)
    def extend(self, batch: list[ExtendRequest]) -> None:
        if not self.naive.fits(batch):
            self.extend_waits(batch)
            return
        evicted = self.naive.oldest(self.naive.lacking(batch))
        given = self.pool.extend(batch)
        again = self.twin.extend(batch)

        assert list(given.pages) == list(again.pages)
        assert list(given.evicted) == evicted
        self.naive.discard(evicted)
        self.check_given(batch, given)
        self.naive.in_use += given.pages

    def extend_waits(self, batch: list[ExtendRequest]) -> None:
        for pool in (self.pool, self.twin):
            with pytest.raises(CapacityWaitError) as caught:
                pool.extend(batch)

            assert list(caught.value.required) == self.naive.required(batch)
            assert list(caught.value.available) == [
                self.naive.count_free(on_lane) + len(self.naive.kept(on_lane)) for on_lane in range(GEOMETRY.cp_size)
            ]

    def check_given(self, batch: list[ExtendRequest], given: ExtendAllocation) -> None:
        assert list(given.owners) == self.naive.owners(batch)
        assert [lane(page) for page in given.pages] == list(given.owners)
        assert len(set(given.pages)) == len(given.pages)
        assert set(given.pages) <= self.naive.free()
        assert given.locations.tolist() == token_locations(batch, given.pages)

    @rule(batch=batches)
    def admit(self, batch: list[ExtendRequest]) -> None:
        assert self.pool.admit(batch).fits == self.naive.fits(batch)

    @rule(batch=batches)
    def make_room(self, batch: list[ExtendRequest]) -> None:
        expected = self.naive.oldest(self.naive.room(batch))

        assert self.pool.make_room(batch) == self.twin.make_room(batch) == expected
        self.naive.discard(expected)

    @precondition(lambda self: self.naive.in_use)
    @rule(data=st.data())
    def retain(self, data: st.DataObject) -> None:
        pages = data.draw(st.lists(st.sampled_from(self.naive.in_use), unique=True))
        for pool in (self.pool, self.twin):
            pool.retain([PageId(page) for page in pages])
        self.naive.discard(pages)
        self.naive.retained += pages

    @precondition(lambda self: self.naive.in_use or self.naive.retained)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        pages = data.draw(st.lists(st.sampled_from(self.naive.in_use + self.naive.retained), unique=True))
        for pool in (self.pool, self.twin):
            pool.release([PageId(page) for page in pages])
        self.naive.discard(pages)

    @rule()
    def snapshot(self) -> None:
        name = self.pool.snapshot()

        assert name == self.twin.snapshot()
        self.snapshots[name] = self.naive.copy()

    @precondition(lambda self: self.snapshots)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.snapshots)))
        for pool in (self.pool, self.twin):
            pool.restore(name)
        self.naive = self.snapshots[name].copy()
        self.snapshots = {kept: state for kept, state in self.snapshots.items() if kept <= name}

    @precondition(lambda self: self.snapshots)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.snapshots)))
        for pool in (self.pool, self.twin):
            pool.forget(name)
        del self.snapshots[name]

    @invariant()
    def every_page_has_the_naive_state(self) -> None:
        pages = self.pool.pages()

        assert sorted(page for lane_pages in pages.free for page in lane_pages) == sorted(self.naive.free())
        assert sorted(page for lane_pages in pages.in_use for page in lane_pages) == sorted(self.naive.in_use)
        assert [order.pages() for order in self.pool._pool._retained] == [
            self.naive.kept(on_lane) for on_lane in range(GEOMETRY.cp_size)
        ]

    @invariant()
    def counters_are_the_states_counted(self) -> None:
        counts, pages = self.pool.lanes(), self.pool.pages()

        assert counts.free == tuple(map(len, pages.free))
        assert counts.evictable == tuple(map(len, pages.evictable))
        assert counts.in_use == tuple(map(len, pages.in_use))

    @invariant()
    def no_inner_law_is_broken(self) -> None:
        assert self.pool.invariants() == []


TestAllocatorHistories = AllocatorHistories.TestCase
TestAllocatorHistories.settings = settings(
    max_examples=120,
    stateful_step_count=40,
    report_multiple_bugs=False,
    phases=(Phase.generate, Phase.shrink),  # explaining a failure takes minutes and says little here
)

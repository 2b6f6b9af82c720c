"""The executable specification of owner-lane allocation.

`AllocationState` is what may be known from answers alone; the laws read it. `AllocationModel` is one right answer to
each call; mutants override one of its small decisions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from sharedkv_conformance.contract.allocation import (
    Admission,
    ExtendAllocation,
    ExtendRequest,
    LaneStatistics,
    RoomMade,
)
from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Event, PageSets
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE, IN_USE, LanePages
from sharedkv_conformance.model.planning_split import page_owners, unsplittable

Lanes = tuple[int, ...]


def refusals(geometry: Geometry, batch: Sequence[ExtendRequest]) -> frozenset[Reason]:
    """Return every reason why a batch has no owners."""
    return frozenset().union(*(unsplittable(geometry, r.prefix_tokens, r.extend_tokens) for r in batch))


def by_lane(geometry: Geometry, lanes: Iterable[int]) -> Lanes:
    """Count how often each lane occurs."""
    counts = Counter(lanes)
    return tuple(counts[lane] for lane in range(geometry.cp_size))


def room_to_make(config: OpenConfig, required: int, free: int) -> int:
    """Return how many pages a free-room step evicts on one lane, as far as there are evictable ones."""
    if free - required >= config.free_room.target:
        return 0
    return max(config.free_room.min_chunk, required - free)


class AllocationModel:
    """Owner-lane allocation as an implementation, one small decision a method."""

    feature = "allocation"

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.geometry = Geometry.of(config)
        self.pages = LanePages(self.geometry)
        self.events: list[Event] = []
        self._snapshots: list[tuple[LanePages, frozenset[int]]] = []
        self.in_tree: Callable[[], AbstractSet[int]] = frozenset
        self.is_pinned: Callable[[int], bool] = lambda page: False  # noqa: ARG005 - nobody reads pages
        self.deferred: dict[int, str] = {}
        self.asked: set[int] = set()

    # -- the calls of the contract ---------------------------------------------------------------------------------

    def extend(self, batch: Sequence[ExtendRequest]) -> ExtendAllocation:
        """Check, then take every page of the batch."""
        self.begin()
        owners = self.checked_owners(batch)
        evicted = self.evict_deficit(self.need(owners))
        self.pages.move(evicted, FREE)
        owners = self.deal(batch, owners)
        taken = self.take(batch, owners)
        return ExtendAllocation(
            owners=tuple(lane for request in owners for lane in request),
            pages=taken,
            locations=self.locations(batch, taken),
            evicted=evicted,
        )

    def admit(self, batch: Sequence[ExtendRequest]) -> Admission:
        """Compare need and room lane by lane."""
        self.begin()
        required = self.need(self.checked_owners(batch))
        available = self.room()
        deficit = tuple(max(0, need - have) for need, have in zip(required, available, strict=True))
        return Admission(fits=self.fits(required, available), required=required, available=available, deficit=deficit)

    def make_room(self, batch: Sequence[ExtendRequest]) -> RoomMade:
        """Evict by the free-room policy, as far as there are evictable pages."""
        self.begin()
        required = self.need(self.checked_owners(batch))
        evicted = tuple(
            page
            for lane in range(self.geometry.cp_size)
            for page in self.pages.oldest(lane, self.room_to_make(required, lane))
        )
        self.pages.move(evicted, FREE)
        return RoomMade(evicted=evicted)

    def retain(self, pages: Sequence[int]) -> None:
        """Turn pages in use into evictable ones."""
        self.begin()
        self.check_named(pages, allowed=(IN_USE,))
        self.check_not_in_tree(pages)
        self.give(pages, EVICTABLE)

    def release(self, pages: Sequence[int]) -> None:
        """Turn allocated pages into free ones."""
        self.begin()
        self.check_named(pages, allowed=(IN_USE, EVICTABLE))
        self.check_not_in_tree(pages)
        self.give(pages, FREE)

    def release_locations(self, locations: Sequence[int]) -> None:
        """Release each page that the locations name, once."""
        self.release(self.pages_of(locations))

    def allocate_flat(self, num_pages: int) -> tuple[int, ...]:
        """Refuse: a page without an owner has no lane that it should lie on."""
        self.begin()
        raise Rejected(Reason.ALLOCATION_WITHOUT_OWNERS, f"{num_pages} pages without owners")

    def give(self, pages: Sequence[int], state: str) -> None:
        """Put pages into a state; those that are pinned when they are not any more, and until then they are in use."""
        pinned = [page for page in pages if self.is_pinned(page)]
        self.deferred |= dict.fromkeys(pinned, state)
        self.asked.update(pinned)
        self.pages.move([page for page in pages if page not in pinned], state)

    def pin(self, pages: Sequence[int]) -> None:
        """Take note of pages that somebody reads from now on: nobody is given them, and none is evicted."""
        cached = [page for page in pages if self.pages.state(page) == EVICTABLE]
        self.deferred |= dict.fromkeys(cached, EVICTABLE)
        self.pages.move(cached, IN_USE)

    def unpin(self, pages: Sequence[int]) -> None:
        """Do with pages that nobody reads any more what was asked for meanwhile."""
        for page in pages:
            if page in self.deferred:
                self.asked.discard(page)
                self.pages.move([page], self.deferred.pop(page))

    def owners(self, request: str, pages: Sequence[int]) -> Lanes:  # noqa: ARG002 - the request changes nothing
        """Read the lane of each page from its id."""
        self.begin()
        if foreign := [page for page in pages if not self.geometry.holds(page)]:
            raise Rejected(Reason.PAGE_OUTSIDE_POOL, f"page {foreign[0]}")
        return tuple(self.geometry.lane(page) for page in pages)

    def lanes(self) -> LaneStatistics:
        """Count the pages of each lane by state."""
        self.pages.touched = self.geometry.cp_size
        return LaneStatistics(
            capacity=(self.geometry.lane_pages,) * self.geometry.cp_size,
            free=self.pages.counts(FREE),
            evictable=self.pages.counts(EVICTABLE),
            in_use=self.pages.counts(IN_USE),
        )

    def snapshot(self) -> int:
        """Keep a copy of every page's state."""
        self.begin()
        self._snapshots.append((self.pages.copy(), frozenset(self.in_tree())))
        return len(self._snapshots) - 1

    def restore(self, snapshot: int) -> None:
        """Go back to a copy and forget those made after it."""
        self.begin()
        if not 0 <= snapshot < len(self._snapshots):
            raise Rejected(Reason.SNAPSHOT_UNKNOWN, f"snapshot {snapshot}")
        saved, in_tree = self._snapshots[snapshot]
        if moved := in_tree.symmetric_difference(self.in_tree()):
            raise Rejected(Reason.PAGE_IN_TREE, f"pages {sorted(moved)} were not at snapshot {snapshot} or are not now")
        del self._snapshots[snapshot + 1 :]
        self.pages = self.restored(saved)

    def begin(self) -> None:
        """Begin a call: its cost is counted from here. Looking (statistics, probes) begins nothing."""
        self.pages.touched = 0

    # -- the decisions ---------------------------------------------------------------------------------------------

    def checked_owners(self, batch: Sequence[ExtendRequest]) -> list[Lanes]:
        """Return the owners of each request, or refuse the batch and say so."""
        for reason in sorted(refusals(self.geometry, batch)):
            self.events.append(Event(kind="rejected", reason=reason))
            raise Rejected(reason)
        return self.plan(batch)

    def plan(self, batch: Sequence[ExtendRequest]) -> list[Lanes]:
        """Plan each request on its own, in request order."""
        return [page_owners(self.geometry, request.extend_tokens) for request in batch]

    def deal(self, batch: Sequence[ExtendRequest], owners: list[Lanes]) -> list[Lanes]:  # noqa: ARG002 - for mutants
        """Deal the pages of a batch to lanes as planned."""
        return owners

    def need(self, owners: Iterable[Lanes]) -> Lanes:
        """Count the pages that are needed of each lane."""
        return by_lane(self.geometry, (lane for request in owners for lane in request))

    def room(self) -> Lanes:
        """Count the pages of each lane that an extend may use: free and evictable ones."""
        return tuple(map(sum, zip(self.pages.counts(FREE), self.pages.counts(EVICTABLE), strict=True)))

    def fits(self, required: Lanes, available: Lanes) -> bool:
        """Decide lane by lane."""
        return all(need <= have for need, have in zip(required, available, strict=True))

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        """Choose the victims of lanes in deficit, or raise `CapacityWait`; nothing is evicted yet."""
        available = self.room()
        if not self.fits(required, available):
            raise self.capacity_wait(required, available)
        free = self.pages.counts(FREE)
        return tuple(
            page
            for lane in range(self.geometry.cp_size)
            for page in self.pages.oldest(lane, max(0, required[lane] - free[lane]))
        )

    def capacity_wait(self, required: Lanes, available: Lanes) -> Exception:
        """Say what is missing on which lane."""
        deficit = tuple(max(0, need - have) for need, have in zip(required, available, strict=True))
        return CapacityWait(required=required, available=available, deficit=deficit)

    def take(self, batch: Sequence[ExtendRequest], owners: Sequence[Lanes]) -> tuple[int, ...]:  # noqa: ARG002 - for mutants
        """Take the pages of every request in turn, each on its owner's lane."""
        taken: list[int] = []
        for request in owners:
            runs = {
                lane: iter(self.choose(lane, count))
                for lane, count in enumerate(by_lane(self.geometry, request))
                if count
            }
            pages = [next(runs[lane]) for lane in request]
            self.pages.move(pages, IN_USE)
            taken += pages
        return tuple(taken)

    def choose(self, lane: int, count: int) -> Sequence[int]:
        """Choose pages of a lane for one request: one run of physical pages where one is long enough."""
        return self.pages.choose(lane, count)

    def locations(self, batch: Sequence[ExtendRequest], pages: Sequence[int]) -> tuple[int, ...]:
        """Return the location of each new token in flattened request-token order."""
        result: list[int] = []
        first = 0
        for request in batch:
            last = first + self.geometry.pages_for(request.extend_tokens)
            result += self.geometry.locations(pages[first:last], request.extend_tokens)
            first = last
        return tuple(result)

    def room_to_make(self, required: Lanes, lane: int) -> int:
        """Return how many pages a free-room step evicts on one lane."""
        return room_to_make(self.config, required[lane], self.pages.counts(FREE)[lane])

    def check_named(self, pages: Sequence[int], allowed: Sequence[str]) -> None:
        """Refuse pages that are foreign, named twice or not allocated, before anything moves."""
        for reason in sorted(misnamed(self.geometry, pages, self.state_of, allowed)):
            raise Rejected(reason, f"pages {list(pages)}")

    def state_of(self, page: int) -> str:
        """Return what a page is to its caller; one that was given back is not allocated, whoever reads it."""
        return FREE if page in self.asked else self.pages.state(page)

    def check_not_in_tree(self, pages: Sequence[int]) -> None:
        """Refuse pages that the prefix tree of the session has, before anything moves."""
        if kept := set(pages).intersection(self.in_tree()):
            raise Rejected(Reason.PAGE_IN_TREE, f"pages {sorted(kept)}")

    def pages_of(self, locations: Sequence[int]) -> tuple[int, ...]:
        """Return the pages that hold the locations, each once."""
        return tuple(dict.fromkeys(location // self.geometry.page_size for location in locations))

    def restored(self, saved: LanePages) -> LanePages:
        """Return the state that a snapshot remembers."""
        return saved.copy()

    def cost(self) -> int:
        """Return the touched elements of the last call."""
        return self.pages.touched

    def page_sets(self) -> PageSets:
        """Return the state of every page."""
        return PageSets(
            free=self.pages.by_lane(FREE), evictable=self.pages.by_lane(EVICTABLE), in_use=self.pages.by_lane(IN_USE)
        )


def misnamed(geometry: Geometry, pages: Sequence[int], state: Any, allowed: Sequence[str]) -> frozenset[Reason]:
    """Return every reason why pages cannot be given back or retained; `state` says what a page is now."""
    inside = [page for page in pages if geometry.holds(page)]
    faults = {
        Reason.PAGE_OUTSIDE_POOL: len(inside) < len(pages),
        Reason.PAGE_NAMED_TWICE: len(set(pages)) < len(pages),
        Reason.PAGE_NOT_ALLOCATED: any(state(page) not in allowed for page in inside),
    }
    return frozenset(reason for reason, present in faults.items() if present)

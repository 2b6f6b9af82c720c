"""The executable specification of the pool of host pages.

`HostPoolModel` is one right answer to each call; mutants override one of its small decisions.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.host_tier import HostAllocation, HostStatistics
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.host_pages import HostLane

Lanes = tuple[int, ...]


def host_lanes(config: OpenConfig) -> list[HostLane]:
    """Return the lanes of a fresh pool."""
    return [HostLane(config.host_pages) for _ in range(config.cp_size)]


def fits(required: Sequence[int], free: Sequence[int]) -> bool:
    """Say whether every lane has as many free pages as are asked of it."""
    return all(need <= have for need, have in zip(required, free, strict=True))


def missing(required: Sequence[int], free: Sequence[int]) -> Lanes:
    """Return what each lane lacks."""
    return tuple(max(0, need - have) for need, have in zip(required, free, strict=True))


def are_counts(config: OpenConfig, pages: Sequence[int]) -> bool:
    """Say whether there is one count a lane, none below 0."""
    return len(pages) == config.cp_size and min(pages) >= 0


def misnamed(lane: HostLane, pages: Sequence[int]) -> frozenset[Reason]:
    """Return every reason why pages of a lane cannot be given back."""
    faults = {
        Reason.PAGE_OUTSIDE_POOL: not all(map(lane.holds, pages)),
        Reason.PAGE_NAMED_TWICE: len(set(pages)) < len(pages),
        Reason.PAGE_NOT_ALLOCATED: any(map(lane.is_free, pages)),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def slots(pages: Sequence[int], page_size: int) -> Lanes:
    """Return the token slots of pages, page after page."""
    return tuple(page * page_size + offset for page in pages for offset in range(page_size))


class HostPoolModel:
    """The host pool as an implementation, one small decision a method."""

    feature = "host_tier"

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.lanes = host_lanes(config)

    # -- the calls of the contract ---------------------------------------------------------------------------------

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        """Check, then take the pages of every lane."""
        self.begin()
        self.check_counts(pages)
        self.check_room(pages)
        return HostAllocation(pages=tuple(self.take(lane, count) for lane, count in enumerate(pages)))

    def release(self, lane: int, pages: Sequence[int]) -> None:
        """Check, then make allocated pages free."""
        self.begin()
        self.check_lane(lane)
        self.check_named(lane, pages)
        self.check_not_kept(lane, pages)
        self.lanes[lane].give(pages)

    def statistics(self) -> HostStatistics:
        """Count the pages of each lane."""
        self.reset_cost()
        self.lanes[0].touched = len(self.lanes)
        return HostStatistics(capacity=tuple(lane.capacity for lane in self.lanes), free=self.free())

    def free_slots(self, lane: int) -> Lanes:
        """List the slots of the free pages of a lane."""
        self.check_lane(lane)
        return slots(self.lanes[lane].free_pages(), self.config.page_size)

    def begin(self) -> None:
        """Begin a call that may change something; statistics, slots and probes only look."""
        self.reset_cost()

    def reset_cost(self) -> None:
        """Count the touched elements from here."""
        for lane in self.lanes:
            lane.touched = 0

    def cost(self) -> int:
        """Return the touched elements of the last call."""
        return sum(lane.touched for lane in self.lanes)

    # -- the decisions ---------------------------------------------------------------------------------------------

    def check_counts(self, pages: Sequence[int]) -> None:
        """Refuse what is not one count a lane."""
        if not are_counts(self.config, pages):
            raise Rejected(Reason.HOST_COUNTS_INVALID, f"{list(pages)} for {len(self.lanes)} lanes")

    def check_lane(self, lane: int) -> None:
        """Refuse a lane that is not there."""
        if not 0 <= lane < len(self.lanes):
            raise Rejected(Reason.LANE_UNKNOWN, f"lane {lane} of {len(self.lanes)}")

    def check_named(self, lane: int, pages: Sequence[int]) -> None:
        """Refuse pages that are outside the lane, named twice or not allocated, before anything moves."""
        for reason in sorted(misnamed(self.lanes[lane], pages)):
            raise Rejected(reason, f"pages {list(pages)} of lane {lane}")

    def check_not_kept(self, lane: int, pages: Sequence[int]) -> None:
        """Refuse pages that are not the caller's, before anything moves: a pool alone has none."""

    def free(self) -> Lanes:
        """Count the free pages of each lane."""
        return tuple(lane.num_free for lane in self.lanes)

    def fits(self, required: Sequence[int]) -> bool:
        """Decide lane by lane."""
        return fits(required, self.free())

    def check_room(self, required: Sequence[int]) -> None:
        """Wait for room on a lane that has too little; nothing is taken yet."""
        if not self.fits(required):
            raise self.capacity_wait(required, self.free())

    def capacity_wait(self, required: Sequence[int], free: Sequence[int]) -> Exception:
        """Say what is missing on which lane."""
        return CapacityWait(required=required, available=free, deficit=missing(required, free))

    def take(self, lane: int, count: int) -> Lanes:
        """Take pages of one lane."""
        pages = tuple(self.choose(lane, count))
        self.lanes[lane].take(pages)
        return pages

    def choose(self, lane: int, count: int) -> Sequence[int]:
        """Choose free pages of one lane: one run where one is long enough."""
        return self.lanes[lane].choose(count)

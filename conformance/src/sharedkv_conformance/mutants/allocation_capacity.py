"""Wrong, and odd but right, variants of allocation under pressure: waiting, eviction, admission and free room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.allocation import Admission, ExtendAllocation, ExtendRequest, RoomMade
from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Event
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.allocation import AllocationModel, Lanes
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE, IN_USE

Batch = Sequence[ExtendRequest]


class UndoneLate(AllocationModel):
    """Moves pages where it must not, and moves them back only when the next call comes."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.undo: list[tuple[tuple[int, ...], str]] = []

    def begin(self) -> None:
        super().begin()
        for pages, state in reversed(self.undo):
            self.pages.move(pages, state)
        self.undo = []

    def move_for_now(self, pages: Sequence[int], state: str) -> None:
        """Move pages until the next call."""
        for page in pages:
            self.undo.append(((page,), self.pages.state(page)))
        self.pages.move(pages, state)


@mutant("allocation.fatal-out-of-memory", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S2")
class FatalOutOfMemory(AllocationModel):
    """Rejects a batch for good when a lane is short."""

    def capacity_wait(self, required: Lanes, available: Lanes) -> Exception:
        self.events.append(Event(kind="rejected", reason=Reason.PAGE_NOT_ALLOCATED))
        return Rejected(Reason.PAGE_NOT_ALLOCATED, "out of memory")


@mutant(
    "allocation.served-from-other-lanes",
    kills="RFC-0001:C-CAPACITY-AND-EVICTION#S2",
    also={
        "RFC-0001:C-OWNER-LANE-INVARIANT#S1": "the pages that were found lie on lanes that nobody planned",
    },
)
class ServedFromOtherLanes(AllocationModel):
    """Serves a short lane with free pages of any other."""

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        try:
            return super().evict_deficit(required)
        except CapacityWait:
            if sum(required) > sum(self.pages.counts(FREE)):
                raise
            return ()

    def take(self, batch: Batch, owners: Sequence[Lanes]) -> tuple[int, ...]:
        need, free = self.need(owners), self.pages.counts(FREE)
        if self.fits(need, free):
            return super().take(batch, owners)
        taken: list[int] = []
        for lane in (lane for request in owners for lane in request):
            lanes = self.pages.by_lane(FREE)
            taken.append((lanes[lane] or tuple(page for pages in lanes for page in pages))[0])
            self.pages.move(taken[-1:], IN_USE)
        return tuple(taken)


@mutant("allocation.figures-in-total", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S3")
class FiguresInTotal(AllocationModel):
    """Reports the total of all lanes for each of them."""

    def capacity_wait(self, required: Lanes, available: Lanes) -> Exception:
        lanes = self.geometry.cp_size
        need, have = (sum(required),) * lanes, (sum(available),) * lanes
        return CapacityWait(need, have, tuple(max(0, n - h) for n, h in zip(need, have, strict=True)))


@mutant("allocation.figures-of-free-pages", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S3")
class FiguresOfFreePages(AllocationModel):
    """Counts free pages alone as available, so that waiting requests wait for cache to be released."""

    def capacity_wait(self, required: Lanes, available: Lanes) -> Exception:
        free = self.pages.counts(FREE)
        return CapacityWait(required, free, tuple(max(0, n - h) for n, h in zip(required, free, strict=True)))


@mutant("allocation.lanes-popped-too-early", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S4")
class LanesPoppedTooEarly(UndoneLate):
    """Pops the first lanes before a later one turns out to be short, and pushes them back at the next call."""

    def capacity_wait(self, required: Lanes, available: Lanes) -> Exception:
        for lane, (need, free) in enumerate(zip(required, self.pages.by_lane(FREE), strict=True)):
            if need > available[lane]:
                break
            self.move_for_now(free[:need], IN_USE)
        return super().capacity_wait(required, available)


@mutant("allocation.evicted-in-vain", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S4")
class EvictedInVain(UndoneLate):
    """Evicts what a lane has before it sees that this is not enough."""

    def capacity_wait(self, required: Lanes, available: Lanes) -> Exception:
        for lane, pages in enumerate(self.pages.by_lane(EVICTABLE)):
            if required[lane] > self.pages.counts(FREE)[lane]:
                self.move_for_now(pages, FREE)
        return super().capacity_wait(required, available)


@mutant("allocation.cache-exchanged", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S4")
class CacheExchanged(UndoneLate):
    """Keeps every count after a failed attempt, and another page as cache."""

    def capacity_wait(self, required: Lanes, available: Lanes) -> Exception:
        pairs = zip(self.pages.by_lane(EVICTABLE), self.pages.by_lane(IN_USE), strict=True)
        for kept, used in pairs:
            if kept and used:
                self.move_for_now(kept[:1], IN_USE)
                self.move_for_now(used[:1], EVICTABLE)
                break
        return super().capacity_wait(required, available)


@mutant("allocation.first-requests-kept", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S4")
class FirstRequestsKept(UndoneLate):
    """Keeps the pages of the requests that still fitted when a later one did not, until the next call."""

    def extend(self, batch: Batch) -> ExtendAllocation:
        try:
            return super().extend(batch)
        except CapacityWait:
            first = self.need(self.plan(batch[:1]))
            if self.fits(first, self.pages.counts(FREE)):
                for need, free in zip(first, self.pages.by_lane(FREE), strict=True):
                    self.move_for_now(free[:need], IN_USE)
            raise


@mutant(
    "allocation.waits-for-ever",
    kills="RFC-0001:C-CAPACITY-AND-EVICTION#S5",
    also={"RFC-0001:C-CAPACITY-AND-EVICTION#S1": "it also waits where cache could give way"},
)
class WaitsForEver(AllocationModel):
    """Answers every batch with a capacity wait once one had to wait."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.waited = False

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        if self.waited or not self.fits(required, self.room()):
            self.waited = True
            raise self.capacity_wait(required, self.room())
        return super().evict_deficit(required)


@mutant("allocation.full-row-demanded", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S5")
class FullRowDemanded(AllocationModel):
    """Demands a free page of every lane, as one that pads allocations to the CP size does."""

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        fits = self.fits(required, self.pages.counts(FREE))
        if fits and not self.fits(tuple(max(1, need) for need in required), self.room()):
            raise self.capacity_wait(required, self.room())
        return super().evict_deficit(required)


@mutant("allocation.admission-by-sum", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S6")
class AdmissionBySum(AllocationModel):
    """Admits what the pool holds in all."""

    def admit(self, batch: Batch) -> Admission:
        answer = super().admit(batch)
        return replace(answer, fits=sum(answer.required) <= sum(answer.available))


@mutant("allocation.admission-by-smallest-lane", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S6")
class AdmissionBySmallestLane(AllocationModel):
    """Admits no more than the smallest lane would hold on every lane."""

    def admit(self, batch: Batch) -> Admission:
        answer = super().admit(batch)
        return replace(answer, fits=sum(answer.required) <= self.geometry.cp_size * min(answer.available))


@mutant("allocation.admission-of-free-pages", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S6")
class AdmissionOfFreePages(AllocationModel):
    """Does not count evictable pages as room when it admits."""

    def admit(self, batch: Batch) -> Admission:
        answer = super().admit(batch)
        return replace(answer, fits=self.fits(answer.required, self.pages.counts(FREE)))


@mutant("allocation.all-lanes-evicted", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S7")
class AllLanesEvicted(AllocationModel):
    """Evicts a page of every lane when one is short."""

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        victims = super().evict_deficit(required)
        short = {self.geometry.lane(page) for page in victims}
        others = (lane for lane in range(self.geometry.cp_size) if lane not in short)
        return victims + tuple(page for lane in others if victims for page in self.pages.oldest(lane, 1))


@mutant("allocation.whole-need-evicted", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S8")
class WholeNeedEvicted(AllocationModel):
    """Evicts what the batch requires and not what is missing."""

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        short = {self.geometry.lane(page) for page in super().evict_deficit(required)}
        return tuple(page for lane in sorted(short) for page in self.pages.oldest(lane, required[lane]))


@mutant("allocation.pages-in-use-evicted", kills="RFC-0001:C-CAPACITY-AND-EVICTION#S9")
class PagesInUseEvicted(AllocationModel):
    """Evicts pages of running requests first."""

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        used = [list(pages) for pages in self.pages.by_lane(IN_USE)]
        return tuple(
            used[lane].pop() if used[lane := self.geometry.lane(page)] else page
            for page in super().evict_deficit(required)
        )


@mutant("allocation.trigger-without-the-batch", kills="RFC-0001:C-FREE-ROOM#S1")
class TriggerWithoutTheBatch(AllocationModel):
    """Makes room when free pages are under the target, whatever the pending batch requires."""

    def room_to_make(self, required: Lanes, lane: int) -> int:
        if self.pages.counts(FREE)[lane] >= self.config.free_room.target:
            return 0
        return super().room_to_make(required, lane)


@mutant("allocation.room-always-made", kills="RFC-0001:C-FREE-ROOM#S1")
class RoomAlwaysMade(AllocationModel):
    """Evicts a chunk ahead of every batch."""

    def room_to_make(self, required: Lanes, lane: int) -> int:
        return super().room_to_make(required, lane) or self.config.free_room.min_chunk


@mutant("allocation.exact-shortage-only", kills="RFC-0001:C-FREE-ROOM#S2")
class ExactShortageOnly(AllocationModel):
    """Evicts the exact shortage and ignores the least chunk."""

    def room_to_make(self, required: Lanes, lane: int) -> int:
        shortage = required[lane] - self.pages.counts(FREE)[lane]
        return min(super().room_to_make(required, lane), max(1, shortage))


@mutant("allocation.room-up-to-the-target", kills="RFC-0001:C-FREE-ROOM#S2")
class RoomUpToTheTarget(AllocationModel):
    """Evicts until the target would be free after the batch."""

    def room_to_make(self, required: Lanes, lane: int) -> int:
        wanted = required[lane] + self.config.free_room.target - self.pages.counts(FREE)[lane]
        return max(super().room_to_make(required, lane), wanted)


@mutant("allocation.shortfall-is-fatal", kills="RFC-0001:C-FREE-ROOM#S3")
class ShortfallIsFatal(AllocationModel):
    """Raises a capacity wait when less room can be made than the policy asks for."""

    def make_room(self, batch: Batch) -> RoomMade:
        required = self.need(self.checked_owners(batch))
        asked = tuple(self.room_to_make(required, lane) for lane in range(self.geometry.cp_size))
        if not self.fits(asked, self.pages.counts(EVICTABLE)):
            raise self.capacity_wait(required, self.room())
        return super().make_room(batch)


@benign("allocation.newest-cache-first")
class NewestCacheFirst(AllocationModel):
    """Evicts the pages that were retained last."""

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        newest = [list(pages) for pages in self.pages.evictable]
        return tuple(newest[self.geometry.lane(page)].pop() for page in super().evict_deficit(required))


@benign(
    "allocation.never-evicts",
    declines={"RFC-0001:C-CAPACITY-AND-EVICTION#S1": "cache leaves by make_room and release alone"},
)
class NeverEvicts(AllocationModel):
    """Waits when free pages are short and leaves eviction to free room."""

    def evict_deficit(self, required: Lanes) -> tuple[int, ...]:
        if not self.fits(required, self.pages.counts(FREE)):
            raise self.capacity_wait(required, self.room())
        return ()

"""Wrong, and odd but right, variants of how host pages lie, what a call costs, and what the view by slot shows."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.host_tier import HostAllocation, HostStatistics
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.host_tier import HostTierModel, Lanes


class Remembering(HostTierModel):
    """Makes the view of a lane once and keeps it."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.views: dict[int, Lanes] = {}

    def free_slots(self, lane: int) -> Lanes:
        if lane not in self.views:
            self.views[lane] = super().free_slots(lane)
        return self.views[lane]


@mutant("host_tier.view-kept-over-a-release", kills="RFC-0006:C-HOST-POOL#S11")
class ViewKeptOverARelease(Remembering):
    """Makes the view anew after an allocation, and not after a release."""

    def take(self, lane: int, count: int) -> Lanes:
        if count:
            self.views.pop(lane, None)
        return super().take(lane, count)


@mutant("host_tier.view-kept-over-an-allocation", kills="RFC-0006:C-HOST-POOL#S11")
class ViewKeptOverAnAllocation(Remembering):
    """Makes the view anew after a release, and not after an allocation."""

    def release(self, lane: int, pages: Sequence[int]) -> None:
        super().release(lane, pages)
        self.views.pop(lane, None)


@mutant("host_tier.view-of-pages", kills="RFC-0006:C-HOST-POOL#S11")
class ViewOfPages(HostTierModel):
    """Shows the first slot of each page alone."""

    def free_slots(self, lane: int) -> Lanes:
        return super().free_slots(lane)[:: self.config.page_size]


@mutant("host_tier.view-in-order-of-release", kills="RFC-0006:C-HOST-POOL#S11")
class ViewInOrderOfRelease(HostTierModel):
    """Shows the pages of the last release behind all others."""

    last: tuple[int, tuple[int, ...]] = (0, ())

    def release(self, lane: int, pages: Sequence[int]) -> None:
        super().release(lane, pages)
        self.last = (lane, tuple(pages))

    def free_slots(self, lane: int) -> Lanes:
        shown = super().free_slots(lane)
        late = self.last[1] if self.last[0] == lane else ()
        return tuple(sorted(shown, key=lambda slot: slot // self.config.page_size in late))


@mutant("host_tier.lowest-pages-first", kills="RFC-0006:C-HOST-POOL#S12")
class LowestPagesFirst(HostTierModel):
    """Takes the lowest free pages, wherever they lie, while they hold what is asked for in few runs."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        own = self.lanes[lane]
        if count > max(own.run_lengths, default=0) or own.capacity >= LARGE:
            return super().choose(lane, count)
        return own.free_pages()[:count]


@mutant("host_tier.run-from-its-end", kills="RFC-0006:C-HOST-POOL#S12")
class RunFromItsEnd(HostTierModel):
    """Gives the pages of a run last page first."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        chosen = super().choose(lane, count)
        return chosen if count > max(self.lanes[lane].run_lengths, default=0) else chosen[::-1]


@mutant("host_tier.scan-of-the-free-pages", kills="RFC-0006:C-HOST-POOL-COST#S1")
class ScanOfTheFreePages(HostTierModel):
    """Looks at every free page of a lane for a run of them."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        self.lanes[lane].touched += self.lanes[lane].num_free
        return super().choose(lane, count)


@mutant("host_tier.free-pages-counted-before-a-wait", kills="RFC-0006:C-HOST-POOL-COST#S1")
class FreePagesCountedBeforeAWait(HostTierModel):
    """Counts the free pages of each lane one by one to say what is missing."""

    def capacity_wait(self, required: Sequence[int], free: Sequence[int]) -> Exception:
        for lane in self.lanes:
            lane.touched += lane.num_free
        return super().capacity_wait(required, free)


@mutant("host_tier.cost-denied", kills="RFC-0006:C-HOST-POOL-COST#S1")
class CostDenied(HostTierModel):
    """Tells of no touched element after an allocation."""

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        given = super().allocate(pages)
        self.reset_cost()
        return given


@mutant("host_tier.slots-appended-at-release", kills="RFC-0006:C-HOST-POOL-COST#S2")
class SlotsAppendedAtRelease(HostTierModel):
    """Copies the array of free slots whenever pages come back."""

    def release(self, lane: int, pages: Sequence[int]) -> None:
        super().release(lane, pages)
        self.lanes[lane].touched += self.lanes[lane].num_free * self.config.page_size


@benign("host_tier.counts-pages", declines={"RFC-0006:C-HOST-POOL-COST#S3": "free pages are counted one by one"})
class CountsPages(HostTierModel):
    """Counts the free pages of every lane anew for each look at the statistics."""

    def statistics(self) -> HostStatistics:
        counted = super().statistics()
        for lane in self.lanes:
            lane.touched += lane.capacity
        return counted


@benign("host_tier.lowest-holes-first", declines={"RFC-0006:C-HOST-POOL#S13": "the lowest free pages are taken"})
class LowestHolesFirst(HostTierModel):
    """Takes the lowest free pages where no run is long enough."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        own = self.lanes[lane]
        return own.free_pages()[:count] if count > max(own.run_lengths, default=0) else super().choose(lane, count)


LARGE = 1 << 10

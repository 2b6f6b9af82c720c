"""Wrong, and odd but right, variants of allocation that concern counting: conservation, release, snapshots, cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.allocation import ExtendAllocation, ExtendRequest, LaneStatistics
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import PageSets
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.allocation import AllocationModel, Lanes
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE, IN_USE
from sharedkv_conformance.mutants.allocation import exchanged
from sharedkv_conformance.mutants.allocation_capacity import UndoneLate

Batch = Sequence[ExtendRequest]


@mutant("allocation.capacity-rounded-up", kills="RFC-0001:C-CONSERVATION#S1")
class CapacityRoundedUp(AllocationModel):
    """Counts a surplus row of pages as if every lane had it."""

    def lanes(self) -> LaneStatistics:
        counted = super().lanes()
        extra = 1 if self.config.pages % self.config.cp_size else 0
        return replace(
            counted,
            capacity=tuple(pages + extra for pages in counted.capacity),
            free=tuple(pages + extra for pages in counted.free),
        )


@mutant("allocation.surplus-page-given", kills="RFC-0001:C-CONSERVATION#S1")
class SurplusPageGiven(AllocationModel):
    """Gives the surplus page of lane 0 to whoever takes a page there."""

    def take(self, batch: Batch, owners: Sequence[Lanes]) -> tuple[int, ...]:
        taken = list(super().take(batch, owners))
        surplus = self.geometry.logical(0, self.geometry.lane_pages + 1)
        for index, page in enumerate(taken):
            if self.geometry.lane(page) == 0 and surplus <= self.config.pages:
                self.pages.move([page], FREE)
                taken[index] = surplus
                break
        return tuple(taken)


@mutant("allocation.dummy-page-counted", kills="RFC-0001:C-CONSERVATION#S2")
class DummyPageCounted(AllocationModel):
    """Counts the dummy page among the free pages of the last lane."""

    def lanes(self) -> LaneStatistics:
        counted = super().lanes()
        return replace(counted, free=(*counted.free[:-1], counted.free[-1] + 1))


@mutant("allocation.page-given-twice", kills="RFC-0001:C-CONSERVATION#S3")
class PageGivenTwice(AllocationModel):
    """Gives a page that another request uses to the next batch as well."""

    def take(self, batch: Batch, owners: Sequence[Lanes]) -> tuple[int, ...]:
        used = {lane: pages[0] for lane, pages in enumerate(self.pages.by_lane(IN_USE)) if pages}
        return exchanged(self, super().take(batch, owners), used)


@mutant("allocation.cache-given-unsaid", kills="RFC-0001:C-CONSERVATION#S3")
class CacheGivenUnsaid(AllocationModel):
    """Takes a retained page before a free one and does not say that it gave way."""

    def take(self, batch: Batch, owners: Sequence[Lanes]) -> tuple[int, ...]:
        kept = {lane: pages[0] for lane, pages in enumerate(self.pages.by_lane(EVICTABLE)) if pages}
        taken = exchanged(self, super().take(batch, owners), kept)
        self.pages.move([page for page in taken if page in kept.values()], IN_USE)
        return taken


@mutant("allocation.statistics-late", kills="RFC-0001:C-CONSERVATION#S4")
class StatisticsLate(UndoneLate):
    """Shows the pages of a batch as free until the next call."""

    def extend(self, batch: Batch) -> ExtendAllocation:
        answer = super().extend(batch)
        self.move_for_now(answer.pages, FREE)
        return answer

    def page_sets(self) -> PageSets:
        self.begin()
        return super().page_sets()


@mutant("allocation.retained-counted-free", kills="RFC-0001:C-CONSERVATION#S4")
class RetainedCountedFree(UndoneLate):
    """Shows retained pages as free until the next call."""

    def retain(self, pages: Sequence[int]) -> None:
        super().retain(pages)
        self.move_for_now(pages, FREE)


@mutant("allocation.restore-of-one-lane", kills="RFC-0001:C-CONSERVATION#S5")
class RestoreOfOneLane(AllocationModel):
    """Brings the pages of every lane back and the counters of the first alone, until the next call."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.stale: LaneStatistics | None = None

    def begin(self) -> None:
        super().begin()
        self.stale = None

    def restore(self, snapshot: int) -> None:
        earlier = super().lanes()
        super().restore(snapshot)
        self.stale = earlier

    def lanes(self) -> LaneStatistics:
        now, old = super().lanes(), self.stale
        if old is None:
            return now
        return LaneStatistics(
            capacity=now.capacity,
            free=now.free[:1] + old.free[1:],
            evictable=now.evictable[:1] + old.evictable[1:],
            in_use=now.in_use[:1] + old.in_use[1:],
        )


@mutant("allocation.flat-pages-still-free", kills="RFC-0001:C-CONSERVATION#S6")
class FlatPagesStillFree(UndoneLate):
    """Serves pages without owners and takes them off their lanes only at the next call."""

    def allocate_flat(self, num_pages: int) -> tuple[int, ...]:
        pages = _lowest_free(self, num_pages)
        self.pages.move(pages, IN_USE)
        self.move_for_now(pages, FREE)
        return pages


@mutant("allocation.flat-pages-of-others", kills="RFC-0001:C-CONSERVATION#S6")
class FlatPagesOfOthers(AllocationModel):
    """Serves pages without owners out of those that requests use."""

    def allocate_flat(self, num_pages: int) -> tuple[int, ...]:
        used = [page for pages in self.pages.by_lane(IN_USE) for page in pages]
        if len(used) < num_pages:
            return super().allocate_flat(num_pages)
        return tuple(used[:num_pages])


@mutant("allocation.released-late", kills="RFC-0001:C-RELEASE#S1")
class ReleasedLate(UndoneLate):
    """Stages released pages, and counts them as used until the next call."""

    def release(self, pages: Sequence[int]) -> None:
        super().release(pages)
        self.move_for_now(pages, IN_USE)

    def release_locations(self, locations: Sequence[int]) -> None:
        super().release(self.pages_of(locations))


@mutant("allocation.released-into-the-next-lane", kills="RFC-0001:C-RELEASE#S1")
class ReleasedIntoTheNextLane(AllocationModel):
    """Counts released pages on the lane page % cp_size until the next call."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.shifted = 0

    def begin(self) -> None:
        super().begin()
        self.shifted = 0

    def release(self, pages: Sequence[int]) -> None:
        super().release(pages)
        self.shifted = 1

    def release_locations(self, locations: Sequence[int]) -> None:
        super().release_locations(locations)
        self.shifted = 0

    def lanes(self) -> LaneStatistics:
        now, by = super().lanes(), self.shifted
        return replace(
            now,
            free=now.free[by:] + now.free[:by],
            evictable=now.evictable[by:] + now.evictable[:by],
            in_use=now.in_use[by:] + now.in_use[:by],
        )


@mutant("allocation.tail-and-body-released", kills="RFC-0001:C-RELEASE#S2")
class TailAndBodyReleased(AllocationModel):
    """Gives a page back once for each of its locations."""

    def pages_of(self, locations: Sequence[int]) -> tuple[int, ...]:
        return tuple(location // self.geometry.page_size for location in locations)


@mutant("allocation.tail-page-kept", kills="RFC-0001:C-RELEASE#S2")
class TailPageKept(UndoneLate):
    """Gives back only pages whose first location is named, and the others at the next call."""

    def release_locations(self, locations: Sequence[int]) -> None:
        super().release_locations(locations)
        first = {
            location // self.geometry.page_size for location in locations if location % self.geometry.page_size == 0
        }
        self.move_for_now([page for page in self.pages_of(locations) if page not in first], IN_USE)


@mutant("allocation.double-free-by-location", kills="RFC-0001:C-RELEASE#S3")
class DoubleFreeByLocation(AllocationModel):
    """Passes over pages that are not allocated when they are named by location."""

    def release_locations(self, locations: Sequence[int]) -> None:
        pages = self.pages_of(locations)
        self.release([page for page in pages if not self.geometry.holds(page) or self.pages.state(page) != FREE])
        self.pages.touched = self.pages.touched + len(pages)


@mutant("allocation.double-free-ignored", kills="RFC-0001:C-RELEASE#S3")
class DoubleFreeIgnored(AllocationModel):
    """Frees what it can of a release and passes over the rest."""

    def check_named(self, pages: Sequence[int], allowed: Sequence[str]) -> None:
        inside = [page for page in dict.fromkeys(pages) if self.geometry.holds(page)]
        if len(inside) < len(pages):
            super().check_named(pages, allowed)


@mutant("allocation.freed-while-checking", kills="RFC-0001:C-RELEASE#S3")
class FreedWhileChecking(UndoneLate):
    """Frees the pages before the one that it then refuses, and takes them back at the next call."""

    def check_named(self, pages: Sequence[int], allowed: Sequence[str]) -> None:
        try:
            super().check_named(pages, allowed)
        except Rejected:
            if self.geometry.holds(pages[0]) and self.pages.state(pages[0]) == IN_USE:
                self.move_for_now(pages[:1], FREE)
            raise


@mutant("allocation.one-name-for-all-faults", kills="RFC-0001:C-RELEASE#S3")
class OneNameForAllFaults(AllocationModel):
    """Refuses every bad release with a reason that has nothing to do with it."""

    def check_named(self, pages: Sequence[int], allowed: Sequence[str]) -> None:
        try:
            super().check_named(pages, allowed)
        except Rejected as error:
            raise Rejected(Reason.EXTEND_EMPTY) from error


@mutant("allocation.scan-of-the-free-list", kills="RFC-0001:C-COST#S1")
class ScanOfTheFreeList(AllocationModel):
    """Masks the whole free list for each lane of a batch."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        self.pages.touched = self.pages.touched + sum(self.pages.counts(FREE))
        return super().choose(lane, count)


@mutant("allocation.cost-denied", kills="RFC-0001:C-COST#S1")
class CostDenied(AllocationModel):
    """Tells of no touched element after an extend."""

    def extend(self, batch: Batch) -> ExtendAllocation:
        answer = super().extend(batch)
        self.pages.touched = 0
        return answer


@mutant("allocation.sort-at-release", kills="RFC-0001:C-COST#S2")
class SortAtRelease(AllocationModel):
    """Merges and sorts the free list whenever pages come back."""

    def release(self, pages: Sequence[int]) -> None:
        super().release(pages)
        self.pages.touched = self.pages.touched + sum(self.pages.counts(FREE))


@benign("allocation.serves-without-owners")
class ServesWithoutOwners(AllocationModel):
    """Serves pages without owners and takes them from their lanes like any others."""

    def allocate_flat(self, num_pages: int) -> tuple[int, ...]:
        self.begin()
        pages = _lowest_free(self, num_pages)
        self.pages.move(pages, IN_USE)
        return pages


@benign("allocation.counts-pages", declines={"RFC-0001:C-COST#S3": "statistics are counted page by page"})
class CountsPages(AllocationModel):
    """Counts the pages of every lane anew for each look at the statistics."""

    def lanes(self) -> LaneStatistics:
        counted = super().lanes()
        self.pages.touched = self.geometry.cp_size * self.geometry.lane_pages
        return counted


@benign("allocation.odd-snapshot-names")
class OddSnapshotNames(AllocationModel):
    """Names snapshots from 1000 upwards."""

    def snapshot(self) -> int:
        return super().snapshot() + 1000

    def restore(self, snapshot: int) -> None:
        super().restore(snapshot - 1000)


def _lowest_free(variant: AllocationModel, num_pages: int) -> tuple[int, ...]:
    free = sorted(page for pages in variant.pages.by_lane(FREE) for page in pages)
    if len(free) < num_pages:
        raise Rejected(Reason.ALLOCATION_WITHOUT_OWNERS, "too few free pages")
    return tuple(free[:num_pages])

"""Wrong, and odd but right, variants of the host pool: who gets which pages, who waits, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.host_tier import HostAllocation, HostStatistics
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.host_tier import HostTierModel, Lanes


class Misreporting(HostTierModel):
    """Reports other free counts than there are until the next call that may change something."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.off = [0] * config.cp_size

    def begin(self) -> None:
        super().begin()
        self.off = [0] * self.config.cp_size

    def statistics(self) -> HostStatistics:
        counted = super().statistics()
        return replace(counted, free=tuple(map(sum, zip(counted.free, self.off, strict=True))))


class Serving(HostTierModel):
    """Decides on its own what callers are given; the tree is given what it should be."""

    serves_caller = False

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        self.serves_caller = True
        try:
            return super().allocate(pages)
        finally:
            self.serves_caller = False

    def fits(self, required: Sequence[int]) -> bool:
        return self.fits_caller(required) if self.serves_caller else super().fits(required)

    def take(self, lane: int, count: int) -> Lanes:
        return self.take_for_caller(lane, count) if self.serves_caller else super().take(lane, count)

    def fits_caller(self, required: Sequence[int]) -> bool:
        return super().fits(required)

    def take_for_caller(self, lane: int, count: int) -> Lanes:
        return super().take(lane, count)


@mutant(
    "host_tier.capacity-of-all-lanes",
    kills="RFC-0006:C-HOST-POOL#S1",
    also={"RFC-0006:C-TREE#S9": "the counts after a lookup are not those that there have to be"},
)
class CapacityOfAllLanes(HostTierModel):
    """Reports the host pages of all lanes together as those of each."""

    def statistics(self) -> HostStatistics:
        counted = super().statistics()
        return replace(counted, capacity=(sum(counted.capacity),) * len(counted.capacity))


@mutant("host_tier.page-behind-the-last", kills="RFC-0006:C-HOST-POOL#S1")
class PageBehindTheLast(Serving):
    """Gives the page behind the last one, as if pages were counted from 1, to the caller who takes the last."""

    def take_for_caller(self, lane: int, count: int) -> Lanes:
        pages = super().take_for_caller(lane, count)
        last = self.lanes[lane].capacity - 1
        if last not in pages:
            return pages
        self.lanes[lane].give([last])
        return tuple(page + 1 if page == last else page for page in pages)


@mutant("host_tier.last-page-forgotten", kills="RFC-0006:C-HOST-POOL#S2")
class LastPageForgotten(Serving):
    """Gives callers one page fewer than asked where they ask for several, as if a shorter tail needed no page."""

    def take_for_caller(self, lane: int, count: int) -> Lanes:
        return super().take_for_caller(lane, count - 1 if count > 1 else count)


@mutant("host_tier.equal-lanes", kills="RFC-0006:C-HOST-POOL#S2")
class EqualLanes(Serving):
    """Gives callers on each lane as many pages as on the lane that needs most, where there are as many."""

    most = 0

    def take_for_caller(self, lane: int, count: int) -> Lanes:
        del count
        return super().take_for_caller(lane, min(self.most, self.lanes[lane].num_free))

    def check_room(self, required: Sequence[int]) -> None:
        super().check_room(required)
        self.most = max(required)


@mutant("host_tier.page-given-twice", kills="RFC-0006:C-HOST-POOL#S3")
class PageGivenTwice(Serving):
    """Gives a page that a caller has to the next one as well."""

    def take_for_caller(self, lane: int, count: int) -> Lanes:
        kept = {page for own, page in self.host_pages() if own == lane}
        used = sorted(self.lanes[lane].allocated - kept)
        pages = super().take_for_caller(lane, count)
        if not used or not pages:
            return pages
        self.lanes[lane].give(pages[-1:])
        return (*pages[:-1], used[0])


@mutant("host_tier.page-repeated", kills="RFC-0006:C-HOST-POOL#S3")
class PageRepeated(Serving):
    """Gives callers the first page of a lane in place of the last as well."""

    def take_for_caller(self, lane: int, count: int) -> Lanes:
        pages = super().take_for_caller(lane, count)
        if count > 1:
            self.lanes[lane].give(pages[-1:])
        return (*pages[:-1], pages[0]) if pages else ()


@mutant(
    "host_tier.statistics-late",
    kills="RFC-0006:C-HOST-POOL#S4",
    also={"RFC-0006:C-TREE#S9": "what a caller was given is still counted beside the tree"},
)
class StatisticsLate(Misreporting):
    """Counts pages as free until the call after the one that was given them."""

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        given = super().allocate(pages)
        self.off = list(pages)
        return given


@mutant("host_tier.statistics-of-the-first-lane", kills="RFC-0006:C-HOST-POOL#S4")
class StatisticsOfTheFirstLane(Misreporting):
    """Takes what the first lane gave off the count of every lane."""

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        given = super().allocate(pages)
        self.off = [count - pages[0] for count in pages]
        return given


@mutant("host_tier.decided-by-the-sum", kills="RFC-0006:C-HOST-POOL#S5")
class DecidedByTheSum(Serving):
    """Compares sums over lanes, and gives callers what a lane has where it has too little."""

    def fits_caller(self, required: Sequence[int]) -> bool:
        return sum(required) <= sum(self.free())

    def take_for_caller(self, lane: int, count: int) -> Lanes:
        return super().take_for_caller(lane, min(count, self.lanes[lane].num_free))


@mutant("host_tier.shortage-is-fatal", kills="RFC-0006:C-HOST-POOL#S5")
class ShortageIsFatal(HostTierModel):
    """Refuses what does not fit, as if it could never fit."""

    def capacity_wait(self, required: Sequence[int], free: Sequence[int]) -> Exception:
        del required, free
        return Rejected(Reason.PAGE_NOT_ALLOCATED)


@mutant("host_tier.shortage-in-total", kills="RFC-0006:C-HOST-POOL#S5")
class ShortageInTotal(HostTierModel):
    """Says of each lane what is missing on all of them."""

    def capacity_wait(self, required: Sequence[int], free: Sequence[int]) -> Exception:
        lacking = sum(max(0, need - have) for need, have in zip(required, free, strict=True))
        return CapacityWait(required=required, available=free, deficit=[lacking] * len(required))


@mutant("host_tier.first-lanes-taken", kills="RFC-0006:C-HOST-POOL#S6")
class FirstLanesTaken(Misreporting):
    """Takes the pages of the lanes before the one that is short, and puts them back at the next call."""

    def check_room(self, required: Sequence[int]) -> None:
        free = self.free()
        try:
            super().check_room(required)
        except CapacityWait:
            short = next(lane for lane, need in enumerate(required) if need > free[lane])
            self.off = [-need if lane < short else 0 for lane, need in enumerate(required)]
            raise


@mutant("host_tier.decided-by-the-smallest-lane", kills="RFC-0006:C-HOST-POOL#S7")
class DecidedByTheSmallestLane(Serving):
    """Holds what callers ask of any lane against the lane that has least."""

    def fits_caller(self, required: Sequence[int]) -> bool:
        return super().fits_caller(required) and max(required) <= min(self.free())


@mutant("host_tier.scattered-pages-unusable", kills="RFC-0006:C-HOST-POOL#S7")
class ScatteredPagesUnusable(HostTierModel):
    """Serves nothing that does not lie in one run."""

    def fits(self, required: Sequence[int]) -> bool:
        runs = [max(lane.run_lengths, default=0) for lane in self.lanes]
        return super().fits(required) and all(need <= run for need, run in zip(required, runs, strict=True))


@mutant("host_tier.wait-for-ever", kills="RFC-0006:C-HOST-POOL#S7")
class WaitForEver(Serving):
    """Serves no caller any more once one had to wait."""

    has_waited = False

    def fits_caller(self, required: Sequence[int]) -> bool:
        self.has_waited = self.has_waited or not super().fits_caller(required)
        return not self.has_waited


@mutant("host_tier.released-late", kills="RFC-0006:C-HOST-POOL#S8")
class ReleasedLate(Misreporting):
    """Counts pages that were given back as allocated until the next call."""

    def release(self, lane: int, pages: Sequence[int]) -> None:
        super().release(lane, pages)
        self.off[lane] = -len(pages)


@mutant("host_tier.released-on-the-first-lane", kills="RFC-0006:C-HOST-POOL#S8")
class ReleasedOnTheFirstLane(Misreporting):
    """Counts pages that were given back on lane 0, whatever their lane, until the next call."""

    def release(self, lane: int, pages: Sequence[int]) -> None:
        super().release(lane, pages)
        self.off[lane] -= len(pages)
        self.off[0] += len(pages)


@mutant(
    "host_tier.release-in-order-only",
    kills="RFC-0006:C-HOST-POOL#S8",
    also={
        "RFC-0006:C-TREE#S10": "a release that names a page of the tree beside others is refused no better",
        "RFC-0006:C-TREE#S11": "a release that names a fetched page beside others is refused no better",
    },
)
class ReleaseInOrderOnly(HostTierModel):
    """Takes only pages back that stand in ascending order."""

    def check_named(self, lane: int, pages: Sequence[int]) -> None:
        super().check_named(lane, pages)
        if list(pages) != sorted(pages):
            raise Rejected(Reason.PAGE_NAMED_TWICE)


@mutant("host_tier.double-free-ignored", kills="RFC-0006:C-HOST-POOL#S9")
class DoubleFreeIgnored(HostTierModel):
    """Frees what is allocated of the pages named and passes over the rest."""

    def check_named(self, lane: int, pages: Sequence[int]) -> None:
        inside = [page for page in dict.fromkeys(pages) if self.lanes[lane].holds(page)]
        if len(inside) < len(dict.fromkeys(pages)):
            super().check_named(lane, pages)


@mutant("host_tier.named-twice-ignored", kills="RFC-0006:C-HOST-POOL#S9")
class NamedTwiceIgnored(HostTierModel):
    """Takes a page that is named twice in one call back once."""

    def check_named(self, lane: int, pages: Sequence[int]) -> None:
        super().check_named(lane, tuple(dict.fromkeys(pages)))


@mutant("host_tier.page-of-any-lane", kills="RFC-0006:C-HOST-POOL#S9")
class PageOfAnyLane(HostTierModel):
    """Looks a page up on every lane before it refuses it."""

    def check_named(self, lane: int, pages: Sequence[int]) -> None:
        if not all(any(page in own.allocated for own in self.lanes) for page in pages):
            super().check_named(lane, pages)
        elif len(set(pages)) < len(pages):
            raise Rejected(Reason.PAGE_NAMED_TWICE)


@mutant(
    "host_tier.freed-while-checking",
    kills="RFC-0006:C-HOST-POOL#S9",
    also={"RFC-0006:C-TREE#S10": "a release that names a page of the tree beside others is refused no better"},
)
class FreedWhileChecking(Misreporting):
    """Frees the pages before the one that it then refuses, and takes them back at the next call."""

    def check_named(self, lane: int, pages: Sequence[int]) -> None:
        try:
            super().check_named(lane, pages)
        except Rejected:
            self.off[lane] = 1 if pages[0] in self.lanes[lane].allocated else 0
            raise


@mutant(
    "host_tier.one-name-for-all-faults",
    kills="RFC-0006:C-HOST-POOL#S9",
    also={"RFC-0006:C-TREE#S10": "a release that names a page of the tree beside others is refused no better"},
)
class OneNameForAllFaults(HostTierModel):
    """Refuses every bad release with a reason that has nothing to do with it."""

    def check_named(self, lane: int, pages: Sequence[int]) -> None:
        try:
            super().check_named(lane, pages)
        except Rejected as error:
            raise Rejected(Reason.EXTEND_EMPTY) from error


@mutant("host_tier.missing-lanes-are-none", kills="RFC-0006:C-HOST-POOL#S10")
class MissingLanesAreNone(HostTierModel):
    """Takes lanes that are not named for lanes of which nothing is asked."""

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        return super().allocate((*pages, *[0] * (len(self.lanes) - len(pages))))


@mutant("host_tier.negative-counts-are-none", kills="RFC-0006:C-HOST-POOL#S10")
class NegativeCountsAreNone(HostTierModel):
    """Takes a count below 0 for none."""

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        return super().allocate([max(0, count) for count in pages])


@mutant("host_tier.lane-from-the-end", kills="RFC-0006:C-HOST-POOL#S10")
class LaneFromTheEnd(HostTierModel):
    """Takes lane -1 for the last one."""

    def check_lane(self, lane: int) -> None:
        if lane != -1:
            super().check_lane(lane)


@benign("host_tier.first-fit")
class FirstFit(HostTierModel):
    """Takes the first run that is long enough instead of the shortest."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        long_enough = [run for run in self.lanes[lane].runs() if len(run) >= count]
        return long_enough[0][:count] if long_enough and self.config.host_pages < LARGE else super().choose(lane, count)


@benign("host_tier.end-of-the-largest-run")
class EndOfTheLargestRun(HostTierModel):
    """Takes the end of the largest run."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        runs = self.lanes[lane].runs() if count and self.config.host_pages < LARGE else []
        largest = max(runs, key=len, default=range(0))
        return largest[len(largest) - count :] if runs and len(largest) >= count else super().choose(lane, count)


LARGE = 1 << 10

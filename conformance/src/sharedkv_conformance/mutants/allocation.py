"""Wrong, and odd but right, variants of allocation: owners, lanes, locations and paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sharedkv_conformance.contract.allocation import Admission, ExtendAllocation, ExtendRequest
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Event
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.allocation import AllocationModel, Lanes, refusals
from sharedkv_conformance.model.lane_pages import FREE, IN_USE
from sharedkv_conformance.model.planning_split import page_owners

Batch = Sequence[ExtendRequest]


class Misdealt(AllocationModel):
    """Deals the pages of a batch to other lanes than planned, as far as those have free pages."""

    def misdeal(self, batch: Batch, owners: list[Lanes]) -> list[Lanes]:
        """Return the owners that this variant takes for right."""
        raise NotImplementedError

    def deal(self, batch: Batch, owners: list[Lanes]) -> list[Lanes]:
        dealt = self.misdeal(batch, owners)
        return dealt if self.fits(self.need(dealt), self.pages.counts(FREE)) else owners


@mutant(
    "allocation.concatenated-plan",
    kills="RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S1",
    also={
        "RFC-0001:C-FLATTENED-OWNER-ORDER#S1": "a part of the whole plan can be another request's own",
        "RFC-0001:C-FLATTENED-OWNER-ORDER#S2": "a part of the whole plan can be a permutation of a request's own",
    },
)
class ConcatenatedPlan(Misdealt):
    """Plans the pages of the whole batch as one sequence and cuts the plan up."""

    def misdeal(self, batch: Batch, owners: list[Lanes]) -> list[Lanes]:
        counts = [self.geometry.pages_for(request.extend_tokens) for request in batch]
        whole = iter(page_owners(self.geometry, sum(counts) * self.geometry.page_size))
        return [tuple(next(whole) for _ in range(count)) for count in counts]


@mutant(
    "allocation.rotated-by-the-first-prefix",
    kills="RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S1",
    also={
        "RFC-0001:C-FLATTENED-OWNER-ORDER#S1": "rotated owners can be those of another request of the batch",
        "RFC-0001:C-FLATTENED-OWNER-ORDER#S2": "rotated owners can be a permutation of the request's own",
    },
)
class RotatedByTheFirstPrefix(Misdealt):
    """Lets the owners of every later request start where the first request's prefix ends."""

    def misdeal(self, batch: Batch, owners: list[Lanes]) -> list[Lanes]:
        shift = 1 + batch[0].prefix_tokens // self.geometry.page_size
        first, *others = owners
        return [first, *(tuple((lane + shift) % self.geometry.cp_size for lane in other) for other in others)]


@mutant("allocation.unaligned-prefix-served", kills="RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S2")
class UnalignedPrefixServed(AllocationModel):
    """Rounds unaligned prefixes down to a page border and serves the batch."""

    def checked_owners(self, batch: Batch) -> list[Lanes]:
        size = self.geometry.page_size
        return super().checked_owners([replace(r, prefix_tokens=r.prefix_tokens // size * size) for r in batch])


@mutant("allocation.check-after-allocation", kills="RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S2")
class CheckAfterAllocation(AllocationModel):
    """Takes pages for the requests before the one that cannot be planned, and gives them back at the next call."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.taken: tuple[int, ...] = ()

    def begin(self) -> None:
        super().begin()
        self.pages.move(self.taken, FREE)
        self.taken = ()

    def extend(self, batch: Batch) -> ExtendAllocation:
        try:
            return super().extend(batch)
        except Rejected:
            self.taken = self.pages.by_lane(FREE)[0][:1]
            self.pages.move(self.taken, IN_USE)
            raise


@mutant("allocation.unplannable-batch-admitted", kills="RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S2")
class UnplannableBatchAdmitted(AllocationModel):
    """Admits a batch without owners, and refuses it only when its pages are asked for."""

    def admit(self, batch: Batch) -> Admission:
        plannable = [request for request in batch if not refusals(self.geometry, [request])]
        return super().admit(plannable)


@mutant("allocation.last-request-first", kills="RFC-0001:C-FLATTENED-OWNER-ORDER#S1")
class LastRequestFirst(Misdealt):
    """Flattens the owner lists of a batch from the last request to the first."""

    def misdeal(self, batch: Batch, owners: list[Lanes]) -> list[Lanes]:
        return owners[::-1]


@mutant(
    "allocation.owners-sorted",
    kills="RFC-0001:C-FLATTENED-OWNER-ORDER#S2",
    also={"RFC-0001:C-FLATTENED-OWNER-ORDER#S1": "sorted owners can be those of another request of the batch"},
)
class OwnersSorted(Misdealt):
    """Sorts the owners of each request of a batch by lane, so that one lane's pages come together."""

    def misdeal(self, batch: Batch, owners: list[Lanes]) -> list[Lanes]:
        return [tuple(sorted(request)) for request in owners] if len(owners) > 1 else owners


@mutant("allocation.tail-without-a-page", kills="RFC-0001:C-FLATTENED-OWNER-ORDER#S3")
class TailWithoutAPage(Misdealt):
    """Gives no page to the tail of the last request."""

    def misdeal(self, batch: Batch, owners: list[Lanes]) -> list[Lanes]:
        *others, last = owners
        return [*others, last[: batch[-1].extend_tokens // self.geometry.page_size]]

    def locations(self, batch: Batch, pages: Sequence[int]) -> tuple[int, ...]:
        size = self.geometry.page_size
        return super().locations(
            [*batch[:-1], replace(batch[-1], extend_tokens=batch[-1].extend_tokens // size * size)], pages
        )


@mutant("allocation.owner-list-cut", kills="RFC-0001:C-FLATTENED-OWNER-ORDER#S3")
class OwnerListCut(AllocationModel):
    """Reports the owners of full pages alone."""

    def extend(self, batch: Batch) -> ExtendAllocation:
        answer = super().extend(batch)
        partial = batch[-1].extend_tokens % self.geometry.page_size
        return replace(answer, owners=answer.owners[:-1]) if partial else answer


@mutant("allocation.lane-without-minus-one", kills="RFC-0001:C-OWNER-LANE-INVARIANT#S1")
class LaneWithoutMinusOne(AllocationModel):
    """Takes the lane as page % cp_size: balanced, and off by one everywhere."""

    def take(self, batch: Batch, owners: Sequence[Lanes]) -> tuple[int, ...]:
        off_by_one = [tuple((lane - 1) % self.geometry.cp_size for lane in request) for request in owners]
        usable = self.fits(self.need(off_by_one), self.pages.counts(FREE))
        return super().take(batch, off_by_one if usable else owners)


@mutant(
    "allocation.lane-by-division",
    kills="RFC-0001:C-OWNER-LANE-INVARIANT#S1",
    also={
        "RFC-0001:C-CONTIGUITY#S1": "neighbouring ids lie on different lanes, so that each lane's pages are scattered"
    },
)
class LaneByDivision(AllocationModel):
    """Deals the pool to the lanes in one block a lane."""

    def take(self, batch: Batch, owners: Sequence[Lanes]) -> tuple[int, ...]:
        blocks: list[list[int]] = [[] for _ in range(self.geometry.cp_size)]
        for page in sorted(page for pages in self.pages.by_lane(FREE) for page in pages):
            blocks[(page - 1) // self.geometry.lane_pages].append(page)
        if not self.fits(self.need(owners), tuple(map(len, blocks))):
            return super().take(batch, owners)
        taken = tuple(blocks[lane].pop(0) for request in owners for lane in request)
        self.pages.move(taken, IN_USE)
        return taken


@mutant("allocation.pages-sorted-by-lane", kills="RFC-0001:C-OWNER-LANE-INVARIANT#S1")
class PagesSortedByLane(AllocationModel):
    """Sorts the pages of each request by lane after the owners were planned."""

    def take(self, batch: Batch, owners: Sequence[Lanes]) -> tuple[int, ...]:
        pages = iter(super().take(batch, owners))
        requests = [[next(pages) for _ in request] for request in owners]
        return tuple(page for request in requests for page in sorted(request, key=self.geometry.lane))


@mutant("allocation.dummy-page-given", kills="RFC-0001:C-OWNER-LANE-INVARIANT#S2")
class DummyPageGiven(AllocationModel):
    """Counts page 0 among the pages of the last lane, where (0 - 1) % cp_size puts it."""

    def take(self, batch: Batch, owners: Sequence[Lanes]) -> tuple[int, ...]:
        return exchanged(self, super().take(batch, owners), {self.geometry.cp_size - 1: 0})


@mutant("allocation.tail-counted-full", kills="RFC-0001:C-OWNER-LANE-INVARIANT#S3")
class TailCountedFull(AllocationModel):
    """Gives every slot of a tail page a location, so that later requests shift."""

    def locations(self, batch: Batch, pages: Sequence[int]) -> tuple[int, ...]:
        size = self.geometry.page_size
        full = [replace(r, extend_tokens=self.geometry.pages_for(r.extend_tokens) * size) for r in batch]
        return super().locations(full, pages)[: sum(r.extend_tokens for r in batch)]


@mutant("allocation.locations-by-lane", kills="RFC-0001:C-OWNER-LANE-INVARIANT#S3")
class LocationsByLane(AllocationModel):
    """Produces locations lane after lane, as ranks write them, and not as tokens stand."""

    def locations(self, batch: Batch, pages: Sequence[int]) -> tuple[int, ...]:
        size = self.geometry.page_size
        return tuple(sorted(super().locations(batch, pages), key=lambda where: self.geometry.lane(where // size)))


@mutant("allocation.batch-refused", kills="RFC-0001:C-NO-LEGACY-FALLBACK#S1")
class BatchRefused(AllocationModel):
    """Refuses every batch of more than one request that it could serve."""

    def extend(self, batch: Batch) -> ExtendAllocation:
        if len(batch) > 1 and self.fits(self.need(self.checked_owners(batch)), self.room()):
            self.events.append(Event(kind="rejected", reason=Reason.ALLOCATION_WITHOUT_OWNERS))
            raise Rejected(Reason.ALLOCATION_WITHOUT_OWNERS)
        return super().extend(batch)


@mutant("allocation.legacy-path", kills="RFC-0001:C-NO-LEGACY-FALLBACK#S2")
class LegacyPath(AllocationModel):
    """Sends a batch of more than one request through legacy allocation, whose pages happen to be right."""

    def extend(self, batch: Batch) -> ExtendAllocation:
        answer = super().extend(batch)
        if len(batch) > 1:
            self.events.append(Event(kind="legacy_allocation", reason=f"{len(batch)} requests"))
        return answer


@mutant("allocation.multi-batch-fallback", kills="RFC-0001:C-NO-LEGACY-FALLBACK#S3")
class MultiBatchFallback(AllocationModel):
    """Reports a fallback for the sake of the number of requests."""

    def extend(self, batch: Batch) -> ExtendAllocation:
        answer = super().extend(batch)
        if len(batch) > 1:
            self.events.append(Event(kind="fallback", reason="multi_batch"))
        return answer


@mutant("allocation.one-reason-for-all", kills="RFC-0001:C-NO-LEGACY-FALLBACK#S4")
class OneReasonForAll(AllocationModel):
    """Refuses every unsupported batch with the same reason, which names no rule of it."""

    def checked_owners(self, batch: Batch) -> list[Lanes]:
        try:
            return super().checked_owners(batch)
        except Rejected as error:
            self.events[-1] = Event(kind="rejected", reason=Reason.SPLIT_NOT_IN_SEQUENCE)
            raise Rejected(Reason.SPLIT_NOT_IN_SEQUENCE) from error


@mutant("allocation.silent-refusal", kills="RFC-0001:C-NO-LEGACY-FALLBACK#S4")
class SilentRefusal(AllocationModel):
    """Refuses an unsupported batch and reports nothing."""

    def checked_owners(self, batch: Batch) -> list[Lanes]:
        reported = len(self.events)
        try:
            return super().checked_owners(batch)
        finally:
            del self.events[reported:]


@mutant("allocation.batch-of-one-shortcut", kills="RFC-0001:C-BS1-COMPATIBILITY#S1")
class BatchOfOneShortcut(Misdealt):
    """Deals the pages of a single request to the ranks in turn."""

    def misdeal(self, batch: Batch, owners: list[Lanes]) -> list[Lanes]:
        if len(batch) > 1:
            return owners
        return [tuple(page % self.geometry.cp_size for page in range(len(owners[0])))]


@mutant("allocation.owners-remembered", kills="RFC-0001:C-DOWNSTREAM-CONTRACT#S1")
class OwnersRemembered(AllocationModel):
    """Answers for a request's pages with the owners that its plan gave them."""

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.planned: dict[str, Lanes] = {}

    def extend(self, batch: Batch) -> ExtendAllocation:
        answer = super().extend(batch)
        self.planned |= {r.request: owners for r, owners in zip(batch, self.plan(batch), strict=True)}
        return answer

    def owners(self, request: str, pages: Sequence[int]) -> Lanes:
        read = super().owners(request, pages)
        remembered = self.planned.get(request, ())[: len(read)]
        return remembered + read[len(remembered) :]


@mutant("allocation.owner-without-minus-one", kills="RFC-0001:C-DOWNSTREAM-CONTRACT#S1")
class OwnerWithoutMinusOne(AllocationModel):
    """Allocates on the right lanes and reads owners as page % cp_size."""

    def owners(self, request: str, pages: Sequence[int]) -> Lanes:
        super().owners(request, pages)
        return tuple(page % self.geometry.cp_size for page in pages)


@mutant("allocation.choice-by-rank", kills="RFC-0001:C-DETERMINISM#S1")
class ChoiceByRank(AllocationModel):
    """Lets every rank but the first take the highest run of a lane."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        return _highest(self, lane, count) if self.config.rank else super().choose(lane, count)


@mutant("allocation.choice-by-a-later-rank", kills="RFC-0001:C-DETERMINISM#S1")
class ChoiceByALaterRank(AllocationModel):
    """Lets the ranks from the third on take the highest run of a lane."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        return _highest(self, lane, count) if self.config.rank > 1 else super().choose(lane, count)


@benign("allocation.highest-run-first")
class HighestRunFirst(AllocationModel):
    """Takes the end of the highest run that is long enough: the lowest pages go last."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        return _highest(self, lane, count)


@benign(
    "allocation.scattered-pages",
    declines={"RFC-0001:C-CONTIGUITY#S1": "every other page first, so that runs are broken up"},
)
class ScatteredPages(AllocationModel):
    """Takes even physical pages before odd ones."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        free = self.pages.by_lane(FREE)[lane]
        return sorted(free, key=lambda page: (self.geometry.physical(page) % 2, page))[:count]


@benign("allocation.talkative")
class Talkative(AllocationModel):
    """Reports an event of its own for every batch, and a fallback with another reason."""

    def extend(self, batch: Batch) -> ExtendAllocation:
        self.events.append(Event(kind="extend", reason=f"{len(batch)} requests"))
        self.events.append(Event(kind="fallback", reason="graph_capture_off"))
        return super().extend(batch)


def exchanged(variant: AllocationModel, taken: tuple[int, ...], instead: Mapping[int, int]) -> tuple[int, ...]:
    """Return pages with the only page of a lane exchanged for another, and put the one that was taken back."""
    lanes = [variant.geometry.lane(page) for page in taken]
    for lane, page in instead.items():
        if lanes.count(lane) == 1:
            index = lanes.index(lane)
            variant.pages.move(taken[index : index + 1], FREE)
            return (*taken[:index], page, *taken[index + 1 :])
    return taken


def _highest(variant: AllocationModel, lane: int, count: int) -> list[int]:
    runs = variant.pages.runs[lane]
    ends = [end for start, end in sorted(runs.end_of.items()) if end - start >= count]
    if not ends:
        return [variant.geometry.logical(lane, physical) for physical in runs.choose(count)]
    return [variant.geometry.logical(lane, physical) for physical in range(ends[-1] - count, ends[-1])]

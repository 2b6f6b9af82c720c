"""Wrong, and odd but right, variants of pages under a transfer: given away, counted as free, never free again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sharedkv_conformance.contract.allocation import LaneStatistics
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.allocation import AllocationModel, by_lane
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE, IN_USE
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import Chunk, FlightModel, Job

# -- given away ------------------------------------------------------------------------------------------------------


@mutant(
    "transfer.nothing-pinned",
    kills="RFC-0012:C-PINS#S1",
    also={"RFC-0012:C-PINS#S4": "what is free for others is counted as free"},
)
class NothingPinned(SendingModel):
    """Lets pages go when the request is done with them."""

    def is_pinned(self, page: int) -> bool:
        return False


@mutant(
    "transfer.pinned-when-picked-up",
    kills="RFC-0012:C-PINS#S1",
    also={"RFC-0012:C-PINS#S4": "what is free for others is counted as free"},
)
class PinnedWhenPickedUp(SendingModel):
    """Pins pages when a worker begins with them, and not while they wait for it."""

    def job_pins(self, job: Job) -> bool:
        return False


@mutant(
    "transfer.pinned-until-picked-up",
    kills="RFC-0012:C-PINS#S1",
    also={"RFC-0012:C-PINS#S4": "what is free for others is counted as free"},
)
class PinnedUntilPickedUp(SendingModel):
    """Lets pages go when a worker has begun with them, while the network reads them."""

    def flight_pins(self, flight: FlightModel) -> bool:
        return False


@mutant(
    "transfer.index-not-pinned",
    kills="RFC-0012:C-PINS#S1",
    also={"RFC-0012:C-PINS#S4": "what is free for others is counted as free"},
)
class IndexNotPinned(SendingModel):
    """Pins the pages of the last chunk, and not those of the whole request that go with it."""

    def pages_of(self, chunk: Chunk) -> tuple[int, ...]:
        return chunk.pages


@mutant(
    "transfer.cache-not-pinned",
    kills="RFC-0012:C-PINS#S1",
    also={"RFC-0012:C-PINS#S4": "what is free for others is counted as free"},
)
class CacheNotPinned(AllocationModel):
    """Evicts pages that were cached before they were sent."""

    def pin(self, pages: Sequence[int]) -> None:
        """Take note of nothing."""


# -- counted as free -------------------------------------------------------------------------------------------------


@mutant("transfer.pinned-counted-as-free", kills="RFC-0012:C-PINS#S4")
class PinnedCountedAsFree(AllocationModel):
    """Counts a page as what it will be, and not as what it is."""

    def lanes(self) -> LaneStatistics:
        true = super().lanes()
        soon = {state: self._soon(state) for state in (FREE, EVICTABLE)}
        return LaneStatistics(
            capacity=true.capacity,
            free=_added(true.free, soon[FREE]),
            evictable=_added(true.evictable, soon[EVICTABLE]),
            in_use=tuple(have - gone for have, gone in zip(true.in_use, _added(*soon.values()), strict=True)),
        )

    def _soon(self, state: str) -> tuple[int, ...]:
        return by_lane(self.geometry, (self.geometry.lane(page) for page, to in self.deferred.items() if to == state))


def _added(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(sum, zip(one, other, strict=True)))


# -- never free again ------------------------------------------------------------------------------------------------


@mutant("transfer.release-forgotten", kills="RFC-0012:C-PINS#S2")
class ReleaseForgotten(AllocationModel):
    """Takes a release of a pinned page, and does nothing when it is not pinned any more."""

    def unpin(self, pages: Sequence[int]) -> None:
        for page in pages:
            if self.deferred.pop(page, None) == EVICTABLE:
                self.pages.move([page], EVICTABLE)
            self.asked.discard(page)


@mutant("transfer.retained-page-freed", kills="RFC-0012:C-PINS#S2")
class RetainedPageFreed(AllocationModel):
    """Frees a page that was to be kept as cache."""

    def unpin(self, pages: Sequence[int]) -> None:
        asked = {page for page in pages if page in self.asked}
        super().unpin(pages)
        self.pages.move(sorted(asked), FREE)


@mutant("transfer.pinned-page-not-taken-back", kills="RFC-0012:C-PINS#S2")
class PinnedPageNotTakenBack(AllocationModel):
    """Refuses a release of a pinned page, which nobody asks for again."""

    def check_named(self, pages: Sequence[int], allowed: Sequence[str]) -> None:
        super().check_named(pages, allowed)
        if any(map(self.is_pinned, pages)):
            raise Rejected(Reason.PAGE_NOT_ALLOCATED, f"pages {list(pages)}")


@mutant("transfer.pinned-until-forgotten", kills="RFC-0012:C-PINS#S2")
class PinnedUntilForgotten(SendingModel):
    """Keeps the pages of a room until it is forgotten."""

    def pages_read(self) -> Iterable[int]:
        sent = {page for room in self.rooms.values() for chunk in room.sent for page in self.pages_of(chunk)}
        return sent.union(super().pages_read())


# -- given back twice ------------------------------------------------------------------------------------------------


@mutant("transfer.pinned-page-released-twice", kills="RFC-0012:C-PINS#S3")
class PinnedPageReleasedTwice(AllocationModel):
    """Takes a second release of a page that waits to be free."""

    def state_of(self, page: int) -> str:
        return IN_USE if page in self.asked else super().state_of(page)


# -- odd but right ---------------------------------------------------------------------------------------------------


@benign("transfer.pinned-page-by-page")
class PinnedPageByPage(SendingModel):
    """Lets each page go that nothing reads any more, while others of its chunk are read."""

    def pages_read(self) -> Iterable[int]:
        opened = [page for chunk in self.contexts_open for page in chunk.pages]
        queued = [
            page for job in self.jobs for page in self.pages_of(job.chunk) if self.geometry.lane(page) == job.rank
        ]
        return {*opened, *queued, *(page for flight in self.flying for page in flight.sources)}

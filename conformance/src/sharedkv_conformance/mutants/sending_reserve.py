"""Wrong variants of what decode sets aside: pages twice, too early, never again, and rooms that nobody can reserve."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.sending import DecodePlace, DecodeStatistics
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import DecodeRoom

# -- what a room is given --------------------------------------------------------------------------------------------


@mutant("transfer.page-for-two-positions", kills="RFC-0012:C-RESERVE#S1")
class PageForTwoPositions(SendingModel):
    """Gives the last two positions of a room one page."""

    def pages_for_room(self, rank: int, num_pages: int) -> tuple[int, ...]:
        own = super().pages_for_room(rank, num_pages)
        return (*own[:-1], own[-2]) if num_pages > 1 else own


@mutant("transfer.dummy-set-aside", kills="RFC-0012:C-RESERVE#S1")
class DummySetAside(SendingModel):
    """Counts the pages of decode from 0."""

    def pages_for_room(self, rank: int, num_pages: int) -> tuple[int, ...]:
        return tuple(page - 1 for page in super().pages_for_room(rank, num_pages))


@mutant("transfer.one-page-more", kills="RFC-0012:C-RESERVE#S1")
class OnePageMore(SendingModel):
    """Rounds up the pages of a room to an even number where there is one more."""

    def pages_for_room(self, rank: int, num_pages: int) -> tuple[int, ...]:
        return super().pages_for_room(rank, num_pages + num_pages % 2)


@mutant("transfer.reserved-page-again", kills="RFC-0012:C-RESERVE#S2")
class ReservedPageAgain(SendingModel):
    """Gives a room a page that another one has, which is open."""

    def pages_for_room(self, rank: int, num_pages: int) -> tuple[int, ...]:
        own = super().pages_for_room(rank, num_pages)
        taken = [place.pages[-1] for room in self.reserved.values() for place in room.places if place.rank == rank]
        return (*own[:-1], *taken[:1]) if taken else own


@mutant("transfer.quarantined-page-again", kills="RFC-0012:C-RESERVE#S2")
class QuarantinedPageAgain(SendingModel):
    """Gives a room a page of one that was closed, while prefill may go on to write it."""

    def pages_for_room(self, rank: int, num_pages: int) -> tuple[int, ...]:
        own = super().pages_for_room(rank, num_pages)
        taken = [place.pages[-1] for room in self.lingering for place in room.places if place.rank == rank]
        return (*own[:-1], *taken[:1]) if taken else own


@mutant("transfer.slot-again", kills="RFC-0012:C-RESERVE#S2")
class SlotAgain(SendingModel):
    """Gives a room a slot that another one has, which has not committed."""

    def slot_for_room(self, rank: int) -> int:
        taken = [
            place.slot
            for room in self.reserved.values()
            for place in room.places
            if place.rank == rank and not room.is_committed
        ]
        return taken[0] if taken else super().slot_for_room(rank)


# -- when there is room ----------------------------------------------------------------------------------------------


@mutant("transfer.last-page-kept", kills="RFC-0012:C-RESERVE#S3")
class LastPageKept(SendingModel):
    """Keeps one page free."""

    def refuse_short(self, num_pages: int, ranks: Sequence[int]) -> None:
        super().refuse_short(num_pages, ranks)
        super().refuse_short(num_pages + 1, ranks)


@mutant("transfer.deficit-of-all", kills="RFC-0012:C-RESERVE#S3")
class DeficitOfAll(SendingModel):
    """Says that everything is short that is required."""

    def refuse_short(self, num_pages: int, ranks: Sequence[int]) -> None:
        try:
            super().refuse_short(num_pages, ranks)
        except CapacityWait as wait:
            raise CapacityWait(wait.required, wait.available, wait.required) from None


@mutant("transfer.counts-of-one-rank", kills="RFC-0012:C-RESERVE#S3")
class CountsOfOneRank(SendingModel):
    """Counts what is short on the first rank alone."""

    def refuse_short(self, num_pages: int, ranks: Sequence[int]) -> None:
        try:
            super().refuse_short(num_pages, ranks)
        except CapacityWait as wait:
            raise CapacityWait(wait.required[:1], wait.available[:1], wait.deficit[:1]) from None


@mutant("transfer.slots-refused", kills="RFC-0012:C-RESERVE#S3")
class SlotsRefused(SendingModel):
    """Says of a room that waits for a slot that it is none."""

    def refuse_short(self, num_pages: int, ranks: Sequence[int]) -> None:
        try:
            super().refuse_short(num_pages, ranks)
        except CapacityWait as wait:
            if not any(wait.available):
                raise Rejected(Reason.ROOM_INVALID) from None
            raise


class LessChecked(SendingModel):
    """Does not look for one of the reasons to refuse a room."""

    def reserve_faults(self, room: int, num_pages: int, ranks: Sequence[int]) -> frozenset[Reason]:
        found = super().reserve_faults(room, num_pages, ranks)
        return found - {Reason.ROOM_INVALID} if self.overlooks(num_pages, ranks) else found

    def overlooks(self, num_pages: int, ranks: Sequence[int]) -> bool:
        """Say whether what is wrong is overlooked."""
        raise NotImplementedError


@mutant("transfer.reserved-for-nothing", kills="RFC-0012:C-RESERVE#S4")
class ReservedForNothing(LessChecked):
    """Reserves a room without pages."""

    def overlooks(self, num_pages: int, ranks: Sequence[int]) -> bool:
        return num_pages == 0 and not super(LessChecked, self).reserve_faults(-1, 1, ranks)


@mutant("transfer.reserved-for-nobody", kills="RFC-0012:C-RESERVE#S4")
class ReservedForNobody(LessChecked):
    """Reserves a room without destinations."""

    def overlooks(self, num_pages: int, ranks: Sequence[int]) -> bool:
        return num_pages > 0 and not ranks


@mutant("transfer.reserved-over", kills="RFC-0012:C-RESERVE#S4")
class ReservedOver(SendingModel):
    """Takes a room over that is open."""

    def is_reserved(self, room: int) -> bool:
        return False if self.is_asked else super().is_reserved(room)

    is_asked = False

    def reserve_faults(self, room: int, num_pages: int, ranks: Sequence[int]) -> frozenset[Reason]:
        self.is_asked = True
        found = super().reserve_faults(room, num_pages, ranks)
        self.is_asked = False
        return found


# -- epochs ----------------------------------------------------------------------------------------------------------


@mutant("transfer.epoch-of-each-number", kills="RFC-0012:C-RESERVE#S5")
class EpochOfEachNumber(SendingModel):
    """Counts the epochs of each number of its own."""

    def next_epoch(self, room: int) -> int:
        super().next_epoch(room)
        return self.latest.get(room, 0) + 1


@mutant("transfer.epoch-stays", kills="RFC-0012:C-RESERVE#S5")
class EpochStays(SendingModel):
    """Gives a number the same epoch whenever it is used."""

    def next_epoch(self, room: int) -> int:
        own = super().next_epoch(room)
        return self.latest.get(room, own)


# -- giving back -----------------------------------------------------------------------------------------------------


@mutant("transfer.last-page-lost", kills="RFC-0012:C-RESERVE#S6")
class LastPageLost(SendingModel):
    """Gives back all pages of a room but the last."""

    def pages_given_back(self, room: DecodeRoom, place: DecodePlace) -> tuple[int, ...]:
        own = super().pages_given_back(room, place)
        return own if room.has_failed or len(own) < 2 else own[:-1]  # noqa: PLR2004 - a page has to be left


@mutant("transfer.pages-of-one-destination", kills="RFC-0012:C-RESERVE#S6")
class PagesOfOneDestination(SendingModel):
    """Gives back the pages of the first destination."""

    def pages_given_back(self, room: DecodeRoom, place: DecodePlace) -> tuple[int, ...]:
        own = super().pages_given_back(room, place)
        return own if room.has_failed or place == room.places[0] else ()


@mutant("transfer.slot-given-back-by-commit-alone", kills="RFC-0012:C-RESERVE#S6")
class SlotGivenBackByCommitAlone(SendingModel):
    """Keeps the slot of a room that nobody committed."""

    def give_slots_back(self, room: DecodeRoom) -> None:
        if room.is_committed or room.has_failed:
            super().give_slots_back(room)


@mutant("transfer.slot-given-back-twice", kills="RFC-0012:C-RESERVE#S6")
class SlotGivenBackTwice(SendingModel):
    """Gives the slot back at the commit and at the close."""

    def try_free(self, room: DecodeRoom) -> None:
        is_there = room in self.lingering
        super().try_free(room)
        if is_there and room not in self.lingering and room.is_committed:
            self.give_slots_back(room)


@mutant("transfer.closed-while-written", kills="RFC-0012:C-RESERVE#S7")
class ClosedWhileWritten(SendingModel):
    """Closes a room that has not ended."""

    def close_room(self, room: int) -> None:
        found = self.reserved[room]
        if self.state_of(found) in ("waiting", "transferring"):
            del self.reserved[room]
            found.is_closed = True
            self.lingering.append(found)
        else:
            super().close_room(room)


@mutant("transfer.closed-once-something-came", kills="RFC-0012:C-RESERVE#S7")
class ClosedOnceSomethingCame(SendingModel):
    """Refuses to close a room of which nothing has come, and closes one that is under way."""

    def close_room(self, room: int) -> None:
        found = self.reserved[room]
        if self.state_of(found) == "transferring":
            del self.reserved[room]
            found.is_closed = True
            self.lingering.append(found)
            self.try_free(found)
        else:
            super().close_room(room)


@mutant("transfer.reserved-counted-as-free", kills="RFC-0012:C-RESERVE#S8")
class ReservedCountedAsFree(SendingModel):
    """Counts the pages of a room as free until something lands in them."""

    def counts_of(self, rank: int) -> DecodeStatistics:
        true = super().counts_of(rank)
        idle = [room for room in self.reserved.values() if self.state_of(room) == "waiting"]
        pages = self.pages_on(rank, idle)
        return DecodeStatistics(
            rank=rank,
            free=true.free + pages,
            reserved=true.reserved - pages,
            quarantined=true.quarantined,
            free_slots=true.free_slots,
        )


@mutant("transfer.quarantined-counted-as-free", kills="RFC-0012:C-RESERVE#S8")
class QuarantinedCountedAsFree(SendingModel):
    """Counts pages that were closed as free, while prefill may go on to write them."""

    def counts_of(self, rank: int) -> DecodeStatistics:
        true = super().counts_of(rank)
        return DecodeStatistics(
            rank=rank,
            free=true.free + true.quarantined,
            reserved=true.reserved,
            quarantined=0,
            free_slots=true.free_slots,
        )


@mutant("transfer.quarantined-counted-as-reserved", kills="RFC-0012:C-RESERVE#S8")
class QuarantinedCountedAsReserved(SendingModel):
    """Counts pages of rooms that were closed as reserved."""

    def counts_of(self, rank: int) -> DecodeStatistics:
        true = super().counts_of(rank)
        return DecodeStatistics(
            rank=rank,
            free=true.free,
            reserved=true.reserved + true.quarantined,
            quarantined=0,
            free_slots=true.free_slots,
        )

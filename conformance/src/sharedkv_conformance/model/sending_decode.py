"""The decode side of the model of sending: pages and slots that are set aside, what has arrived, and the commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.sending import DecodePlace, DecodeStatistics, Reservation
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.sending_parts import (
    AUX,
    INDEX,
    KV,
    OPENED,
    ArrivalsModel,
    DecodeRoom,
    Notice,
    Slot,
)
from sharedkv_conformance.model.sending_probes import ProbedNetwork
from sharedkv_conformance.model.transfer_rooms import Message as Arrival

ENDS = frozenset({"success", "failed"})
NO_EPOCH = -1


class DecodeModel(ProbedNetwork):
    """All decode ranks as one group; small decisions are methods."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        transfer = config.transfer
        ranks = range(transfer.decode_ranks)
        self.free_pages = {rank: list(range(1, 1 + transfer.decode_pages)) for rank in ranks}
        self.free_slots = {rank: list(range(transfer.slots)) for rank in ranks}
        self.epochs = NO_EPOCH
        self.reserved: dict[int, DecodeRoom] = {}
        self.lingering: list[DecodeRoom] = []

    # -- the calls of the contract -----------------------------------------------------------------------------------

    def reserve(self, room: int, num_pages: int, ranks: Sequence[int]) -> Reservation:
        """Check, take pages and slots, and tell every prefill rank."""
        for reason in sorted(self.reserve_faults(room, num_pages, ranks)):
            raise Rejected(reason, f"room {room}, {num_pages} pages on {list(ranks)}")
        self.refuse_short(num_pages, ranks)
        epoch = self.next_epoch(room)
        places = tuple(self.set_aside(rank, num_pages) for rank in ranks)
        self.reserved[room] = self.new_decode_room(room, epoch, places)
        for place in places:
            self.announce(self.reserved[room], place)
        self.settle()
        return Reservation(epoch=epoch, places=places)

    def status(self, room: int) -> str:
        """Say how far a reserved room is."""
        found = self.reserved[room]
        self.look(found)
        self.settle()
        return self.state_of(found)

    def commit(self, room: int) -> tuple[bytes, ...]:
        """Return the metadata of a room that has succeeded, and give the slots back."""
        found = self.reserved.get(room)
        if found is None:
            raise Rejected(Reason.ROOM_UNKNOWN, f"room {room}")
        self.look(found)
        self.settle()
        if not self.may_commit(found):
            raise Rejected(Reason.ROOM_NOT_READY, f"room {room} is {self.state_of(found)}")
        data = tuple(self.memory.slots[place.rank, place.slot].data for place in found.places)
        found.is_committed = True
        self.give_slots_back(found)
        return data

    def close_room(self, room: int) -> None:
        """Forget a room that has ended."""
        found = self.reserved[room]
        self.look(found)
        self.settle()
        if self.state_of(found) not in ENDS:
            raise Rejected(Reason.ROOM_IN_USE, f"room {room}")
        del self.reserved[room]
        found.is_closed = True
        self.lingering.append(found)
        self.try_free(found)

    def decode_pools(self) -> tuple[DecodeStatistics, ...]:
        """Count pages and slots of each decode rank."""
        return tuple(map(self.counts_of, range(self.config.transfer.decode_ranks)))

    # -- reserving ---------------------------------------------------------------------------------------------------

    def is_reserved(self, room: int) -> bool:
        """Say whether a room is open, and was reserved."""
        return room in self.reserved

    def reserve_faults(self, room: int, num_pages: int, ranks: Sequence[int]) -> frozenset[Reason]:
        """Return every reason why a room cannot be reserved, whatever is free."""
        known = range(self.config.transfer.decode_ranks)
        invalid = num_pages < 1 or not ranks or len(set(ranks)) < len(ranks) or not set(ranks) <= set(known)
        faults = {Reason.ROOM_IN_USE: self.is_reserved(room), Reason.ROOM_INVALID: invalid}
        return frozenset(reason for reason, present in faults.items() if present)

    def refuse_short(self, num_pages: int, ranks: Sequence[int]) -> None:
        """Refuse where a rank is short of pages, or of slots."""
        for need, free in ((num_pages, self.free_pages), (1, self.free_slots)):
            available = tuple(len(free[rank]) for rank in ranks)
            if any(have < need for have in available):
                deficit = tuple(max(0, need - have) for have in available)
                raise CapacityWait(required=(need,) * len(ranks), available=available, deficit=deficit)

    def next_epoch(self, room: int) -> int:
        """Return an epoch that no room had."""
        del room
        self.epochs = max(self.epochs, 0) + 1
        return self.epochs

    def set_aside(self, rank: int, num_pages: int) -> DecodePlace:
        """Take pages and a cleared slot of a rank."""
        pages, slot = self.pages_for_room(rank, num_pages), self.slot_for_room(rank)
        self.free_pages[rank] = [page for page in self.free_pages[rank] if page not in pages]
        self.free_slots[rank] = [other for other in self.free_slots[rank] if other != slot]
        self.clear_slot(rank, slot)
        return DecodePlace(rank=rank, pages=pages, slot=slot)

    def pages_for_room(self, rank: int, num_pages: int) -> tuple[int, ...]:
        """Choose free pages of a rank, in the order of positions."""
        return tuple(self.free_pages[rank][:num_pages])

    def slot_for_room(self, rank: int) -> int:
        """Choose a free slot of a rank."""
        return self.free_slots[rank][0]

    def clear_slot(self, rank: int, slot: int) -> None:
        """Let a slot name nobody."""
        self.memory.slots[rank, slot] = Slot()

    def new_decode_room(self, room: int, epoch: int, places: tuple[DecodePlace, ...]) -> DecodeRoom:
        """Return a room of which nothing was heard."""
        sources, parts = tuple(range(self.config.cp_size)), self.parts()
        arrivals = {place.rank: self.new_arrivals(epoch, sources, parts) for place in places}
        return DecodeRoom(room=room, epoch=epoch, places=places, began=self.clock, arrivals=arrivals)

    def new_arrivals(self, epoch: int, sources: tuple[int, ...], parts: tuple[str, ...]) -> ArrivalsModel:
        """Return what has arrived at one destination: nothing."""
        return ArrivalsModel(epoch, sources, parts)

    def parts(self) -> tuple[str, ...]:
        """Return the parts that are awaited."""
        return (KV, INDEX, AUX) if self.has_index else (KV, AUX)

    def announce(self, room: DecodeRoom, place: DecodePlace) -> None:
        """Tell every prefill rank of one destination."""
        destinations = tuple(other.rank for other in room.places)
        for source in range(self.config.cp_size):
            self.post(
                Notice(
                    number=-1,
                    kind=OPENED,
                    room=room.room,
                    epoch=room.epoch,
                    source=source,
                    destination=place.rank,
                    place=place,
                    destinations=destinations,
                )
            )

    # -- what is heard -----------------------------------------------------------------------------------------------

    def decode_room(self, room: int, epoch: int) -> DecodeRoom | None:
        """Return the room that a message speaks of, if it is open."""
        found = self.reserved.get(room)
        return found if found is not None and self.is_epoch_of(found.epoch, epoch) else None

    def is_epoch_of(self, own: int, heard: int) -> bool:
        """Say whether a message is of the epoch that is known."""
        return own == heard

    def hear_arrived(self, notice: Notice) -> None:
        """Note a chunk of a part of a source, if it is waited for."""
        found = self.decode_room(notice.room, notice.epoch)
        if found is None or self.has_ended(found) or notice.destination not in found.arrivals:
            return
        arrivals = found.arrivals[notice.destination]
        arrival = Arrival(source=notice.source, part=notice.part, chunk=notice.chunk, is_last=notice.is_last)
        if arrivals.awaits(arrival):
            arrivals.hear(arrival)

    def hear_failed(self, notice: Notice) -> None:
        """Fail a room that prefill gave up."""
        found = self.decode_room(notice.room, notice.epoch)
        if found is not None and not self.has_ended(found):
            self.fail_decode(found)

    def fail_decode(self, room: DecodeRoom) -> None:
        """Take a room for failed at every destination."""
        room.has_failed, room.failed_at = True, self.clock
        self.decode_failed(room)

    def decode_failed(self, room: DecodeRoom) -> None:
        """Do what follows on the failure of a room."""
        raise NotImplementedError

    # -- how far a room is -------------------------------------------------------------------------------------------

    def has_ended(self, room: DecodeRoom) -> bool:
        """Say whether nothing changes the state of a room but what its slots name."""
        return self.state_of(room) in ENDS

    def state_of(self, room: DecodeRoom) -> str:
        """Say how far a room is, by what was heard and seen of it."""
        if room.has_failed:
            return "failed"
        if room.has_arrived:
            return "success"
        return "transferring" if any(arrivals.heard for arrivals in room.arrivals.values()) else "waiting"

    def look(self, room: DecodeRoom) -> None:
        """Look at the slots of a room of which everything has arrived; where one names another, the room failed."""
        if room.has_failed or room.is_committed or not room.has_arrived:
            return
        if not all(self.is_own_slot(room, self.memory.slots[place.rank, place.slot]) for place in room.places):
            self.fail_decode(room)

    def is_own_slot(self, room: DecodeRoom, slot: Slot) -> bool:
        """Say whether a slot names a room."""
        return (slot.room, slot.epoch) == (room.room, room.epoch)

    def may_commit(self, room: DecodeRoom) -> bool:
        """Say whether a room has succeeded and was not committed."""
        return self.state_of(room) == "success" and not room.is_committed

    # -- giving back -------------------------------------------------------------------------------------------------

    def try_free(self, room: DecodeRoom) -> None:
        """Give the pages and slots of a closed room back, if nobody goes on to write them."""
        if room.is_closed and room in self.lingering and self.may_free(room):
            self.lingering.remove(room)
            for place in room.places:
                self.free_pages[place.rank] += self.pages_given_back(room, place)
            if not room.is_committed:
                self.give_slots_back(room)

    def may_free(self, room: DecodeRoom) -> bool:
        """Say whether nothing goes on to land in the pages of a room that has ended."""
        return not room.has_failed or self.is_safe(room)

    def is_safe(self, room: DecodeRoom) -> bool:
        """Say whether a room that has failed has drained, or waited long enough."""
        raise NotImplementedError

    def pages_given_back(self, room: DecodeRoom, place: DecodePlace) -> tuple[int, ...]:
        """Return the pages of a place that are free from now on."""
        del room
        return place.pages

    def give_slots_back(self, room: DecodeRoom) -> None:
        """Let the next rooms have the slots."""
        for place in room.places:
            self.free_slots[place.rank].append(place.slot)

    def counts_of(self, rank: int) -> DecodeStatistics:
        """Count the pages and slots of a decode rank."""
        return DecodeStatistics(
            rank=rank,
            free=len(self.free_pages[rank]),
            reserved=self.pages_on(rank, self.reserved.values()),
            quarantined=self.pages_on(rank, self.lingering),
            free_slots=len(self.free_slots[rank]),
        )

    @staticmethod
    def pages_on(rank: int, rooms: Iterable[DecodeRoom]) -> int:
        """Count the pages that rooms have on a rank."""
        return sum(len(place.pages) for room in rooms for place in room.places if place.rank == rank)

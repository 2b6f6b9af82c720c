"""Wrong, and odd but right, variants of metadata slots: what a commit returns, whose slot it is, when it is free."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import DecodeRoom, FlightModel, Slot

# -- what a commit returns -------------------------------------------------------------------------------------------


@mutant("transfer.metadata-of-the-first-chunk", kills="RFC-0012:C-SLOTS#S1")
class MetadataOfTheFirstChunk(SendingModel):
    """Sends what the first chunk came with."""

    def aux_of(self, flight: FlightModel) -> bytes:
        return flight.room.sent[0].aux


@mutant("transfer.metadata-filled-up", kills="RFC-0012:C-SLOTS#S1")
class MetadataFilledUp(SendingModel):
    """Returns the whole slot, with zeros behind what was sent."""

    def commit(self, room: int) -> tuple[bytes, ...]:
        return tuple(data.ljust(self.config.transfer.aux_bytes, b"\0") for data in super().commit(room))


@mutant("transfer.metadata-of-one-destination", kills="RFC-0012:C-SLOTS#S1")
class MetadataOfOneDestination(SendingModel):
    """Returns what the first destination has, once."""

    def commit(self, room: int) -> tuple[bytes, ...]:
        return super().commit(room)[:1]


# -- whose slot it is ------------------------------------------------------------------------------------------------


@mutant("transfer.slots-not-looked-at", kills="RFC-0012:C-SLOTS#S2")
class SlotsNotLookedAt(SendingModel):
    """Takes whatever the slot holds."""

    def is_own_slot(self, room: DecodeRoom, slot: Slot) -> bool:
        return True


@mutant("transfer.slots-by-room-alone", kills="RFC-0012:C-SLOTS#S2")
class SlotsByRoomAlone(SendingModel):
    """Takes the metadata of an earlier request under the same number."""

    def is_own_slot(self, room: DecodeRoom, slot: Slot) -> bool:
        return slot.room == room.room


@mutant("transfer.slots-by-epoch-alone", kills="RFC-0012:C-SLOTS#S2")
class SlotsByEpochAlone(SendingModel):
    """Takes the metadata of another room."""

    def is_own_slot(self, room: DecodeRoom, slot: Slot) -> bool:
        return slot.epoch == room.epoch


@mutant("transfer.first-slot-looked-at", kills="RFC-0012:C-SLOTS#S2")
class FirstSlotLookedAt(SendingModel):
    """Looks at the slot of the first destination."""

    def look(self, room: DecodeRoom) -> None:
        places = room.places
        room.places = places[:1]
        failed_before = room.has_failed
        own = [self.memory.slots[place.rank, place.slot] for place in room.places]
        room.places = places
        if failed_before or any(not self.is_own_slot(room, slot) for slot in own):
            super().look(room)


class LooksEarly(SendingModel):
    """Looks at the slots of a room of which not everything has arrived."""

    def look(self, room: DecodeRoom) -> None:
        own: Sequence[Slot] = [self.memory.slots[place.rank, place.slot] for place in room.places]
        is_foreign = any(slot.room is not None and not self.is_own_slot(room, slot) for slot in own)
        if not self.has_ended(room) and is_foreign:
            self.fail_decode(room)
        super().look(room)


@mutant(
    "transfer.slots-looked-at-early",
    kills="RFC-0012:C-SLOTS#S3",
    also={"RFC-0012:C-ARRIVAL#S7": "the slot names a room that has failed, and so ends another one"},
)
class SlotsLookedAtEarly(LooksEarly):
    """Takes what stands in a slot before its own metadata has landed for a fault."""


@mutant(
    "transfer.slots-not-cleared",
    kills="RFC-0012:C-SLOTS#S3",
    also={"RFC-0012:C-ARRIVAL#S7": "the slot names a room that has failed, and so ends another one"},
)
class SlotsNotCleared(LooksEarly):
    """Leaves in a slot what the last room had there, and takes it for a fault."""

    def clear_slot(self, rank: int, slot: int) -> None:
        """Clear nothing."""


# -- refusals, and when it is free -----------------------------------------------------------------------------------


@mutant("transfer.committed-twice", kills="RFC-0012:C-SLOTS#S4")
class CommittedTwice(SendingModel):
    """Returns the metadata as often as it is asked for, from a slot that is somebody else's by now."""

    def may_commit(self, room: DecodeRoom) -> bool:
        return self.state_of(room) == "success"

    def give_slots_back(self, room: DecodeRoom) -> None:
        is_first = all(place.slot not in self.free_slots[place.rank] for place in room.places)
        if is_first:
            super().give_slots_back(room)


@mutant("transfer.committed-early", kills="RFC-0012:C-SLOTS#S4")
class CommittedEarly(SendingModel):
    """Commits a room of which not everything has arrived."""

    def may_commit(self, room: DecodeRoom) -> bool:
        return not room.has_failed and not room.is_committed


@mutant("transfer.committed-nothing", kills="RFC-0012:C-SLOTS#S4")
class CommittedNothing(SendingModel):
    """Returns nothing for a room that is not open."""

    def commit(self, room: int) -> tuple[bytes, ...]:
        return super().commit(room) if room in self.reserved else ()


@mutant("transfer.commit-with-another-reason", kills="RFC-0012:C-SLOTS#S4")
class CommitWithAnotherReason(SendingModel):
    """Says of a room that has not succeeded that there is none."""

    def commit(self, room: int) -> tuple[bytes, ...]:
        try:
            return super().commit(room)
        except Rejected:
            raise Rejected(Reason.ROOM_UNKNOWN, f"room {room}") from None


@mutant("transfer.slot-kept-until-the-close", kills="RFC-0012:C-SLOTS#S5")
class SlotKeptUntilTheClose(SendingModel):
    """Gives a slot back with the pages."""

    def commit(self, room: int) -> tuple[bytes, ...]:
        data = super().commit(room)
        for place in self.reserved[room].places:
            self.free_slots[place.rank].remove(place.slot)
        return data

    def try_free(self, room: DecodeRoom) -> None:
        held = room in self.lingering
        super().try_free(room)
        if room.is_committed and held and room not in self.lingering:
            self.give_slots_back(room)


@benign("transfer.slots-looked-at-at-once")
class SlotsLookedAtAtOnce(SendingModel):
    """Looks at the slots of a room as soon as all has arrived, and whenever something lands in one."""

    def settle(self) -> None:
        super().settle()
        for room in list(self.reserved.values()):
            self.look(room)
        super().settle()

"""Wrong variants of rooms: success too early or never, strangers that count, and rooms mixed up."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.transfer import Pages, TransferModel
from sharedkv_conformance.model.transfer_rooms import Message, RoomModel


def is_valid(sources: Sequence[int], parts: Sequence[str]) -> bool:
    """Say whether there are sources and parts, none of them twice."""
    return all(named and len(set(named)) == len(named) for named in (tuple(sources), tuple(parts)))


class WithRooms(TransferModel):
    """Has rooms of another class."""

    room_class: type[RoomModel] = RoomModel

    def new_room(self, epoch: int, sources: Pages, parts: tuple[str, ...]) -> RoomModel:
        return self.room_class(epoch, sources, parts)


class _FirstSourceIsEnough(RoomModel):
    def missing(self) -> list[tuple[int, str]]:
        return [pair for pair in super().missing() if pair[0] == self.sources[0]]


@mutant("transfer.first-source-is-enough", kills="RFC-0012:C-ROOMS#S1")
class FirstSourceIsEnough(WithRooms):
    """Takes the first rank's end for that of all."""

    room_class = _FirstSourceIsEnough


class _LastChunkIsEnough(RoomModel):
    def is_complete(self, source: int, part: str) -> bool:
        return any(message.is_last for message in self.of(source, part))


@mutant("transfer.last-chunk-is-enough", kills="RFC-0012:C-ROOMS#S1")
class LastChunkIsEnough(WithRooms):
    """Takes the last chunk of a part for all of it."""

    room_class = _LastChunkIsEnough


class _AuxIsEnough(RoomModel):
    def missing(self) -> list[tuple[int, str]]:
        return [pair for pair in super().missing() if pair[1] == self.parts[-1]]


@mutant("transfer.aux-is-enough", kills="RFC-0012:C-ROOMS#S1")
class AuxIsEnough(WithRooms):
    """Takes the part that is sent last for all of them."""

    room_class = _AuxIsEnough


class _InOrderOnly(RoomModel):
    def hear(self, message: Message) -> None:
        if message.chunk == len(self.of(message.source, message.part)):
            super().hear(message)
        else:
            self.heard.append(Message(source=message.source, part=message.part, chunk=message.chunk, is_last=False))


@mutant("transfer.in-order-only", kills="RFC-0012:C-ROOMS#S2")
class InOrderOnly(WithRooms):
    """Does not see that a chunk is the last where an earlier one is late."""

    room_class = _InOrderOnly


class _Counting(RoomModel):
    def __init__(self, epoch: int, sources: tuple[int, ...], parts: tuple[str, ...]) -> None:
        super().__init__(epoch, sources, parts)
        self.repeated: list[Message] = []

    def awaits(self, message: Message) -> bool:
        fresh = super().awaits(message)
        if not fresh and message in self.heard and self.state() not in {"success", "failed"}:
            self.repeated.append(message)
        return fresh

    def missing(self) -> list[tuple[int, str]]:
        return super().missing()[len(self.repeated) :]


@mutant("transfer.messages-counted", kills="RFC-0012:C-ROOMS#S3")
class MessagesCounted(WithRooms):
    """Counts messages, so that one told twice stands for another."""

    room_class = _Counting

    def arrived(self, room: int, epoch: int, source: int, part: str, chunk: int, is_last: bool) -> None:  # noqa: FBT001 - by contract
        super().arrived(room, epoch, source, part, chunk, is_last)
        found = self.rooms.get(room)
        if isinstance(found, _Counting) and found.repeated and found.state() != "success":
            found.repeated.clear()


@mutant("transfer.repetition-fails", kills="RFC-0012:C-ROOMS#S3")
class RepetitionFails(TransferModel):
    """Takes a message that comes again for a broken protocol, and gives the room up."""

    def is_awaited(self, room: RoomModel, message: Message) -> bool:
        fresh = super().is_awaited(room, message)
        if not fresh and message in room.heard and room.state() != "success":
            room.has_failed = True
        return fresh


@mutant("transfer.epochs-ignored", kills="RFC-0012:C-ROOMS#S4")
class EpochsIgnored(TransferModel):
    """Finds a room by its number alone."""

    def live(self, room: int, epoch: int) -> RoomModel | None:
        return self.rooms.get(room)


@mutant("transfer.failure-after-success", kills="RFC-0012:C-ROOMS#S4")
class FailureAfterSuccess(TransferModel):
    """Lets a source that gives up take back what has arrived."""

    def failed(self, room: int, epoch: int, source: int) -> None:
        found = self.live(room, epoch)
        if found is not None and source in found.sources:
            found.has_failed = True


class _AnySource(RoomModel):
    def is_named(self, message: Message) -> bool:
        return message.part in self.parts

    def hear(self, message: Message) -> None:
        if message.source not in self.sources:
            source = next((source for source, part in self.missing() if part == message.part), self.sources[0])
            message = Message(source=source, part=message.part, chunk=message.chunk, is_last=message.is_last)
        super().hear(message)


@mutant("transfer.any-source-counts", kills="RFC-0012:C-ROOMS#S4")
class AnySourceCounts(WithRooms):
    """Takes whoever tells of a part for a source that is missing."""

    room_class = _AnySource


@mutant("transfer.failure-forgotten", kills="RFC-0012:C-ROOMS#S5")
class FailureForgotten(TransferModel):
    """Waits on for a source that gave up."""

    def failed(self, room: int, epoch: int, source: int) -> None:
        """Hear nothing of it."""


@mutant("transfer.failure-needs-all", kills="RFC-0012:C-ROOMS#S5")
class FailureNeedsAll(TransferModel):
    """Fails a room when its first source gives up, and not for another."""

    def failed(self, room: int, epoch: int, source: int) -> None:
        found = self.live(room, epoch)
        if found is None or source == found.sources[0] or source not in found.sources:
            super().failed(room, epoch, source)


class _NeverTransferring(RoomModel):
    def state(self) -> str:
        found = super().state()
        return "waiting" if found == "transferring" else found


@mutant("transfer.begins-with-the-end", kills="RFC-0012:C-ROOMS#S6")
class BeginsWithTheEnd(WithRooms):
    """Says that a room waits until it is complete."""

    room_class = _NeverTransferring


@mutant("transfer.room-taken-over", kills="RFC-0012:C-ROOMS#S7")
class RoomTakenOver(TransferModel):
    """Opens a room anew that is open."""

    def open_room(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        if is_valid(sources, parts):
            self.rooms.pop(room, None)
        return super().open_room(room, sources, parts)


@mutant("transfer.room-for-nothing", kills="RFC-0012:C-ROOMS#S8")
class RoomForNothing(TransferModel):
    """Opens a room that waits for no source."""

    def open_room(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        if sources or room in self.rooms or not parts or len(set(parts)) < len(parts):
            return super().open_room(room, sources, parts)
        epoch = self.next_epoch(room)
        self.rooms[room] = self.new_room(epoch, (), tuple(parts))
        return epoch


@mutant("transfer.sources-deduplicated", kills="RFC-0012:C-ROOMS#S8")
class SourcesDeduplicated(TransferModel):
    """Takes a source that is named twice for one."""

    def open_room(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        return super().open_room(room, tuple(dict.fromkeys(sources)), parts)


@mutant("transfer.epoch-of-the-number", kills="RFC-0012:C-ROOMS#S9")
class EpochOfTheNumber(TransferModel):
    """Gives a room the same epoch whenever its number is used."""

    def next_epoch(self, room: int) -> int:
        return room


@mutant("transfer.closed-rooms-kept", kills="RFC-0012:C-ROOMS#S9")
class ClosedRoomsKept(TransferModel):
    """Never uses a number again."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]  # as the model is made
        self.used: set[int] = set()

    def open_room(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        if room in self.used and room not in self.rooms and is_valid(sources, parts):
            raise Rejected(Reason.ROOM_IN_USE, f"room {room}")
        epoch = super().open_room(room, sources, parts)
        self.used.add(room)
        return epoch


@mutant("transfer.closed-at-any-time", kills="RFC-0012:C-ROOMS#S10")
class ClosedAtAnyTime(TransferModel):
    """Closes a room whose pages may still be written."""

    def close_room(self, room: int) -> None:
        self.require(room)
        del self.rooms[room]


@mutant("transfer.failed-rooms-stay", kills="RFC-0012:C-ROOMS#S10")
class FailedRoomsStay(TransferModel):
    """Closes rooms that have succeeded, and no others."""

    def ends(self) -> frozenset[str]:
        return frozenset({"success"})

    def failed(self, room: int, epoch: int, source: int) -> None:
        found = self.live(room, epoch)
        if found is not None and found.state() != "failed":
            super().failed(room, epoch, source)


@mutant("transfer.unknown-rooms-wait", kills="RFC-0012:C-ROOMS#S11")
class UnknownRoomsWait(TransferModel):
    """Says of a room that is not open that nothing has arrived yet."""

    def status(self, room: int) -> str:
        return super().status(room) if room in self.rooms else "waiting"


@mutant("transfer.closed-twice", kills="RFC-0012:C-ROOMS#S11")
class ClosedTwice(TransferModel):
    """Closes a room that is not there."""

    def close_room(self, room: int) -> None:
        if room in self.rooms:
            super().close_room(room)


@mutant("transfer.stray-message-raises", kills="RFC-0012:C-ROOMS#S12")
class StrayMessageRaises(TransferModel):
    """Raises where a message comes for a room that is not open."""

    def arrived(self, room: int, epoch: int, source: int, part: str, chunk: int, is_last: bool) -> None:  # noqa: FBT001 - by contract
        self.require(room)
        super().arrived(room, epoch, source, part, chunk, is_last)

"""Wrong variants of arrival: success too early or never, metadata from everybody, failures that nobody hears of."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import (
    AUX,
    AUX_RANK,
    INDEX,
    KV,
    ArrivalsModel,
    Chunk,
    DecodeRoom,
    FlightModel,
    Job,
    PrefillRoom,
)

# -- success ---------------------------------------------------------------------------------------------------------


@mutant("transfer.arrived-when-submitted", kills="RFC-0012:C-ARRIVAL#S1")
class ArrivedWhenSubmitted(SendingModel):
    """Tells of a chunk when the engine has taken it."""

    def is_there(self, chunk: Chunk, part: str, source: int, destination: int) -> bool:
        return source in chunk.picked


@mutant("transfer.metadata-stands-for-all", kills="RFC-0012:C-ARRIVAL#S1")
class MetadataStandsForAll(SendingModel):
    """Begins to decode when the metadata is there."""

    class Arrivals(ArrivalsModel):
        """Waits for the metadata alone."""

        def missing(self) -> list[tuple[int, str]]:
            return [pair for pair in super().missing() if pair[1] == AUX]

    def new_arrivals(self, epoch: int, sources: tuple[int, ...], parts: tuple[str, ...]) -> ArrivalsModel:
        return self.Arrivals(epoch, sources, parts)


@mutant(
    "transfer.one-destination-stands-for-all",
    kills="RFC-0012:C-ARRIVAL#S1",
    also={
        "RFC-0012:C-SLOTS#S2": "of a room that has ended nothing more is heard",
    },
)
class OneDestinationStandsForAll(SendingModel):
    """Begins to decode on every rank when the first one has everything."""

    def state_of(self, room: DecodeRoom) -> str:
        first = room.arrivals[room.places[0].rank]
        return "success" if not room.has_failed and not first.missing() else super().state_of(room)


@mutant("transfer.rank-without-pages-silent", kills="RFC-0012:C-ARRIVAL#S2")
class RankWithoutPagesSilent(SendingModel):
    """Tells nothing of a chunk that a rank has no page of."""

    def is_there(self, chunk: Chunk, part: str, source: int, destination: int) -> bool:
        is_mute = bool(chunk.pages) and part == KV and not self.own(source, chunk.pages)
        return not is_mute and super().is_there(chunk, part, source, destination)


@mutant("transfer.index-always-awaited", kills="RFC-0012:C-ARRIVAL#S2")
class IndexAlwaysAwaited(SendingModel):
    """Waits for an index where the layout has none."""

    def parts(self) -> tuple[str, ...]:
        return (KV, INDEX, AUX)


@mutant("transfer.metadata-awaited-from-all", kills="RFC-0012:C-ARRIVAL#S2")
class MetadataAwaitedFromAll(SendingModel):
    """Waits for metadata from every rank."""

    class Arrivals(ArrivalsModel):
        """Waits for every part of every source."""

        def awaited(self) -> list[tuple[int, str]]:  # type: ignore[override]  # a list is gone through alike
            return [(source, part) for source in self.sources for part in self.parts]

    def new_arrivals(self, epoch: int, sources: tuple[int, ...], parts: tuple[str, ...]) -> ArrivalsModel:
        return self.Arrivals(epoch, sources, parts)


# -- the last chunk --------------------------------------------------------------------------------------------------


@mutant("transfer.empty-chunk-without-metadata", kills="RFC-0012:C-ARRIVAL#S3")
class EmptyChunkWithoutMetadata(SendingModel):
    """Sends no metadata with a last chunk that has no page."""

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        return bool(room.sent[-1].pages) and super().is_aux_turn(room, destination)


@mutant("transfer.empty-chunk-without-index", kills="RFC-0012:C-ARRIVAL#S3")
class EmptyChunkWithoutIndex(SendingModel):
    """Sends no index with a last chunk that has no page."""

    def send_index(self, job: Job, destination: int) -> None:
        if job.chunk.pages:
            super().send_index(job, destination)


@mutant("transfer.empty-chunk-dropped", kills="RFC-0012:C-ARRIVAL#S3")
class EmptyChunkDropped(SendingModel):
    """Leaves a last chunk without pages alone."""

    def work(self, job: Job) -> None:
        if job.chunk.pages or not job.chunk.is_last:
            super().work(job)


class AuxElsewhere(SendingModel):
    """Sends metadata to a destination, and from more ranks than one."""

    def look_after(self, room: PrefillRoom) -> None:
        for destination in () if room.reason else room.destinations:
            if self.aux_is_due(room, destination):
                self.send_more(room, destination)
        super().look_after(room)

    def send_more(self, room: PrefillRoom, destination: int) -> None:
        """Send what is too much."""
        raise NotImplementedError


@mutant(
    "transfer.metadata-from-every-rank",
    kills="RFC-0012:C-ARRIVAL#S4",
    also={
        "RFC-0012:C-METRICS#S1": "what is sent twice is counted twice",
        "RFC-0012:C-METRICS#S3": "what is sent twice is counted twice",
    },
)
class MetadataFromEveryRank(AuxElsewhere):
    """Sends the metadata from every rank."""

    def send_more(self, room: PrefillRoom, destination: int) -> None:
        for rank in range(1, self.config.cp_size):
            self.fly(room.sent[-1], AUX, (rank, destination), (), ())


@mutant(
    "transfer.metadata-to-the-first",
    kills="RFC-0012:C-ARRIVAL#S4",
    also={
        "RFC-0012:C-ARRIVAL#S2": "what is not sent is awaited in vain",
        "RFC-0012:C-ARRIVAL#S3": "nor is it sent behind a chunk without pages",
    },
)
class MetadataToTheFirst(SendingModel):
    """Sends the metadata to the first destination."""

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        return destination == room.destinations[0] and super().is_aux_turn(room, destination)


@mutant("transfer.metadata-with-the-pages", kills="RFC-0012:C-ARRIVAL#S5")
class MetadataWithThePages(SendingModel):
    """Sends the metadata beside the last chunk."""

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        return AUX_RANK in room.sent[-1].picked


@mutant("transfer.metadata-before-the-index", kills="RFC-0012:C-ARRIVAL#S5")
class MetadataBeforeTheIndex(SendingModel):
    """Sends the metadata once the pages have landed."""

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        own = [f for f in room.flights if (f.source, f.destination) == (AUX_RANK, destination)]
        return AUX_RANK in room.sent[-1].picked and all(f.is_completed for f in own if f.part == KV)


@mutant("transfer.metadata-after-the-last-chunk", kills="RFC-0012:C-ARRIVAL#S5")
class MetadataAfterTheLastChunk(SendingModel):
    """Sends the metadata once the last chunk has landed, whatever became of those before it."""

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        own = [f for f in room.flights if (f.source, f.destination) == (AUX_RANK, destination)]
        last = [f for f in own if f.chunk is room.sent[-1]]
        return AUX_RANK in room.sent[-1].picked and all(f.is_completed for f in last)


# -- failures --------------------------------------------------------------------------------------------------------


class Ignored(SendingModel):
    """Takes the failure of flights of one part for their end."""

    part = ""

    def has_failed(self, flight: FlightModel) -> None:
        if flight.part != self.part or self.is_late(flight):
            super().has_failed(flight)


@mutant("transfer.index-failure-ignored", kills="RFC-0012:C-ARRIVAL#S6")
class IndexFailureIgnored(Ignored):
    """Does not look at how the index ended."""

    part = INDEX


@mutant("transfer.metadata-failure-ignored", kills="RFC-0012:C-ARRIVAL#S6")
class MetadataFailureIgnored(Ignored):
    """Does not look at how the metadata ended."""

    part = AUX


@mutant(
    "transfer.pages-failure-ignored",
    kills="RFC-0012:C-ARRIVAL#S6",
    also={
        "RFC-0012:C-ARRIVAL#S9": "a room that goes on is not forgotten",
        "RFC-0012:C-METRICS#S6": "a room that goes on has no reason",
    },
)
class PagesFailureIgnored(Ignored):
    """Does not look at how the pages ended."""

    part = KV


@mutant(
    "transfer.failure-for-all",
    kills="RFC-0012:C-ARRIVAL#S7",
    also={
        "RFC-0012:C-SLOTS#S3": "a room that was given up has failed before all has arrived",
        "RFC-0012:C-SEND#S3": "of a room that was given up nothing is sent",
        "RFC-0012:C-SEND#S9": "of a room that was given up nothing is refused",
    },
)
class FailureForAll(SendingModel):
    """Gives up every room when one has failed."""

    def fail_prefill(self, room: PrefillRoom, reason: str) -> None:
        super().fail_prefill(room, reason)
        for other in list(self.rooms.values()):
            super().fail_prefill(other, reason)


@mutant(
    "transfer.failure-for-neighbours",
    kills="RFC-0012:C-ARRIVAL#S7",
    also={
        "RFC-0012:C-SLOTS#S3": "a room that was given up has failed before all has arrived",
        "RFC-0012:C-SEND#S3": "of a room that was given up nothing is sent",
        "RFC-0012:C-SEND#S9": "of a room that was given up nothing is refused",
    },
)
class FailureForNeighbours(SendingModel):
    """Takes every room of decode for failed when prefill gives one up."""

    def fail_decode(self, room: DecodeRoom) -> None:
        super().fail_decode(room)
        for other in [each for each in self.reserved.values() if not self.has_ended(each)]:
            super().fail_decode(other)


# -- what prefill says -----------------------------------------------------------------------------------------------


@mutant("transfer.waiting-at-once", kills="RFC-0012:C-ARRIVAL#S8")
class WaitingAtOnce(SendingModel):
    """Waits for chunks when it has heard of one destination."""

    def send_status(self, room: int) -> str:
        told = super().send_status(room)
        return "waiting" if told == "bootstrapping" else told


@mutant("transfer.sent-when-submitted", kills="RFC-0012:C-ARRIVAL#S8")
class SentWhenSubmitted(SendingModel):
    """Takes a room for sent when its last flight was submitted."""

    def send_status(self, room: int) -> str:
        told, found = super().send_status(room), self.required(room)
        is_submitted = told == "transferring" and bool(found.sent) and found.sent[-1].is_last
        return "success" if is_submitted and self.has_all_aux(found) else told


@mutant("transfer.sent-when-the-first-rank-has", kills="RFC-0012:C-ARRIVAL#S8")
class SentWhenTheFirstRankHas(SendingModel):
    """Asks the first rank how far all are."""

    def send_status(self, room: int) -> str:
        told, found = super().send_status(room), self.required(room)
        if told != "transferring" or not found.sent or not found.sent[-1].is_last or not self.has_all_aux(found):
            return told
        own = [flight for flight in found.flights if flight.source == AUX_RANK]
        return "success" if all(flight.is_completed for flight in own) else told


@mutant("transfer.idle-between-chunks", kills="RFC-0012:C-ARRIVAL#S8")
class IdleBetweenChunks(SendingModel):
    """Waits again when every chunk so far has landed."""

    def send_status(self, room: int) -> str:
        told, found = super().send_status(room), self.required(room)
        return "waiting" if told == "transferring" and all(f.is_completed for f in found.flights) else told


@mutant("transfer.forgotten-while-sent", kills="RFC-0012:C-ARRIVAL#S9")
class ForgottenWhileSent(SendingModel):
    """Forgets a room that has not ended."""

    def forget(self, room: int) -> None:
        self.required(room)
        del self.rooms[room]
        self.settle()


@mutant("transfer.failed-room-remembered", kills="RFC-0012:C-ARRIVAL#S9")
class FailedRoomRemembered(SendingModel):
    """Forgets rooms that were sent, and no others."""

    def forget(self, room: int) -> None:
        if self.required(room).reason:
            raise Rejected(Reason.ROOM_IN_USE, f"room {room}")
        super().forget(room)


@mutant("transfer.forgotten-room-waits", kills="RFC-0012:C-ARRIVAL#S9")
class ForgottenRoomWaits(SendingModel):
    """Says of a room that it has not heard of that it will."""

    def send_status(self, room: int) -> str:
        return super().send_status(room) if room in self.rooms else "bootstrapping"

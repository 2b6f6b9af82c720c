"""Wrong variants of sending that go wrong where two things cross: pages that are read twice, and what overtakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.pool import Pools
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import (
    AUX_RANK,
    INDEX,
    KV,
    Chunk,
    DecodeRoom,
    FlightModel,
    Job,
    PrefillRoom,
)

# -- pages -----------------------------------------------------------------------------------------------------------


@mutant("transfer.pins-not-counted", kills="RFC-0012:C-PINS#S4")
class PinsNotCounted(SendingModel):
    """Lets a page go when the first of those who read it has ended."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.read_before: list[Chunk] = []
        self.let_go: set[int] = set()

    def pages_read(self) -> Iterable[int]:
        left = self.chunks_left()
        for chunk in (each for each in self.read_before if each not in left):
            self.let_go.update(self.pages_of(chunk))
        for chunk in (each for each in left if each not in self.read_before):
            self.let_go.difference_update(self.pages_of(chunk))
        self.read_before = left
        return set(super().pages_read()) - self.let_go


@mutant("transfer.crash-keeps-pages", kills="RFC-0012:C-PINS#S2")
class CrashKeepsPages(SendingModel):
    """Forgets to let the pages go that a worker crashed over."""

    reason = "worker"

    def pages_read(self) -> Iterable[int]:
        lost = [chunk for room in self.rooms.values() if room.reason == self.reason for chunk in room.sent]
        return {page for chunk in lost for page in self.pages_of(chunk)}.union(super().pages_read())


@mutant("transfer.failed-flight-keeps-pages", kills="RFC-0012:C-PINS#S2")
class FailedFlightKeepsPages(CrashKeepsPages):
    """Forgets to let the pages of a flight go that has failed for good."""

    reason = "engine"


@mutant("transfer.finished-context-not-pinned", kills="RFC-0012:C-PINS#S4")
class FinishedContextNotPinned(SendingModel):
    """Lets the pages of a context go when its chunk is sent, before a worker has begun with the rest."""

    def begun(self, asked: Chunk) -> Chunk:
        chunk = super().begun(asked)
        chunk.is_let_go = chunk is not asked  # type: ignore[attr-defined]  # noted on the chunk
        return chunk

    def job_pins(self, job: Job) -> bool:
        return not getattr(job.chunk, "is_let_go", False) and super().job_pins(job)


@mutant(
    "transfer.index-alone-unordered",
    kills="RFC-0012:C-SEND#S5",
    also={"RFC-0012:C-SEND#S1": "rows that have not come are other bytes"},
)
class IndexAloneUnordered(SendingModel):
    """Waits for rows when layers go, and not where the index is all that is left."""

    def source_pools(self, flight: FlightModel) -> Pools:
        is_alone = flight.part == INDEX and len(flight.chunk.told) == self.config.pool.all_layers
        return self.plane.unordered_pools if is_alone else super().source_pools(flight)


# -- what overtakes --------------------------------------------------------------------------------------------------


@mutant("transfer.metadata-before-the-last-begins", kills="RFC-0012:C-ARRIVAL#S5")
class MetadataBeforeTheLastBegins(SendingModel):
    """Sends the metadata when what was submitted has landed, also where no worker has begun with the last chunk."""

    def is_aux_turn(self, room: PrefillRoom, destination: int) -> bool:
        own = [f for f in room.flights if (f.source, f.destination) == (AUX_RANK, destination)]
        return all(f.is_completed for f in own) if own else super().is_aux_turn(room, destination)


@mutant("transfer.index-arrives-with-pages", kills="RFC-0012:C-ARRIVAL#S1")
class IndexArrivesWithPages(SendingModel):
    """Tells of the index when the pages of its chunk have landed."""

    def is_there(self, chunk: Chunk, part: str, source: int, destination: int) -> bool:
        return super().is_there(chunk, KV if part == INDEX else part, source, destination)


@mutant("transfer.second-context-refused", kills="RFC-0012:C-SEND#S11")
class SecondContextRefused(SendingModel):
    """Goes on behind the last chunk that was registered, when the first of them is sent."""

    def send_faults(self, asked: Chunk) -> frozenset[Reason]:
        sent = asked.room.sent
        is_behind = bool(sent) and getattr(sent[-1], "had_another", False)
        return super().send_faults(asked) | (frozenset({Reason.CHUNK_BACKWARDS}) if is_behind else frozenset())

    def begun(self, asked: Chunk) -> Chunk:
        chunk = super().begun(asked)
        chunk.had_another = bool(self.contexts_of(asked.room))  # type: ignore[attr-defined]  # noted on the chunk
        return chunk


@mutant("transfer.ready-with-the-first", kills="RFC-0012:C-ARRIVAL#S8")
class ReadyWithTheFirst(SendingModel):
    """Says that it waits for a chunk when one of two destinations was heard of."""

    def send_status(self, room: int) -> str:
        found = super().send_status(room)
        is_heard = len(self.required(room).heard) >= self.config.cp_size
        return "waiting" if found == "bootstrapping" and is_heard else found


@mutant("transfer.waiting-until-sent", kills="RFC-0012:C-ARRIVAL#S8")
class WaitingUntilSent(SendingModel):
    """Says that nothing goes on while a chunk was registered, and none was sent."""

    def send_status(self, room: int) -> str:
        found = super().send_status(room)
        return "waiting" if found == "transferring" and not self.required(room).sent else found


@mutant("transfer.time-of-the-first", kills="RFC-0012:C-METRICS#S5")
class TimeOfTheFirst(SendingModel):
    """Takes the time of the first completion for that of the last."""

    def has_landed(self, flight: FlightModel) -> None:
        room = flight.room
        room.ended = self.clock if room.ended is None else room.ended


# -- lists and metadata ----------------------------------------------------------------------------------------------


@mutant("transfer.whole-request-unread", kills="RFC-0012:C-SEND#S7")
class WholeRequestUnread(SendingModel):
    """Does not look at the pages of the whole request where no index is sent of them."""

    def count_faults(self, asked: Chunk) -> frozenset[Reason]:
        if asked.is_last and self.has_index:
            return super().count_faults(asked)
        return super().count_faults(Chunk(room=asked.room, first=asked.first, pages=asked.pages, is_last=asked.is_last))


@mutant("transfer.metadata-stripped", kills="RFC-0012:C-SLOTS#S1")
class MetadataStripped(SendingModel):
    """Takes metadata for text that ends with its first zero behind."""

    def aux_of(self, flight: FlightModel) -> bytes:
        return super().aux_of(flight).rstrip(b"\0")


@mutant("transfer.committed-slot-counts", kills="RFC-0012:C-ARRIVAL#S2")
class CommittedSlotCounts(SendingModel):
    """Looks at the slot of a room that was committed, which is somebody else's."""

    def look(self, room: DecodeRoom) -> None:
        was_committed, room.is_committed = room.is_committed, False
        super().look(room)
        room.is_committed = was_committed

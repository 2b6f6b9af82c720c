"""Wrong variants of what is reported of a transfer: bytes, pages, flights, time and the reason of a failure."""

from __future__ import annotations

from dataclasses import replace

from sharedkv_conformance.contract.sending import SendReport
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import AUX, INDEX, Chunk, FlightModel, PrefillRoom

# -- bytes -----------------------------------------------------------------------------------------------------------


@mutant("transfer.bytes-of-the-prompt", kills="RFC-0012:C-METRICS#S1")
class BytesOfThePrompt(SendingModel):
    """Counts the pages that decode set aside, and not those that were sent."""

    def report(self, room: int) -> SendReport:
        right = super().report(room)
        return replace(right, bytes=right.bytes // right.pages * self.rooms[room].num_pages) if right.pages else right


@mutant("transfer.bytes-when-submitted", kills="RFC-0012:C-METRICS#S1")
class BytesWhenSubmitted(SendingModel):
    """Counts the bytes of a flight when it begins."""

    def report(self, room: int) -> SendReport:
        return replace(super().report(room), bytes=sum(map(self.bytes_of, self.rooms[room].flights)))


@mutant("transfer.bytes-without-index", kills="RFC-0012:C-METRICS#S1")
class BytesWithoutIndex(SendingModel):
    """Counts the main rows alone."""

    def bytes_of(self, flight: FlightModel) -> int:
        return 0 if flight.part == INDEX else super().bytes_of(flight)


@mutant("transfer.bytes-of-the-slot", kills="RFC-0012:C-METRICS#S1")
class BytesOfTheSlot(SendingModel):
    """Counts metadata as large as its slot."""

    def bytes_of(self, flight: FlightModel) -> int:
        return self.config.transfer.aux_bytes if flight.part == AUX else super().bytes_of(flight)


@mutant("transfer.bytes-without-draft", kills="RFC-0012:C-METRICS#S1")
class BytesWithoutDraft(SendingModel):
    """Counts the layers of the target alone."""

    def bytes_of(self, flight: FlightModel) -> int:
        layers = tuple(layer for layer in flight.layers if layer < self.config.pool.layers)
        return super().bytes_of(replace(flight, layers=layers))


# -- pages -----------------------------------------------------------------------------------------------------------


@mutant("transfer.pages-once", kills="RFC-0012:C-METRICS#S2")
class PagesOnce(SendingModel):
    """Counts a page once, to however many destinations it went."""

    def pages_sent(self, room: PrefillRoom) -> int:
        return super().pages_sent(room) // len(room.destinations)


@mutant("transfer.pages-of-one-layer", kills="RFC-0012:C-METRICS#S2")
class PagesOfOneLayer(SendingModel):
    """Counts a page as soon as one of its layers has landed."""

    def num_layers_there(self, chunk: Chunk, source: int, destination: int) -> int:
        return self.config.pool.all_layers if super().num_layers_there(chunk, source, destination) else 0


@mutant("transfer.pages-when-submitted", kills="RFC-0012:C-METRICS#S2")
class PagesWhenSubmitted(SendingModel):
    """Counts the pages of a flight when it begins."""

    def num_layers_there(self, chunk: Chunk, source: int, destination: int) -> int:
        return len({layer for flight in chunk.flights("kv", source, destination) for layer in flight.layers})


# -- flights ---------------------------------------------------------------------------------------------------------


@mutant("transfer.completed-when-submitted", kills="RFC-0012:C-METRICS#S3")
class CompletedWhenSubmitted(SendingModel):
    """Takes what was submitted for completed."""

    def report(self, room: int) -> SendReport:
        right = super().report(room)
        return replace(right, completed=right.submitted)


@mutant("transfer.failed-flights-forgotten", kills="RFC-0012:C-METRICS#S3")
class FailedFlightsForgotten(SendingModel):
    """Counts the flights that have completed or are under way, and not those that failed."""

    def report(self, room: int) -> SendReport:
        flights = self.required(room).flights
        kept = [flight for flight in flights if flight.is_completed or flight in self.flying]
        return replace(super().report(room), submitted=len(kept))


# -- time ------------------------------------------------------------------------------------------------------------


@mutant("transfer.time-below-zero", kills="RFC-0012:C-METRICS#S4")
class TimeBelowZero(SendingModel):
    """Takes a time that was not noted for the beginning of all time."""

    def ticks_of(self, room: PrefillRoom) -> int:
        return (room.ended or 0) - (room.began or 0)


@mutant("transfer.time-until-now", kills="RFC-0012:C-METRICS#S5")
class TimeUntilNow(SendingModel):
    """Goes on counting when everything has landed."""

    def ticks_of(self, room: PrefillRoom) -> int:
        return super().ticks_of(room) if room.began is None or room.ended is None else self.clock - room.began


@mutant("transfer.time-from-the-last-submission", kills="RFC-0012:C-METRICS#S5")
class TimeFromTheLastSubmission(SendingModel):
    """Counts from the flight that began last."""

    def ticks_of(self, room: PrefillRoom) -> int:
        if room.ended is None:
            return 0
        return max(0, room.ended - max(flight.began for flight in room.flights))


# -- the reason ------------------------------------------------------------------------------------------------------


@mutant("transfer.last-reason", kills="RFC-0012:C-METRICS#S6")
class LastReason(SendingModel):
    """Names what was heard last: the notice of decode, which answers the failure that is to be explained."""

    def fail_prefill(self, room: PrefillRoom, reason: str) -> None:
        super().fail_prefill(room, reason)
        room.reason = reason if room.reason else ""


@mutant("transfer.deadline-told-as-engine", kills="RFC-0012:C-METRICS#S6")
class DeadlineToldAsEngine(SendingModel):
    """Says of a flight that was given up that it failed."""

    def reason_of(self, flight: FlightModel) -> str:
        return "engine"


@mutant("transfer.peer-told-as-aborted", kills="RFC-0012:C-METRICS#S6")
class PeerToldAsAborted(SendingModel):
    """Does not say who gave up."""

    def report(self, room: int) -> SendReport:
        right = super().report(room)
        return replace(right, reason="aborted") if right.reason == "peer" else right


@mutant("transfer.worker-told-as-engine", kills="RFC-0012:C-METRICS#S6")
class WorkerToldAsEngine(SendingModel):
    """Takes an exception of the sender itself for a fault of the network."""

    def report(self, room: int) -> SendReport:
        right = super().report(room)
        return replace(right, reason="engine") if right.reason == "worker" else right

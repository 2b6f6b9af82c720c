"""Wrong variants of what is in flight: pages at other places, the index shifted, rows read too early, chunks cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.pool import Pools
from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import INDEX, KV, Chunk, FlightModel, Job, PrefillRoom

# -- pages at other places -------------------------------------------------------------------------------------------


@mutant(
    "transfer.chunk-from-the-start",
    kills="RFC-0012:C-SEND#S1",
    also={"RFC-0012:C-SEND#S3": "the pages of decode are shown with the flight"},
)
class ChunkFromTheStart(SendingModel):
    """Counts the positions of each chunk from 0, so that a later one lands on the first."""

    def position(self, chunk: Chunk, index: int) -> int:
        return index


@mutant("transfer.contiguous-source", kills="RFC-0012:C-SEND#S1")
class ContiguousSource(SendingModel):
    """Takes the pages of a rank for such as follow one another from the first."""

    def write(self, flight: FlightModel, pages: int) -> None:
        first = flight.sources[0] if flight.sources else 0
        steps = (first + at * self.config.cp_size for at in range(len(flight.sources)))
        sources = tuple(page if self.geometry.holds(page) else first for page in steps)
        super().write(replace(flight, sources=sources), pages)


@mutant("transfer.contiguous-destination", kills="RFC-0012:C-SEND#S1")
class ContiguousDestination(SendingModel):
    """Takes the pages of decode for such as follow one another from the first."""

    def write(self, flight: FlightModel, pages: int) -> None:
        most = self.config.transfer.decode_pages
        first = flight.pages[0] if flight.pages else 0
        super().write(replace(flight, pages=tuple(min(first + at, most) for at in range(len(flight.pages)))), pages)


@mutant(
    "transfer.pages-of-another-destination",
    kills="RFC-0012:C-SEND#S1",
    also={
        "RFC-0012:C-SEND#S2": "other rooms have these pages there",
        "RFC-0012:C-SEND#S3": "the pages of decode are shown with the flight",
    },
)
class PagesOfAnotherDestination(SendingModel):
    """Writes to every destination at the pages of the first."""

    def page_at(self, room: PrefillRoom, destination: int, position: int) -> int:
        return super().page_at(room, room.destinations[0], position)


@mutant(
    "transfer.half-of-the-buffers",
    kills="RFC-0012:C-SEND#S1",
    also={
        "RFC-0012:C-SEND#S5": "what never comes is missing, late or not",
        "RFC-0012:C-METRICS#S1": "what is not sent is not counted",
    },
)
class HalfOfTheBuffers(SendingModel):
    """Sends the first buffer of a layer."""

    def buffers_of(self, part: str) -> tuple[str, ...]:
        return super().buffers_of(part)[:1]


@mutant(
    "transfer.buffers-of-the-target",
    kills="RFC-0012:C-SEND#S1",
    also={
        "RFC-0012:C-SEND#S5": "rows of the target are no late rows of the draft",
        "RFC-0012:C-SEND#S6": "rows of the target are no late rows of the draft",
    },
)
class BuffersOfTheTarget(SendingModel):
    """Reads the layers of the draft from the target."""

    def read(self, flight: FlightModel, layer: int, buffer: str, page: int) -> bytes:
        return super().read(flight, layer % self.config.pool.layers, buffer, page)


@mutant("transfer.last-page-shifted", kills="RFC-0012:C-SEND#S1")
class LastPageShifted(SendingModel):
    """Lets the last page of a flight land where the one before it is."""

    def write(self, flight: FlightModel, pages: int) -> None:
        shifted = (*flight.pages[:-1], flight.pages[-2]) if len(flight.pages) > 1 else flight.pages
        super().write(replace(flight, pages=shifted), pages)


@mutant(
    "transfer.rounded-up",
    kills="RFC-0012:C-SEND#S2",
    also={
        "RFC-0012:C-SEND#S1": "the page behind may be one that has landed",
    },
)
class RoundedUp(SendingModel):
    """Writes an even number of pages, the last one once more behind itself."""

    def write(self, flight: FlightModel, pages: int) -> None:
        if pages % 2 and self.behind(flight, flight.pages[-1] + 1):
            rest = (flight.sources[-1],), (flight.pages[-1] + 1,)
            super().write(replace(flight, sources=rest[0], pages=rest[1]), 1)
        super().write(flight, pages)

    def behind(self, flight: FlightModel, page: int) -> bool:
        """Say whether there is a page, which the flight does not bring."""
        return page <= self.config.transfer.decode_pages and page not in flight.pages


@mutant("transfer.dummy-written", kills="RFC-0012:C-SEND#S2")
class DummyWritten(SendingModel):
    """Pads a flight with its first page, which lands in the dummy."""

    def write(self, flight: FlightModel, pages: int) -> None:
        if flight.part == KV and pages:
            super().write(replace(flight, sources=flight.sources[:1], pages=(0,)), 1)
        super().write(flight, pages)


# -- flights ---------------------------------------------------------------------------------------------------------


@mutant(
    "transfer.draft-left-out",
    kills="RFC-0012:C-SEND#S3",
    also={
        "RFC-0012:C-SEND#S1": "the rows of the draft are missing",
        "RFC-0012:C-SEND#S5": "what never comes is missing, late or not",
        "RFC-0012:C-SEND#S6": "what never comes is missing, late or not",
        "RFC-0012:C-METRICS#S1": "what is not sent is not counted",
        "RFC-0012:C-METRICS#S2": "a page is never whole",
    },
)
class DraftLeftOut(SendingModel):
    """Sends the layers of the target."""

    def layers_left(self, chunk: Chunk) -> tuple[int, ...]:
        return tuple(layer for layer in super().layers_left(chunk) if layer < self.config.pool.layers)


@mutant(
    "transfer.sorted-pages",
    kills="RFC-0012:C-SEND#S3",
    also={
        "RFC-0012:C-SEND#S4": "the index is sorted alike",
    },
)
class SortedPages(SendingModel):
    """Sends the pages of a rank in the order of their numbers, each to its place."""

    def own(self, rank: int, pages: Sequence[int]) -> list[int]:
        return sorted(super().own(rank, pages), key=lambda at: pages[at])


@mutant(
    "transfer.flight-for-each-page",
    kills="RFC-0012:C-SEND#S3",
    also={"RFC-0012:C-METRICS#S3": "every page is counted as a flight"},
)
class FlightForEachPage(SendingModel):
    """Sends each page by itself."""

    def fly(
        self,
        chunk: Chunk,
        part: str,
        way: tuple[int, int],
        layers: tuple[int, ...],
        pairs: tuple[tuple[int, int], ...],
    ) -> None:
        for own in [(pair,) for pair in pairs] if part == KV else [pairs]:
            super().fly(chunk, part, way, layers, own)


@mutant(
    "transfer.ranks-send-all",
    kills="RFC-0012:C-SEND#S3",
    also={
        "RFC-0012:C-SEND#S1": "pages of other ranks are missing",
        "RFC-0012:C-METRICS#S1": "what is sent twice is counted twice",
        "RFC-0012:C-METRICS#S2": "a page of another rank is never whole",
        "RFC-0012:C-METRICS#S3": "ranks without pages have flights",
    },
)
class RanksSendAll(SendingModel):
    """Has every rank send what the first one has, as if each had the whole cache."""

    def send_layers(self, job: Job, destination: int) -> None:
        super().send_layers(replace(job, rank=0), destination)


# -- the index -------------------------------------------------------------------------------------------------------


@mutant(
    "transfer.index-narrowed-first",
    kills="RFC-0012:C-SEND#S4",
    also={
        "RFC-0012:C-SEND#S1": "the index is at other places",
        "RFC-0012:C-SEND#S2": "some of these places are of other ranks",
    },
)
class IndexNarrowedFirst(SendingModel):
    """Narrows the pages of the index to a rank's own, and pairs them with the first places then."""

    def send_index(self, job: Job, destination: int) -> None:
        chunk, layers = job.chunk, tuple(range(self.config.pool.all_layers))
        own = [chunk.state[at] for at in self.own(job.rank, chunk.state)]
        if own:
            pairs = tuple((page, self.page_at(chunk.room, destination, at)) for at, page in enumerate(own))
            self.fly(chunk, INDEX, (job.rank, destination), layers, pairs)


@mutant(
    "transfer.index-of-the-last-chunk",
    kills="RFC-0012:C-SEND#S4",
    also={
        "RFC-0012:C-SEND#S1": "the index of earlier chunks is missing",
        "RFC-0012:C-METRICS#S1": "what is not sent is not counted",
    },
)
class IndexOfTheLastChunk(SendingModel):
    """Sends the index of the pages of the last chunk."""

    def send_index(self, job: Job, destination: int) -> None:
        whole, first = job.chunk.state, job.chunk.first
        if not job.chunk.pages:
            super().send_index(job, destination)
            return
        chunk, layers = job.chunk, tuple(range(self.config.pool.all_layers))
        own = [at for at in self.own(job.rank, whole) if at >= first]
        if own:
            pairs = tuple((whole[at], self.page_at(chunk.room, destination, at)) for at in own)
            self.fly(chunk, INDEX, (job.rank, destination), layers, pairs)


@mutant(
    "transfer.index-of-the-target",
    kills="RFC-0012:C-SEND#S4",
    also={
        "RFC-0012:C-SEND#S1": "the index of the draft is missing",
        "RFC-0012:C-METRICS#S1": "what is not sent is not counted",
    },
)
class IndexOfTheTarget(SendingModel):
    """Sends the index of the layers of the target."""

    def fly(
        self,
        chunk: Chunk,
        part: str,
        way: tuple[int, int],
        layers: tuple[int, ...],
        pairs: tuple[tuple[int, int], ...],
    ) -> None:
        own = tuple(layer for layer in layers if layer < self.config.pool.layers) if part == INDEX else layers
        super().fly(chunk, part, way, own, pairs)


# -- rows that come late ---------------------------------------------------------------------------------------------


class LoadsAlone(SendingModel):
    """Waits for rows that are loaded, and not for those that are written."""

    def source_pools(self, flight: FlightModel) -> Pools:
        while self.plane.loads:
            self.plane.loads.pop(0).work()
        return self.plane.unordered_pools


@mutant(
    "transfer.writes-not-awaited",
    kills="RFC-0012:C-SEND#S5",
    also={"RFC-0012:C-SEND#S1": "rows that come late are missing in every chunk"},
)
class WritesNotAwaited(LoadsAlone):
    """Reads rows before the forward has written them."""


@mutant(
    "transfer.middle-chunk-not-awaited",
    kills="RFC-0012:C-SEND#S5",
    also={"RFC-0012:C-SEND#S1": "rows that come late are missing in every chunk"},
)
class MiddleChunkNotAwaited(LoadsAlone):
    """Waits for the forward that ends a prompt, and not for those before it."""

    def source_pools(self, flight: FlightModel) -> Pools:
        return self.plane.pools if flight.chunk.is_last else super().source_pools(flight)


@mutant(
    "transfer.loads-not-awaited",
    kills="RFC-0012:C-SEND#S6",
    also={"RFC-0012:C-SEND#S1": "rows that come late are missing in every chunk"},
)
class LoadsNotAwaited(SendingModel):
    """Reads rows of a cached prefix before they have come from the host."""

    def source_pools(self, flight: FlightModel) -> Pools:
        self.plane.settle_writes()
        return self.plane.unordered_pools

"""What the model of sending asks of the pages of prefill: which are pinned, and when they are not any more."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.sending_decode import DecodeModel
from sharedkv_conformance.model.sending_parts import Chunk, FlightModel, Job


class PinsModel(DecodeModel):
    """Pages that something of a chunk still reads; small decisions are methods."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        super().__init__(config, plane, allocation)
        self.contexts_open: list[Chunk] = []
        self.pinned: frozenset[int] = frozenset()

    @property
    def allocation(self) -> AllocationModel:
        """Return the allocator of the session, who knows the pins from here on."""
        found = self._allocation()
        found.is_pinned = self.is_pinned
        return found

    def refresh(self) -> None:
        """Pin what is read from now on, and let go what is not any more."""
        before, self.pinned = self.pinned, frozenset(self.pages_read())
        if before != self.pinned:
            self.allocation.pin(self.newly_pinned(before))
            self.allocation.unpin(sorted(before - self.pinned))

    def newly_pinned(self, before: frozenset[int]) -> list[int]:
        """Return the pages that are pinned since, in a fixed order."""
        return sorted(self.pinned - before)

    def is_pinned(self, page: int) -> bool:
        """Say whether a page must not be given to others."""
        return page in self.pinned

    def pages_read(self) -> Iterable[int]:
        """Return the pages of every chunk of which something is left."""
        return {page for chunk in self.chunks_left() for page in self.pages_of(chunk)}

    def chunks_left(self) -> list[Chunk]:
        """Return the chunks that are open contexts, wait for a worker, or fly."""
        queued = [job.chunk for job in self.jobs if self.job_pins(job)]
        flown = [flight.chunk for flight in self.flying if self.flight_pins(flight)]
        opened = [chunk for chunk in self.contexts_open if self.context_pins(chunk)]
        return list(dict.fromkeys((*opened, *queued, *flown)))

    def pages_of(self, chunk: Chunk) -> tuple[int, ...]:
        """Return the pages that a chunk pins."""
        return (*chunk.pages, *chunk.state)

    def context_pins(self, chunk: Chunk) -> bool:
        """Say whether an open context pins."""
        del chunk
        return True

    def job_pins(self, job: Job) -> bool:
        """Say whether a job that waits pins."""
        return not self.skips(job)

    def flight_pins(self, flight: FlightModel) -> bool:
        """Say whether a flight pins, in doubt or not."""
        del flight
        return True

    def skips(self, job: Job) -> bool:
        """Say whether a worker leaves a job alone: its room has failed."""
        return bool(job.chunk.room.reason)

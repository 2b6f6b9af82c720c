"""The network of the model of sending: flights and messages on the way, and what stalls them.

It lands flights and delivers messages, oldest first, until nothing goes on. What a flight or a message means is for
those who build on it.
"""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Event
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.host_memory import page_span
from sharedkv_conformance.model.pool import Pools, buffers_of
from sharedkv_conformance.model.sending_memory import DecodeMemory
from sharedkv_conformance.model.sending_parts import (
    AUX,
    INDEX,
    MESSAGES,
    WORKERS,
    WRITES,
    FlightModel,
    Job,
    Notice,
    Slot,
)


class NetworkModel:
    """Flights, messages and jobs that wait; small decisions are methods."""

    def __init__(self, config: OpenConfig, plane: DataPlane, allocation: Callable[[], AllocationModel]) -> None:
        self.config = config
        self.geometry = Geometry.of(config)
        self.plane = plane
        self._allocation = allocation
        self.memory = DecodeMemory(config)
        self.clock = 0
        self.stalled: set[str] = set()
        self.jobs: list[Job] = []
        self.flying: list[FlightModel] = []
        self.way: list[Notice] = []
        self.posted: dict[int, Notice] = {}
        self.num_flights = 0

    @property
    def has_index(self) -> bool:
        """Say whether the layout has a buffer of its own for the index."""
        return INDEX in buffers_of(self.config.pool)

    # -- what those who build on it say ------------------------------------------------------------------------------

    def work(self, job: Job) -> None:
        """Carry a job out."""
        raise NotImplementedError

    def has_landed(self, flight: FlightModel) -> None:
        """Learn that a flight has completed."""
        raise NotImplementedError

    def has_failed(self, flight: FlightModel) -> None:
        """Learn that a flight has failed, or is in doubt from now on."""
        raise NotImplementedError

    def has_left(self, flight: FlightModel) -> None:
        """Learn that a flight is not in flight any more."""
        raise NotImplementedError

    def hear(self, notice: Notice) -> None:
        """Hear a message."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Bring up to date what hangs on what waits and flies."""
        raise NotImplementedError

    # -- going on ----------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let everything happen that can happen."""
        while self.picks_up() or self.lands() or self.delivers():
            pass
        self.refresh()

    def picks_up(self) -> bool:
        """Let a worker pick up the next job."""
        if WORKERS in self.stalled or not self.jobs:
            return False
        self.work(self.jobs.pop(self.next_job()))
        return True

    def next_job(self) -> int:
        """Choose which job is next."""
        return 0

    def lands(self) -> bool:
        """Land the next flight that nothing holds."""
        flight = next((each for each in self.flying if not each.is_held and not each.is_in_doubt), None)
        if flight is not None:
            self.complete(flight)
        return flight is not None

    def delivers(self) -> bool:
        """Deliver the next message that nothing holds."""
        notice = next((each for each in self.way if not each.is_held), None)
        if notice is not None:
            self.way.remove(notice)
            self.hear(notice)
        return notice is not None

    def submit(self, flight: FlightModel) -> None:
        """Let a flight begin."""
        self.num_flights += 1
        flight.is_held = WRITES in self.stalled
        self.flying.append(flight)

    def complete(self, flight: FlightModel) -> None:
        """Land all bytes of a flight, and let the sender learn it."""
        self.write(flight, len(flight.pages))
        flight.is_completed = True
        self.flying.remove(flight)
        self.has_landed(flight)
        self.has_left(flight)

    def doubt(self, flight: FlightModel) -> None:
        """Put a flight in doubt."""
        flight.is_in_doubt, flight.doubted_at = True, self.clock
        self.has_failed(flight)

    def give_up(self, flight: FlightModel) -> None:
        """Let a flight in doubt end."""
        self.flying.remove(flight)
        self.has_left(flight)

    def post(self, notice: Notice) -> None:
        """Send a message."""
        notice.number = len(self.posted)
        notice.is_held = MESSAGES in self.stalled
        self.posted[notice.number] = notice
        self.way.append(notice)

    def tell(self, kind: str, reason: str, layer: int = -1) -> None:
        """Leave an event."""
        self.plane.events.append(Event(kind=kind, reason=reason, layer=layer))

    # -- bytes -------------------------------------------------------------------------------------------------------

    def write(self, flight: FlightModel, pages: int) -> None:
        """Land the first pages of a flight, or the metadata."""
        if flight.part == AUX:
            room, place = flight.room, flight.room.places[flight.destination]
            slot = Slot(room=room.room, epoch=room.epoch, data=self.aux_of(flight))
            self.memory.slots[flight.destination, place.slot] = slot
            return
        for layer in flight.layers:
            for buffer in self.buffers_of(flight.part):
                for source, page in list(zip(flight.sources, flight.pages, strict=True))[:pages]:
                    self.memory.put(flight.destination, layer, buffer, page, self.read(flight, layer, buffer, source))

    def aux_of(self, flight: FlightModel) -> bytes:
        """Return the metadata that a flight carries."""
        return flight.chunk.aux

    def buffers_of(self, part: str) -> tuple[str, ...]:
        """Return the buffers that a part carries."""
        return tuple(buffer for buffer in buffers_of(self.config.pool) if (buffer == INDEX) == (part == INDEX))

    def read(self, flight: FlightModel, layer: int, buffer: str, page: int) -> bytes:
        """Return a page of the rank as a flight reads it: ordered after everything that was enqueued."""
        span = page_span(self.config.pool, self.config.page_size, buffer, self.geometry.physical(page))
        return bytes(self.source_pools(flight).buffers[flight.source, layer, buffer][span])

    def source_pools(self, flight: FlightModel) -> Pools:
        """Return the pools as a flight sees them."""
        del flight
        return self.plane.pools

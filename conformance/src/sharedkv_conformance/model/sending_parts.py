"""What the model of sending keeps: rooms of both sides, chunks, jobs, flights and messages. Knows no rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sharedkv_conformance.contract.sending import DecodePlace
from sharedkv_conformance.model.transfer_rooms import Message as Arrival
from sharedkv_conformance.model.transfer_rooms import RoomModel

KV, INDEX, AUX = "kv", "index", "aux"
OPENED, ARRIVED, FAILED, ABORT, DRAINED = "opened", "arrived", "failed", "abort", "drained"
WORKERS, WRITES, MESSAGES = "workers", "writes", "messages"
AUX_RANK = 0
"""The rank that sends the metadata."""

Pair = tuple[int, int]
"""A prefill rank and a decode rank."""


@dataclass(eq=False, kw_only=True)
class PrefillRoom:
    """A room as the prefill ranks know it. `heard` are the pairs of which `opened` came; `reason` says why it failed.

    `sent` are the chunks that were sent, in order; `flights` all that were ever submitted.
    """

    room: int
    epoch: int
    destinations: tuple[int, ...]
    places: dict[int, DecodePlace] = field(default_factory=dict)
    heard: set[Pair] = field(default_factory=set)
    reason: str = ""
    sent: list[Chunk] = field(default_factory=list)
    flights: list[FlightModel] = field(default_factory=list)
    told: set[tuple[str, int, int, int]] = field(default_factory=set)
    began: int | None = None
    ended: int | None = None

    @property
    def num_pages(self) -> int:
        """Return how many pages decode set aside at each destination."""
        return max((len(place.pages) for place in self.places.values()), default=0)


@dataclass(eq=False, kw_only=True)
class Chunk:
    """A chunk that was registered or sent. `told` and `assigned` are the layers that were told, and those in a job.

    `number` counts the chunks of a room from 0 once it is sent, `sent_at` is the tick of that; `picked` are the ranks
    whose last job was picked up.
    """

    room: PrefillRoom
    first: int
    pages: tuple[int, ...]
    is_last: bool
    state: tuple[int, ...] = ()
    aux: bytes = b""
    number: int = -1
    sent_at: int = -1
    told: set[int] = field(default_factory=set)
    assigned: set[int] = field(default_factory=set)
    picked: set[int] = field(default_factory=set)

    @property
    def end(self) -> int:
        """Return the position behind the last page."""
        return self.first + len(self.pages)

    def flights(self, part: str, source: int, destination: int) -> list[FlightModel]:
        """Return the flights of a part from a rank to a destination, whatever became of them."""
        return [
            flight
            for flight in self.room.flights
            if flight.chunk is self and (flight.part, flight.source, flight.destination) == (part, source, destination)
        ]


@dataclass(eq=False, kw_only=True)
class Job:
    """What a worker of one rank picks up: layers of a chunk, and all the rest of it where it `is_finish`."""

    rank: int
    chunk: Chunk
    layers: tuple[int, ...]
    is_finish: bool


@dataclass(eq=False, kw_only=True)
class FlightModel:
    """Writes of one rank to one destination. `sources` are logical pages, `pages` those of decode, pair by pair."""

    number: int
    chunk: Chunk
    source: int
    destination: int
    part: str
    layers: tuple[int, ...]
    sources: tuple[int, ...]
    pages: tuple[int, ...]
    began: int
    is_held: bool = False
    is_in_doubt: bool = False
    doubted_at: int = -1
    is_completed: bool = False

    @property
    def room(self) -> PrefillRoom:
        """Return whose flight it is."""
        return self.chunk.room

    @property
    def debt(self) -> Debt:
        """Return for whom the end of the flight matters."""
        return (self.source, self.destination, self.room.room, self.room.epoch)


Debt = tuple[int, int, int, int]
"""A prefill rank that owes a decode rank a `drained` for a room and an epoch."""


@dataclass(eq=False, kw_only=True)
class Notice:
    """A control message. What only `opened` carries is its `place`, and the `destinations` of the room."""

    number: int
    kind: str
    room: int
    epoch: int
    source: int
    destination: int
    part: str = ""
    chunk: int = 0
    is_last: bool = False
    place: DecodePlace | None = None
    destinations: tuple[int, ...] = ()
    is_held: bool = False


class ArrivalsModel(RoomModel):
    """What has arrived at one destination of a reserved room."""

    def is_named(self, message: Arrival) -> bool:
        """Say whether a part of a source is awaited: the metadata comes from one rank alone."""
        return (message.source, message.part) in set(self.awaited())

    def awaited(self) -> Iterator[tuple[int, str]]:
        """Yield the sources and parts that there are."""
        for source in self.sources:
            for part in self.parts:
                if part != AUX or source == AUX_RANK:
                    yield source, part

    def missing(self) -> list[tuple[int, str]]:
        """Return the sources and parts that are not complete."""
        return [(source, part) for source, part in self.awaited() if not self.is_complete(source, part)]


@dataclass(eq=False, kw_only=True)
class DecodeRoom:
    """A room as decode knows it. `arrivals` has what came at each destination; `drained` the pairs that drained."""

    room: int
    epoch: int
    places: tuple[DecodePlace, ...]
    began: int
    arrivals: dict[int, ArrivalsModel]
    has_failed: bool = False
    failed_at: int = -1
    is_closed: bool = False
    is_committed: bool = False
    drained: set[Pair] = field(default_factory=set)

    @property
    def has_arrived(self) -> bool:
        """Say whether nothing is missing at any destination."""
        return all(not arrivals.missing() for arrivals in self.arrivals.values())


@dataclass(kw_only=True)
class Slot:
    """The metadata of a slot; room and epoch are None where it is cleared."""

    room: int | None = None
    epoch: int | None = None
    data: bytes = b""

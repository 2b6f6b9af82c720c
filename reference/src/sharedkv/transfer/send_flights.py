"""Flights of a sender: writes to a decode rank that may still land, and who waits for their end.

Knows which are in flight or in doubt, and what decode ranks are owed. Does not know rooms' states, nor who is told.

    submitted ──landed, or failed definitely──────────────────────> gone
        └─failed, or too late─> in doubt ──quarantine is over──> gone: nobody can say when it landed, if at all

A way is *drained* of an epoch when nothing of it is in flight, nor about to be. Where one was in doubt it never is.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from sharedkv.engines.engine import Transfer
from sharedkv.page_mapping import Writes
from sharedkv.transfer.aux_staging import StagedSlot
from sharedkv.transfer.chunks import ChunkProgress, Way
from sharedkv.transfer.destinations import PageWrites
from sharedkv.transfer.prefill_rooms import PrefillRoom

WayOfEpoch = tuple[int, int, int, int]
"""Prefill rank, decode rank, room, epoch."""
_MOST_POISONED = 1 << 14


@dataclass(kw_only=True, eq=False, slots=True)
class SendFlight:
    """One submission. Flights of pages have `pages`, those of metadata the `staged` slot that they read.

    `doubt_at` is None until it is in doubt.
    """

    number: int
    room: PrefillRoom
    chunk: ChunkProgress
    way: Way
    part: str
    transfer: Transfer
    submitted_at: float
    layers: tuple[int, ...] = ()
    num_bytes: int = 0
    pages: PageWrites | None = None
    staged: StagedSlot | None = None
    doubt_at: float | None = None

    @property
    def way_of_epoch(self) -> WayOfEpoch:
        """Return whose end decode may wait for."""
        return (*self.way, self.room.room, self.room.epoch)


@dataclass(frozen=True, kw_only=True)
class FlightView:
    """A flight as others see it; `transfer` is the engine's."""

    flight: int
    room: int
    epoch: int
    source: int
    destination: int
    part: str
    layers: tuple[int, ...]
    pages: tuple[int, ...]
    is_in_doubt: bool
    num_bytes: int
    transfer: Transfer
    writes: PageWrites | None

    def first(self, num_pages: int) -> Writes | None:
        """Return the writes of its first pages; None where it carries no pages."""
        return None if self.writes is None else self.writes.first(num_pages)


class FlightBook:
    """Every flight that may still land, oldest first."""

    def __init__(self) -> None:
        self._live: dict[int, SendFlight] = {}
        self._doubted: dict[int, SendFlight] = {}
        self._next_number = 0
        self._open_ways: Counter[WayOfEpoch] = Counter()
        self._poisoned: OrderedDict[WayOfEpoch, None] = OrderedDict()
        self._poisoned_up_to: dict[Way, int] = {}
        self._owed: dict[WayOfEpoch, None] = {}

    def __len__(self) -> int:
        return len(self._live) + len(self._doubted)

    def next_number(self) -> int:
        """Return a number that no flight has had."""
        self._next_number += 1
        return self._next_number - 1

    def add(self, flight: SendFlight) -> None:
        """Enter a flight that was submitted."""
        self._live[flight.number] = flight
        self.hold(flight.way_of_epoch)

    def live(self) -> list[SendFlight]:
        """List the flights that are not in doubt."""
        return list(self._live.values())

    def end(self, flight: SendFlight) -> None:
        """Forget a flight of which nothing lands any more, or nobody waits for it longer."""
        del (self._live if flight.number in self._live else self._doubted)[flight.number]
        self.unhold(flight.way_of_epoch)

    def doubt(self, flight: SendFlight, now: float) -> None:
        """Keep a flight of which nobody knows whether it lands: its way is not drained any more."""
        del self._live[flight.number]
        flight.doubt_at = now
        self._doubted[flight.number] = flight
        self._poison(flight.way_of_epoch)
        self._owed.pop(flight.way_of_epoch, None)

    def late(self, submitted_before: float) -> Iterator[SendFlight]:
        """Yield the live flights that were submitted so long ago."""
        for flight in self.live():
            if flight.submitted_at > submitted_before:
                return
            yield flight

    def old_doubts(self, doubted_before: float) -> list[SendFlight]:
        """List the flights that have been in doubt for so long."""
        return [
            flight
            for flight in self._doubted.values()
            if flight.doubt_at is not None and flight.doubt_at <= doubted_before
        ]

    def hold(self, way: WayOfEpoch) -> None:
        """Count something of a way that is in flight, or about to be."""
        self._open_ways[way] += 1

    def unhold(self, way: WayOfEpoch) -> None:
        """Count it no longer."""
        self._open_ways[way] -= 1
        if not self._open_ways[way]:
            del self._open_ways[way]

    def owe(self, way: WayOfEpoch) -> None:
        """Note that a decode rank wants to know when a way is drained; nobody will where it never is."""
        source, destination, _, epoch = way
        if way not in self._poisoned and epoch > self._poisoned_up_to.get((source, destination), -1):
            self._owed[way] = None

    def _poison(self, way: WayOfEpoch) -> None:
        """Keep a way from ever being drained. Old ones are kept as one number, before which none is."""
        self._poisoned[way] = None
        if len(self._poisoned) > _MOST_POISONED:
            (source, destination, _, epoch), _ = self._poisoned.popitem(last=False)
            floor = self._poisoned_up_to.get((source, destination), -1)
            self._poisoned_up_to[source, destination] = max(epoch, floor)

    def drained(self) -> list[WayOfEpoch]:
        """List the ways that are drained and somebody waits for, and owe them no longer."""
        found = [way for way in self._owed if not self._open_ways[way]]
        for way in found:
            del self._owed[way]
        return found

    def busy_rooms(self) -> set[int]:
        """Return the rooms, of any epoch, of which something is in flight, in doubt, or about to be submitted."""
        return {room for _, _, room, _ in self._open_ways}

    def views(self) -> tuple[FlightView, ...]:
        """Return every flight, oldest first."""
        flights = {**self._live, **self._doubted}
        return tuple(_view(flights[number]) for number in sorted(flights))


def _view(flight: SendFlight) -> FlightView:
    source, destination = flight.way
    return FlightView(
        flight=flight.number,
        room=flight.room.room,
        epoch=flight.room.epoch,
        source=source,
        destination=destination,
        part=flight.part,
        layers=flight.layers,
        pages=() if flight.pages is None else tuple(flight.pages.targets.tolist()),
        is_in_doubt=flight.doubt_at is not None,
        num_bytes=flight.num_bytes,
        transfer=flight.transfer,
        writes=flight.pages,
    )

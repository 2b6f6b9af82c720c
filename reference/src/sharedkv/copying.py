"""The bytes of copies between the tiers: backups behind the layers of a forward, and loads that readers wait for.

Knows pools, host memory, streams and reservations. Does not know the tree, counts of pages, or what is acknowledged.

    compute   | layer 0 |.........| layer 1 |.........| insert                 of each rank
    backup              | 0 |               | 1 |     | what was not told |    after the writes of its layer
    load                                                    | 0 |e0| 1 |e1|    after all that was enqueued before it

Every rank has a backup stream and a load stream. Copies of one stream run in order, so that a host page may be given
away while a copy still writes it: what is copied there next comes later. Descriptors, the page numbers of both sides,
are made once for all requests and layers of a forward. Nothing waits for a device but `settle`, `drain` and
`settle_host`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from sharedkv.copy_engine import PageMove
from sharedkv.copy_flights import Descriptors, Flights, Ints, describe
from sharedkv.errors import Refusal, RefusedError
from sharedkv.streams import Event, Stream
from sharedkv.tiers import Tiers, backup_stream, load_stream
from sharedkv.writing import compute_stream


class Listener(Protocol):
    """Who hears of each set of descriptors that is enqueued."""

    def on_backup_submitted(self, layer: int, source: str) -> None:
        """Hear that the backup of a layer is enqueued, for all pages of a call together."""

    def on_load_submitted(self, layer: int, source: str) -> None:
        """Hear that the load of a layer is."""


class _Deaf:
    def on_backup_submitted(self, layer: int, source: str) -> None:
        """Ignore it."""

    def on_load_submitted(self, layer: int, source: str) -> None:
        """Ignore it."""


class CopyProgress:
    """How far one copy is: `ends` has the end of each source on each rank that is played."""

    def __init__(self, ends: dict[tuple[str, int], Event], on_settled: Callable[[], None]) -> None:
        self._ends = ends
        self._on_settled = on_settled

    def is_finished(self, source: str, rank: int) -> bool:
        """Say whether a source is done on a rank. Waits for nothing."""
        return self._ends[source, rank].is_done()

    def settle(self) -> None:
        """Return when all of it is done on every rank that is played."""
        for end in self._ends.values():
            end.synchronize()
        self._on_settled()


@dataclass(kw_only=True, eq=False)
class Reservation:
    """The moves that were admitted for a request, and the layers that were copied for them."""

    moves: Sequence[PageMove]
    told: set[int] = field(default_factory=set)


class PageCopyEngine:
    """Copies of whole pages for the ranks that this process plays; a `CopyEngine` of the cache.

    `sources` are what finishes apart: the target, and the draft where there is one.
    """

    def __init__(self, tiers: Tiers, listener: Listener | None = None) -> None:
        self.sources = tuple(dict.fromkeys(map(tiers.source, tiers.layers)))
        self._tiers = tiers
        self._listener = listener or _Deaf()
        stream = tiers.backend.stream
        self._computes = [stream(compute_stream(rank)) for rank in tiers.ranks]
        self._backups = [stream(backup_stream(rank)) for rank in tiers.ranks]
        self._loads = [stream(load_stream(rank)) for rank in tiers.ranks]
        self._backup_flights, self._load_flights = Flights(), Flights()
        self._reservations: dict[str, Reservation] = {}
        self._described: dict[tuple[str, ...], list[Descriptors]] = {}

    def admitted(self, request: str, moves: Sequence[PageMove]) -> None:
        """Hear that host pages are reserved: layers that end from now on are copied for these moves."""
        self._described.clear()
        self._reservations[request] = Reservation(moves=moves)

    def cancelled(self, request: str) -> None:
        """Hear that a reservation is gone. Copies that were enqueued for it run, and nothing overtakes them."""
        self._described.clear()
        self._reservations.pop(request, None)

    def layer_end(self, layer: int) -> None:
        """Back up a layer for every reservation that did not have it; its rows are enqueued on the compute streams.

        Raises:
            RefusedError: there is no such layer.

        """
        if layer not in self._tiers.layers:
            raise RefusedError(Refusal.LAYER_OUTSIDE_POOL, layer)
        new = tuple(request for request, held in self._reservations.items() if held.moves and layer not in held.told)
        if not new:
            return
        if new not in self._described:
            self._described[new] = self._descriptors([self._reservations[request].moves for request in new])
        for request in new:
            self._reservations[request].told.add(layer)
        self._back_up(self._described[new], (layer,))

    def submit_backups(self, copies: Sequence[Sequence[PageMove]], request: str | None) -> Sequence[CopyProgress]:
        """Copy device pages to the host, with one set of descriptors a layer for all copies; answer for each.

        Where `request` is given, layers that ended since it was admitted are not copied again.
        """
        if not copies:
            return []
        told = self._reservations[request].told if request in self._reservations else set()
        if request is not None:
            self.cancelled(request)
        missing = [layer for layer in self._tiers.layers if layer not in told]
        ends, flight = self._back_up(self._descriptors(copies), missing)
        return [CopyProgress(ends, partial(self._backup_flights.forget, flight)) for _ in copies]

    def submit_load(self, moves: Sequence[PageMove]) -> CopyProgress:
        """Copy host pages to the device, layer by layer; who reads a layer from now on waits for its fence."""
        tiers, descriptors = self._tiers, self._descriptors([moves])
        for each in descriptors:
            for before in self._before_loads(each.played):
                self._loads[each.played].wait(before.record())
        ends: dict[tuple[str, int], Event] = {(source, rank): _DONE for source in self.sources for rank in tiers.ranks}
        fences: list[tuple[int, int, Event]] = []
        for layer in tiers.layers:
            for each in descriptors:
                tiers.enqueue_copy(self._loads[each.played], layer, each, to_host=False)
                end = ends[tiers.source(layer), each.rank] = self._loads[each.played].record()
                tiers.fences.put(layer, each.rank, end)
                tiers.count_writes(layer, each.logical)
                fences.append((layer, each.rank, end))
            self._listener.on_load_submitted(layer, tiers.source(layer))
        last = [stream.record() for stream in self._loads]
        flight = self._load_flights.add(tiers.layers, descriptors, last)
        return CopyProgress(ends, partial(self._forget_load, flight, fences))

    def users_of(self, layer: int, pages: Ints) -> list[Event]:
        """Return what a write of logical pages of a layer waits for: copies that read them, and loads into them."""
        return [*self._backup_flights.using_device(layer, pages), *self._load_flights.using_device(layer, pages)]

    def settle_host(self, lane: int, pages: Sequence[int]) -> None:
        """Return when no copy reads or writes these host pages of a lane any more: the host may use them itself."""
        numbers: Ints = np.array(pages, dtype=np.int64)
        for flights in (self._backup_flights, self._load_flights):
            for end in flights.using_host(lane, numbers):
                end.synchronize()

    def drain(self) -> None:
        """Return when every copy that was enqueued is done."""
        for stream in (*self._backups, *self._loads):
            stream.record().synchronize()

    def _back_up(
        self, descriptors: Sequence[Descriptors], layers: Sequence[int]
    ) -> tuple[dict[tuple[str, int], Event], int]:
        """Enqueue the backup of layers; return the end of each source on each rank, and the number of the flight."""
        tiers = self._tiers
        for each in descriptors:
            self._backups[each.played].wait(self._computes[each.played].record())
        ends: dict[tuple[str, int], Event] = {}
        for source in self.sources:
            for layer in layers:
                if tiers.source(layer) == source:
                    self._back_up_layer(layer, descriptors)
                    self._listener.on_backup_submitted(layer, source)
            for rank, stream in zip(tiers.ranks, self._backups, strict=True):
                ends[source, rank] = stream.record()
        last = [ends[self.sources[-1], rank] for rank in tiers.ranks]
        return ends, self._backup_flights.add(layers, descriptors, last)

    def _back_up_layer(self, layer: int, descriptors: Sequence[Descriptors]) -> None:
        loaded = self._tiers.fences.events(layer)
        for each in descriptors:
            for event in loaded:
                self._backups[each.played].wait(event)
            self._tiers.enqueue_copy(self._backups[each.played], layer, each, to_host=True)

    def _before_loads(self, played: int) -> list[Stream]:
        """Return the streams whose work so far may use the pages that a load of one rank fills or reads."""
        others = [self._tiers.backend.stream(name) for name in self._tiers.other_readers]
        return [self._computes[played], self._backups[played], *others]

    def _descriptors(self, copies: Sequence[Sequence[PageMove]]) -> list[Descriptors]:
        tiers = self._tiers
        devices = [pool.device for pool in tiers.pools]
        return describe(tiers.pools[0].geometry, tiers.ranks, devices, [move for moves in copies for move in moves])

    def _forget_load(self, flight: int, fences: Sequence[tuple[int, int, Event]]) -> None:
        self._load_flights.forget(flight)
        for layer, rank, end in fences:
            self._tiers.fences.drop(layer, rank, end)


class _Done:
    """An event of nothing."""

    def synchronize(self) -> None:
        """Return at once."""

    def is_done(self) -> bool:
        """Say that it is."""
        return True


_DONE = _Done()

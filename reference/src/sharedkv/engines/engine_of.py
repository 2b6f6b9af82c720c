"""An engine over any library: registrations, peers, checks and batches.

Knows what is registered here and there. Does not know how a library moves bytes. One lock keeps the calls apart; nobody
holds it while time passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock

import numpy as np

from sharedkv.engines import descriptions
from sharedkv.engines.carrier import Carrier
from sharedkv.engines.engine import (
    EngineClosedError,
    Peer,
    PeerUnknownError,
    RegionRefusedError,
    Side,
    Timing,
    WriteRefusedError,
)
from sharedkv.engines.flights import Flight, Lane
from sharedkv.engines.regions import Integers, Region, Regions
from sharedkv.page_mapping import Writes

# So many batches of one transfer are under way at once: the next ones go while the first are looked at.
_BATCHES_WITHIN_THE_BOUND = 4


@dataclass(eq=False, slots=True)
class _Known:
    """A peer: what it registered, and what is under way to it."""

    regions: Regions
    lane: Lane


class CarriedEngine:
    """An engine whose bytes a carrier moves."""

    def __init__(self, carrier: Carrier, timing: Timing) -> None:
        self._carrier = carrier
        self._timing = timing
        self._lock = RLock()
        self._regions = Regions()
        self._peers: dict[str, _Known] = {}
        self._is_open = True

    def register(self, region: Region) -> None:
        """Let the engine read from a region, and let peers write there."""
        with self._opened():
            try:
                regions = self._regions.added(region)
            except ValueError as error:
                raise RegionRefusedError(region, "overlaps one that is registered") from error
            self._carrier.register(region)
            self._regions = regions

    def unregister(self, region: Region) -> None:
        """Take a region back that no transfer reads from."""
        with self._opened():
            if region not in self._regions:
                raise RegionRefusedError(region, "is not registered")
            for name, known in self._peers.items():
                if known.lane.reads(region):
                    raise RegionRefusedError(region, f"a transfer to {name} that has not settled reads from it")
            self._carrier.unregister(region)
            self._regions = self._regions.removed(region)

    def describe(self) -> bytes:
        """Return what a peer has to be given to write here."""
        with self._opened():
            return descriptions.Description(
                kind=self._carrier.kind, contact=self._carrier.contact(), regions=self._regions
            ).encode()

    def connect(self, description: bytes) -> Peer:
        """Make a peer known, or learn what it has registered since."""
        with self._opened():
            told = descriptions.decode(description, self._carrier.kind)
            name = self._carrier.meet(told.contact)
            known = self._peers.setdefault(name, _Known(told.regions, Lane(self._carrier, name)))
            known.regions = told.regions
            return Peer(name=name)

    def submit(self, peer: Peer, writes: Writes, deadline_s: float | None = None) -> Flight:
        """Check all writes, and begin them."""
        with self._opened():
            known = self._known(peer)
            _require_within(self._regions, Side.SOURCE, writes.sources, writes.lengths)
            _require_within(known.regions, Side.DESTINATION, writes.destinations, writes.lengths)
            within_s = self._timing.deadline_s if deadline_s is None else deadline_s
            flight = Flight(known.lane, self._timing, within_s, self._lock)
            known.lane.enter(flight, _batches(writes, self._carrier.most_requests))
            flight.judge()
            return flight

    def forget(self, peer: Peer) -> None:
        """Take a peer for gone."""
        with self._opened():
            self._known(peer).lane.end("the peer was taken for gone")
            del self._peers[peer.name]
            self._carrier.part(peer.name)

    def close(self) -> None:
        """End every transfer, and give up what the library holds. A second time does nothing."""
        with self._lock:
            if not self._is_open:
                return
            self._is_open = False
            for known in self._peers.values():
                known.lane.advance()
                known.lane.end("the engine was closed")
            self._carrier.close()

    def _known(self, peer: Peer) -> _Known:
        if peer.name not in self._peers:
            raise PeerUnknownError(peer.name)
        return self._peers[peer.name]

    @contextmanager
    def _opened(self) -> Iterator[None]:
        with self._lock:
            if not self._is_open:
                raise EngineClosedError
            yield


def _require_within(regions: Regions, side: Side, addresses: Integers, lengths: Integers) -> None:
    outside = regions.first_outside(addresses, lengths)
    if outside is not None:
        raise WriteRefusedError(side, outside, int(addresses[outside]), int(lengths[outside]))


def _batches(writes: Writes, most_requests: int) -> list[Writes]:
    (kept,) = np.nonzero(writes.lengths)
    batch = max(1, most_requests // _BATCHES_WITHIN_THE_BOUND)
    return [
        Writes(
            buffers=writes.buffers[part],
            sources=writes.sources[part],
            destinations=writes.destinations[part],
            lengths=writes.lengths[part],
        )
        for part in (kept[first : first + batch] for first in range(0, len(kept), batch))
    ]

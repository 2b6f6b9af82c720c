"""Copies that were enqueued and may not be done: which pages of both tiers they read and write.

Knows page numbers and events. Does not know bytes, streams or what a copy is for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from sharedkv.copy_engine import PageMove
from sharedkv.geometry import Geometry
from sharedkv.rows import on_device
from sharedkv.streams import Event

Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Descriptors:
    """The page numbers of a copy on one rank, the same for every layer; each array is int64 (n,).

    `played` is the place of the rank among those that this process plays. `logical` are the device pages by id,
    `physical` their places in the pool, `host` the host pages; `page_size` counts tokens of a page.
    """

    rank: int
    played: int
    logical: Ints
    physical: Ints
    host: Ints
    page_size: int
    device: torch.device

    @cached_property
    def slots(self) -> Ints:
        """Return the token slots of the physical pages (n * page_size,)."""
        return (self.physical[:, None] * self.page_size + np.arange(self.page_size)).ravel()

    @cached_property
    def on_device(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return physical and host pages on the device, where they are brought by the copy that needs them first."""
        return on_device(self.physical, self.device), on_device(self.host, self.device)


def describe(
    geometry: Geometry, ranks: Sequence[int], devices: Sequence[torch.device], moves: Sequence[PageMove]
) -> list[Descriptors]:
    """Return the descriptors of moves on each rank that is played and has some; `devices` has one for each rank."""
    numbers: Ints = np.array(moves, dtype=np.int64).reshape(len(moves), len(PageMove._fields))
    made = []
    for played, rank in enumerate(ranks):
        own = numbers[numbers[:, 0] == rank]
        if len(own):
            made.append(
                Descriptors(
                    rank=rank,
                    played=played,
                    logical=own[:, 1],
                    physical=geometry.places(own[:, 1])[1],
                    host=own[:, 2],
                    page_size=geometry.page_size,
                    device=devices[played],
                )
            )
    return made


@dataclass(frozen=True, kw_only=True, eq=False)
class Flight:
    """Copies of one layer that were enqueued together; `ends` are the events after which they are done."""

    number: int
    descriptors: Sequence[Descriptors]
    ends: Sequence[Event]


class Flights:
    """The flights of one kind of stream by layer, in the order in which they were enqueued and will end."""

    def __init__(self) -> None:
        self._by_layer: dict[int, deque[Flight]] = {}
        self._last = 0

    def __len__(self) -> int:
        return sum(map(len, self._by_layer.values()))

    def add(self, layers: Sequence[int], descriptors: Sequence[Descriptors], ends: Sequence[Event]) -> int:
        """Enter what was enqueued together; return a number for it, which is higher than all before."""
        self._last += 1
        for layer in layers:
            flight = Flight(number=self._last, descriptors=descriptors, ends=ends)
            self._by_layer.setdefault(layer, deque()).append(flight)
        return self._last

    def forget(self, last: int) -> None:
        """Drop the flights up to a number: those are done."""
        for flights in self._by_layer.values():
            while flights and flights[0].number <= last:
                flights.popleft()

    def using_device(self, layer: int, pages: Ints) -> list[Event]:
        """Return the ends of the flights that use one of the logical pages (n,) of a layer."""
        return [
            end
            for flight in self._by_layer.get(layer, ())
            if any(np.isin(each.logical, pages).any() for each in flight.descriptors)
            for end in flight.ends
        ]

    def using_host(self, lane: int, pages: Ints) -> list[Event]:
        """Return the ends of the flights that use one of the host pages (n,) of a lane, of any layer."""
        return [
            end
            for flights in self._by_layer.values()
            for flight in flights
            if any(each.rank == lane and np.isin(each.host, pages).any() for each in flight.descriptors)
            for end in flight.ends
        ]

"""Copies in flight: which were submitted, which sources of them are finished where, and what is acknowledged next.

Knows kinds, sources, ranks and order. Does not know bytes, streams or nodes: whoever submits a copy gives its progress,
and whoever owns it hears of its acknowledgement.

    kind     what is copied                     owner
    backup   device pages to host pages         nodes of the tree
    load     host pages to device pages         nodes of the tree
    save     host pages to objects of storage   nodes of the tree

A copy is finished when every source is on every rank. Each kind is acknowledged in the order of submission, so that one
number a kind says what a rank has finished, and the least of it over all ranks what all have: one exchange a poll.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, NewType, Protocol, TypeVar

from sharedkv.errors import Refusal, RefusedError

CopyId = NewType("CopyId", int)
EVERY_RANK = -1


class CopyKind(StrEnum):
    """What a copy does; the order is that of the counts that ranks exchange."""

    BACKUP = "backup"
    LOAD = "load"
    SAVE = "save"


class Progress(Protocol):
    """How far the work of one copy is, on the ranks that this process plays."""

    def is_finished(self, source: str, rank: int) -> bool:
        """Say whether a source is done on a rank. Waits for nothing."""

    def settle(self) -> None:
        """Return when all of it is done on every rank that is played, and whoever reads from now on sees it."""


class Agreement(Protocol):
    """What ranks have in common."""

    def least(self, counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return the least of each count over all ranks, from one row for each rank that this process plays."""


class LocalAgreement:
    """All ranks in one process. `on_exchange` hears of every exchange, once."""

    def __init__(self, on_exchange: Callable[[], None] = lambda: None) -> None:
        self._on_exchange = on_exchange

    def least(self, counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return the least of each count over all ranks."""
        self._on_exchange()
        return tuple(map(min, zip(*counts, strict=True)))


Owner = TypeVar("Owner")


@dataclass(kw_only=True, eq=False)
class CopyInFlight(Generic[Owner]):
    """One copy that was not acknowledged; `held` are the sources and ranks whose end nobody may hear of yet."""

    copy: CopyId
    kind: CopyKind
    sources: tuple[str, ...]
    ranks: tuple[int, ...]
    progress: Progress
    num_pages: int
    owners: list[Owner]
    held: set[tuple[str, int]] = field(default_factory=set)

    def is_source_finished(self, source: str, rank: int) -> bool:
        """Say whether a source is done on a rank, and may be known to be."""
        return (source, rank) not in self.held and self.progress.is_finished(source, rank)

    def is_finished(self, rank: int) -> bool:
        """Say whether every source is done on a rank."""
        return all(self.is_source_finished(source, rank) for source in self.sources)

    def unfinished_sources(self) -> tuple[str, ...]:
        """List the sources that are not known to be done on every rank that is played."""
        return tuple(
            source for source in self.sources if not all(self.is_source_finished(source, rank) for rank in self.ranks)
        )


class CopyLedger(Generic[Owner]):
    """The copies in flight of one cache. `ranks` are those that this process plays.

    `is_holding` says whether copies that are submitted now are held.
    """

    def __init__(self, ranks: Sequence[int], agreement: Agreement) -> None:
        self._ranks = tuple(ranks)
        self._agreement = agreement
        self._flights: dict[CopyId, CopyInFlight[Owner]] = {}
        self._pages: dict[CopyKind, int] = dict.fromkeys(CopyKind, 0)
        self._next_copy = 0
        self.is_holding = False

    def submit(
        self, kind: CopyKind, sources: Sequence[str], progress: Progress, owners: Sequence[Owner], num_pages: int
    ) -> CopyInFlight[Owner]:
        """Enter a copy whose work was enqueued just now; no number is used twice."""
        flight = CopyInFlight(
            copy=CopyId(self.next_number()),
            kind=kind,
            sources=tuple(sources),
            ranks=self._ranks,
            progress=progress,
            num_pages=num_pages,
            owners=list(owners),
        )
        if self.is_holding:
            flight.held = {(source, rank) for source in flight.sources for rank in self._ranks}
        self._flights[flight.copy] = flight
        self._pages[kind] += num_pages
        return flight

    def next_number(self) -> int:
        """Return a number that no copy has and none will get."""
        self._next_copy += 1
        return self._next_copy - 1

    def in_flight(self) -> tuple[CopyInFlight[Owner], ...]:
        """Return the copies that were not acknowledged, in the order of submission."""
        return tuple(self._flights.values())

    def pages_in_flight(self, kind: CopyKind) -> int:
        """Count the pages of copies of a kind."""
        return self._pages[kind]

    def poll(self) -> list[CopyInFlight[Owner]]:
        """Acknowledge what all ranks have finished, in the order of submission. One exchange, whatever is in flight."""
        finished = self._agreement.least([self._finished_by(rank) for rank in self._ranks])
        quota = dict(zip(CopyKind, finished, strict=True))
        done = []
        for flight in list(self._flights.values()):
            if quota[flight.kind]:
                quota[flight.kind] -= 1
                done.append(flight)
        for flight in done:
            self._acknowledge(flight)
        return done

    def settle(self) -> None:
        """Wait for every copy, and forget it."""
        for flight in list(self._flights.values()):
            self._acknowledge(flight)

    def hold(self) -> None:
        """Let nobody hear of the end of copies that are submitted from now on, before `finish` tells."""
        self.is_holding = True

    def finish(self, copy: int, source: str, rank: int) -> None:
        """Let the end of a source be heard of, on one rank or on every rank.

        Raises:
            RefusedError: no copy in flight has that number, source and rank.

        """
        flight = self._flights.get(CopyId(copy))
        if flight is None or source not in flight.sources or rank not in (*self._ranks, EVERY_RANK):
            raise RefusedError(Refusal.COPY_UNKNOWN, f"copy {copy}, source {source}, rank {rank}")
        flight.held -= {(source, each) for each in self._ranks if rank in (each, EVERY_RANK)}

    def _acknowledge(self, flight: CopyInFlight[Owner]) -> None:
        flight.progress.settle()
        del self._flights[flight.copy]
        self._pages[flight.kind] -= flight.num_pages

    def _finished_by(self, rank: int) -> list[int]:
        """Count for each kind how many copies, from the first in flight on, a rank has finished."""
        counts = dict.fromkeys(CopyKind, 0)
        stopped: set[CopyKind] = set()
        for flight in self._flights.values():
            if flight.kind in stopped:
                continue
            if flight.is_finished(rank):
                counts[flight.kind] += 1
            else:
                stopped.add(flight.kind)
        return [counts[kind] for kind in CopyKind]

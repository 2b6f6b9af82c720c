"""Transfers under way to one peer: batches that wait, batches that were posted, and how each transfer ends.

Knows bounds, deadlines and endings. Does not know addresses, nor the library.

    waiting ──room within the bound──> posted ──> settled          all settled: the transfer is done
       └─ the transfer failed: never posted          └─ failed      one failed: it fails when what was posted has ended
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sharedkv.engines.carrier import BatchFailedError, Carrier, Ticket
from sharedkv.engines.engine import Timing, TransferFailedError
from sharedkv.engines.regions import Region
from sharedkv.page_mapping import Writes

_SHORTEST_DOZE_S, _LONGEST_DOZE_S = 20e-6, 1e-3


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a transfer ended; `failure` is None where it is done."""

    failure: str | None = None
    is_definite: bool = True


class Flight:
    """One transfer. Its counts are kept by its lane; it has ended once `ending` is set, and stays so."""

    def __init__(self, lane: Lane, timing: Timing, deadline_s: float, lock: AbstractContextManager[object]) -> None:
        self._lane = lane
        self._timing = timing
        self._deadline_s = deadline_s
        self._ends_at = timing.now() + deadline_s
        self._lock = lock
        self.num_waiting = 0
        self.num_posted = 0
        self.failure: BatchFailedError | None = None
        self.is_doubtful = False
        self.ending: Ending | None = None

    def poll(self) -> bool:
        """Say whether it is done, or raise why it is not going to be."""
        with self._lock:
            self._go_on()
            ending = self.ending
        if ending is None:
            return False
        if ending.failure is not None:
            raise TransferFailedError(self._lane.peer, ending.failure, ending.is_definite)
        return True

    def wait(self) -> None:
        """Return when it is done, or raise why it is not going to be."""
        pause_s = _SHORTEST_DOZE_S
        while not self.poll():
            self._timing.doze(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_DOZE_S)

    def is_settled(self) -> bool:
        """Say whether nothing of it can land any more."""
        with self._lock:
            self._go_on()
            return not (self.num_waiting or self.num_posted or self.is_doubtful)

    def fail(self, error: BatchFailedError) -> None:
        """Note that a batch failed; the first one is what is told."""
        self.failure = self.failure or error
        self.is_doubtful |= not error.is_definite

    def give_up(self, what: str) -> None:
        """End now, unless it has: what waits is dropped, what is under way is in doubt."""
        if self.ending is None:
            self._lane.drop_waiting(self)
            told = what if self.failure is None else f"{self.failure.what}; {what}"
            self.ending = Ending(failure=told, is_definite=not (self.num_posted or self.is_doubtful))

    def judge(self) -> None:
        """End if there is nothing left to wait for, or no time left to wait."""
        if self.ending is not None:
            return
        if not self.num_waiting and not self.num_posted:
            failure = None if self.failure is None else self.failure.what
            self.ending = Ending(failure=failure, is_definite=not self.is_doubtful)
        elif self.is_late():
            self.give_up(f"not done within {self._deadline_s} s")

    def is_late(self) -> bool:
        """Say whether its deadline has come; nothing more of it is posted then."""
        return self._timing.now() >= self._ends_at

    def _go_on(self) -> None:
        self._lane.advance()
        self.judge()


@dataclass(eq=False, slots=True)
class _Posted:
    flight: Flight
    batch: Writes
    ticket: Ticket


class Lane:
    """The batches to one peer, first come, first posted, never more requests at once than the library allows."""

    def __init__(self, carrier: Carrier, peer: str) -> None:
        self.peer = peer
        self._carrier = carrier
        self._waiting: deque[tuple[Flight, Writes]] = deque()
        self._posted: list[_Posted] = []
        self._lost: list[Writes] = []

    def enter(self, flight: Flight, batches: Sequence[Writes]) -> None:
        """Take the batches of a transfer, and post what fits."""
        flight.num_waiting = len(batches)
        self._waiting.extend((flight, batch) for batch in batches)
        self.advance()

    def advance(self) -> None:
        """Look at what was posted, and post what fits now."""
        for posted in self._posted.copy():
            if self._has_ended(posted):
                self._posted.remove(posted)
                posted.flight.num_posted -= 1
        while self._waiting:
            flight, batch = self._waiting[0]
            if flight.is_late():
                flight.judge()
            elif self._num_requests() + len(batch.lengths) <= self._carrier.most_requests:
                self._waiting.popleft()
                self._post(flight, batch)
            else:
                return

    def drop_waiting(self, flight: Flight) -> None:
        """Never post what waits of a transfer."""
        self._waiting = deque(each for each in self._waiting if each[0] is not flight)
        flight.num_waiting = 0

    def end(self, what: str) -> None:
        """End every transfer that has not ended, and forget all batches."""
        for flight in [posted.flight for posted in self._posted] + [flight for flight, _ in self._waiting]:
            flight.give_up(what)
            flight.is_doubtful |= flight.num_posted > 0
            flight.num_posted = 0
        self._posted.clear()
        self._lost.clear()

    def reads(self, region: Region) -> bool:
        """Say whether a source lies there of a batch that waits, is under way, or is in doubt."""
        self.advance()
        return any(region.overlaps(batch.sources, batch.lengths) for batch in self._batches())

    def _batches(self) -> Iterator[Writes]:
        yield from (batch for _, batch in self._waiting)
        yield from (posted.batch for posted in self._posted)
        yield from self._lost

    def _num_requests(self) -> int:
        return sum(len(posted.batch.lengths) for posted in self._posted)

    def _has_ended(self, posted: _Posted) -> bool:
        try:
            return posted.ticket.is_done()
        except BatchFailedError as error:
            self._fail(posted.flight, posted.batch, error)
            return True

    def _post(self, flight: Flight, batch: Writes) -> None:
        flight.num_waiting -= 1
        try:
            ticket = self._carrier.post(self.peer, batch)
        except BatchFailedError as error:
            self._fail(flight, batch, error)
        else:
            flight.num_posted += 1
            self._posted.append(_Posted(flight, batch, ticket))

    def _fail(self, flight: Flight, batch: Writes, error: BatchFailedError) -> None:
        flight.fail(error)
        self.drop_waiting(flight)
        if not error.is_definite:
            self._lost.append(batch)

"""One room as prefill knows it: who waits for it, which chunks were registered and sent, how it ended.

Knows what may follow what. Does not know jobs, engines, nor messages.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from sharedkv.control_messages import RoomOpened
from sharedkv.errors import Refusal, RefusedError
from sharedkv.page_mapping import Integers
from sharedkv.transfer.chunks import Chunk, ChunkProgress, Way
from sharedkv.transfer.destinations import Destination


class SendState(StrEnum):
    """How far prefill is with a room, in ascending order."""

    FAILED = "failed"
    BOOTSTRAPPING = "bootstrapping"
    WAITING = "waiting"
    TRANSFERRING = "transferring"
    SUCCESS = "success"


class FailureReason(StrEnum):
    """Why prefill takes a room for failed."""

    ABORTED = "aborted"
    PEER = "peer"
    ENGINE = "engine"
    WORKER = "worker"
    DEADLINE = "deadline"


@dataclass(frozen=True, kw_only=True)
class SendReport:
    """What was sent of a room. `pages` counts those of part `kv`, each of which arrived with every layer.

    `ticks` lie between the first submission and the last completion, 0 where one of them is missing.
    """

    bytes: int
    pages: int
    submitted: int
    completed: int
    ticks: float
    reason: str


@dataclass(kw_only=True, eq=False, slots=True)
class SendCounts:
    """What `SendReport` is made of."""

    bytes: int = 0
    pages: int = 0
    submitted: int = 0
    completed: int = 0
    first_submitted_at: float | None = None
    last_completed_at: float | None = None

    def note_submitted(self, now: float) -> None:
        """Count a flight that was begun."""
        self.submitted += 1
        if self.first_submitted_at is None:
            self.first_submitted_at = now

    def note_completed(self, now: float, num_bytes: int) -> None:
        """Count a flight that has landed."""
        self.completed += 1
        self.bytes += num_bytes
        self.last_completed_at = now

    def ticks(self) -> float:
        """Return how long it took."""
        if self.first_submitted_at is None or self.last_completed_at is None:
            return 0
        return self.last_completed_at - self.first_submitted_at


@dataclass(kw_only=True, eq=False, slots=True)
class PrefillRoom:
    """One room under one epoch, on all ranks of this process; `reason` says why it failed.

    `heard` has for each rank what each decode rank told it, `reached` where each of these is. `contexts` are the chunks
    that were registered and not sent, in order. `num_open` counts jobs that wait or are under way, and flights, of
    every chunk; `open_ways` flights of pages alone, by who sends them where.
    """

    room: int
    epoch: int
    heard: dict[int, dict[int, RoomOpened]]
    reached: dict[int, Destination] = field(default_factory=dict)
    chunks: list[ChunkProgress] = field(default_factory=list)
    contexts: deque[ChunkProgress] = field(default_factory=deque)
    last_sent: ChunkProgress | None = None
    num_open: int = 0
    open_ways: Counter[Way] = field(default_factory=Counter)
    aux_submitted: set[int] = field(default_factory=set)
    aux_landed: set[int] = field(default_factory=set)
    counts: SendCounts = field(default_factory=SendCounts)
    reason: FailureReason | None = None
    has_succeeded: bool = False
    sent_end: int = 0

    @property
    def has_ended(self) -> bool:
        """Say whether nothing changes any more."""
        return self.has_succeeded or self.reason is not None

    @property
    def is_idle(self) -> bool:
        """Say whether nothing needs its pages: no open context, no job, no flight."""
        return not any(chunk.holds for chunk in self.chunks)

    @property
    def is_ready(self) -> bool:
        """Say whether every rank has heard of every destination."""
        return all(
            opened and len(opened) >= next(iter(opened.values())).num_destinations for opened in self.heard.values()
        )

    @property
    def state(self) -> SendState:
        """Say how far it is."""
        if self.reason is not None:
            return SendState.FAILED
        if self.has_succeeded:
            return SendState.SUCCESS
        if not self.is_ready:
            return SendState.BOOTSTRAPPING
        return SendState.TRANSFERRING if self.chunks else SendState.WAITING

    @property
    def destinations(self) -> list[int]:
        """List the decode ranks, ascending; all of them once it is ready."""
        return sorted(self.reached)

    def fits(self, opened: RoomOpened) -> bool:
        """Say whether what a decode rank tells agrees with what the others told: how many they are, how many pages."""
        told = [each for heard in self.heard.values() for each in heard.values()]
        shape = (opened.num_destinations, len(opened.pages))
        if any((each.num_destinations, len(each.pages)) != shape for each in told):
            return False
        return opened.destination in self.reached or len(self.reached) < opened.num_destinations

    def opened_by(self, destination: int) -> RoomOpened:
        """Return what a decode rank told."""
        return next(opened[destination] for opened in self.heard.values() if destination in opened)

    @property
    def aux_bytes(self) -> int:
        """Return how much metadata every decode rank has memory for; it is ready."""
        return min(self.opened_by(destination).aux_bytes for destination in self.destinations)

    @property
    def num_pages(self) -> int:
        """Count the pages that decode has set aside; it is ready."""
        return len(self.opened_by(self.destinations[0]).pages)

    def targets(self, destination: int) -> Integers:
        """Return the page of a decode rank for each position."""
        return np.array(self.opened_by(destination).pages, dtype=np.int64)

    @property
    def registered_end(self) -> int:
        """Return where the next chunk to register begins."""
        return self.contexts[-1].chunk.end_position if self.contexts else self.sent_end

    def require_follows(self, chunk: Chunk, begin: int, *, has_last: bool) -> None:
        """Refuse a chunk that begins elsewhere, follows the last, or does not fit into the request."""
        if chunk.first_position != begin or has_last:
            raise RefusedError(Refusal.CHUNK_BACKWARDS, f"from position {chunk.first_position}, expected {begin}")
        end = chunk.end_position
        if end > self.num_pages or (chunk.is_last and end < self.num_pages):
            raise RefusedError(Refusal.PAGE_COUNTS_DIFFER, f"ends at {end} of {self.num_pages} pages")

    def require_is(self, context: ChunkProgress, chunk: Chunk) -> None:
        """Refuse a chunk that is not the one that was registered there."""
        known = context.chunk
        if (chunk.pages, chunk.is_last) != (known.pages, known.is_last):
            raise RefusedError(Refusal.CONTEXT_DIFFERS, f"room {self.room}, from position {chunk.first_position}")

    def judge(self, sends_aux: bool) -> None:  # noqa: FBT001 - the only question
        """Succeed once the last chunk was sent, and nothing of the room is left to do."""
        if self.has_ended or self.last_sent is None or not self.last_sent.chunk.is_last or self.num_open:
            return
        if sends_aux and self.aux_landed < set(self.destinations):
            return
        self.has_succeeded = True

    def aux_is_due(self, rank: int, destination: int) -> bool:
        """Say whether all else that a rank sends to a decode rank has landed, and metadata has not been sent."""
        last = self.last_sent
        if self.has_ended or last is None or not last.chunk.is_last or destination in self.aux_submitted:
            return False
        return rank in last.submitted_by and not self.open_ways[rank, destination]

    def report(self) -> SendReport:
        """Return what was sent."""
        return SendReport(
            bytes=self.counts.bytes,
            pages=self.counts.pages,
            submitted=self.counts.submitted,
            completed=self.counts.completed,
            ticks=self.counts.ticks(),
            reason=self.reason.value if self.reason is not None else "",
        )

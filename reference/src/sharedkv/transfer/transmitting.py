"""What is submitted of rooms, what becomes of it, and what time does to it.

Knows jobs, flights and their endings. Does not know which chunks may follow which, nor who hears messages.

A job waits for the rows that it sends, and submits the flights of one rank. It runs on the worker without the lock:
while it runs it counts as a flight of each of its ways, so that nobody is told too early that they are drained.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sharedkv.control_messages import ChunkArrived
from sharedkv.engines.engine import (
    EngineClosedError,
    PeerUnknownError,
    Transfer,
    TransferFailedError,
    WriteRefusedError,
)
from sharedkv.page_mapping import PageShare, Writes
from sharedkv.transfer.aux_staging import AuxStaging
from sharedkv.transfer.chunks import ChunkProgress, Way
from sharedkv.transfer.destinations import Destinations, PageWrites
from sharedkv.transfer.jobs import Job, JobQueue
from sharedkv.transfer.metadata_slots import Metadata, encoded
from sharedkv.transfer.ports import AUX, INDEX, KV, PrefillPorts, SendLimits, WriteEvent
from sharedkv.transfer.prefill_rooms import FailureReason, PrefillRoom
from sharedkv.transfer.room_book import RoomBook
from sharedkv.transfer.send_flights import FlightBook, SendFlight

_LOGGER = logging.getLogger(__name__)
_AUX_RANK = 0
_ENGINE_ERRORS = (EngineClosedError, PeerUnknownError, TransferFailedError, WriteRefusedError)


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """What one rank submits of a chunk: some layers, behind an event; `is_send` where nothing follows."""

    room: PrefillRoom
    chunk: ChunkProgress
    rank: int
    layers: tuple[int, ...]
    event: WriteEvent
    is_send: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class _Submission:
    """A transfer, and the moment just before the clock of the engine began to run for it."""

    transfer: Transfer
    begun_at: float


@dataclass(frozen=True, kw_only=True)
class SenderParts:
    """What the parts of one sender share."""

    ranks: tuple[int, ...]
    ports: PrefillPorts
    limits: SendLimits
    book: RoomBook
    flights: FlightBook
    destinations: Destinations
    staging: AuxStaging


class Transmitter:
    """The flights of all ranks of this process."""

    def __init__(self, parts: SenderParts, jobs: JobQueue) -> None:
        self._parts = parts
        self._book = parts.book
        self._flights = parts.flights
        self._destinations = parts.destinations
        self._now = parts.ports.now
        self._jobs = jobs
        self._awaited: deque[tuple[PrefillRoom, ChunkProgress]] = deque()
        self._aux_due: deque[tuple[PrefillRoom, int]] = deque()

    def enqueue(self, tasks: Sequence[Task]) -> None:
        """Hand tasks to the worker; the caller holds the lock."""
        for task in tasks:
            task.chunk.holds += 1
            task.chunk.num_queued += 1
            task.room.num_open += 1
        self._jobs.put([self._job(task) for task in tasks])

    def expect(self, room: PrefillRoom, chunk: ChunkProgress) -> None:
        """Fail a room unless a chunk that was sent now is submitted in time, its metadata too."""
        self._awaited.append((room, chunk))

    def poll(self) -> bool:
        """See which flights have ended, and submit metadata that is due; say whether anything was."""
        with self._book.lock:
            flights = self._flights.live()
        has_any = False
        for flight in flights:
            has_any |= self._look(flight)
        return self._submit_aux() or has_any

    def expire_flights(self) -> None:
        """Give up the flights that have not ended in time: nobody knows whether they land."""
        with self._book.lock:
            now = self._now()
            for flight in self._flights.late(now - self._parts.limits.deadline):
                self._doubt(flight, FailureReason.DEADLINE)

    def expire_chunks(self) -> None:
        """Fail the rooms of chunks that were not submitted, or their metadata not, in time."""
        with self._book.lock:
            while self._awaited:
                room, chunk = self._awaited[0]
                if not room.has_ended and not self._is_on_its_way(room, chunk):
                    if not self._is_late(chunk):
                        return
                    self._book.fail(room, FailureReason.DEADLINE)
                self._awaited.popleft()

    def end_doubts(self) -> None:
        """Take flights that came into doubt long ago for gone."""
        with self._book.lock:
            for flight in self._flights.old_doubts(self._now() - self._parts.limits.quarantine):
                self._end(flight)

    def _job(self, task: Task) -> Job:
        def run() -> None:
            self._submit(task)
            self._finish(task)

        def fail(error: Exception) -> None:
            reason = FailureReason.ENGINE if isinstance(error, _ENGINE_ERRORS) else FailureReason.WORKER
            with self._book.lock:
                self._book.fail(task.room, reason)
            self._finish(task)

        return Job(begin=lambda: self._begin(task), run=run, fail=fail)

    def _begin(self, task: Task) -> bool:
        """Say whether a task is still wanted; the failure of its room has taken its hold already if it is not."""
        with self._book.lock:
            if task.room.reason is not None:
                return False
            task.chunk.num_queued -= 1
            for destination in task.room.destinations:
                self._flights.hold((task.rank, destination, task.room.room, task.room.epoch))
            return True

    def _submit(self, task: Task) -> None:
        """Wait for the rows, and begin every flight of a task; none where the room fails meanwhile."""
        task.event.synchronize()
        chunk, rank = task.chunk, task.rank
        share, state = chunk.shares[rank], chunk.state_shares.get(rank)
        if task.layers and len(share.sources):
            for destination in task.room.destinations:
                pages = self._pages(task, destination, share)
                self._submit_pages(task, destination, KV, self._destinations.kv(pages, task.layers))
        if task.is_send and state is not None and len(state.sources):
            for destination in task.room.destinations:
                pages = self._pages(task, destination, state)
                self._submit_pages(task, destination, INDEX, self._destinations.index(pages))

    def _pages(self, task: Task, destination: int, share: PageShare) -> PageWrites:
        room = task.room
        return self._destinations.pages(task.rank, room.reached[destination], share, room.targets(destination))

    def _submit_pages(self, task: Task, destination: int, part: str, pages: PageWrites) -> None:
        if self._is_over(task.room, task.chunk):
            return
        submission = self._submission(task.room, destination, pages.all())
        layers = task.layers if part == KV else tuple(range(self._destinations.num_layers))
        with self._book.lock:
            way = (task.rank, destination)
            flight = self._flight(task.room, task.chunk, way, part, submission)
            flight.layers, flight.pages, flight.num_bytes = layers, pages, pages.num_bytes
            task.room.open_ways[way] += 1
            if part == KV:
                task.chunk.submitted.setdefault(task.rank, set()).update(layers)

    def _submission(self, room: PrefillRoom, destination: int, writes: Writes) -> _Submission:
        begun_at = self._now()
        transfer = self._destinations.submit(room.reached[destination], writes, self._parts.limits.deadline)
        return _Submission(transfer=transfer, begun_at=begun_at)

    def _flight(
        self, room: PrefillRoom, chunk: ChunkProgress, way: Way, part: str, submission: _Submission
    ) -> SendFlight:
        """Enter a flight of no pages; the caller holds the lock."""
        flight = SendFlight(
            number=self._flights.next_number(),
            room=room,
            chunk=chunk,
            way=way,
            part=part,
            transfer=submission.transfer,
            submitted_at=submission.begun_at,
        )
        self._flights.add(flight)
        room.counts.note_submitted(submission.begun_at)
        room.num_open += 1
        chunk.holds += 1
        return flight

    def _finish(self, task: Task) -> None:
        """Note that a task was done, or ended otherwise."""
        room, chunk = task.room, task.chunk
        with self._book.lock:
            if task.is_send:
                chunk.submitted_by.add(task.rank)
            for destination in room.destinations:
                self._flights.unhold((task.rank, destination, room.room, room.epoch))
            room.num_open -= 1
            self._book.let_go(chunk)
            for destination in room.destinations:
                self._follow(room, chunk, (task.rank, destination))

    def _look(self, flight: SendFlight) -> bool:
        """See whether a flight has ended, and note it. Whatever else the engine raises, bytes of it may still land."""
        end: Callable[[SendFlight], None] = self._note_landed
        try:
            if not flight.transfer.poll():
                return False
        except TransferFailedError as error:
            _LOGGER.warning("room %d, epoch %d: %s", flight.room.room, flight.room.epoch, error)
            end = partial(self._note_failed, is_definite=error.is_definite)
        except Exception:
            _LOGGER.exception("a flight of room %d, epoch %d", flight.room.room, flight.room.epoch)
            end = partial(self._note_failed, is_definite=False)
        with self._book.lock:
            end(flight)
        return True

    def _note_failed(self, flight: SendFlight, *, is_definite: bool) -> None:
        is_late = self._now() - flight.submitted_at >= self._parts.limits.deadline
        reason = FailureReason.DEADLINE if is_late else FailureReason.ENGINE
        if is_definite:
            self._end(flight)
            self._book.fail(flight.room, reason)
        else:
            self._doubt(flight, reason)

    def _doubt(self, flight: SendFlight, reason: FailureReason) -> None:
        self._flights.doubt(flight, self._now())
        self._book.fail(flight.room, reason)

    def _note_landed(self, flight: SendFlight) -> None:
        room, chunk, way = flight.room, flight.chunk, flight.way
        room.counts.note_completed(self._now(), flight.num_bytes)
        if flight.part == KV:
            chunk.completed.setdefault(way[0], set()).update(flight.layers)
            chunk.landed_layers[way] += len(flight.layers)
            if chunk.landed_layers[way] == self._destinations.num_layers:
                room.counts.pages += len(chunk.shares[way[0]].sources)
        elif flight.part == INDEX:
            chunk.landed_index.add(way)
        else:
            room.aux_landed.add(way[1])
            self._tell(room, way, AUX, chunk=0, is_last=True)
        self._end(flight)
        self._follow(room, chunk, way)

    def _end(self, flight: SendFlight) -> None:
        """Count a flight no longer that nobody waits for any more."""
        self._flights.end(flight)
        flight.room.num_open -= 1
        if flight.staged is not None:
            self._parts.staging.give(flight.staged)
        else:
            flight.room.open_ways[flight.way] -= 1
        self._book.let_go(flight.chunk)

    def _follow(self, room: PrefillRoom, chunk: ChunkProgress, way: Way) -> None:
        """Do what follows when a flight or a job of a way has ended: tell decode, send metadata, succeed."""
        kept = chunk.chunk
        if chunk.are_pages_there(way, self._destinations.num_layers):
            self._tell_once(room, chunk, way, KV)
        if kept.is_last and self._destinations.has_index and chunk.is_index_there(way):
            self._tell_once(room, chunk, way, INDEX)
        if way[0] == _AUX_RANK and room.aux_is_due(*way):
            room.aux_submitted.add(way[1])
            self._aux_due.append((room, way[1]))
        room.judge(sends_aux=_AUX_RANK in self._parts.ranks)

    def _tell_once(self, room: PrefillRoom, chunk: ChunkProgress, way: Way, part: str) -> None:
        if (*way, part) not in chunk.announced:
            chunk.announced.add((*way, part))
            number = chunk.number if part == KV else 0
            self._tell(room, way, part, chunk=number, is_last=chunk.chunk.is_last)

    def _tell(self, room: PrefillRoom, way: Way, part: str, *, chunk: int, is_last: bool) -> None:
        source, destination = way
        arrived = ChunkArrived(
            room=room.room,
            epoch=room.epoch,
            source=source,
            destination=destination,
            part=part,
            chunk=chunk,
            is_last=is_last,
        )
        self._book.tell_arrived(room, arrived)

    def _submit_aux(self) -> bool:
        """Begin to send the metadata that is due."""
        has_any = False
        while self._aux_due:
            room, destination = self._aux_due.popleft()
            if room.last_sent is not None and not self._is_over(room, room.last_sent):
                has_any = True
                self._try_to_send_aux(room, room.last_sent, destination)
        return has_any

    def _try_to_send_aux(self, room: PrefillRoom, chunk: ChunkProgress, destination: int) -> None:
        """Send metadata, or fail its room: nobody asks for it again."""
        try:
            self._send_aux(room, chunk, destination)
        except Exception:
            _LOGGER.exception("metadata of room %d, epoch %d", room.room, room.epoch)
            with self._book.lock:
                self._book.fail(room, FailureReason.ENGINE)

    def _send_aux(self, room: PrefillRoom, chunk: ChunkProgress, destination: int) -> None:
        data = encoded(Metadata(room=room.room, epoch=room.epoch, data=chunk.chunk.aux))
        staged = self._parts.staging.take(data)
        row = (staged.address, room.opened_by(destination).slot_address, len(data))
        sources, destinations, lengths = (np.array([value], dtype=np.int64) for value in row)
        writes = Writes(
            buffers=np.zeros(1, dtype=np.int64), sources=sources, destinations=destinations, lengths=lengths
        )
        try:
            submission = self._submission(room, destination, writes)
        except _ENGINE_ERRORS:
            self._parts.staging.give(staged)
            raise
        with self._book.lock:
            flight = self._flight(room, chunk, (_AUX_RANK, destination), AUX, submission)
            flight.staged, flight.num_bytes = staged, len(chunk.chunk.aux)

    def _is_over(self, room: PrefillRoom, chunk: ChunkProgress) -> bool:
        """Say whether nothing more may be written. A process that stood still may not have seen that it is late."""
        if self._is_late(chunk):
            with self._book.lock:
                self._book.fail(room, FailureReason.DEADLINE)
        return room.has_ended

    def _is_late(self, chunk: ChunkProgress) -> bool:
        return chunk.sent_at is not None and self._now() - chunk.sent_at >= self._parts.limits.deadline

    def _is_on_its_way(self, room: PrefillRoom, chunk: ChunkProgress) -> bool:
        """Say whether all of a chunk was submitted, and its metadata. Where a worker hangs it never is."""
        needs_aux = chunk.chunk.is_last and _AUX_RANK in self._parts.ranks
        return chunk.all_submitted() and (not needs_aux or room.aux_submitted >= set(room.destinations))

"""Rooms as prefill sees them, over all prefill ranks of this process.

Knows which calls may follow which. Does not know sockets, nor which engine moves the bytes.

    hear ──> bootstrapping ──> waiting ──register, send──> transferring ──the last flight lands──> success ──> forget
                  └────────────────┴──────────────────────────┴─> failed: every decode rank is told, once a rank

`send`, `register`, `layer_end` and all else come from one thread, the scheduler's; jobs run on a worker, which one
starts over the same queue, or on this thread. Nothing here waits for a flight, but `wait`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from sharedkv.control_messages import Message, Registration, RoomAborted, RoomOpened
from sharedkv.copy_ledger import Agreement
from sharedkv.engines.engine import DescriptionRefusedError, Engine, PeerUnreachableError
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import DUMMY_PAGE, Geometry
from sharedkv.page_mapping import PageShare, require_distinct, share_of
from sharedkv.transfer.aux_staging import AuxStaging
from sharedkv.transfer.chunks import Chunk, ChunkProgress
from sharedkv.transfer.destinations import Destinations
from sharedkv.transfer.jobs import JobQueue
from sharedkv.transfer.overlap import OverlapContexts, OverlapView
from sharedkv.transfer.ports import PrefillPorts, RankSource, SendLimits, WriteEvent
from sharedkv.transfer.prefill_rooms import FailureReason, PrefillRoom, SendReport, SendState
from sharedkv.transfer.room_book import RoomBook
from sharedkv.transfer.send_flights import FlightBook, FlightView
from sharedkv.transfer.transmitting import SenderParts, Task, Transmitter

_LOGGER = logging.getLogger(__name__)
_STATES = tuple(SendState)
_DOZE_S = 100e-6


class SendLateError(Exception):
    """A room did not end in time; so many of its flights had landed."""

    def __init__(self, room: int, completed: int, submitted: int) -> None:
        super().__init__(room, completed, submitted)
        self.room = room
        self.completed = completed
        self.submitted = submitted

    def __str__(self) -> str:
        return f"room {self.room} has not ended: {self.completed} of {self.submitted} flights have landed"


class PrefillSender:
    """All prefill ranks that this process plays; `sources` are their pools, which the engine may read."""

    def __init__(
        self,
        geometry: Geometry,
        sources: Sequence[RankSource],
        engine: Engine,
        jobs: JobQueue,
        ports: PrefillPorts,
        limits: SendLimits,
    ) -> None:
        self._geometry = geometry
        self._ranks = tuple(source.rank for source in sources)
        self._ports = ports
        self._limits = limits
        self._flights = FlightBook()
        self._book = RoomBook(self._ranks, self._flights, ports)
        self._destinations = Destinations(sources, engine)
        self._overlap = OverlapContexts(self._destinations.num_layers, limits.group)
        parts = SenderParts(
            ranks=self._ranks,
            ports=ports,
            limits=limits,
            book=self._book,
            flights=self._flights,
            destinations=self._destinations,
            staging=AuxStaging(engine, limits.aux_bytes),
        )
        self._transmitter = Transmitter(parts, jobs)

    def connect(self, registration: Registration) -> None:
        """Make a decode rank known. Refuses one that differs; raises what the engine does where it is not there.

        One that comes again elsewhere is another one: rooms that the one before waited for fail.
        """
        if self._destinations.connect(registration, self._ports.fingerprint):
            _LOGGER.warning("decode rank %d has come again", registration.rank)
            with self._book.lock:
                self._book.lose(registration.rank, registration.first_epoch)

    def hear(self, rank: int, message: Message) -> None:
        """Hear what a decode rank tells one of the ranks here. What makes no sense is logged, and changes nothing."""
        match message:
            case _ if rank not in self._ranks:
                _LOGGER.warning("no rank %d is here, which hears %s", rank, message)
            case Registration():
                self._hear_registration(message)
            case RoomOpened() if self._makes_sense(message):
                with self._book.lock:
                    self._book.hear_opened(rank, message, self._destinations[message.destination])
            case RoomAborted():
                with self._book.lock:
                    self._book.hear_aborted(rank, message)
            case _:
                _LOGGER.warning("prefill hears %s, and ignores it", message)

    def send(self, chunk: Chunk) -> None:
        """Send one chunk from every rank here; of a room that has failed nothing.

        Raises `RefusedError`, and changes nothing, for what cannot be sent; likewise what `record` raises.
        """
        with self._book.lock:
            room = self._book.find(chunk.room)
            if room.reason is not None:
                return
            chunk = _plain(chunk)
            self._require_sendable(room, chunk)
            event = self._ports.record()
            if room.contexts:
                progress = self._overlap.finish(room)
                progress.chunk = chunk
                self._enqueue_send(room, progress, event)
                self._book.let_go(progress)
            else:
                self._enqueue_send(room, self._begin(room, chunk), event)

    def register(self, room: int, pages: Sequence[int], first_position: int, is_last: bool) -> bool:  # noqa: FBT001 - as in the contract
        """Say which chunk will be sent, before a forward computes it; return whether its layers go early.

        Never raises: what cannot be sent early is declined, and `send` sends it, or refuses it.
        """
        if not self._overlap.is_on:
            return False
        chunk = Chunk(room=room, pages=pages, first_position=first_position, is_last=is_last)
        try:
            with self._book.lock:
                return self._register(_plain(chunk))
        except RefusedError as refused:
            _LOGGER.debug("room %d: layers are not sent early: %s", room, refused)
        except Exception:
            _LOGGER.exception("room %d: layers are not sent early", room)
        self._ports.listener.on_declined()
        return False

    def layer_end(self, layer: int) -> None:
        """Tell that every row of a layer is enqueued; at a boundary its group goes to the worker.

        Never raises: layers that do not go now go when their chunk is sent.
        """
        if not self._overlap.note(layer):
            return
        try:
            with self._book.lock:
                self._submit_group(layer)
        except Exception:
            _LOGGER.exception("layers up to %d are not sent early", layer)

    def contexts(self) -> tuple[OverlapView, ...]:
        """Return the contexts of chunks that were not sent, in the order of registration, one a rank with pages."""
        with self._book.lock:
            return self._overlap.views()

    def abort(self, room: int) -> None:
        """Give up a room that is known and has not ended."""
        with self._book.lock:
            known = self._book.get(room)
            if known is not None:
                self._book.fail(known, FailureReason.ABORTED)

    def state(self, room: int) -> SendState:
        """Say how far a room is on the ranks here. Refuses one that none of them knows."""
        with self._book.lock:
            return self._book.find(room).state

    def agreed_states(self, rooms: Sequence[int], agreement: Agreement) -> list[SendState]:
        """Say how far each room is on all ranks of the group: one exchange. What failed elsewhere fails here.

        Every process asks for the same rooms. One that is not known here counts as not heard of.
        """
        with self._book.lock:
            known = [self._book.get(room) for room in rooms]
            own = [SendState.BOOTSTRAPPING if each is None else each.state for each in known]
        agreed = [_STATES[least] for least in agreement.least([[_STATES.index(each) for each in own]])]
        with self._book.lock:
            for each, state in zip(known, agreed, strict=True):
                if each is not None and state is SendState.FAILED:
                    self._book.fail(each, FailureReason.PEER)
        return agreed

    def agreed_idle(self, rooms: Sequence[int], agreement: Agreement) -> list[bool]:
        """Say whether nothing of each room is open, in flight or in doubt on any rank of the group: one exchange.

        Where every rank has a mirror of one allocator, pages are released at an agreed moment: behind this answer, not
        by pins that each rank drops in its own time. Every process asks for the same rooms.
        """
        with self._book.lock:
            busy = self._flights.busy_rooms()
            known = [(room, self._book.get(room)) for room in rooms]
            own = [int(room not in busy and (each is None or each.is_idle)) for room, each in known]
        return [bool(least) for least in agreement.least([own])]

    def forget(self, room: int) -> None:
        """Forget a room that has ended; what is in flight stays so, and its pages pinned."""
        with self._book.lock:
            self._book.forget(room)

    def report(self, room: int) -> SendReport:
        """Return what was sent of a room. Refuses one that no rank here knows."""
        with self._book.lock:
            return self._book.find(room).report()

    def flights(self) -> tuple[FlightView, ...]:
        """Return the flights that may still land, oldest first."""
        with self._book.lock:
            return self._flights.views()

    def step(self) -> bool:
        """See what has landed before time does what it does, and pump; say whether there was anything."""
        has_moved = self._transmitter.poll()
        self.expire_flights()
        self.expire_chunks()
        self.end_doubts()
        return self._book.flush() or has_moved

    def pump(self) -> bool:
        """See what has landed, submit what is due, hand out messages, let pages go; say whether there was anything."""
        has_moved = self._transmitter.poll()
        return self._book.flush() or has_moved

    def expire_flights(self) -> None:
        """Give up the flights that have not ended in time."""
        self._transmitter.expire_flights()

    def expire_chunks(self) -> None:
        """Fail the rooms whose chunks were not picked up in time."""
        self._transmitter.expire_chunks()

    def end_doubts(self) -> None:
        """Let the pages go of flights that have been in doubt for long."""
        self._transmitter.end_doubts()

    def wait(self, room: int, within: float, doze: Callable[[float], None] = time.sleep) -> SendState:
        """Step until a room has ended, and return how.

        Raises:
            SendLateError: it has not within that time; it goes on.

        """
        ends_at = self._ports.now() + within
        while (state := self.state(room)) not in {SendState.SUCCESS, SendState.FAILED}:
            if not self.step():
                doze(_DOZE_S)
            if self._ports.now() >= ends_at and self.state(room) is state:
                report = self.report(room)
                raise SendLateError(room, report.completed, report.submitted)
        self.step()
        return state

    def close(self) -> None:
        """Give up every room, and hand out what is to be told. What is in flight may still land."""
        with self._book.lock:
            self._book.fail_all(FailureReason.ABORTED)
        self.pump()

    def _hear_registration(self, registration: Registration) -> None:
        try:
            self.connect(registration)
        except (RefusedError, DescriptionRefusedError, PeerUnreachableError) as error:
            _LOGGER.warning("decode rank %d is not connected: %s", registration.rank, error)

    def _makes_sense(self, opened: RoomOpened) -> bool:
        """Say whether a place can be written: decode gave pages, none of which is the dummy, and none twice."""
        pages = set(opened.pages)
        is_there = opened.destination in self._destinations and opened.num_destinations > 0
        return is_there and len(pages) == len(opened.pages) > 0 and DUMMY_PAGE not in pages

    def _require_sendable(self, room: PrefillRoom, chunk: Chunk) -> None:
        if not room.is_ready:
            raise RefusedError(Refusal.ROOM_NOT_READY, f"room {room.room}: not every decode rank was heard of")
        has_last = room.last_sent is not None and room.last_sent.chunk.is_last
        room.require_follows(chunk, room.sent_end, has_last=has_last)
        if room.contexts:
            room.require_is(room.contexts[0], chunk)
        wanted = room.num_pages if chunk.is_last and self._destinations.has_index else 0
        if len(chunk.state) != wanted:
            raise RefusedError(Refusal.PAGE_COUNTS_DIFFER, f"{len(chunk.state)} pages of state, wanted {wanted}")
        most = min(self._limits.aux_bytes, room.aux_bytes)
        if len(chunk.aux) > most:
            raise RefusedError(Refusal.AUX_TOO_LONG, f"{len(chunk.aux)} of {most} bytes")
        self._require_pages(chunk.pages)
        self._require_pages(chunk.state)

    def _require_pages(self, pages: Sequence[int]) -> None:
        require_distinct(self._geometry, pages)
        self._ports.pins.require_allocated(pages)

    def _register(self, chunk: Chunk) -> bool:
        room = self._book.find(chunk.room)
        for context in room.contexts:
            if context.chunk.first_position == chunk.first_position:
                room.require_is(context, chunk)
                return True
        if room.has_ended or not room.is_ready:
            raise RefusedError(Refusal.ROOM_NOT_READY, room.room)
        if len(room.destinations) > 1 or not len(chunk.pages):
            raise RefusedError(Refusal.ROOM_INVALID, f"{len(room.destinations)} destinations, {len(chunk.pages)} pages")
        has_last = bool(room.chunks) and room.chunks[-1].chunk.is_last
        room.require_follows(chunk, room.registered_end, has_last=has_last)
        self._require_pages(chunk.pages)
        progress = self._begin(room, chunk)
        progress.holds += 1
        self._overlap.add(room, progress)
        return True

    def _begin(self, room: PrefillRoom, chunk: Chunk) -> ChunkProgress:
        """Pin the pages of a chunk, and enter it."""
        shares = self._shares(chunk.pages, chunk.first_position)
        self._ports.pins.pin(chunk.pages)
        progress = ChunkProgress(chunk=chunk, number=len(room.chunks), shares=shares, pinned=[chunk.pages])
        room.chunks.append(progress)
        return progress

    def _shares(self, pages: Sequence[int], first_position: int) -> dict[int, PageShare]:
        return {rank: share_of(self._geometry, pages, first_position, rank) for rank in self._ranks}

    def _submit_group(self, layer: int) -> None:
        """Hand what is due at a boundary to the worker, behind one event; the layers are taken once that is there."""
        due = self._overlap.at_boundary(layer)
        if not due:
            return
        event = self._ports.record()
        self._ports.listener.on_boundary(layer)
        for _, chunk, layers in due:
            chunk.taken.update(layers)
        self._transmitter.enqueue(
            [
                Task(room=room, chunk=chunk, rank=rank, layers=layers, event=event, is_send=False)
                for room, chunk, layers in due
                for rank in chunk.ranks_with_pages()
            ]
        )

    def _enqueue_send(self, room: PrefillRoom, progress: ChunkProgress, event: WriteEvent) -> None:
        """Send what no job has of a chunk, and all that ends it."""
        chunk = progress.chunk
        if chunk.state:
            self._ports.pins.pin(chunk.state)
            progress.pinned.append(chunk.state)
            progress.state_shares = self._shares(chunk.state, 0)
        progress.sent_at = self._ports.now()
        room.last_sent = progress
        room.sent_end = chunk.end_position
        layers = progress.without_job(range(self._destinations.num_layers))
        progress.taken.update(layers)
        self._transmitter.enqueue(
            [
                Task(room=room, chunk=progress, rank=rank, layers=layers, event=event, is_send=True)
                for rank in self._ranks
            ]
        )
        self._transmitter.expect(room, progress)


def _plain(chunk: Chunk) -> Chunk:
    """Return a chunk with tuples of numbers, whatever lists of pages the caller has."""
    pages, state = (tuple(int(page) for page in given) for given in (chunk.pages, chunk.state))
    return replace(chunk, pages=pages, state=state)

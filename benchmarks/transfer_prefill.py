"""The prefill side: a forward, and what it computed sent beside it, all at the end, or by the engine alone.

Knows the sender of the reference, the engine under it, and a peer that answers. Does not know how a result is shown.

    forward alone    | forward |
    all at the end   | forward | kv ............... index aux, heard by decode
    overlapped       | forward | kv index aux, heard by decode        most of kv went beside the forward
    engine alone     | kv ............... index |                     the same writes, and nobody is told

The thread of the forward enqueues the layers, and then takes turns as a scheduler does while a device computes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter_ns

import numpy as np
import zmq

from benchmarks.errors import DisagreementError
from benchmarks.transfer_content import Content
from benchmarks.transfer_decode import AUX_BYTES, Arrival
from benchmarks.transfer_engines import DEADLINE_S
from benchmarks.transfer_forward import Forward
from benchmarks.transfer_peers import DecodePeer
from benchmarks.transfer_recording import RecordingEngine, Submission
from benchmarks.transfer_shape import LAYOUT, PARTS, RANK, TransferShape
from sharedkv.control_messages import Registration, RoomOpened
from sharedkv.control_plane import Inbox, Outbox
from sharedkv.engines.engine import Transfer
from sharedkv.engines.regions import Region
from sharedkv.fingerprint import fingerprint
from sharedkv.layouts import INDEX
from sharedkv.page_mapping import BufferAddresses, Writes, writes
from sharedkv.streams import Stream
from sharedkv.transfer.chunks import Chunk
from sharedkv.transfer.jobs import JobQueue, WorkerThread
from sharedkv.transfer.links import Links
from sharedkv.transfer.ports import AUX, KV, PrefillPorts, RankSource, SendLimits
from sharedkv.transfer.prefill import PrefillSender
from sharedkv.transfer.prefill_rooms import SendState

FORWARD_DOZE_S, DOZE_S = 200e-6, 20e-6
"""Between two turns: while the forward runs, and behind it."""

NS_PER_US = 1_000
FORWARD, LANDED, HEARD, COMMITTED = "forward", "landed", "heard", "committed"
"""Moments beside those of the parts; `landed` is the last of these."""

AUX_DATA = b"first token"
_ENDED = {SendState.SUCCESS, SendState.FAILED}


@dataclass(frozen=True, kw_only=True)
class Run:
    """One round, in microseconds.

    `moments_us` are those, since it began, at which the forward was done, each part was at decode, decode had heard of
    everything, and had taken the metadata; `after_us` are the same since the forward was done. `told_us` is what the
    thread of the forward spent at ends of layers, `submit_us` what submitting took, on whatever thread, `submits` how
    often pages of `kv` were submitted, `num_writes` in how many writes.
    """

    moments_us: dict[str, float]
    after_us: dict[str, float]
    told_us: float = 0.0
    submit_us: float = 0.0
    submits: int = 0
    num_writes: int = 0


class Prefill:
    """One prefill rank, with a sender for each size of a group of layers."""

    def __init__(
        self, shape: TransferShape, engine: RecordingEngine, peer: DecodePeer, stream: Stream, groups: tuple[int, ...]
    ) -> None:
        self.shape = shape
        self._engine = engine
        self._peer = peer
        pool, self._pages = shape.allocated()
        self._owned = [shape.owned(pages) for pages in self._pages]
        num_pages = shape.geometry.lane_capacity
        self._memory = np.zeros(shape.memory_bytes(num_pages), dtype=np.uint8)
        self._buffers = shape.buffers(int(self._memory.ctypes.data), num_pages)
        engine.register(Region(address=int(self._memory.ctypes.data), num_bytes=self._memory.nbytes))
        content = Content(shape, np.concatenate([places for _, places in self._owned]))
        self.forward = Forward(stream, content.layers_of(self._memory))
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._inbox = Inbox(self._context)
        self._registration = self._registered()
        outbox = Outbox(self._context, self._registration.reply_to, waits=False)
        self._links = Links({self._registration.rank: outbox})
        self._engine_peer = engine.connect(self._registration.engine)
        ports = PrefillPorts(
            send=self._links.send,
            record=stream.record,
            pins=pool,
            fingerprint=fingerprint(shape.geometry, LAYOUT, layers=shape.layers, draft_layers=0),
        )
        self._queues = {group: JobQueue() for group in groups}
        self._senders = {
            group: PrefillSender(
                shape.geometry,
                [RankSource(rank=RANK, buffers=self._buffers)],
                engine,
                queue,
                ports,
                SendLimits(deadline=DEADLINE_S, group=group, aux_bytes=AUX_BYTES),
            )
            for group, queue in self._queues.items()
        }
        for sender in self._senders.values():
            sender.connect(self._registration)
        self._workers = [WorkerThread(queue) for queue in self._queues.values()]
        self._opened: dict[int, RoomOpened] = {}
        self._number = 0

    def warm(self) -> None:
        """Do a forward that is not timed, so that every variant finds the caches alike."""
        self.forward.enqueue(self._next_number(), _nothing).synchronize()

    def alone(self) -> Run:
        """Do the forward, and send nothing."""
        self.warm()
        clock = _Clock()
        self.forward.enqueue(self._next_number(), _nothing).synchronize()
        return _run_of({FORWARD: clock.us()})

    def monolithic(self, group: int) -> Run:
        """Do the forward, and send everything behind it."""
        self._open(group)
        return self._run(group, _nothing, _Clock())

    def overlapped(self, group: int) -> Run:
        """Do the forward, and send layers as it goes."""
        self._open(group)
        sender, clock = self._senders[group], _Clock()
        for room, pages in enumerate(self._pages):
            if not sender.register(room, pages, 0, is_last=True):
                raise DisagreementError(f"whether layers of request {room} are sent early", wanted=True, found=False)
        return self._run(group, sender.layer_end, clock)

    def engine_alone(self) -> Run:
        """Let the engine make the writes of all requests, to the pages that decode set aside last."""
        by_part = [(part, self._writes(room, part)) for room in range(self.shape.requests) for part in PARTS]
        self.warm()
        self._engine.forget_submissions()
        clock = _Clock()
        waiting: list[Transfer] = [self._engine.submit(self._engine_peer, each) for _, each in by_part]
        while waiting:
            waiting = [transfer for transfer in waiting if not transfer.poll()]
            if waiting:
                time.sleep(DOZE_S)
        return self._measured({FORWARD: 0.0}, clock, told_us=0.0)

    def require_equal_bytes(self) -> None:
        """Raise unless decode has every byte of the last forward, at the pages that it set aside last."""
        self._peer.ask(f"check {self._number}")
        wrong = self._peer.answer()
        if wrong:
            raise DisagreementError(f"bytes of round {self._number}", "those that were computed", wrong)

    def close(self) -> None:
        """Give up threads, sockets and engine; the peer is ended by whoever began it."""
        for worker in self._workers:
            worker.close()
        self._inbox.close()
        self._links.close()
        self._engine.close()
        self._context.destroy()

    def _run(self, group: int, layer_end: Callable[[int], None], clock: _Clock) -> Run:
        sender, told = self._senders[group], _Told(layer_end)
        rooms = range(self.shape.requests)
        end = self.forward.enqueue(self._next_number(), told.layer_end)
        while not end.is_done():
            self._turn(sender, FORWARD_DOZE_S)
        forward_us = clock.us()
        for room, pages in enumerate(self._pages):
            sender.send(Chunk(room=room, pages=pages, first_position=0, is_last=True, state=pages, aux=AUX_DATA))
        while any(sender.state(room) not in _ENDED for room in rooms):
            self._turn(sender, DOZE_S)
        for room in rooms:
            if sender.state(room) is not SendState.SUCCESS:
                raise DisagreementError(f"how request {room} ended", SendState.SUCCESS, sender.report(room).reason)
        arrival = Arrival(**json.loads(self._peer.answer()))
        for room in rooms:
            sender.forget(room)
        moments_us = {
            FORWARD: forward_us,
            HEARD: clock.us(arrival.heard_ns),
            COMMITTED: clock.us(arrival.committed_ns),
        }
        return self._measured(moments_us, clock, told_us=told.total_ns / NS_PER_US)

    def _turn(self, sender: PrefillSender, doze_s: float) -> None:
        """Do what a scheduler does again and again."""
        if not sender.step():
            time.sleep(doze_s)

    def _open(self, group: int) -> None:
        """Let decode wait for all requests, and a sender hear of it."""
        self.warm()
        self._engine.forget_submissions()
        self._peer.ask("open")
        for _ in range(self.shape.requests):
            message = self._inbox.receive(DEADLINE_S)
            if not isinstance(message, RoomOpened):
                raise DisagreementError("what decode says of a request", RoomOpened.__name__, message)
            self._opened[message.room] = message
            self._senders[group].hear(RANK, message)

    def _registered(self) -> Registration:
        self._peer.ask(f"join {self._inbox.address}")
        message = self._inbox.receive(DEADLINE_S)
        self._peer.answer()
        if not isinstance(message, Registration):
            raise DisagreementError("what decode says first", Registration.__name__, message)
        return message

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _writes(self, room: int, part: str) -> Writes:
        positions, places = self._owned[room]
        targets = np.array(self._opened[room].pages)[positions]
        buffers = [
            BufferAddresses(
                source=here.address,
                destination=there.address,
                source_page_bytes=here.page_bytes,
                destination_page_bytes=there.page_bytes,
            )
            for here, there in zip(self._buffers, self._registration.buffers, strict=True)
            if here.part == part
        ]
        return writes(places.tolist(), targets.tolist(), buffers)

    def _part(self, submission: Submission) -> str:
        """Say which part was submitted; index is one submission a request, and metadata less than a page."""
        if submission.num_bytes < min(self.shape.page_bytes(part) for part in PARTS):
            return AUX
        index_bytes = {len(places) * self.shape.layers * self.shape.page_bytes(INDEX) for _, places in self._owned}
        return INDEX if submission.num_bytes in index_bytes else KV

    def _measured(self, moments_us: dict[str, float], clock: _Clock, *, told_us: float) -> Run:
        """Return a run, with what the engine noted."""
        submissions = self._engine.submissions
        parts = [self._part(each) for each in submissions]
        for part, each in zip(parts, submissions, strict=True):
            for name in (part, LANDED):
                moments_us[name] = max(moments_us.get(name, 0.0), clock.us(each.done_ns))
        return replace(
            _run_of(moments_us),
            told_us=told_us,
            submit_us=sum(each.returned_ns - each.begun_ns for each in submissions) / NS_PER_US,
            submits=parts.count(KV),
            num_writes=sum(each.num_writes for each in submissions),
        )


def _run_of(moments_us: dict[str, float]) -> Run:
    after_us = {name: moment - moments_us[FORWARD] for name, moment in moments_us.items()}
    return Run(moments_us=moments_us, after_us=after_us)


class _Clock:
    """The time since it was made."""

    def __init__(self) -> None:
        self._start_ns = perf_counter_ns()

    def us(self, at_ns: int | None = None) -> float:
        """Return how long ago it was made, now or at a moment."""
        return ((perf_counter_ns() if at_ns is None else at_ns) - self._start_ns) / NS_PER_US


class _Told:
    """What is told at ends of layers, and how long that takes."""

    def __init__(self, layer_end: Callable[[int], None]) -> None:
        self._layer_end = layer_end
        self.total_ns = 0

    def layer_end(self, layer: int) -> None:
        """Tell of a layer."""
        start = perf_counter_ns()
        self._layer_end(layer)
        self.total_ns += perf_counter_ns() - start


def _nothing(_layer: int) -> None:
    pass

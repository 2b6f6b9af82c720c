"""One prefill rank: `python -m tests.transfer.prefill_rank KIND RANK TIMES`.

It computes what a test tells it to, chunk by chunk and layer by layer, and sends it. Decode makes itself known by a
message. Commands:

    address                     where it listens
    met                         whether decode is known, which it waits for
    forward, rooms, chunk       compute and send one chunk of each room that has it; `is_overlapped`: layers go early;
                                `stops`: stand still before anything is written, then let it all go
    abort, wait, report         of one room
    forget                      every room that has ended
    states, rooms               how far it is with each, as a number that grows
    agree, rooms, least         take the least of all ranks for the state of the group
    pins                        how many pages it keeps
    noise                       send decode bytes that are no message
    malformed                   how many messages were none
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from threading import Event
from typing import Any

import zmq

from sharedkv.control_messages import Message, Registration
from sharedkv.control_plane import Inbox, Outbox
from sharedkv.engines.engine import Engine, Timing
from sharedkv.errors import RefusedError
from sharedkv.geometry import Lane, PhysicalPage
from sharedkv.transfer.chunks import Chunk
from sharedkv.transfer.jobs import JobQueue, WorkerThread
from sharedkv.transfer.links import Links
from sharedkv.transfer.ports import PlacedBuffer, PrefillPorts, RankSource, SendLimits
from sharedkv.transfer.prefill import PrefillSender
from sharedkv.transfer.prefill_rooms import SendState
from tests.transfer import story
from tests.transfer.arena import Arena
from tests.transfer.kinds import SENDERS
from tests.transfer.serving import serve_process
from tests.transfer.times import Times

_READY_WITHIN_S = 20.0
_LANDED_WITHIN_S = 5.0
_LINK_WITHIN_S = 1.0


class CountedPins:
    """Pins of pages that nobody else asks for."""

    def __init__(self) -> None:
        self.pages: Counter[int] = Counter()

    def require_allocated(self, pages: Sequence[int]) -> None:
        """Accept any."""

    def pin(self, pages: Sequence[int]) -> None:
        """Keep pages."""
        self.pages.update(pages)

    def unpin(self, pages: Sequence[int]) -> None:
        """Keep pages once less."""
        self.pages.subtract(pages)
        self.pages = +self.pages


class Told:
    """An exchange among ranks that the test carries: what this rank has, and what is least of all."""

    def __init__(self, least: Sequence[int] | None = None) -> None:
        self.own: list[int] = []
        self._least = least

    def least(self, counts: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Return what was told; nothing was, where this rank only wants to know what it has."""
        (own,) = counts
        self.own = list(own)
        return tuple(own if self._least is None else self._least)


class Gate:
    """The event of rows that are written once it is open."""

    def __init__(self) -> None:
        self._opened = Event()
        self._opened.set()

    def shut(self) -> None:
        """Let the device stand still."""
        self._opened.clear()

    def open(self) -> None:
        """Let it go on."""
        self._opened.set()

    def synchronize(self) -> None:
        """Return once the rows are written."""
        self._opened.wait()


class PrefillRank:
    """A rank with a pool of its lane, an inbox, and a worker."""

    def __init__(self, rank: int, engine: Engine, times: Times) -> None:
        self._rank = rank
        self._engine = engine
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._inbox = Inbox(self._context)
        self._begins, num_bytes = story.buffer_places(story.GEOMETRY.lane_capacity)
        self._pool = Arena(num_bytes)
        engine.register(self._pool.region())
        self._pins = CountedPins()
        self._jobs = JobQueue()
        self._worker = WorkerThread(self._jobs)
        self._gate = Gate()
        self._links = Links()
        self._reply_to = ""
        self._sender = PrefillSender(
            story.GEOMETRY,
            [RankSource(rank=rank, buffers=self._buffers())],
            engine,
            self._jobs,
            PrefillPorts(
                send=self._links.send,
                record=lambda: self._gate,
                pins=self._pins,
                fingerprint=story.FINGERPRINT,
            ),
            SendLimits(
                deadline=times.deadline, quarantine=times.quarantine, group=story.GROUP, aux_bytes=story.AUX_BYTES
            ),
        )

    def step(self) -> None:
        """Hear what there is, and go on."""
        while (message := self._inbox.receive(0)) is not None:
            self._hear(message)
        self._sender.step()

    def answer(self, do: str, **arguments: Any) -> object:  # noqa: ANN401 - whatever JSON says
        """Carry out a command."""
        commands: dict[str, Callable[..., object]] = {
            "address": lambda: self._inbox.address,
            "met": self._has_met,
            "forward": self._forward,
            "abort": self._sender.abort,
            "forget": self._forget,
            "wait": self._ended,
            "report": lambda room: asdict(self._sender.report(room)),
            "states": self._own_states,
            "agree": self._agree,
            "pins": lambda: len(self._pins.pages),
            "noise": self._make_noise,
            "malformed": lambda: self._inbox.num_malformed,
        }
        return commands[do](**arguments)

    def close(self) -> None:
        """End the worker, the engine and the sockets."""
        self._worker.close()
        self._engine.close()
        self._inbox.close()
        self._links.close()
        self._context.destroy(linger=0)

    def _buffers(self) -> tuple[PlacedBuffer, ...]:
        return tuple(
            PlacedBuffer(
                layer=buffer.layer,
                part=buffer.part,
                address=self._pool.address + begin,
                page_bytes=buffer.page_bytes,
            )
            for begin, buffer in zip(self._begins, story.BUFFERS, strict=True)
        )

    def _hear(self, message: Message) -> None:
        if isinstance(message, Registration):
            self._reply_to = message.reply_to
            self._links.add(message.rank, Outbox(self._context, message.reply_to, within_s=_LINK_WITHIN_S, waits=False))
        self._sender.hear(self._rank, message)

    def _make_noise(self) -> None:
        with self._context.socket(zmq.PUSH) as stranger:
            stranger.connect(self._reply_to)
            stranger.send(b"noise")

    def _has_met(self) -> bool:
        ends_at = time.monotonic() + _READY_WITHIN_S
        while not self._reply_to and time.monotonic() < ends_at:
            self.step()
        return bool(self._reply_to)

    def _forward(self, rooms: Sequence[int], chunk: int, *, is_overlapped: bool = False, stops: bool = False) -> None:
        """Compute one chunk of several rooms, layer by layer, and send it."""
        if stops:
            self._gate.shut()
        requests = [each for each in story.requests() if each.room in rooms and chunk < len(each.ends)]
        for request in requests:
            self._await_ready(request.room)
            if is_overlapped:
                made = _chunk(request, chunk)
                self._sender.register(made.room, made.pages, made.first_position, is_last=made.is_last)
        for layer in range(story.LAYERS):
            for request in requests:
                self._compute(request.chunk(chunk), layer)
            self._sender.layer_end(layer)
        for request in requests:
            self._sender.send(_chunk(request, chunk))
        if stops:
            os.kill(os.getpid(), signal.SIGSTOP)
            self._gate.open()
            self._await_landed([request.room for request in requests])

    def _await_landed(self, rooms: Sequence[int]) -> None:
        """Return when something of each room has landed, hearing nothing meanwhile."""
        ends_at = time.monotonic() + _LANDED_WITHIN_S
        while not all(self._sender.report(room).completed for room in rooms) and time.monotonic() < ends_at:
            self._sender.pump()

    def _compute(self, pages: Sequence[int], layer: int) -> None:
        """Write a layer of the pages of this lane."""
        own = [page for page in pages if story.GEOMETRY.lane(story.page_id(page)) == Lane(self._rank)]
        for begin, buffer in zip(self._begins, story.BUFFERS, strict=True):
            for page in own if buffer.layer == layer else ():
                physical: PhysicalPage = story.GEOMETRY.physical_page(story.page_id(page))
                first = begin + physical * buffer.page_bytes
                self._pool.bytes[first : first + buffer.page_bytes] = list(story.page_bytes(buffer, page))

    def _await_ready(self, room: int) -> None:
        """Go on until decode has opened a room."""
        ends_at = time.monotonic() + _READY_WITHIN_S
        while self._state(room) in {None, SendState.BOOTSTRAPPING} and time.monotonic() < ends_at:
            self.step()

    def _ended(self, room: int, within: float) -> str:
        """Return how a room has ended, or how far it is when time is up; nothing of one that is not known."""
        ends_at = time.monotonic() + within
        while self._state(room) not in {None, SendState.SUCCESS, SendState.FAILED} and time.monotonic() < ends_at:
            self.step()
        state = self._state(room)
        return "" if state is None else state.value

    def _own_states(self, rooms: Sequence[int]) -> list[int]:
        told = Told()
        self._sender.agreed_states(rooms, told)
        return told.own

    def _agree(self, rooms: Sequence[int], least: Sequence[int]) -> None:
        self._sender.agreed_states(rooms, Told(least))

    def _forget(self) -> None:
        for request in story.requests():
            if self._state(request.room) in {SendState.SUCCESS, SendState.FAILED}:
                self._sender.forget(request.room)

    def _state(self, room: int) -> SendState | None:
        try:
            return self._sender.state(room)
        except RefusedError:
            return None


def _chunk(request: story.Request, number: int) -> Chunk:
    is_last = number == len(request.ends) - 1
    return Chunk(
        room=request.room,
        pages=request.chunk(number),
        first_position=request.ends[number - 1] if number else 0,
        is_last=is_last,
        state=request.pages if is_last else (),
        aux=request.aux if is_last else b"",
    )


def main(kind: str, rank: int, times: Times) -> None:
    """Serve a test."""
    serve_process(PrefillRank(rank, SENDERS[kind](Timing(deadline_s=times.deadline)), times))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Times.decode(sys.argv[3]))

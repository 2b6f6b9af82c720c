"""The decode side: one rank that waits for all requests of a batch, `python -m benchmarks.transfer_decode KIND SHAPE`.

Knows the receiver of the reference, its memory and what it has to hold. Does not know forwards. Each line that comes in
is a question, each line that goes out an answer; in between the two sides talk by messages, as they do in earnest.

    `join ADDRESS`   where prefill listens: register there
    `open`           set pages aside for every request, tell prefill, wait until all have arrived, and commit them
    `check ROUND`    whether every byte of a round is where it has to be; the answer is empty where it is
"""

from __future__ import annotations

import json
import mmap
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from time import perf_counter_ns

import numpy as np
import zmq

from benchmarks.errors import DisagreementError
from benchmarks.transfer_content import Content
from benchmarks.transfer_engines import DEADLINE_S, RECEIVERS
from benchmarks.transfer_shape import LAYOUT, PARTS, RANK, Bytes, TransferShape
from sharedkv.control_messages import BufferPlace, Registration
from sharedkv.control_plane import Inbox, Outbox
from sharedkv.engines.engine import Engine
from sharedkv.engines.regions import Region
from sharedkv.fingerprint import fingerprint
from sharedkv.rooms import RoomState
from sharedkv.transfer.decode import DecodeReceiver
from sharedkv.transfer.decode_memory import decode_memory, slot_memory_bytes
from sharedkv.transfer.links import Links
from sharedkv.transfer.ports import DecodeLimits, DecodePorts

AUX_BYTES = 1_024
NO_RESERVE = 0x4000
"""Linux: pages that nobody writes need no memory. Python has no name for it."""


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """When decode had heard of everything, and when it had taken all metadata; `perf_counter_ns` of this machine."""

    heard_ns: int
    committed_ns: int


class Decode:
    """One decode rank, as its process or its thread has it."""

    def __init__(self, shape: TransferShape, engine: Engine, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        self._shape = shape
        self._context = context
        self._engine = engine
        self._inbox = Inbox(context)
        self._links = Links()
        self._memory = untouched_memory(shape.memory_bytes(shape.decode_pages))
        self._slots = np.zeros(slot_memory_bytes(shape.requests, AUX_BYTES), dtype=np.uint8)
        for memory in (self._memory, self._slots):
            engine.register(Region(address=int(memory.ctypes.data), num_bytes=memory.nbytes))
        self._receiver = DecodeReceiver(
            [decode_memory(0, shape.decode_pages, shape.requests, AUX_BYTES, self._slots)],
            [RANK],
            PARTS,
            DecodePorts(send=self._links.send),
            DecodeLimits(),
        )
        _, pages = shape.allocated()
        owned = [shape.owned(each) for each in pages]
        self._positions = [positions for positions, _ in owned]
        self._content = Content(shape, np.concatenate([places for _, places in owned]))
        self._pages = np.zeros(0, dtype=np.int64)

    def join(self, address: str) -> None:
        """Register at prefill."""
        outbox = Outbox(self._context, address, waits=False)
        self._links.add(RANK, outbox)
        buffers = self._shape.buffers(int(self._memory.ctypes.data), self._shape.decode_pages)
        outbox.send(
            Registration(
                fingerprint=fingerprint(self._shape.geometry, LAYOUT, layers=self._shape.layers, draft_layers=0),
                engine=self._engine.describe(),
                buffers=tuple(BufferPlace(address=each.address, page_bytes=each.page_bytes) for each in buffers),
                reply_to=self._inbox.address,
                rank=0,
                first_epoch=self._receiver.first_epoch,
            )
        )

    def receive(self) -> Arrival:
        """Wait for all requests, commit and close them."""
        rooms = range(self._shape.requests)
        reserved = [self._receiver.reserve(room, self._shape.request_pages, [0]) for room in rooms]
        self._pages = np.concatenate(
            [
                np.array(each.places[0].pages)[positions]
                for each, positions in zip(reserved, self._positions, strict=True)
            ]
        )
        self._receiver.step()
        waiting = set(rooms)
        while waiting:
            message = self._inbox.receive(DEADLINE_S)
            if message is None:
                raise DisagreementError("requests that arrive", list(rooms), f"nothing of {sorted(waiting)}")
            self._receiver.hear(message)
            self._receiver.step()
            waiting = {room for room in waiting if self._receiver.state(room) is not RoomState.SUCCESS}
        heard_ns = perf_counter_ns()
        for room in rooms:
            self._receiver.commit(room)
        committed_ns = perf_counter_ns()
        for room in rooms:
            self._receiver.close_room(room)
        return Arrival(heard_ns=heard_ns, committed_ns=committed_ns)

    def check(self, number: int) -> str:
        """Say what is wrong with the bytes of a round; nothing where they are right."""
        try:
            self._content.require_at_decode(self._memory, self._pages, number)
        except DisagreementError as error:
            return str(error)
        return ""

    def close(self) -> None:
        """Give up sockets and engine."""
        self._inbox.close()
        self._links.close()
        self._engine.close()


def untouched_memory(num_bytes: int) -> Bytes:
    """Return zeros, of which only what is written takes memory: one rank fills an eighth of what is set aside."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (NO_RESERVE if sys.platform == "linux" else 0)
    return np.frombuffer(mmap.mmap(-1, num_bytes, flags=flags), dtype=np.uint8)


def serve(decode: Decode, questions: Iterable[str], answer: Callable[[str], None]) -> None:
    """Answer every question, in order."""
    for question in questions:
        match question.split():
            case ["join", address]:
                decode.join(address)
                answer("")
            case ["open"]:
                answer(json.dumps(asdict(decode.receive())))
            case ["check", number]:
                answer(decode.check(int(number)))


def main(kind: str, shape: str) -> None:
    """Be the decode process until the input ends."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    decode = Decode(TransferShape(**json.loads(shape)), RECEIVERS[kind](), context)
    serve(decode, sys.stdin, lambda text: print(text, flush=True))  # noqa: T201 - the answer
    decode.close()
    context.term()


if __name__ == "__main__":
    main(*sys.argv[1:])

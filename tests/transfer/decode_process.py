"""The decode process: `python -m tests.transfer.decode_process KIND TIMES`.

It opens rooms as a test tells it to, and looks at every byte itself. Commands:

    meet, addresses     make itself known to all prefill ranks
    reserve, room       set pages aside; the answer has them
    wait, room          how the room has ended, and whether every byte was right at that moment
    commit, room        what came beside the pages, in hexadecimal
    abort, close        of one room
    pools               pages: free, reserved, quarantined, and free slots
    clear               let all pages hold zeros
    written             which pages do not
    noise, addresses    send prefill ranks bytes that are no message
    malformed           how many messages were none
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import zmq

from sharedkv.control_messages import BufferPlace, Registration
from sharedkv.control_plane import Inbox, Outbox
from sharedkv.engines.engine import Engine, Timing
from sharedkv.engines.regions import Region
from sharedkv.rooms import RoomState
from sharedkv.transfer.decode import DecodeReceiver
from sharedkv.transfer.decode_memory import decode_memory, slot_memory_bytes
from sharedkv.transfer.links import Links
from sharedkv.transfer.ports import DecodeLimits, DecodePorts
from tests.transfer import story
from tests.transfer.arena import Arena
from tests.transfer.kinds import RECEIVERS
from tests.transfer.serving import serve_process
from tests.transfer.times import Times

RANK = 0
_ENDED = {RoomState.SUCCESS, RoomState.FAILED}
_MEET_WITHIN_S = 20.0
_LINK_WITHIN_S = 1.0


class Pool:
    """The pages of decode in all buffers."""

    def __init__(self) -> None:
        self.begins, num_bytes = story.buffer_places(story.DECODE_PAGES)
        self.arena = Arena(num_bytes)

    def page(self, buffer: story.PoolBuffer, page: int) -> bytes:
        """Return what a page of decode holds in a buffer."""
        first = self.begins[buffer.number] + page * buffer.page_bytes
        return self.arena.bytes[first : first + buffer.page_bytes].tobytes()

    def holds(self, request: story.Request, pages: tuple[int, ...]) -> bool:
        """Say whether every byte of a request is right."""
        return all(
            self.page(buffer, there) == story.page_bytes(buffer, page)
            for page, there in zip(request.pages, pages, strict=True)
            for buffer in story.BUFFERS
        )

    def clear(self) -> None:
        """Let all pages hold zeros."""
        self.arena.bytes[:] = 0

    def written(self) -> list[int]:
        """List the pages that hold anything."""
        pages = range(story.DECODE_PAGES + 1)
        return [page for page in pages if any(any(self.page(buffer, page)) for buffer in story.BUFFERS)]


class DecodeRank:
    """One decode rank with a pool, slots, and an inbox."""

    def __init__(self, engine: Engine, times: Times) -> None:
        self._engine = engine
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._inbox = Inbox(self._context)
        self._pool = Pool()
        slots = np.zeros(slot_memory_bytes(story.SLOTS, story.AUX_BYTES), dtype=np.uint8)
        engine.register(self._pool.arena.region())
        engine.register(Region(address=int(slots.ctypes.data), num_bytes=slots.nbytes))
        self._links = Links()
        self._pages: dict[int, tuple[int, ...]] = {}
        self._receiver = DecodeReceiver(
            [decode_memory(RANK, story.DECODE_PAGES, story.SLOTS, story.AUX_BYTES, slots)],
            range(story.GEOMETRY.cp_size),
            story.PARTS,
            DecodePorts(send=self._links.send),
            DecodeLimits(patience=times.patience, quarantine=times.quarantine),
        )

    def step(self) -> None:
        """Hear what there is, and go on."""
        while (message := self._inbox.receive(0)) is not None:
            self._receiver.hear(message)
        self._receiver.step()

    def answer(self, do: str, **arguments: Any) -> object:  # noqa: ANN401 - whatever JSON says
        """Carry out a command."""
        commands: dict[str, Callable[..., object]] = {
            "meet": self._meet,
            "reserve": self._reserve,
            "wait": self._ended,
            "commit": lambda room: [each.hex() for each in self._receiver.commit(room)],
            "abort": self._receiver.abort,
            "close": self._receiver.close_room,
            "pools": self._pools,
            "clear": self._pool.clear,
            "written": self._pool.written,
            "noise": self._make_noise,
            "malformed": lambda: self._inbox.num_malformed,
        }
        return commands[do](**arguments)

    def close(self) -> None:
        """End the engine and the sockets."""
        self._engine.close()
        self._inbox.close()
        self._links.close()
        self._context.destroy(linger=0)

    def _meet(self, addresses: list[str]) -> None:
        """Tell all ranks who is here; those that are there hear of it before they hear of a room."""
        registration = Registration(
            fingerprint=story.FINGERPRINT,
            engine=self._engine.describe(),
            buffers=tuple(
                BufferPlace(address=self._pool.arena.address + begin, page_bytes=buffer.page_bytes)
                for begin, buffer in zip(self._pool.begins, story.BUFFERS, strict=True)
            ),
            reply_to=self._inbox.address,
            rank=RANK,
            first_epoch=self._receiver.first_epoch,
        )
        for rank, address in enumerate(addresses):
            outbox = Outbox(self._context, address, within_s=_MEET_WITHIN_S)
            outbox.send(registration)
            outbox.close()
            self._links.add(rank, Outbox(self._context, address, within_s=_LINK_WITHIN_S, waits=False))

    def _make_noise(self, addresses: list[str]) -> None:
        for address in addresses:
            with self._context.socket(zmq.PUSH) as stranger:
                stranger.connect(address)
                stranger.send(b"noise")

    def _pools(self) -> tuple[int, int, int, int]:
        (counts,) = self._receiver.pools()
        return counts.free, counts.reserved, counts.quarantined, counts.free_slots

    def _reserve(self, room: int) -> tuple[int, ...]:
        num_pages = len(story.request(room).pages)
        (place,) = self._receiver.reserve(room, num_pages, [RANK]).places
        self._pages[room] = place.pages
        return place.pages

    def _ended(self, room: int) -> tuple[str, bool]:
        """Wait until a room has ended: patience sees to it."""
        while self._receiver.state(room) not in _ENDED:
            self.step()
            time.sleep(0)
        return self._receiver.state(room).value, self._pool.holds(story.request(room), self._pages[room])


def main(kind: str, times: Times) -> None:
    """Serve a test."""
    serve_process(DecodeRank(RECEIVERS[kind](Timing()), times))


if __name__ == "__main__":
    main(sys.argv[1], Times.decode(sys.argv[2]))

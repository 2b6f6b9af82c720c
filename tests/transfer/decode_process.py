"""The decode process: `python -m tests.transfer.decode_process KIND`.

It reads the addresses of all prefill ranks from a line, opens all rooms at once and prints, as JSON, how each ended and
whether its bytes were right at that moment. At a second line it prints whether all pages that belong to no room are
as they were, and how many messages were none.
"""

from __future__ import annotations

import json
import sys

import zmq

from sharedkv.control_messages import BufferPlace, ChunkArrived, Message, Registration, RoomOpened, SourceFailed
from sharedkv.control_plane import Inbox, Outbox
from sharedkv.engines.engine import Timing
from sharedkv.rooms import Rooms, RoomState
from tests.transfer import story
from tests.transfer.arena import Arena
from tests.transfer.kinds import RECEIVERS

WAIT_S = 60.0


class Pool:
    """The pages of decode in all buffers."""

    def __init__(self) -> None:
        self.begins, num_bytes = story.buffer_places(story.DECODE_PAGES)
        self.arena = Arena(num_bytes)

    def page(self, buffer: story.PoolBuffer, page: int) -> bytes:
        """Return what a page of decode holds in a buffer."""
        first = self.begins[buffer.number] + page * buffer.page_bytes
        return self.arena.bytes[first : first + buffer.page_bytes].tobytes()

    def holds(self, request: story.Request, destinations: tuple[int, ...]) -> bool:
        """Say whether every byte of a request is right."""
        return all(
            self.page(buffer, destination) == story.page_bytes(buffer, page)
            for page, destination in zip(request.pages, destinations, strict=True)
            for buffer in story.BUFFERS
        )

    def is_clean(self, used: set[int]) -> bool:
        """Say whether no other page was written."""
        free = set(range(story.DECODE_PAGES + 1)) - used
        return not any(any(self.page(buffer, page)) for buffer in story.BUFFERS for page in free)


def hear(rooms: Rooms, message: Message | None) -> None:
    """Tell the rooms what a prefill rank says."""
    match message:
        case ChunkArrived():
            rooms.arrived(
                message.room, message.epoch, message.source, message.part, message.chunk, is_last=message.is_last
            )
        case SourceFailed():
            rooms.failed(message.room, message.epoch, message.source)
        case _:
            raise AssertionError(message)


def main(kind: str) -> None:
    """Receive everything once."""
    addresses = sys.stdin.readline().split()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    inbox = Inbox(context)
    engine = RECEIVERS[kind](Timing())
    pool = Pool()
    engine.register(pool.arena.region())
    rooms, pages = Rooms(), story.decode_pages()
    registration = Registration(
        fingerprint=story.FINGERPRINT,
        engine=engine.describe(),
        buffers=tuple(
            BufferPlace(address=pool.arena.address + begin, page_bytes=buffer.page_bytes)
            for begin, buffer in zip(pool.begins, story.BUFFERS, strict=True)
        ),
        reply_to=inbox.address,
    )
    epochs = {
        request.room: rooms.open(request.room, range(len(addresses)), story.PARTS) for request in story.requests()
    }
    outboxes = [Outbox(context, address, within_s=20) for address in addresses]
    for outbox in outboxes:
        outbox.send(registration)
        for room, epoch in epochs.items():
            outbox.send(RoomOpened(room=room, epoch=epoch, destinations=pages[room]))
    endings: dict[int, tuple[str, bool]] = {}
    while len(endings) < len(epochs):
        hear(rooms, inbox.receive(WAIT_S))
        for request in story.requests():
            state = rooms.state(request.room)
            if request.room not in endings and state in {RoomState.SUCCESS, RoomState.FAILED}:
                endings[request.room] = (state.value, pool.holds(request, pages[request.room]))
    print(json.dumps(endings), flush=True)  # noqa: T201 - the answer
    sys.stdin.readline()
    for _ in addresses:
        if inbox.num_malformed < len(addresses):
            inbox.receive(5)
    is_clean = pool.is_clean({page for each in pages.values() for page in each})
    print(json.dumps([is_clean, inbox.num_malformed]), flush=True)  # noqa: T201 - the answer
    inbox.close()
    for outbox in outboxes:
        outbox.close()
    context.term()
    engine.close()


if __name__ == "__main__":
    main(sys.argv[1])

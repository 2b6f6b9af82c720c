"""One prefill rank as a process: `python -m tests.transfer.prefill_rank KIND RANK FAILING_ROOM`.

It prints where it listens, waits for the registration of decode and for its rooms, and sends what lies on its lane,
chunk by chunk. It gives up on `FAILING_ROOM` after the first chunk. A message that is none goes first.
"""

from __future__ import annotations

import sys

import zmq

from sharedkv.control_messages import ChunkArrived, Registration, RoomOpened, SourceFailed
from sharedkv.control_plane import Inbox, Outbox
from sharedkv.engines.engine import Engine, Peer, Timing, Transfer
from sharedkv.fingerprint import require_same
from sharedkv.geometry import Lane, PhysicalPage
from sharedkv.page_mapping import BufferAddresses, deal, writes
from tests.transfer import story
from tests.transfer.arena import Arena
from tests.transfer.kinds import SENDERS

WAIT_S = 60.0


def pool_of(rank: int) -> tuple[Arena, list[int]]:
    """Return the pool of a rank with the bytes of all pages of its lane, and where its buffers begin."""
    places, num_bytes = story.buffer_places(story.GEOMETRY.lane_capacity)
    arena = Arena(num_bytes)
    for begin, buffer in zip(places, story.BUFFERS, strict=True):
        for physical in range(1, story.GEOMETRY.lane_capacity + 1):
            data = story.page_bytes(buffer, story.GEOMETRY.page(Lane(rank), PhysicalPage(physical)))
            first = begin + physical * buffer.page_bytes
            arena.bytes[first : first + buffer.page_bytes] = list(data)
    return arena, [arena.address + begin for begin in places]


class Sender:
    """What one rank sends to one decode process."""

    def __init__(self, rank: int, engine: Engine, places: list[int], registration: Registration) -> None:
        require_same(story.FINGERPRINT, registration.fingerprint)
        self._rank = rank
        self._engine = engine
        self._peer: Peer = engine.connect(registration.engine)
        self._addresses = [
            BufferAddresses(
                source=place,
                destination=there.address,
                source_page_bytes=buffer.page_bytes,
                destination_page_bytes=there.page_bytes,
            )
            for place, there, buffer in zip(places, registration.buffers, story.BUFFERS, strict=True)
        ]

    def submit(self, request: story.Request, chunk: int, opened: RoomOpened, part: str) -> Transfer:
        """Begin to send one part of one chunk."""
        first = request.ends[chunk - 1] if chunk else 0
        dealt = deal(
            story.GEOMETRY,
            request.pages[first : request.ends[chunk]],
            first_position=first,
            destinations=opened.destinations,
            is_last=chunk == len(request.ends) - 1,
        )
        own = dealt[self._rank]
        addresses = [each for each, buffer in zip(self._addresses, story.BUFFERS, strict=True) if buffer.part == part]
        return self._engine.submit(self._peer, writes(own.sources, own.destinations, addresses), deadline_s=20)


def main(kind: str, rank: int, failing_room: int) -> None:
    """Send everything once."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    inbox = Inbox(context)
    print(inbox.address, flush=True)  # noqa: T201 - the answer
    engine = SENDERS[kind](Timing())
    arena, places = pool_of(rank)
    engine.register(arena.region())
    registration = inbox.receive(WAIT_S)
    assert isinstance(registration, Registration)

    stranger = context.socket(zmq.PUSH)
    stranger.connect(registration.reply_to)
    stranger.send(b"noise")
    outbox = Outbox(context, registration.reply_to, within_s=20)
    sender = Sender(rank, engine, places, registration)
    opened: dict[int, RoomOpened] = {}
    while len(opened) < len(story.requests()):
        message = inbox.receive(WAIT_S)
        assert isinstance(message, RoomOpened)

        opened[message.room] = message
    for chunk in range(max(len(request.ends) for request in story.requests())):
        begun = []
        for request in story.requests():
            room = opened[request.room]
            if request.room == failing_room and chunk:
                outbox.send(SourceFailed(room=room.room, epoch=room.epoch, source=rank, is_definite=True))
            elif chunk < len(request.ends):
                begun += [(request, part, sender.submit(request, chunk, room, part)) for part in story.PARTS]
        for request, part, transfer in begun:
            transfer.wait()
            outbox.send(
                ChunkArrived(
                    room=request.room,
                    epoch=opened[request.room].epoch,
                    source=rank,
                    part=part,
                    chunk=chunk,
                    is_last=chunk == len(request.ends) - 1,
                )
            )
    for box in (inbox, outbox, stranger):
        box.close()
    context.term()
    engine.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

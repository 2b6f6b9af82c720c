"""A rank that is gone, or does not read, holds up no message to another one."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
import zmq

from sharedkv.control_messages import Message, Registration, RoomAborted
from sharedkv.control_plane import Inbox, MessageUnsentError, Outbox
from sharedkv.transfer.links import Links

Context = zmq.Context[zmq.Socket[bytes]]

WITHIN_S = 10.0
AT_ONCE_S = 2.0
NUM_MESSAGES = 10_000
NOTICE = RoomAborted(room=1, epoch=2, destination=0)
TOO_LARGE = Registration(fingerprint={}, engine=bytes(16 << 20), buffers=(), reply_to="", rank=0)


@pytest.fixture
def context() -> Iterator[Context]:
    made: Context = zmq.Context()
    yield made
    made.destroy(linger=0)


@pytest.fixture
def nobody() -> Iterator[str]:
    """Return an address at which nobody answers."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        yield f"tcp://127.0.0.1:{silent.getsockname()[1]}"


def outbox(context: Context, address: str) -> Outbox:
    return Outbox(context, address, within_s=WITHIN_S, waits=False)


def test_a_rank_that_is_gone_holds_nobody_up(context: Context, nobody: str) -> None:
    links = Links()
    with closing(Inbox(context)) as inbox:
        links.add(0, outbox(context, nobody))
        links.add(1, outbox(context, inbox.address))
        begun = time.monotonic()
        for _ in range(NUM_MESSAGES):
            links.send(0, 0, NOTICE)
        links.send(0, 1, NOTICE)

        assert time.monotonic() - begun < WITHIN_S - AT_ONCE_S
        assert inbox.receive(WITHIN_S) == NOTICE
        assert 0 < links.num_lost < NUM_MESSAGES


def test_what_is_sent_before_anybody_listens_comes_once_somebody_does(context: Context) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    links = Links({0: outbox(context, address)})
    links.send(0, 0, NOTICE)
    with closing(Inbox(context, address)) as inbox:
        assert inbox.receive(WITHIN_S) == NOTICE
    links.close()


@pytest.mark.parametrize(("rank", "message"), [(7, NOTICE), (0, TOO_LARGE)])
def test_what_cannot_be_sent_is_lost_and_counted(context: Context, nobody: str, rank: int, message: Message) -> None:
    links = Links({0: outbox(context, nobody)})
    links.send(0, rank, message)

    assert links.num_lost == 1


def test_a_rank_that_comes_again_has_one_outbox(context: Context, nobody: str) -> None:
    links = Links({0: outbox(context, nobody)})
    before = outbox(context, nobody)
    links.add(0, before)
    with closing(Inbox(context)) as inbox:
        links.add(0, outbox(context, inbox.address))
        with pytest.raises(MessageUnsentError):
            before.send(NOTICE)
        links.send(0, 0, NOTICE)

        assert inbox.receive(WITHIN_S) == NOTICE
    links.close()
    links.send(0, 0, NOTICE)

    assert links.num_lost == 1

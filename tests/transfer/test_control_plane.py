"""Messages come as they were sent; what is no message is dropped, and the inbox goes on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.control_messages import (
    BufferPlace,
    ChunkArrived,
    Message,
    MessageMalformedError,
    Registration,
    RoomAborted,
    RoomOpened,
    SourceDrained,
    SourceFailed,
    decode,
    encode,
)
from sharedkv.control_plane import Inbox, MessageUnsentError, Outbox

counts = st.integers(0, (1 << 63) - 1)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(
        Registration,
        fingerprint=st.dictionaries(st.text(), st.text(), max_size=3),
        engine=st.binary(max_size=50),
        buffers=st.lists(st.builds(BufferPlace, address=counts, page_bytes=counts), max_size=3).map(tuple),
        reply_to=st.text(),
        rank=counts,
        first_epoch=counts,
    ),
    st.builds(
        RoomOpened,
        room=counts,
        epoch=counts,
        destination=counts,
        num_destinations=counts,
        pages=st.lists(counts, max_size=5).map(tuple),
        slot_address=counts,
        aux_bytes=counts,
    ),
    st.builds(
        ChunkArrived,
        room=counts,
        epoch=counts,
        source=counts,
        destination=counts,
        part=st.text(),
        chunk=counts,
        is_last=st.booleans(),
    ),
    st.builds(SourceFailed, room=counts, epoch=counts, source=counts, destination=counts),
    st.builds(RoomAborted, room=counts, epoch=counts, destination=counts),
    st.builds(SourceDrained, room=counts, epoch=counts, source=counts, destination=counts),
)
ARRIVED = ChunkArrived(room=1, epoch=2, source=3, destination=0, part="kv", chunk=4, is_last=True)
REGISTRATION = Registration(fingerprint={}, engine=b"abc", buffers=(), reply_to="", rank=0)
MALFORMED = [
    b"",
    b"\xff\xfe",
    b"null",
    b"[" * 100_000,
    b"1" * 5_000,
    encode(ARRIVED)[:-1],
    encode(ARRIVED).replace(b"ChunkArrived", b"ChunkEaten"),
    encode(ARRIVED).replace(b'"form": 2', b'"form": 1'),
    encode(ARRIVED).replace(b'"room": 1', b'"room": -1'),
    encode(ARRIVED).replace(b'"room": 1', b'"room": true'),
    encode(ARRIVED).replace(b'"room": 1', b'"room": 1.0'),
    encode(ARRIVED).replace(b'"room": 1', b'"room": 9223372036854775808'),
    encode(ARRIVED).replace(b'"room"', b'"broom"'),
    encode(ARRIVED).replace(b'"is_last": true', b'"is_last": 1'),
    encode(REGISTRATION).replace(b"YWJj", b"*"),
    encode(REGISTRATION).replace(b"[]", b"[[1]]"),
]


@pytest.fixture
def context() -> Iterator[zmq.Context[zmq.Socket[bytes]]]:
    made = zmq.Context()
    yield made
    made.destroy(linger=0)


@given(messages)
def test_a_message_is_what_was_encoded(message: Message) -> None:
    assert decode(encode(message)) == message


@given(messages, st.data())
def test_bytes_that_were_spoiled_are_a_message_or_refused(message: Message, data: st.DataObject) -> None:
    right = bytearray(encode(message))
    place = data.draw(st.integers(0, len(right) - 1))
    right[place] ^= data.draw(st.integers(1, 255))
    with suppress(MessageMalformedError):
        assert isinstance(decode(bytes(right)), Message)


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_what_is_no_message_is_refused(number: int) -> None:
    with pytest.raises(MessageMalformedError):
        decode(MALFORMED[number])


def test_messages_come_in_their_order(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    sent = [RoomAborted(room=room, epoch=0, destination=0) for room in range(100)]
    with closing(Inbox(context)) as inbox, closing(Outbox(context, inbox.address)) as outbox:
        for message in sent:
            outbox.send(message)
        received = [inbox.receive(5) for _ in sent]

        assert received == sent
        assert inbox.receive(0) is None


def test_an_inbox_outlives_what_is_no_message(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    raw = context.socket(zmq.PUSH)
    with closing(Inbox(context)) as inbox:
        raw.connect(inbox.address)
        for data in MALFORMED:
            raw.send(data)
        raw.send_multipart([encode(ARRIVED), encode(ARRIVED)])
        raw.send(encode(ARRIVED))

        assert inbox.receive(5) == ARRIVED
        assert inbox.num_malformed == len(MALFORMED) + 1
    raw.close()


def test_an_inbox_outlives_what_is_not_even_the_protocol(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    with closing(Inbox(context)) as inbox:
        host, port = inbox.address.removeprefix("tcp://").split(":")
        for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 1000, b"\x00", b""):
            with socket.create_connection((host, int(port))) as stranger:
                stranger.sendall(noise)
        with closing(Outbox(context, inbox.address)) as outbox:
            outbox.send(ARRIVED)

            assert inbox.receive(5) == ARRIVED
    assert host == "127.0.0.1"


def test_noise_does_not_prolong_the_time_to_wait(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    raw = context.socket(zmq.PUSH)
    with closing(Inbox(context)) as inbox:
        raw.connect(inbox.address)
        for data in (b"noise", b"noise", encode(ARRIVED)):
            raw.send(data)
        while inbox.num_malformed == 0:
            assert inbox.receive(0) is None

        assert inbox.num_malformed == 1
        assert inbox.receive(5) == ARRIVED
    raw.close()


def test_a_message_to_nobody_is_not_sent(context: zmq.Context[zmq.Socket[bytes]]) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        outbox = Outbox(context, f"tcp://127.0.0.1:{silent.getsockname()[1]}", within_s=0.05)
        with pytest.raises(MessageUnsentError, match=r"within 0\.05 s"):
            outbox.send(ARRIVED)
        with pytest.raises(ValueError, match="at most"):
            outbox.send(replace(REGISTRATION, engine=bytes(16 << 20)))
        outbox.close()

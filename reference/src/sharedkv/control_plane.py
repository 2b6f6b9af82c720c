"""Messages between processes over ZeroMQ.

Knows sockets. Does not know what follows from a message. Needs the package `pyzmq`.

An inbox outlives whatever is sent to it: what is no message is counted, logged and dropped. Messages of one outbox come
in their order; those of several come mixed. Nobody is asked who they are: bind where only peers can reach you.
"""

from __future__ import annotations

import logging
import time

import zmq

from sharedkv.control_messages import Message, MessageMalformedError, decode, encode

_LOGGER = logging.getLogger(__name__)
_LARGEST_MESSAGE_BYTES = 16 << 20
_MOST_MESSAGES = 4096
"""To one inbox that does not read, before it takes no more."""


class MessageUnsentError(Exception):
    """A message could not be handed to the network: nobody listens there, or nobody reads."""

    def __init__(self, address: str, within_s: float) -> None:
        super().__init__(address, within_s)
        self.address = address
        self.within_s = within_s

    def __str__(self) -> str:
        return f"{self.address} took no message within {self.within_s} s"


class Inbox:
    """Where messages come in; used from one thread."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], bind_to: str = "tcp://127.0.0.1:*") -> None:
        self.num_malformed = 0
        self._socket = context.socket(zmq.PULL)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.MAXMSGSIZE, _LARGEST_MESSAGE_BYTES)
        self._socket.bind(bind_to)

    @property
    def address(self) -> str:
        """Return where outboxes reach it."""
        return self._socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def receive(self, within_s: float) -> Message | None:
        """Return the next message; None where none came in time."""
        ends_at = time.monotonic() + within_s
        left_s = within_s
        while self._socket.poll(max(0, round(1000 * left_s)), zmq.POLLIN):
            message = self._message_of(self._socket.recv_multipart())
            left_s = ends_at - time.monotonic()
            if message is not None or left_s <= 0:
                return message
        return None

    def close(self) -> None:
        """Stop listening; what was not received is gone."""
        self._socket.close()

    def _message_of(self, frames: list[bytes]) -> Message | None:
        try:
            return decode(b"".join(frames))
        except MessageMalformedError as error:
            self.num_malformed += 1
            _LOGGER.warning("%s: %s", self.address, error)
            return None


class Outbox:
    """Sends messages to one inbox; used from one thread. `close` waits `within_s` for what is on its way.

    One that `waits` does so as long for somebody who listens, so that an inbox that is gone shows. Another one takes
    messages at once, also for an inbox that is not there yet, as many as the network holds.
    """

    def __init__(
        self, context: zmq.Context[zmq.Socket[bytes]], address: str, within_s: float = 5.0, *, waits: bool = True
    ) -> None:
        self._address = address
        self._within_s = within_s if waits else 0.0
        self._socket = context.socket(zmq.PUSH)
        self._socket.setsockopt(zmq.IMMEDIATE, int(waits))
        self._socket.setsockopt(zmq.SNDTIMEO, round(1000 * self._within_s))
        self._socket.setsockopt(zmq.SNDHWM, _MOST_MESSAGES)
        self._socket.setsockopt(zmq.LINGER, round(1000 * within_s))
        self._socket.connect(address)

    def send(self, message: Message) -> None:
        """Hand a message to the network. `MessageUnsentError` where it takes none, `ValueError` for one too large."""
        data = encode(message)
        if len(data) > _LARGEST_MESSAGE_BYTES:
            raise ValueError(f"a message of {len(data)} bytes, at most {_LARGEST_MESSAGE_BYTES} are taken")
        try:
            self._socket.send(data)
        except zmq.ZMQError as error:
            raise MessageUnsentError(self._address, self._within_s) from error

    def close(self) -> None:
        """Send what was handed over, and stop."""
        self._socket.close()

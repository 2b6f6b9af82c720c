"""Messages between the ranks of one session: bytes with a number, on the way until they are delivered.

Knows control messages and their order. Does not know what follows from one. Each is encoded when it is sent and decoded
when it is heard, also within one process: whatever spoils bytes spoils a message here as it does on a wire.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sharedkv.control_messages import (
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
from sharedkv.errors import Refusal, RefusedError
from sharedkv_conformance import contract

Hear = Callable[[Message], None]

_KINDS: dict[type[Message], str] = {
    RoomOpened: "opened",
    ChunkArrived: "arrived",
    SourceFailed: "failed",
    RoomAborted: "abort",
    SourceDrained: "drained",
}
_SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "noise": lambda data: bytes(byte ^ 0xA5 for byte in data),
}
"""No bytes but `noise` of a message are a message themselves: JSON is ASCII, and no noise of it is."""


@dataclass(frozen=True, kw_only=True)
class _Sent:
    told: contract.ControlMessage
    data: bytes
    hear: Hear


class Network:
    """All messages of one session. While it is stalled nothing is delivered by itself."""

    def __init__(self) -> None:
        self.is_stalled = False
        self.num_malformed = 0
        self._sent: list[_Sent] = []
        self._on_the_way: dict[int, _Sent] = {}

    def send(self, source: int, destination: int, message: Message, hear: Hear) -> None:
        """Take a message between a prefill rank (`source`) and a decode rank, for whoever is to hear it."""
        number = len(self._sent)
        told = _told(number, source, destination, message)
        sent = _Sent(told=told, data=encode(message), hear=hear)
        self._sent.append(sent)
        self._on_the_way[number] = sent

    def deliver_all(self) -> bool:
        """Deliver what is on the way, oldest first, unless messages are stalled; say whether there was any."""
        numbers = [] if self.is_stalled else list(self._on_the_way)
        for number in numbers:
            self.deliver(number)
        return bool(numbers)

    def deliver(self, number: int) -> None:
        """Deliver a message, also once more. Refuses one that was not sent."""
        sent = self._require(number)
        self._on_the_way.pop(number, None)
        self._hear(sent.data, sent.hear)

    def garble(self, number: int, how: str) -> None:
        """Deliver a spoilt copy of a message that stays where it is. Refuses one that was not sent."""
        sent = self._require(number)
        if how not in _SPOILT:
            raise RefusedError(Refusal.FAULT_UNKNOWN, how)
        self._hear(_SPOILT[how](sent.data), sent.hear)

    def messages(self) -> tuple[contract.ControlMessage, ...]:
        """Return the messages on the way, oldest first."""
        return tuple(sent.told for sent in self._on_the_way.values())

    def _require(self, number: int) -> _Sent:
        if number not in range(len(self._sent)):
            raise RefusedError(Refusal.MESSAGE_UNKNOWN, number)
        return self._sent[number]

    def _hear(self, data: bytes, hear: Hear) -> None:
        try:
            message = decode(data)
        except MessageMalformedError:
            self.num_malformed += 1
            return
        hear(message)


def _told(number: int, source: int, destination: int, message: Message) -> contract.ControlMessage:
    if isinstance(message, Registration):
        raise TypeError("a registration is of no room")
    part, chunk, is_last = "", 0, False
    if isinstance(message, ChunkArrived):
        part, chunk, is_last = message.part, message.chunk, message.is_last
    return contract.ControlMessage(
        message=number,
        kind=_KINDS[type(message)],
        room=message.room,
        epoch=message.epoch,
        source=source,
        destination=destination,
        part=part,
        chunk=chunk,
        is_last=is_last,
    )

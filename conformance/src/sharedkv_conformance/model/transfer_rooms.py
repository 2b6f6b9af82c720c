"""What decode has heard of one transfer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Message:
    """One chunk of one part of one source has arrived."""

    source: int
    part: str
    chunk: int
    is_last: bool


class RoomModel:
    """One room; small decisions are methods."""

    def __init__(self, epoch: int, sources: tuple[int, ...], parts: tuple[str, ...]) -> None:
        self.epoch = epoch
        self.sources = sources
        self.parts = parts
        self.heard: list[Message] = []
        self.has_failed = False

    def awaits(self, message: Message) -> bool:
        """Say whether a message is news that the room waits for."""
        if self.state() in {"success", "failed"} or not self.is_named(message) or message.chunk < 0:
            return False
        known = self.of(message.source, message.part)
        chunks = {other.chunk for other in known}
        last = [other.chunk for other in known if other.is_last]
        if message.chunk in chunks or (last and (message.is_last or message.chunk > last[0])):
            return False
        return not (message.is_last and any(chunk > message.chunk for chunk in chunks))

    def is_named(self, message: Message) -> bool:
        """Say whether the source and the part are among those that were named."""
        return message.source in self.sources and message.part in self.parts

    def hear(self, message: Message) -> None:
        """Note a message."""
        self.heard.append(message)

    def of(self, source: int, part: str) -> list[Message]:
        """Return what was heard of one part of one source."""
        return [message for message in self.heard if (message.source, message.part) == (source, part)]

    def is_complete(self, source: int, part: str) -> bool:
        """Say whether every chunk of a part of a source is there."""
        known = self.of(source, part)
        last = [message.chunk for message in known if message.is_last]
        return bool(last) and {message.chunk for message in known} >= set(range(last[0] + 1))

    def missing(self) -> list[tuple[int, str]]:
        """Return the sources and parts that are not complete."""
        return [(source, part) for source in self.sources for part in self.parts if not self.is_complete(source, part)]

    def state(self) -> str:
        """Say how far the room is."""
        if self.has_failed:
            return "failed"
        if not self.missing():
            return "success"
        return "transferring" if self.heard else "waiting"

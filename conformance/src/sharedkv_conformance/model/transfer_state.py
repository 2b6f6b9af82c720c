"""What may be known of transfers from calls and answers alone: the rooms, driven by what they were told."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.transfer import TransferModel
from sharedkv_conformance.model.transfer_rooms import Message, RoomModel
from sharedkv_conformance.step import Answer, Call, Ok

FRESH, REPEATED, STRANGE, GAVE_UP = "fresh", "repeated", "strange", "gave up"


class TransferState:
    """The state before a call. Once a room was told of wrongly, its facts are not relied on any more: `diverged`."""

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.truth = TransferModel(config)
        self.geometry = self.truth.geometry
        self.fingerprint: tuple[tuple[str, str], ...] | None = None
        self.last_heard: dict[int, str] = {}
        self.epochs: dict[int, set[int]] = {}
        self.closed: list[int] = []
        self.heard_last: int | None = None
        self.diverged = False

    @property
    def rooms(self) -> dict[int, RoomModel]:
        """Return the open rooms."""
        return self.truth.rooms

    def is_open(self, room: int) -> bool:
        """Say whether a room is open."""
        return room in self.rooms

    def has_ended(self, room: int) -> bool:
        """Say whether an open room has succeeded or failed."""
        return self.is_open(room) and self.rooms[room].state() in self.truth.ends()

    def kind_of(self, call: Call) -> str:
        """Say what a message is to its room: news, a repetition, or nothing that it waits for."""
        found = self.truth.live(call.room, call.epoch)
        if found is None:
            return STRANGE
        if call.op == "transfer.failed":
            return GAVE_UP if call.source in found.sources and not self.has_ended(call.room) else STRANGE
        message = Message(source=call.source, part=call.part, chunk=call.chunk, is_last=call.is_last)
        if found.awaits(message):
            return FRESH
        known = {other.chunk for other in found.of(call.source, call.part)}
        return REPEATED if message.chunk in known and not self.has_ended(call.room) else STRANGE

    # -- adopting answers ------------------------------------------------------------------------------------------

    def adopt(self, call: Call, answer: Answer) -> None:
        """Go on from an answer; only epochs are taken from it, for nothing else is free."""
        self.heard_last = None
        if self.diverged:
            return
        if call.op == "transfer.open_room":
            self._adopt_open(call, answer)
        elif call.op in {"transfer.arrived", "transfer.failed"}:
            self._adopt_message(call, answer)
        elif call.op == "transfer.status":
            self.diverged = isinstance(answer, Ok) and answer.value != self._status(call.room)
        elif call.op == "transfer.close_room" and isinstance(answer, Ok):
            self._adopt_close(call.room)
        elif call.op == "transfer.fingerprint" and isinstance(answer, Ok):
            self.fingerprint = answer.value.fields

    def _adopt_open(self, call: Call, answer: Answer) -> None:
        if not isinstance(answer, Ok):
            return
        try:
            self.truth.open_room(call.room, call.sources, call.parts)
        except Rejected:
            self.diverged = True
            return
        self.rooms[call.room].epoch = answer.value
        self.epochs.setdefault(call.room, set()).add(answer.value)
        self.last_heard.pop(call.room, None)

    def _adopt_message(self, call: Call, answer: Answer) -> None:
        if not isinstance(answer, Ok):
            self.diverged = True
            return
        self.last_heard[call.room] = self.kind_of(call)
        self.heard_last = call.room if self.is_open(call.room) else None
        if call.op == "transfer.failed":
            self.truth.failed(call.room, call.epoch, call.source)
        else:
            self.truth.arrived(call.room, call.epoch, call.source, call.part, call.chunk, call.is_last)

    def _adopt_close(self, room: int) -> None:
        if self.has_ended(room):
            del self.rooms[room]
            self.closed.append(room)
        else:
            self.diverged = True

    def _status(self, room: int) -> str | None:
        return self.rooms[room].state() if self.is_open(room) else None

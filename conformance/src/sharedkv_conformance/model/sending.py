"""The executable specification of sending, overlap and abort together: they share rooms, flights and messages.

`SendingModel` is one right answer to each call; mutants override one of its small decisions, of whichever facet. Behind
it stand the attributes `transfer`, `overlap` and `abort` of a session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.sending import Reservation
from sharedkv_conformance.model.abort import AbortModel
from sharedkv_conformance.model.transfer import TransferModel


class SendingModel(AbortModel):
    """Sending, overlap and abort as an implementation."""

    feature = "sending"


class AbortCalls:
    """The calls of `abort`."""

    def __init__(self, sending: SendingModel) -> None:
        self._sending = sending

    def decode(self, room: int) -> None:
        """Have decode give a room up."""
        self._sending.abort_decode(room)

    def prefill(self, room: int) -> None:
        """Have prefill give a room up."""
        self._sending.abort_prefill(room)


class TransferCalls:
    """The calls of `transfer`: rooms that are opened and rooms that are reserved share numbers and epochs."""

    def __init__(self, mapping: TransferModel, sending: SendingModel) -> None:
        self.mapping = mapping
        self.sending = sending
        for name in ("chunk", "deal", "blocks", "fingerprint", "shake_hands", "arrived", "failed"):
            setattr(self, name, getattr(mapping, name))
        for name in ("send", "send_status", "forget", "report", "commit", "decode_pools"):
            setattr(self, name, getattr(sending, name))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Have the calls of both."""

    def open_room(self, room: int, sources: Sequence[int], parts: Sequence[str]) -> int:
        """Open a room that is not reserved."""
        if self.sending.is_reserved(room):
            raise Rejected(Reason.ROOM_IN_USE, f"room {room}")
        self.mapping.epochs = max(self.mapping.epochs, self.sending.epochs)
        return self.mapping.open_room(room, sources, parts)

    def reserve(self, room: int, num_pages: int, ranks: Sequence[int]) -> Reservation:
        """Reserve a room that is not open."""
        if room in self.mapping.rooms:
            raise Rejected(Reason.ROOM_IN_USE, f"room {room}")
        self.sending.epochs = max(self.sending.epochs, self.mapping.epochs or self.sending.epochs)
        return self.sending.reserve(room, num_pages, ranks)

    def status(self, room: int) -> str:
        """Say how far a room is."""
        return self.sending.status(room) if self.sending.is_reserved(room) else self.mapping.status(room)

    def close_room(self, room: int) -> None:
        """Forget a room that has ended."""
        if self.sending.is_reserved(room):
            self.sending.close_room(room)
        else:
            self.mapping.close_room(room)

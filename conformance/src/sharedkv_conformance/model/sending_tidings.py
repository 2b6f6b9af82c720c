"""What a call brought with it, seen from before the call: which kind of message, and what set pages free."""

from __future__ import annotations

from dataclasses import dataclass

from sharedkv_conformance.model.sending import SendingModel
from sharedkv_conformance.model.sending_parts import ABORT, OPENED, DecodeRoom, Notice
from sharedkv_conformance.step import Call

NEWS, AGAIN, EARLIER, SPOILED = "news", "again", "earlier", "spoiled"
BY_DRAINS, BY_TIME = "drains", "time"


@dataclass(frozen=True, kw_only=True)
class Tidings:
    """What the last call that was no look, and did not ask decode how far a room is, brought.

    `message` is what was delivered: `news`, one that came `again`, one of an `earlier` epoch, or a `spoiled` copy;
    empty where nothing was. `is_after_noise` says that a spoiled copy came right before. `freed` says what set the
    pages of a failed room free: `drains` or `time`; empty where there was none.
    """

    message: str = ""
    is_after_noise: bool = False
    freed: str = ""


def kind_of_message(sending: SendingModel, call: Call, notice: Notice | None) -> str:
    """Say what a message is that a call delivers."""
    if notice is None:
        return ""
    if call.op == "probe.garble":
        return SPOILED
    if is_earlier(sending, notice):
        return EARLIER
    return NEWS if notice in sending.way else AGAIN


def is_earlier(sending: SendingModel, notice: Notice) -> bool:
    """Say whether the side that a message is for knows the room under a later epoch."""
    if notice.kind in (OPENED, ABORT):
        return sending.latest.get(notice.room, notice.epoch) > notice.epoch
    epochs = [room.epoch for room in rooms_with_pages(sending) if room.room == notice.room]
    return notice.epoch not in epochs and any(epoch > notice.epoch for epoch in epochs)


def rooms_with_pages(sending: SendingModel) -> list[DecodeRoom]:
    """Return the rooms at decode, open or closed, whose pages are not free."""
    return [*sending.reserved.values(), *sending.lingering]


def what_freed(sending: SendingModel, rooms: list[DecodeRoom]) -> str:
    """Say what set the pages of failed rooms free that were there before."""
    left = rooms_with_pages(sending)
    freed = [room for room in rooms if room not in left and room.has_failed]
    if not freed:
        return ""
    return BY_DRAINS if all(map(sending.drained_is_enough, freed)) else BY_TIME

"""Written histories of metadata slots: commits, slots that name others, and slots that are used again."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.host_tree_scripts import Asking, Script, pages_of
from sharedkv_conformance.draws.sending_pinned import LATENT, ROOM, config, reserve, send

OTHER = 8


def scribble(call: Asking, slot: int, room: int, epoch: int, *, rank: int = 0) -> None:
    """Let metadata of somebody land in a slot."""
    call("probe.scribble", rank=rank, slot=slot, room=room, epoch=epoch, data=b"other")


def ask_status(call: Asking, room: int = ROOM) -> None:
    """Ask how far a room is, and try to commit it."""
    call.attempt("transfer.status", room=room)
    call.attempt("transfer.commit", room=room)


def committed_with_two_destinations(call: Asking) -> None:
    """Send two chunks with metadata of their own to two destinations, and commit too early, in time, and again."""
    reserve(call, 4, 1, 0)
    pages = pages_of(call, 4)
    ask_status(call)
    call.attempt("transfer.commit", room=OTHER)
    send(call, pages[:2], is_last=False, aux=b"first")
    ask_status(call)
    call("probe.stall", what="writes")
    send(call, pages[2:], 2, aux=b"last")
    ask_status(call)
    call("probe.resume", what="writes")
    ask_status(call)
    ask_status(call)
    reserve(call, 1, 0, room=OTHER)
    call("transfer.close_room", room=ROOM)
    call.attempt("transfer.commit", room=ROOM)


def foreign(call: Asking, *, by_room: bool, rank: int = 0) -> None:
    """Let a slot name another room, or another epoch, when all has arrived."""
    epoch, slots = reserve(call, 2, 0, 1)
    send(call, pages_of(call, 2))
    scribble(call, slots[rank], OTHER if by_room else ROOM, epoch if by_room else epoch + 100, rank=rank)
    ask_status(call)
    call.attempt("transfer.close_room", room=ROOM)


def foreign_room(call: Asking) -> None:
    """Let the slot of the first destination name another room."""
    foreign(call, by_room=True)


def foreign_epoch(call: Asking) -> None:
    """Let it name another epoch."""
    foreign(call, by_room=False)


def foreign_second(call: Asking) -> None:
    """Let the slot of the second destination name another room."""
    foreign(call, by_room=True, rank=1)


def foreign_after_success(call: Asking) -> None:
    """Let a slot name another room when its room was told as a success, and one of which all but a message came."""
    epoch, slots = reserve(call, 2)
    send(call, pages_of(call, 2))
    call("transfer.status", room=ROOM)
    scribble(call, slots[0], OTHER, epoch)
    ask_status(call)
    call("probe.stall", what="messages")
    epoch, slots = reserve(call, 2, room=OTHER)
    call("probe.resume", what="messages")
    call("probe.stall", what="messages")
    send(call, pages_of(call, 2), room=OTHER)
    scribble(call, slots[0], ROOM, epoch)
    call("transfer.status", room=OTHER)
    call("probe.resume", what="messages")
    ask_status(call, OTHER)


def foreign_too_early(call: Asking) -> None:
    """Let a slot name another room before its own metadata lands, which then stands in it."""
    epoch, slots = reserve(call, 2)
    scribble(call, slots[0], OTHER, epoch)
    call("transfer.status", room=ROOM)
    call("probe.stall", what="writes")
    send(call, pages_of(call, 2))
    call("transfer.status", room=ROOM)
    call("probe.resume", what="writes")
    ask_status(call)
    call("transfer.close_room", room=ROOM)


def used_again(call: Asking) -> None:
    """Give every slot to a second room when the first is done, and ask before its metadata has landed."""
    for room in (ROOM, OTHER, ROOM + 2, ROOM + 3):
        reserve(call, 1, room=room)
        call("transfer.status", room=room)
        pages = pages_of(call, 1)
        send(call, pages, state=pages, aux=bytes((room,)), room=room)
        ask_status(call, room)
        call("transfer.close_room", room=room)


SCRIPTS: tuple[tuple[OpenConfig, Script], ...] = (
    (config(destinations=2), committed_with_two_destinations),
    (config(destinations=2), foreign_room),
    (config(destinations=2), foreign_epoch),
    (config(destinations=2), foreign_second),
    (config(), foreign_after_success),
    (config(), foreign_too_early),
    (config(LATENT, pages=8), used_again),
)

"""Written histories of abort in which requests cross: two that fail at once, and two epochs of one number."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import ControlMessage
from sharedkv_conformance.draws.abort_scripts_odd import SMALL, TWO, USUAL, close, hear, reserve
from sharedkv_conformance.draws.overlap_written import (
    OTHER,
    ROOM,
    Written,
    ask,
    begun,
    config,
    deliver,
    finish,
    on_the_way,
    resume,
    send,
    stall,
)

Script = tuple[OpenConfig, Callable[[Written], None]]
THIRD = 8


def release(call: Written, pages: tuple[int, ...]) -> None:
    """Give pages of prefill back."""
    call.attempt("allocation.release", pages=pages)


def of(call: Written, kind: str, source: int) -> None:
    """Deliver the messages of a kind that are on the way from or to one prefill rank."""
    deliver(call, [message for message in on_the_way(call, kind) if message.source == source])


# -- several at once -------------------------------------------------------------------------------------------------


def two_unheard(call: Written) -> None:
    """Give two rooms up of which nobody hears, and close both, or the later one alone, until the time is over."""
    stall(call, "messages")
    for closed in ((ROOM, OTHER), (OTHER, ROOM)):
        for room in (ROOM, OTHER):
            reserve(call, room)
        for room in (ROOM, OTHER):
            call("abort.decode", room=room)
        close(call, closed[0])
        if closed[0] == ROOM:
            close(call, closed[1])
        call("probe.advance", ticks=5)
        reserve(call, THIRD, 9)
        call("probe.advance", ticks=1)
        close(call, closed[1])
        reserve(call, THIRD, 10)
        call("abort.decode", room=THIRD)
        close(call, THIRD)
        call("probe.advance", ticks=6)


def scattered(call: Written) -> None:
    """Give a room up whose pages do not follow one another, and let it drain, then time go by."""
    for is_heard in (True, False):
        for room in (ROOM, OTHER, THIRD):
            reserve(call, room, 3)
        for room in (ROOM, THIRD):
            call("abort.decode", room=room)
            close(call, room)
        reserve(call, ROOM, 6)
        stall(call, "messages")
        call("abort.decode", room=ROOM)
        close(call)
        if is_heard:
            resume(call, "messages")
        call("probe.advance", ticks=6)
        call("abort.decode", room=OTHER)
        close(call, OTHER)
        resume(call, "messages")
        call("probe.advance", ticks=6)


def no_time_at_all(call: Written) -> None:
    """Close rooms of which nobody hears, where the quarantine lasts no time."""
    stall(call, "messages")
    reserve(call, ROOM, 4)
    call("abort.decode", room=ROOM)
    close(call)
    reserve(call, ROOM, 10)


# -- patience --------------------------------------------------------------------------------------------------------


def patience_with_the_number_again(call: Written) -> None:
    """Use the number of a room again that ended shortly before the patience with it was over."""
    for is_sent in (True, False):
        request = begun(call, 2)
        if is_sent:
            send(call, request, 0, 2)
        call("abort.decode", room=ROOM)
        call("probe.advance", ticks=11)
        finish(call) if is_sent else close(call)
        release(call, request.pages)
        reserve(call)
        call("probe.advance", ticks=1)
        ask(call)
        call("probe.advance", ticks=10)
        ask(call)
        call("probe.advance", ticks=1)
        ask(call)
        close(call)


def success_waits(call: Written) -> None:
    """Leave rooms that have succeeded and failed open, beside one that waits, until patience is over and longer."""
    request = begun(call, 2)
    reserve(call, OTHER)
    reserve(call, THIRD)
    send(call, request, 0, 2)
    call("abort.decode", room=OTHER)
    call("probe.advance", ticks=12)
    for room in (ROOM, THIRD, OTHER):
        call.attempt("transfer.status", room=room)
    ask(call, ROOM, OTHER, THIRD)
    finish(call)


# -- dead epochs -----------------------------------------------------------------------------------------------------


def dead_and_opened_again(call: Written) -> None:
    """Let prefill hear twice of an epoch that is dead."""
    stall(call, "messages")
    reserve(call)
    opened = on_the_way(call, "opened")
    call("abort.decode", room=ROOM)
    hear(call, "abort")
    for _ in range(2):
        for message in opened:
            deliver(call, [message])
            ask(call)
    hear(call, "failed", "drained")
    close(call)


def two_dead_epochs(call: Written) -> None:
    """Give two epochs of a number up before prefill hears of the first, and let it hear of both then."""
    stall(call, "messages")
    opened: list[ControlMessage] = []
    for _ in range(2):
        reserve(call)
        opened += [message for message in on_the_way(call, "opened") if message not in opened]
        call("abort.decode", room=ROOM)
        close(call)
    hear(call, "abort")
    for message in opened:
        deliver(call, [message])
        ask(call)
    hear(call, "drained", "failed")
    reserve(call, ROOM, 10)
    hear(call, "opened")
    ask(call)


def dead_at_one_rank(call: Written) -> None:
    """Let one rank hear that an epoch was given up, and the other rank of the epoch."""
    stall(call, "messages")
    reserve(call)
    call("abort.decode", room=ROOM)
    of(call, "abort", 0)
    of(call, "opened", 1)
    ask(call)
    of(call, "opened", 0)
    ask(call)
    hear(call, "abort", "failed", "drained")
    close(call)


def dead_at_one_destination(call: Written) -> None:
    """Let prefill hear from one destination that an epoch was given up, and of the epoch from the other."""
    stall(call, "messages")
    reserve(call, ROOM, 2, 0, 1)
    call("abort.decode", room=ROOM)
    deliver(call, [message for message in on_the_way(call, "abort") if message.destination == 0])
    for destination in (1, 0):
        deliver(call, [message for message in on_the_way(call, "opened") if message.destination == destination])
        ask(call)
    hear(call, "abort", "failed", "drained")
    close(call)


SCRIPTS: tuple[Script, ...] = (
    (USUAL, two_unheard),
    (USUAL, scattered),
    (config(SMALL, quarantine=0), no_time_at_all),
    (USUAL, patience_with_the_number_again),
    (USUAL, success_waits),
    (USUAL, dead_and_opened_again),
    (USUAL, two_dead_epochs),
    (USUAL, dead_at_one_rank),
    (TWO, dead_at_one_destination),
)

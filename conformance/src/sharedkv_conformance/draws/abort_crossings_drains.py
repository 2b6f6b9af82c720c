"""Written histories of abort: answers that wait while something else happens, and what is dropped on a failure."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.abort_scripts_odd import LONG, TWO, USUAL, close, hear, reserve, sent
from sharedkv_conformance.draws.overlap_written import (
    NOBODY,
    OTHER,
    ROOM,
    Written,
    ask,
    begun,
    deliver,
    fail,
    land,
    on_the_way,
    register,
    resume,
    send,
    stall,
    taken,
    tell,
    write_all,
)

Script = tuple[OpenConfig, Callable[[Written], None]]


def release(call: Written, pages: tuple[int, ...]) -> None:
    """Give pages of prefill back."""
    call.attempt("allocation.release", pages=pages)


# -- drains ----------------------------------------------------------------------------------------------------------


def doubt_while_owed(call: Written) -> None:
    """Let a flight come into doubt that an answer waits for."""
    sent(call)
    call("abort.decode", room=ROOM)
    close(call)
    fail(call)
    land(call, 1)
    land(call, 0)
    reserve(call, OTHER, 9)
    stall(call, "messages")
    call("probe.advance", ticks=6)
    reserve(call, OTHER, 10)


def late_while_owed(call: Written) -> None:
    """Let a flight be given up by the clock that an answer waits for."""
    sent(call)
    call("abort.decode", room=ROOM)
    close(call)
    call("probe.advance", ticks=4)
    land(call, 0)
    land(call, 1)
    reserve(call, OTHER, 9)
    stall(call, "messages")
    call("probe.advance", ticks=2)
    call("probe.advance", ticks=4)


def doubt_of_another(call: Written) -> None:
    """Leave flights of a room in doubt, and give others up: an earlier one, and its own number again."""
    stall(call, "writes")
    earlier, request = begun(call, 2, OTHER), begun(call, 2)
    send(call, earlier, 0, 2)
    send(call, request, 0, 2)
    fail(call, 2)
    fail(call, 2)
    close(call)
    reserve(call, ROOM, 2)
    send(call, taken(call, 2), 0, 2)
    for room in (OTHER, ROOM):
        call("abort.decode", room=room)
        close(call, room)
    land(call, 0, 1, 4, 5)


def two_epochs_in_flight(call: Written) -> None:
    """Give two epochs of a number up with flights of both; the later one lands first, then the earlier."""
    stall(call, "writes")
    for _ in range(2):
        send(call, begun(call, 2), 0, 2)
        call("abort.decode", room=ROOM)
        close(call)
    land(call, 2, 3)
    reserve(call, ROOM, 9)
    land(call, 0, 1)
    reserve(call, ROOM, 10)


def two_epochs_wait(call: Written) -> None:
    """Give two epochs of a number up, and let time go by for both, one after the other."""
    stall(call, "messages")
    for _ in range(2):
        reserve(call)
        call("abort.decode", room=ROOM)
        close(call)
        call("probe.advance", ticks=3)
    reserve(call, OTHER, 9)
    call("probe.advance", ticks=2)
    call("probe.advance", ticks=1)
    hear(call, "opened", "abort")
    hear(call, "drained")


def forgotten_in_flight(call: Written) -> None:
    """Let prefill give a room up and forget it while it is in flight; decode gives it up before that, or then."""
    for is_first in (True, False):
        pages = sent(call)
        stall(call, "messages")
        if is_first:
            call("abort.decode", room=ROOM)
            hear(call, "abort")
        call("abort.prefill", room=ROOM)
        call.attempt("transfer.forget", room=ROOM)
        release(call, pages)
        call("abort.decode", room=ROOM)
        hear(call, "abort")
        close(call)
        land(call, 0)
        land(call, 0)
        hear(call, "drained")
        resume(call, "messages", "writes")


def forgotten_in_doubt(call: Written) -> None:
    """Let prefill forget a room with a flight in doubt, and hear only then that decode gave it up."""
    sent(call)
    stall(call, "messages")
    fail(call)
    land(call, 1)
    call.attempt("transfer.forget", room=ROOM)
    call("abort.decode", room=ROOM)
    hear(call, "abort")
    close(call)
    call("probe.advance", ticks=6)
    hear(call, "drained")


def replaced_in_doubt(call: Written) -> None:
    """Let prefill hear of a later epoch while a flight of the earlier is in doubt, and only then of its notice."""
    sent(call)
    stall(call, "messages")
    fail(call)
    call("abort.decode", room=ROOM)
    close(call)
    reserve(call)
    hear(call, "opened")
    ask(call)
    hear(call, "abort")
    hear(call, "drained")
    call("probe.advance", ticks=6)
    hear(call, "drained")


def replaced_while_owed(call: Written) -> None:
    """Let prefill hear of a later epoch while an answer to the earlier waits for a flight."""
    sent(call)
    call("abort.decode", room=ROOM)
    close(call)
    reserve(call)
    ask(call)
    land(call, 0)
    land(call, 0)
    reserve(call, OTHER, 8)
    ask(call, ROOM, OTHER)


# -- what is dropped -------------------------------------------------------------------------------------------------


def crashed_and_drained(call: Written) -> None:
    """Let a worker crash over a request; its pages and its answer are not lost."""
    for is_sent in (True, False):
        request = begun(call, 4)
        stall(call, "workers")
        register(call, request, 0, 2)
        tell(call, 0)
        if is_sent:
            send(call, request, 0, 2)
        call("probe.inject", fault="worker_crash")
        release(call, request.pages)
        resume(call, "workers")
        ask(call)
        close(call)
        call.attempt("allocation.lanes")


def failed_for_good(call: Written) -> None:
    """Let each flight of a request fail for good, and give its pages back."""
    pages = sent(call)
    fail(call, is_definite=True, pages=1)
    release(call, pages)
    fail(call, is_definite=True)
    close(call)
    call.attempt("allocation.lanes")


def odd_chunks_of_failed_rooms(call: Written) -> None:
    """Send chunks that would be refused, of rooms that have failed before they were ready, and under way."""
    stall(call, "messages")
    request = begun(call, 2)
    deliver(call, on_the_way(call, "opened")[:1])
    call("abort.prefill", room=ROOM)
    send(call, request, 0, 2)
    ask(call)
    resume(call, "messages")
    close(call)
    request = begun(call, 2)
    send(call, request, 0, 1)
    call("abort.prefill", room=ROOM)
    release(call, request.pages)
    send(call, request, 1, 2)
    send(call, request, 0, 2)
    call.attempt("transfer.send", room=ROOM, pages=(NOBODY,), first_position=9, is_last=True, state=(), aux=bytes(99))
    ask(call)


def landed_after_the_failure(call: Written) -> None:
    """Land all of a chunk that prefill has given up: nobody is told that it is there."""
    request = begun(call, 4)
    write_all(call, request)
    stall(call, "writes", "messages")
    send(call, request, 0, 2)
    send(call, request, 2, 4)
    call("abort.prefill", room=ROOM)
    for _ in range(4):
        land(call, 0)
    resume(call, "messages")
    ask(call)


SCRIPTS: tuple[Script, ...] = (
    (TWO, doubt_while_owed),
    (USUAL, late_while_owed),
    (LONG, doubt_of_another),
    (USUAL, two_epochs_in_flight),
    (USUAL, two_epochs_wait),
    (USUAL, forgotten_in_flight),
    (LONG, forgotten_in_doubt),
    (LONG, replaced_in_doubt),
    (USUAL, replaced_while_owed),
    (USUAL, crashed_and_drained),
    (USUAL, failed_for_good),
    (USUAL, odd_chunks_of_failed_rooms),
    (USUAL, landed_after_the_failure),
)

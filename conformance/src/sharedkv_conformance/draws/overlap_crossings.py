"""Written histories of overlap in which two things cross: layers of two groups, two forwards, rows and flights."""

from __future__ import annotations

from dataclasses import replace

from sharedkv_conformance.draws.overlap_scripts import Script
from sharedkv_conformance.draws.overlap_written import (
    OTHER,
    ROOM,
    Written,
    ask,
    begun,
    config,
    finish,
    look,
    register,
    resume,
    send,
    stall,
    tell,
    write,
    write_all,
)


def late_in_its_group(call: Written) -> None:
    """Tell a layer behind the boundary of its group, and then the boundary of the next group, which is smaller."""
    request = begun(call, 2)
    write_all(call, request)
    stall(call, "writes")
    register(call, request, 0, 2)
    tell(call, 0, 1, 3, 2, 4)
    send(call, request, 0, 2)
    resume(call, "writes")
    look(call)
    ask(call)
    finish(call)


def registered_within_a_group(call: Written) -> None:
    """Register a second request between two layers of a group; what was told before is nothing to it."""
    request, other = begun(call, 2), begun(call, 2, OTHER)
    write_all(call, request, other)
    stall(call, "writes")
    register(call, request, 0, 2)
    tell(call, 0)
    register(call, other, 0, 2)
    tell(call, 1, 2)
    send(call, request, 0, 2)
    tell(call, 0, 3)
    send(call, other, 0, 2)
    resume(call, "writes")
    look(call)
    ask(call, ROOM, OTHER)
    finish(call, ROOM, OTHER)


def late_rows_of_one_rank(call: Written) -> None:
    """Tell layers of a chunk that has pages on the second rank alone, while its rows are late."""
    request = begun(call, 4)
    send(call, request, 0, 1)
    call("probe.inject", fault="late_writes")
    register(call, request, 1, 3)
    for layer in range(call.state.config.pool.all_layers):
        write(call, request, layer)
        tell(call, layer)
        call.attempt("probe.decode_pool", rank=0, layer=layer)
    send(call, request, 1, 3)
    look(call)


def in_another_order(call: Written) -> None:
    """Register a chunk again, and send it, with its pages in another order."""
    request = begun(call, 4)
    write_all(call, request)
    other = replace(request, pages=(request.pages[1], request.pages[0], *request.pages[2:]))
    register(call, request, 0, 2)
    register(call, other, 0, 2)
    tell(call, 0, 1)
    send(call, other, 0, 2)
    send(call, request, 0, 2)
    register(call, request, 2, 4)
    send(call, replace(request, pages=tuple(reversed(request.pages))), 2, 4)
    send(call, request, 2, 4)
    look(call)
    ask(call)


def late_although_begun(call: Written) -> None:
    """Have workers begin with a chunk when half its time is over: its metadata comes too late, its flights do not."""
    request, other = begun(call, 2), begun(call, 2, OTHER)
    register(call, request, 0, 2)
    stall(call, "workers", "writes")
    tell(call, 0, 1)
    send(call, request, 0, 2)
    send(call, other, 0, 2)
    call("probe.advance", ticks=2)
    resume(call, "workers")
    ask(call, ROOM, OTHER)
    for _ in range(2):
        call("probe.advance", ticks=1)
        ask(call, ROOM, OTHER)
    resume(call, "writes")
    ask(call, ROOM, OTHER)


def late_one_after_another(call: Written) -> None:
    """Send two requests at different times while no worker begins: each has its own deadline."""
    request, other = begun(call, 2), begun(call, 2, OTHER)
    register(call, other, 0, 2)
    stall(call, "workers")
    send(call, request, 0, 2)
    call("probe.advance", ticks=2)
    send(call, other, 0, 2)
    for _ in range(4):
        call("probe.advance", ticks=1)
        ask(call, ROOM, OTHER)
    resume(call, "workers")


def registered_for_long(call: Written) -> None:
    """Send a chunk long after it was registered, to workers that take some time more: it is not late."""
    request = begun(call, 2)
    write_all(call, request)
    register(call, request, 0, 2)
    tell(call, 0, 1)
    call("probe.advance", ticks=3)
    stall(call, "workers")
    send(call, request, 0, 2)
    call("probe.advance", ticks=2)
    call.attempt("transfer.report", room=ROOM)
    ask(call)
    resume(call, "workers")
    ask(call)
    finish(call)


SCRIPTS: tuple[Script, ...] = (
    (config(group=4), late_in_its_group),
    (config(), registered_within_a_group),
    (config(), late_rows_of_one_rank),
    (config(), in_another_order),
    (config(), late_although_begun),
    (config(), late_one_after_another),
    (config(), registered_for_long),
)

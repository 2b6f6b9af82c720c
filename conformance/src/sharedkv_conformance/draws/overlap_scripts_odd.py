"""Written histories of overlap: chunks that are registered in odd ways, and rooms that fail on the way."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.overlap_written import (
    HEADS,
    NOBODY,
    OTHER,
    ROOM,
    Written,
    ask,
    begun,
    config,
    fail,
    look,
    register,
    resume,
    send,
    shortage,
    stall,
    taken,
    tell,
    write_all,
)

LAYERS = range(HEADS.all_layers)
Script = tuple[OpenConfig, Callable[[Written], None]]

# -- registrations ---------------------------------------------------------------------------------------------------


def registered_again(call: Written) -> None:
    """Register a chunk again while its layers are told, and with other pages and ends, and send it otherwise."""
    request = begun(call, 4)
    write_all(call, request)
    stall(call, "writes")
    register(call, request, 0, 2)
    register(call, request, 0, 2)
    tell(call, 0, 1, 2)
    register(call, request, 0, 2)
    register(call, request, 0, 3)
    register(call, request, 0, 2, is_last=True)
    tell(call, 3)
    send(call, request, 0, 3)
    send(call, request, 0, 1)
    send(call, request, 0, 2)
    register(call, request, 2, 4)
    register(call, request, 2, 4, is_last=False)
    send(call, request, 2, 4, is_last=False)
    send(call, request, 2, 4)
    resume(call, "writes")
    ask(call)


def declined(call: Written) -> None:
    """Chunks that cannot go early: of nobody, of several places, without pages, behind a gap, of a failed room."""
    request = begun(call, 4)
    call.attempt("overlap.register", room=NOBODY, pages=request.pages[:1], first_position=0, is_last=False)
    register(call, request, 0, 0)
    register(call, request, 1, 2)
    register(call, request, 0, 2)
    register(call, request, 1, 4)
    register(call, request, 2, 3, is_last=True)
    call.attempt("overlap.register", room=ROOM, pages=request.pages[:1] * 2, first_position=2, is_last=True)
    call.attempt("overlap.register", room=ROOM, pages=(0, 1 << 20), first_position=2, is_last=True)
    register(call, request, 2, 4)
    register(call, request, 4, 4)
    call.attempt("abort.prefill", room=ROOM)
    register(call, request, 0, 2)


def declined_not_ready(call: Written) -> None:
    """Register a chunk before prefill has heard of its room, and of all of it."""
    stall(call, "messages")
    request = begun(call, 2)
    register(call, request, 0, 2)
    for message in call("probe.messages")[:1]:
        call("probe.deliver", message=message.message)
    register(call, request, 0, 2)
    tell(call, 0, 1)
    resume(call, "messages")
    register(call, request, 0, 2)
    tell(call, 0, 1)
    send(call, request, 0, 2)
    ask(call)


def declined_when_done(call: Written) -> None:
    """Register a chunk of a room of which everything was sent, while another goes on."""
    request, other = begun(call, 2), begun(call, 2, OTHER)
    register(call, other, 0, 2)
    send(call, request, 0, 2)
    register(call, request, 0, 2)
    register(call, request, 2, 2)
    tell(call, 0, 1)
    send(call, other, 0, 2)
    ask(call, ROOM, OTHER)


def several_places(call: Written) -> None:
    """Send a room with two places beside one with one: the first when it is done, the other early."""
    request, other = begun(call, 2, ROOM, (1, 0)), begun(call, 2, OTHER, (1,))
    write_all(call, request, other)
    stall(call, "writes")
    register(call, other, 0, 2)
    register(call, request, 0, 2)
    tell(call, 0, 1)
    send(call, request, 0, 2)
    send(call, other, 0, 2)
    resume(call, "writes")
    look(call, 0)
    look(call, 1)
    ask(call, ROOM, OTHER)


def switched_off(call: Written) -> None:
    """Overlap is off: a chunk is declined in silence, layers are told to nobody, and it is sent as ever."""
    request = begun(call, 2)
    write_all(call, request)
    stall(call, "writes")
    register(call, request, 0, 2)
    register(call, request, 1, 1)
    tell(call, *LAYERS)
    send(call, request, 0, 2)
    resume(call, "writes")
    look(call)
    ask(call)


def pages_given_back(call: Written) -> None:
    """Give the pages of two registered chunks back before anything of them goes, and ask for all that there is."""
    request = begun(call, 4)
    register(call, request, 0, 2)
    register(call, request, 2, 4)
    call.attempt("allocation.release", pages=request.pages)
    shortage(call, 5)


def pages_given_back_behind(call: Written) -> None:
    """Give the pages of the second of two registered chunks back."""
    request = begun(call, 4)
    register(call, request, 0, 2)
    register(call, request, 2, 4)
    call.attempt("allocation.release", pages=request.pages[2:])
    shortage(call, 5)


# -- failures --------------------------------------------------------------------------------------------------------


def crashed_in_a_group(call: Written) -> None:
    """Let a worker crash over a group of one room, while another room is sent, and ask about both."""
    request, other = begun(call, 2), begun(call, 2, OTHER)
    write_all(call, request, other)
    register(call, request, 0, 2)
    register(call, other, 0, 2)
    call("probe.inject", fault="worker_crash")
    tell(call, 0, 1)
    ask(call, OTHER, ROOM)
    tell(call, 2, 3)
    send(call, request, 0, 2)
    send(call, other, 0, 2)
    look(call)
    ask(call, ROOM, OTHER)


def crashed_at_the_end(call: Written) -> None:
    """Let a worker crash over what is left of a chunk, and send the next request."""
    request = begun(call, 2)
    register(call, request, 0, 2)
    tell(call, 0, 1)
    call("probe.inject", fault="worker_crash")
    send(call, request, 0, 2)
    ask(call)
    other = begun(call, 2, OTHER)
    register(call, other, 0, 2)
    send(call, other, 0, 2)
    ask(call, OTHER)


def late_workers(call: Written) -> None:
    """No worker begins with a chunk in time."""
    request = begun(call, 2)
    register(call, request, 0, 2)
    tell(call, 0, 1)
    stall(call, "workers")
    send(call, request, 0, 2)
    call("probe.advance", ticks=3)
    ask(call)
    call("probe.advance", ticks=1)
    ask(call)


def late_flights(call: Written) -> None:
    """Land the layers of a group too late, before their chunk is sent."""
    request = begun(call, 2)
    stall(call, "writes")
    register(call, request, 0, 2)
    tell(call, 0, 1)
    call("probe.advance", ticks=3)
    ask(call)
    call("probe.advance", ticks=1)
    ask(call)
    tell(call, 2, 3)
    ask(call)


def dropped(call: Written) -> None:
    """Fail a flight of a chunk while its forward goes on, beside another room of the forward."""
    request, other = begun(call, 2), begun(call, 2, OTHER)
    write_all(call, request, other)
    stall(call, "writes")
    register(call, request, 0, 2)
    register(call, other, 0, 2)
    tell(call, 0, 1)
    fail(call, is_definite=True)
    tell(call, 2, 3)
    send(call, request, 0, 2)
    send(call, other, 0, 2)
    resume(call, "writes")
    ask(call, ROOM, OTHER)
    register(call, request, 0, 2)


def next_request(call: Written) -> None:
    """Reserve the number of a room that has failed again, and send its new request early."""
    request = begun(call, 2)
    register(call, request, 0, 2)
    tell(call, 0, 1)
    call("abort.decode", room=ROOM)
    call("transfer.close_room", room=ROOM)
    call("transfer.reserve", room=ROOM, num_pages=2, ranks=(0,))
    again = taken(call, 2)
    write_all(call, again)
    stall(call, "writes")
    register(call, again, 0, 2)
    tell(call, 0, 1, 2, 3)
    send(call, again, 0, 2)
    resume(call, "writes")
    look(call)
    ask(call)


USUAL = config()
SCRIPTS: tuple[Script, ...] = (
    (USUAL, registered_again),
    (USUAL, declined),
    (USUAL, declined_not_ready),
    (USUAL, declined_when_done),
    (config(ranks=2), several_places),
    (config(group=0), switched_off),
    (config(pages=6), pages_given_back),
    (config(pages=6), pages_given_back_behind),
    (USUAL, crashed_in_a_group),
    (USUAL, crashed_at_the_end),
    (USUAL, late_workers),
    (USUAL, late_flights),
    (USUAL, dropped),
    (USUAL, next_request),
)

"""Written histories of abort: late bytes, notices that overtake, numbers that come again, and pages that come back."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.overlap_written import (
    OTHER,
    ROOM,
    Written,
    ask,
    begun,
    config,
    deliver,
    fail,
    finish,
    land,
    look,
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
HOWS = ("empty", "truncated", "noise")
SIDES = ("abort.decode", "abort.prefill")


def hear(call: Written, *kinds: str) -> None:
    """Deliver all messages of some kinds that are on the way, kind by kind."""
    for kind in kinds:
        deliver(call, on_the_way(call, kind))


def close(call: Written, room: int = ROOM) -> None:
    """Close a room at decode."""
    call.attempt("transfer.close_room", room=room)


def reserve(call: Written, room: int = ROOM, pages: int = 2, *ranks: int) -> None:
    """Reserve a room, whether it goes or not."""
    call.attempt("transfer.reserve", room=room, num_pages=pages, ranks=ranks or (0,))


def sent(call: Written, *ranks: int) -> tuple[int, ...]:
    """Send a request of two pages in one chunk, with flights that are held; return its pages."""
    request = begun(call, 2, ROOM, ranks or (0,))
    write_all(call, request)
    stall(call, "writes")
    send(call, request, 0, 2)
    return request.pages


# -- late bytes ------------------------------------------------------------------------------------------------------


def late_bytes(call: Written) -> None:
    """Reserve the number of a room again, with a flight of it in doubt that lands then, and after half of the time."""
    sent(call)
    fail(call)
    close(call)
    reserve(call)
    again = taken(call, 2)
    write_all(call, again)
    land(call, 0)
    look(call)
    resume(call, "writes")
    send(call, again, 0, 2)
    land(call, 0)
    look(call)
    ask(call)
    finish(call)


def late_metadata(call: Written) -> None:
    """Reserve the number of a room again, with its metadata in doubt, which lands when the next has succeeded."""
    sent(call)
    land(call, 0, 0)
    fail(call, part="aux")
    close(call)
    reserve(call)
    again = taken(call, 2)
    resume(call, "writes")
    send(call, again, 0, 2)
    ask(call)
    land(call, 0, part="aux")
    ask(call)
    finish(call)


# -- drains ----------------------------------------------------------------------------------------------------------


def heard_in_doubt(call: Written) -> None:
    """Let the notice come while a flight is in doubt, and let the doubt pass."""
    stall(call, "messages")
    begun(call, 2)
    hear(call, "opened")
    stall(call, "writes")
    send(call, taken(call, 2), 0, 2)
    fail(call)
    call("abort.decode", room=ROOM)
    hear(call, "abort")
    close(call)
    land(call, 0)
    reserve(call, OTHER, 9)
    call("probe.advance", ticks=5)
    call("probe.advance", ticks=1)
    reserve(call, OTHER, 9)


def heard_with_metadata(call: Written) -> None:
    """Let the notice come while nothing but the metadata is on its way."""
    sent(call)
    stall(call, "messages")
    land(call, 0, 0)
    call("abort.decode", room=ROOM)
    hear(call, "abort")
    close(call)
    land(call, 0)
    hear(call, "drained")
    reserve(call, OTHER, 9)


def one_of_two_flights(call: Written) -> None:
    """Let the notice come with two flights of each rank on their way, of which the second lands first."""
    request = begun(call, 4)
    stall(call, "writes", "messages")
    send(call, request, 0, 2)
    send(call, request, 2, 4)
    call("abort.decode", room=ROOM)
    hear(call, "abort")
    land(call, 2, 3)
    land(call, 0)
    land(call, 0)
    close(call)
    hear(call, "drained")
    reserve(call, OTHER, 9)


def doubt_at_one_destination(call: Written) -> None:
    """Leave a flight to one of two destinations in doubt; the other one is answered."""
    sent(call, 0, 1)
    stall(call, "messages")
    fail(call)
    call("abort.decode", room=ROOM)
    hear(call, "abort")
    land(call, 1)
    land(call, 1)
    land(call, 1)
    close(call)
    hear(call, "drained", "failed")
    ask(call)


def forgotten(call: Written) -> None:
    """Let prefill send everything and forget the room; decode hears nothing of it and gives it up."""
    request = begun(call, 2)
    stall(call, "messages")
    send(call, request, 0, 2)
    call.attempt("transfer.forget", room=ROOM)
    call("abort.decode", room=ROOM)
    hear(call, "abort")
    hear(call, "arrived")
    ask(call)
    close(call)
    hear(call, "drained")
    reserve(call, OTHER, 10)


def notice_of_an_earlier_epoch(call: Written) -> None:
    """Let the notice of a room come when prefill has heard of its later epoch, and the answer then."""
    request = begun(call, 2)
    stall(call, "messages", "writes")
    send(call, request, 0, 1)
    call("abort.decode", room=ROOM)
    close(call)
    reserve(call)
    hear(call, "opened")
    ask(call)
    hear(call, "abort")
    ask(call)
    land(call, 0)
    hear(call, "drained")
    hear(call, "failed")
    ask(call)


def open_when_time_is_over(call: Written) -> None:
    """Leave a room open that has failed with a flight in doubt, until the time is over and longer."""
    sent(call)
    fail(call)
    call("probe.advance", ticks=5)
    reserve(call, OTHER, 9)
    call("probe.advance", ticks=1)
    reserve(call, OTHER, 9)
    call("probe.advance", ticks=3)
    close(call)
    reserve(call, OTHER, 10)


def closed_late(call: Written) -> None:
    """Close a room half of the quarantine after it has failed, with a flight in doubt."""
    sent(call)
    call("probe.advance", ticks=2)
    fail(call)
    call("probe.advance", ticks=3)
    close(call)
    call("probe.advance", ticks=2)
    reserve(call, OTHER, 9)
    call("probe.advance", ticks=1)
    reserve(call, OTHER, 9)


def ask_decode(call: Written) -> None:
    """Ask decode alone how far two rooms are."""
    for room in (OTHER, ROOM):
        call.attempt("transfer.status", room=room)


# -- time ------------------------------------------------------------------------------------------------------------


def impatient_under_way(call: Written) -> None:
    """Let decode lose patience with a room of which a chunk has arrived, and with one that is not sent."""
    request = begun(call, 2)
    reserve(call, OTHER)
    send(call, request, 0, 1)
    stall(call, "messages")
    call("probe.advance", ticks=11)
    ask_decode(call)
    call("probe.advance", ticks=1)
    ask_decode(call)
    ask(call, ROOM, OTHER)
    hear(call, "abort")
    ask(call, ROOM, OTHER)
    hear(call, "failed", "drained")
    ask(call, ROOM, OTHER)
    close(call)
    close(call, OTHER)


def impatient_at_once(call: Written) -> None:
    """Let decode lose patience with two rooms while nothing is held."""
    request = begun(call, 2)
    reserve(call, OTHER)
    send(call, request, 0, 1)
    call("probe.advance", ticks=11)
    ask_decode(call)
    call("probe.advance", ticks=1)
    ask_decode(call)
    ask(call, ROOM, OTHER)


# -- again -----------------------------------------------------------------------------------------------------------


def later_epoch_with_workers_behind(call: Written) -> None:
    """Let prefill hear of a later epoch of a room that waits for a worker, before it hears that it was given up."""
    request = begun(call, 2)
    stall(call, "messages", "workers")
    send(call, request, 0, 2)
    call("abort.decode", room=ROOM)
    close(call)
    reserve(call)
    for message in on_the_way(call, "opened"):
        deliver(call, [message])
        ask(call)
    resume(call, "workers")
    again = taken(call, 2)
    send(call, again, 0, 2)
    hear(call, "failed", "abort", "drained", "arrived")
    ask(call)
    look(call)


def later_epoch_elsewhere(call: Written) -> None:
    """Reserve the number of a room again at other destinations, and send to them."""
    begun(call, 2, ROOM, (0, 1))
    call("abort.decode", room=ROOM)
    close(call)
    call("transfer.reserve", room=ROOM, num_pages=1, ranks=(1,))
    again = taken(call, 1)
    ask(call)
    write_all(call, again)
    send(call, again, 0, 1)
    look(call, 1)
    ask(call)
    finish(call)


def pages_come_back(call: Written) -> None:
    """Give pages back of rooms that fail while they are queued, registered, in flight and in doubt; ask for all."""
    for what in ("workers", "writes"):
        request = begun(call, 4)
        stall(call, what)
        send(call, request, 0, 2)
        register(call, request, 2, 4)
        call.attempt("allocation.release", pages=request.pages)
        call("abort.decode", room=ROOM)
        call.attempt("allocation.lanes")
        resume(call, what)
        call.attempt("allocation.lanes")
        close(call)
        _all_of_it(call)


def pages_come_back_after_doubt(call: Written) -> None:
    """Give the pages of a flight back that is in doubt, and ask for them when the doubt is over."""
    pages = sent(call)
    fail(call)
    resume(call, "writes")
    call.attempt("allocation.release", pages=pages)
    call("probe.advance", ticks=5)
    call("probe.advance", ticks=1)
    _all_of_it(call)


def asked(call: Written, pages: int) -> ExtendRequest:
    """Return the request of so many pages."""
    return ExtendRequest(request="all", prefix_tokens=0, extend_tokens=pages * call.state.config.page_size)


def _all_of_it(call: Written) -> None:
    """Take every page that is free, and give it back."""
    free = sum(map(len, call("probe.pages").free))
    taken_all = call("allocation.extend", batch=(asked(call, free),))
    call.attempt("allocation.release", pages=taken_all.pages)


def forward_goes_on(call: Written) -> None:
    """Give a room up while its forward tells of layers, beside another room of the forward."""
    for op in SIDES:
        request, other = begun(call, 2), begun(call, 2, OTHER)
        stall(call, "writes")
        register(call, request, 0, 2)
        register(call, other, 0, 2)
        tell(call, 0, 1)
        call(op, room=ROOM)
        tell(call, 2, 3)
        send(call, request, 0, 2)
        send(call, other, 0, 2)
        resume(call, "writes")
        ask(call, ROOM, OTHER)
        close(call)
        finish(call, OTHER)
        call.attempt("allocation.release", pages=(*request.pages, *other.pages))


SMALL = PoolConfig(layout="mha_bf16", layers=1, kv_heads=1, head_dim=4)
USUAL = config(SMALL)
LONG = config(SMALL, deadline=30)
TWO = config(SMALL, ranks=2)
SCRIPTS: tuple[Script, ...] = (
    (USUAL, late_bytes),
    (USUAL, late_metadata),
    (USUAL, heard_in_doubt),
    (USUAL, heard_with_metadata),
    (USUAL, one_of_two_flights),
    (TWO, doubt_at_one_destination),
    (USUAL, forgotten),
    (USUAL, notice_of_an_earlier_epoch),
    (LONG, open_when_time_is_over),
    (LONG, closed_late),
    (LONG, impatient_under_way),
    (LONG, impatient_at_once),
    (USUAL, later_epoch_with_workers_behind),
    (TWO, later_epoch_elsewhere),
    (USUAL, pages_come_back),
    (USUAL, pages_come_back_after_doubt),
    (config(), forward_goes_on),
)

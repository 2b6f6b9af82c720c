"""Written histories of sending in which two things cross: pages that two flights read, chunks that overtake others.

Each is a geometry and a list of calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws import sending_pinned as pinned
from sharedkv_conformance.draws.sending_orders import (
    LATENT,
    MESSAGES,
    OTHER,
    ROOM,
    THIRD,
    Watched,
    ask,
    behind_pages_of_others,
    config,
    flights,
    land,
    look,
    resume,
    stall,
    whole,
    written,
)
from sharedkv_conformance.draws.sending_pinned import give_back, reserve, send
from sharedkv_conformance.draws.sending_view import write

WORKERS = "workers"

# -- pages that are read twice, or by nobody any more ----------------------------------------------------------------


def landed_and_read_again(call: Watched) -> None:
    """Land the first chunk while the index of all pages is in flight, and give its pages back before that."""
    reserve(call, 4)
    pages = written(call, 4)
    stall(call)
    send(call, pages[:2], is_last=False)
    first = flights(call)
    send(call, pages[2:], 2, state=whole(call, pages))
    give_back(call, "release", pages[:2])
    land(call, first)
    pinned.ask(call, 2)
    resume(call)
    pinned.ask(call, 2)
    look(call)


def failed_and_given_back(call: Watched) -> None:
    """Let each flight of a chunk fail for good, and give its pages back."""
    reserve(call, 4)
    pages = written(call, 4)
    stall(call)
    send(call, pages, state=whole(call, pages))
    give_back(call, "release", pages[:2])
    for flight in flights(call):
        call("probe.fail", flight=flight.flight, pages=1, is_definite=True)
    give_back(call, "retain", pages[2:])
    pinned.ask(call, 4)


def crashed_and_given_back(call: Watched) -> None:
    """Give pages back that a worker crashed over; and those of the next request, which is sent."""
    reserve(call, 2)
    pages = written(call, 2)
    call("probe.inject", fault="worker_crash")
    send(call, pages, state=whole(call, pages))
    give_back(call, "release", pages)
    reserve(call, 4, room=OTHER)
    pages = written(call, 4)
    send(call, pages, state=whole(call, pages), room=OTHER)
    give_back(call, "release", pages)
    pinned.ask(call, 4)
    ask(call, ROOM, OTHER)


def registered_and_given_back(call: Watched) -> None:
    """Give pages back of a chunk that was registered, and sent while no worker begins."""
    reserve(call, 4)
    pages = written(call, 4)
    call("overlap.register", room=ROOM, pages=pages[:2], first_position=0, is_last=False)
    ask(call)
    stall(call, WORKERS)
    send(call, pages[:2], is_last=False)
    give_back(call, "release", pages[:2])
    pinned.ask(call, 1)
    resume(call, WORKERS)
    stall(call)
    call("overlap.register", room=ROOM, pages=pages[2:], first_position=2, is_last=True)
    call("overlap.layer_end", layer=0)
    resume(call)
    give_back(call, "retain", pages[2:])
    pinned.ask(call, 4)
    send(call, pages[2:], 2, state=whole(call, pages))
    pinned.ask(call, 4)


def index_written_behind_its_layers(call: Watched) -> None:
    """Write rows again behind the end of the last layer: the index goes later, and has them."""
    reserve(call, 1)
    pages = written(call, 1)
    call("overlap.register", room=ROOM, pages=pages, first_position=0, is_last=True)
    layers = range(call.state.config.pool.all_layers)
    for layer in layers:
        call("overlap.layer_end", layer=layer)
    call("probe.inject", fault="late_writes")
    for forward in call.state.forwards[-1:]:
        again = replace(forward, number=forward.number + 1)
        for layer in layers:
            call("direct_write.write", **write(call.state, again, layer).args)
    send(call, pages, state=whole(call, pages))
    look(call)


def shared_by_two(call: Watched) -> None:
    """Send two requests that begin with the same page, and give it back while both are in flight."""
    pages = written(call, 3)
    stall(call)
    for room, own in ((ROOM, pages[:2]), (OTHER, (pages[0], pages[2]))):
        reserve(call, 2, room=room)
        send(call, own, state=whole(call, own), room=room)
    give_back(call, "release", pages)
    for room in (ROOM, OTHER):
        while found := [flight for flight in flights(call) if flight.room == room]:
            land(call, found)
        pinned.ask(call, 1)
    look(call)
    ask(call, ROOM, OTHER)


def long_runs(call: Watched) -> None:
    """Send pages lane by lane, so that those of a rank follow one another on both sides."""
    reserve(call, 8)
    pages = tuple(sorted(written(call, 8), key=lambda page: ((page - 1) % call.state.config.cp_size, page)))
    send(call, pages, state=whole(call, pages))
    look(call)


# -- chunks and messages that overtake -------------------------------------------------------------------------------


def landed_before_the_last_begins(call: Watched) -> None:
    """Land the first chunk while no worker has begun with the last one."""
    reserve(call, 4)
    pages = written(call, 4)
    stall(call)
    send(call, pages[:2], is_last=False)
    first = flights(call)
    stall(call, WORKERS)
    send(call, pages[2:], 2, state=whole(call, pages))
    land(call, first)
    resume(call, WORKERS)
    land(call, flights(call))
    resume(call)
    ask(call)
    look(call)


def registered_one_behind_another(call: Watched) -> None:
    """Register two chunks before the first is sent."""
    reserve(call, 4)
    pages = written(call, 4)
    for first, end in ((0, 2), (2, 4)):
        chunk = {"pages": pages[first:end], "first_position": first, "is_last": end == len(pages)}
        call("overlap.register", room=ROOM, **chunk)
    send(call, pages[:2], is_last=False)
    send(call, pages[2:], 2, state=whole(call, pages))
    ask(call)
    look(call)


def known_to_one_destination(call: Watched) -> None:
    """Let every rank hear of one of two destinations, and send too early."""
    stall(call, MESSAGES)
    reserve(call, 2, 1, 0)
    pages = written(call, 2)
    for destination in (1, 0):
        for message in call("probe.messages"):  # type: ignore[attr-defined]  # the answer of a probe
            if message.destination == destination:
                call("probe.deliver", message=message.message)
        ask(call)
        send(call, pages, state=whole(call, pages))
    resume(call, MESSAGES)
    ask(call)
    look(call)


def landing_tick_by_tick(call: Watched) -> None:
    """Land one flight a tick, and ask after each."""
    reserve(call, 2)
    call("probe.advance", ticks=1)
    stall(call)
    pages = written(call, 2)
    send(call, pages, state=whole(call, pages))
    while found := flights(call):
        call("probe.advance", ticks=1)
        land(call, found[:1])
    call("probe.advance", ticks=1)
    ask(call)


def short_of_pages_and_slots(call: Watched) -> None:
    """Reserve with no slot left, and more pages than there are."""
    for room in (ROOM, OTHER, THIRD):
        reserve(call, 1, room=room)
    for count in (1, 6):
        call.attempt("transfer.reserve", room=THIRD + 1, num_pages=count, ranks=(0,))


# -- metadata --------------------------------------------------------------------------------------------------------


def metadata_of_any_bytes(call: Watched) -> None:
    """Send metadata of every length, with zeros at both ends, through slots that are used again."""
    for data in (b"12345678", b"abcdefgh", b"\0a\0", b"", b"\0" * 8, b"\xff\0", b"\n \n"):
        reserve(call, 1)
        pages = written(call, 1)
        send(call, pages, state=whole(call, pages), aux=data)
        for op in ("transfer.commit", "transfer.close_room", "transfer.forget"):
            call.attempt(op, room=ROOM)
        give_back(call, "release", pages)


def committed_and_taken(call: Watched) -> None:
    """Let others have the slot of a room that was committed, and is closed after that."""
    reserve(call, 1)
    pages = written(call, 1)
    send(call, pages, state=whole(call, pages))
    call.attempt("transfer.commit", room=ROOM)
    for room in (OTHER, THIRD):
        reserve(call, 1, room=room)
    ask(call)
    call.attempt("transfer.close_room", room=ROOM)


# -- lists of pages that nobody asked for ----------------------------------------------------------------------------


def whole_request_too_early(call: Watched) -> None:
    """Send a chunk that is not the last with some pages of the request; without an index, the last one too."""
    reserve(call, 4)
    pages = written(call, 4)
    send(call, pages[:2], is_last=False, state=pages[:1])
    send(call, pages[:2], is_last=False, state=pages[:2])
    send(call, pages[:2], is_last=False)
    if not whole(call, pages):
        send(call, pages[2:], 2, state=pages[:1])
        send(call, pages[2:], 2, state=pages[:3])
    send(call, pages[2:], 2, state=whole(call, pages))
    ask(call)


SCRIPTS: tuple[tuple[OpenConfig, Callable[[Watched], None]], ...] = (
    (config(LATENT, pages=4), landed_and_read_again),
    (config(pages=4), failed_and_given_back),
    (config(LATENT, pages=4), failed_and_given_back),
    (config(pages=4), crashed_and_given_back),
    (pinned.config(group=1), registered_and_given_back),
    (pinned.config(LATENT, group=1), index_written_behind_its_layers),
    (config(pages=6), shared_by_two),
    (config(LATENT, pages=6), shared_by_two),
    (config(), long_runs),
    (config(LATENT), long_runs),
    (pinned.config(group=1), registered_one_behind_another),
    (config(), landed_before_the_last_begins),
    (config(LATENT), landed_before_the_last_begins),
    (config(LATENT), behind_pages_of_others),
    (config(destinations=2), known_to_one_destination),
    (config(), landing_tick_by_tick),
    (config(), short_of_pages_and_slots),
    (pinned.config(), metadata_of_any_bytes),
    (pinned.config(LATENT), committed_and_taken),
    (config(), whole_request_too_early),
    (config(LATENT), whole_request_too_early),
)

"""Written histories of sending in disorder: rows that come late, flights that fail, and chunks that have to be refused.

Each is a geometry and a list of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.sending_orders import (
    LATENT,
    OTHER,
    ROOM,
    THIRD,
    Watched,
    ask,
    config,
    flights,
    land,
    look,
    resume,
    scattered,
    stall,
    whole,
    written,
)
from sharedkv_conformance.draws.sending_pinned import reserve, send

# -- rows that come late ---------------------------------------------------------------------------------------------


def written_late(call: Watched) -> None:
    """Send the first of two pages while its rows are under way, and look; then the last one."""
    call("probe.inject", fault="late_writes")
    reserve(call, 2)
    pages = written(call, 2)
    send(call, pages[:1], is_last=False)
    look(call)
    send(call, pages[1:], 1, state=whole(call, pages))
    look(call)


def loaded_late(call: Watched) -> None:
    """Keep two pages on the host alone, load them back late, and send them one by one."""
    tokens = (1, 1, 2, 2)
    pages = written(call, 2)
    call("host_tier.insert", request="r", tokens=tokens, pages=pages)
    call("host_tier.poll")
    call("host_tier.evict", deficit=(4, 4))
    others = written(call, 4)
    call("allocation.release", pages=others)
    call("probe.inject", fault="late_loads")
    loaded: Sequence[int] = call("host_tier.load_back", tokens=tokens).pages  # type: ignore[attr-defined]  # a load
    reserve(call, 2)
    send(call, loaded[:1], is_last=False)
    look(call)
    send(call, loaded[1:], 1, state=whole(call, loaded))
    look(call)


# -- flights that fail -----------------------------------------------------------------------------------------------


def failing(call: Watched, part: str, *, is_definite: bool, pages: int = 0) -> None:
    """Let one flight of a part of the second of three rooms fail, and the rest land."""
    rooms = (ROOM, OTHER, THIRD)
    for room in rooms:
        reserve(call, 2, room=room)
    stall(call)
    for room in rooms:
        own = written(call, 2)
        send(call, own, state=whole(call, own), room=room)
    has_failed = False
    while found := [flight for flight in flights(call) if not flight.is_in_doubt]:
        for flight in found:
            if flight.room == OTHER and flight.part == part and not has_failed:
                call("probe.fail", flight=flight.flight, pages=pages, is_definite=is_definite)
                has_failed = True
                ask(call, *rooms)
            else:
                call.attempt("probe.land", flight=flight.flight)
    ask(call, *rooms)
    look(call)
    call.attempt("transfer.close_room", room=OTHER)
    call.attempt("transfer.reserve", room=THIRD + 1, num_pages=2, ranks=(0,))
    call.attempt("transfer.forget", room=OTHER)
    ask(call, OTHER)


def failing_pages(call: Watched) -> None:
    """Let pages fail for good."""
    failing(call, "kv", is_definite=True, pages=1)


def doubtful_pages(call: Watched) -> None:
    """Let pages come into doubt."""
    failing(call, "kv", is_definite=False)


def failing_index(call: Watched) -> None:
    """Let the index fail for good."""
    failing(call, "index", is_definite=True)


def doubtful_index(call: Watched) -> None:
    """Let the index come into doubt."""
    failing(call, "index", is_definite=False)


def failing_metadata(call: Watched) -> None:
    """Let the metadata fail for good."""
    failing(call, "aux", is_definite=True)


# -- what is refused -------------------------------------------------------------------------------------------------


def odd_chunks(call: Watched) -> None:
    """Send chunks that are wrong in one way each, between those of a request that goes through."""
    reserve(call, 4)
    pages = scattered(call, 4)
    spare = written(call, 1)
    index = whole(call, pages)
    send(call, pages[:1], 1, is_last=False)
    send(call, pages[:1], -1, is_last=False)
    send(call, (*pages, *spare), is_last=False)
    send(call, (*pages[:1], 0), is_last=False)
    send(call, (*pages[:1], pages[0]), is_last=False)
    send(call, pages[:2], is_last=False, aux=b"wrong")
    call("allocation.release", pages=spare)
    send(call, (*pages[:1], *spare), is_last=False)
    send(call, pages[:2], is_last=False)
    send(call, pages[:2], is_last=False)
    send(call, pages[1:3], 1, is_last=False)
    send(call, pages[3:], 3, state=index)
    send(call, pages[2:3], 2, state=index)
    if index:
        for other in (index[:-1], (*index, *index[:1]), (*index[:-1], index[0]), (*index[:-1], 0)):
            send(call, pages[2:], 2, state=other)
    send(call, (*pages[2:], pages[0]), 2, state=index)
    send(call, pages[2:], 2, state=index, room=THIRD)
    send(call, pages[2:], 2, state=index)
    send(call, (), 4, state=index)
    send(call, (), 4, is_last=False)
    ask(call)
    look(call)


def from_the_cache(call: Watched) -> None:
    """Send pages that are cached, among them some that do not ascend."""
    reserve(call, 3)
    pages = scattered(call, 3)
    call("allocation.retain", pages=pages[:2])
    send(call, pages[:2], is_last=False)
    send(call, pages[2:], 2, state=whole(call, pages))
    ask(call)


def in_doubt_and_again(call: Watched) -> None:
    """Close a room of which a flight is in doubt, reserve others beside it, and let time end the doubt."""
    reserve(call, 3)
    stall(call)
    send(call, written(call, 2), is_last=False)
    for flight in flights(call)[:1]:
        call("probe.fail", flight=flight.flight, pages=0, is_definite=False)
    call.attempt("transfer.close_room", room=ROOM)
    resume(call)
    reserve(call, 3, room=OTHER)
    call.attempt("transfer.reserve", room=THIRD, num_pages=3, ranks=(0,))
    call("probe.advance", ticks=4)
    call.attempt("transfer.reserve", room=THIRD, num_pages=3, ranks=(0,))
    land(call, ())


TREE = replace(config(LATENT, pages=8), host_pages=4)
SCRIPTS: tuple[tuple[OpenConfig, Callable[[Watched], None]], ...] = (
    (config(), written_late),
    (config(LATENT), written_late),
    (TREE, loaded_late),
    (config(), failing_pages),
    (config(), doubtful_pages),
    (config(LATENT), failing_index),
    (config(LATENT), doubtful_index),
    (config(), failing_metadata),
    (config(LATENT, pages=12), odd_chunks),
    (config(pages=12), odd_chunks),
    (config(), from_the_cache),
    (config(), in_doubt_and_again),
)

"""Written histories of sending: scattered pages, chunks and ranks without pages, parts that land in any order.

Each is a geometry and a list of calls. What is refused, late or failing is written elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sharedkv_conformance.contract.implementation import OpenConfig, TransferConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.contract.probe import Flight
from sharedkv_conformance.draws.host_tree_scripts import Asking, pages_of
from sharedkv_conformance.draws.sending_pinned import reserve, send
from sharedkv_conformance.draws.sending_view import write
from sharedkv_conformance.model.sending_state import SendingState

ROOM, OTHER, THIRD = 7, 8, 9
WRITES, MESSAGES = "writes", "messages"
HEADS = PoolConfig(layout="mha_bf16", layers=2, head_dim=4)
LATENT = PoolConfig(layout="mla_bf16", layers=1, draft_layers=1)


class Watched(Asking):
    """A written history whose state can be looked at."""

    state: SendingState


def config(pool: PoolConfig = HEADS, *, cp_size: int = 2, pages: int = 8, destinations: int = 1) -> OpenConfig:
    """Return lanes of so many pages together, of two tokens each, and destinations with three slots."""
    transfer = TransferConfig(
        decode_ranks=destinations, decode_pages=8, slots=3, aux_bytes=4, group=0, deadline=8, quarantine=4
    )
    return OpenConfig(cp_size=cp_size, page_size=2, pages=pages, pool=pool, transfer=transfer)


# -- pieces ----------------------------------------------------------------------------------------------------------


def written(call: Watched, count: int) -> tuple[int, ...]:
    """Take pages, write every row of them, and return them."""
    pages = pages_of(call, count)
    for forward in call.state.forwards:
        if not forward.is_written:
            forward.is_written = True
            for layer in range(call.state.config.pool.all_layers):
                args = write(call.state, forward, layer).args
                call("direct_write.write", **args)
    return pages


def scattered(call: Watched, count: int) -> tuple[int, ...]:
    """Take so many pages that neither ascend nor follow one another, and let the others go."""
    pages = written(call, count + 2)
    by_lane = sorted(pages, key=lambda page: ((page - 1) % call.state.config.cp_size, page))
    gone = by_lane[1:2] + by_lane[-2:-1]
    call("allocation.release", pages=tuple(gone))
    return tuple(page for page in reversed(pages) if page not in gone)


def look(call: Watched) -> None:
    """Look at every page of decode."""
    for rank in range(call.state.config.transfer.decode_ranks):
        for layer in range(call.state.config.pool.all_layers):
            call.attempt("probe.decode_pool", rank=rank, layer=layer)


def flights(call: Asking, part: str = "") -> tuple[Flight, ...]:
    """Return the flights that have not settled, of a part or of all."""
    found: tuple[Flight, ...] = call("probe.flights")  # type: ignore[assignment]  # the answer of a probe
    return tuple(flight for flight in found if part in ("", flight.part))


def ask(call: Asking, *rooms: int) -> None:
    """Ask both sides how far rooms are, and what was sent of them."""
    for room in rooms or (ROOM,):
        for op in ("transfer.status", "transfer.send_status", "transfer.report"):
            call.attempt(op, room=room)


def land(call: Asking, found: Sequence[Flight]) -> None:
    """Land flights, and ask after each."""
    for flight in found:
        call("probe.land", flight=flight.flight)
        ask(call)


def whole(call: Watched, pages: Sequence[int]) -> tuple[int, ...]:
    """Return the pages of the index of a request."""
    return tuple(pages) if call.state.sending.has_index else ()


def stall(call: Asking, what: str = WRITES) -> None:
    """Hold what begins from now on."""
    call("probe.stall", what=what)


def resume(call: Asking, what: str = WRITES) -> None:
    """Let go on what was held."""
    call("probe.resume", what=what)


# -- pages -----------------------------------------------------------------------------------------------------------


def scattered_in_chunks(call: Watched, *, is_held: bool = False) -> None:
    """Send scattered pages in three chunks to destinations that have other pages, and look after each."""
    everywhere = tuple(range(call.state.config.transfer.decode_ranks))
    reserve(call, 1, 0, room=OTHER)
    reserve(call, 7, *everywhere)
    pages = scattered(call, 7)
    for first, end in ((0, 4), (4, 6), (6, 7)):
        if is_held:
            stall(call)
        is_last = end == len(pages)
        send(call, pages[first:end], first, is_last=is_last, state=whole(call, pages) if is_last else ())
        resume(call)
        look(call)
        ask(call)
    call.attempt("transfer.commit", room=ROOM)
    call.attempt("transfer.close_room", room=ROOM)


def scattered_and_held(call: Watched) -> None:
    """Do the same, and hold the flights of each chunk for a while."""
    scattered_in_chunks(call, is_held=True)


def last_destination_first(call: Watched) -> None:
    """Land everything at the last destination before anything at the first."""
    one_after_another(call, tuple(reversed(range(call.state.config.transfer.decode_ranks))))


def first_destination_first(call: Watched) -> None:
    """Land everything at the first destination before anything at the last."""
    one_after_another(call, tuple(range(call.state.config.transfer.decode_ranks)))


def one_after_another(call: Watched, order: Sequence[int]) -> None:
    """Land the flights of a request last to first, to one destination after the other, and ask after each."""
    reserve(call, 4, *sorted(order))
    ask(call)
    pages = written(call, 4)
    stall(call)
    send(call, pages[:2], is_last=False)
    call.attempt("transfer.forget", room=ROOM)
    send(call, pages[2:], 2, state=whole(call, pages))
    for rank in order:
        while found := [flight for flight in flights(call) if flight.destination == rank]:
            land(call, found[-1:])
        look(call)
    ask(call)
    call.attempt("transfer.close_room", room=ROOM)


def earlier_chunk_last(call: Watched) -> None:
    """Land the last chunk before the first one of rank 0."""
    reserve(call, 4)
    pages = written(call, 4)
    stall(call)
    send(call, pages[:2], is_last=False)
    first = flights(call)
    send(call, pages[2:], 2, state=whole(call, pages))
    known = {flight.flight for flight in first}
    land(call, [flight for flight in flights(call) if flight.flight not in known])
    land(call, first)
    land(call, flights(call))


def behind_pages_of_others(call: Watched) -> None:
    """Let the pages of another rank land after the metadata."""
    reserve(call, 2)
    stall(call)
    send(call, pages := written(call, 2), state=whole(call, pages))
    while found := [flight for flight in flights(call) if flight.source == 0]:
        land(call, found)
    call.attempt("transfer.close_room", room=ROOM)
    land(call, flights(call))


def without_pages(call: Watched) -> None:
    """Send a last chunk without pages, and the chunk before it to ranks of which some have none."""
    stall(call)
    for room in (ROOM, OTHER):
        reserve(call, 1, room=room)
        pages = written(call, 1)
        send(call, pages, is_last=False, room=room)
        send(call, (), 1, state=whole(call, pages), room=room)
        ask(call, room)
        while found := flights(call):
            land(call, found)
        ask(call, room)
        look(call)
        resume(call)


def single_pages(call: Watched) -> None:
    """Send a request of one page to all destinations, while writes dawdle or not."""
    everywhere = tuple(range(call.state.config.transfer.decode_ranks))
    for room in (ROOM, OTHER):
        reserve(call, 1, *everywhere, room=room)
        pages = written(call, 1)
        send(call, pages, state=whole(call, pages), room=room)
        ask(call, room)
        look(call)
        stall(call)
    while found := [flight for flight in flights(call) if flight.part != "aux"]:
        land(call, found)
    resume(call)
    ask(call, OTHER)


# -- rooms -----------------------------------------------------------------------------------------------------------


def numbers_again(call: Watched) -> None:
    """Use two numbers again and again, closing with and without a commit, and forgetting or not."""
    for turn in range(3):
        for room in (ROOM, OTHER):
            reserve(call, 2, room=room)
            pages = written(call, 2)
            send(call, pages, state=whole(call, pages), room=room)
            call.attempt("transfer.close_room", room=THIRD)
            ask(call, room)
            if turn:
                call.attempt("transfer.commit", room=room)
        for room in (ROOM, OTHER):
            call.attempt("transfer.close_room", room=room)
            if turn != 1:
                call.attempt("transfer.forget", room=room)
                call.attempt("transfer.forget", room=room)
                ask(call, room)
        call("allocation.release", pages=tuple(page for each in call.state.forwards[-2:] for page in each.pages))


def short_of_everything(call: Watched) -> None:
    """Reserve until pages are short, then until slots are, and close too early in between."""
    everywhere = tuple(range(call.state.config.transfer.decode_ranks))
    reserve(call, 3, 0, room=ROOM)
    for count, ranks in ((6, everywhere), (6, tuple(reversed(everywhere))), (9, (0,)), (5, everywhere)):
        call.attempt("transfer.reserve", room=OTHER, num_pages=count, ranks=ranks)
    for odd in ((0, everywhere), (1, ()), (1, (0, 0)), (1, (len(everywhere),))):
        call.attempt("transfer.reserve", room=THIRD, num_pages=odd[0], ranks=odd[1])
    call.attempt("transfer.reserve", room=ROOM, num_pages=1, ranks=(0,))
    pages = written(call, 3)
    stall(call)
    send(call, pages[:1], is_last=False)
    resume(call)
    call.attempt("transfer.close_room", room=ROOM)
    send(call, pages[1:], 1, state=whole(call, pages))
    call.attempt("transfer.close_room", room=ROOM)
    for room in (ROOM, THIRD, THIRD + 1, THIRD + 2):
        call.attempt("transfer.reserve", room=room, num_pages=1, ranks=(0,))


def before_it_is_ready(call: Watched) -> None:
    """Let one rank hear of a room before the others, and send too early."""
    stall(call, MESSAGES)
    reserve(call, 1)
    ask(call)
    pages = written(call, 1)
    send(call, pages, state=whole(call, pages))
    for message in call("probe.messages"):  # type: ignore[attr-defined]  # the answer of a probe
        call("probe.deliver", message=message.message)
        ask(call)
        send(call, pages, state=whole(call, pages))
    resume(call, MESSAGES)
    ask(call)


SCRIPTS: tuple[tuple[OpenConfig, Callable[[Watched], None]], ...] = (
    (config(LATENT, pages=12, destinations=2), scattered_in_chunks),
    (config(LATENT, pages=12, destinations=2), scattered_and_held),
    (config(cp_size=3, pages=12), scattered_in_chunks),
    (config(pages=12), scattered_and_held),
    (config(LATENT, destinations=2), last_destination_first),
    (config(destinations=2), first_destination_first),
    (config(LATENT), earlier_chunk_last),
    (config(), behind_pages_of_others),
    (config(LATENT, cp_size=3, pages=6), without_pages),
    (config(), without_pages),
    (config(cp_size=3, pages=6, destinations=2), single_pages),
    (config(), numbers_again),
    (config(destinations=2), short_of_everything),
    (config(cp_size=3, pages=6), before_it_is_ready),
)

"""Pieces of written histories of sending, overlap and abort: requests on their way, and a network that is led by hand.

A piece is issued through whoever has the history: a call by name that returns the value, or ends the history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from sharedkv_conformance.contract.implementation import OpenConfig, TransferConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.contract.sending import Reservation
from sharedkv_conformance.draws.sending_view import extend, write
from sharedkv_conformance.model.sending_parts import FlightModel, Notice
from sharedkv_conformance.model.sending_state import SendingState
from sharedkv_conformance.step import Answer

HEADS = "mha_bf16"
ROOM, OTHER = 7, 0
Pages = tuple[int, ...]


class Issue(Protocol):
    """A written history."""

    @property
    def state(self) -> Any:
        """Return what is known of the session."""

    def __call__(self, op: str, **args: Any) -> Any:
        """Issue one call and return its value; an error ends the history."""

    def attempt(self, op: str, **args: Any) -> Answer:
        """Issue one call and return its answer."""


Script = Callable[[Issue], None]


def config(
    layers: int = 2, *, layout: str = HEADS, draft: int = 0, ranks: int = 2, pages: int = 12, **transfer: int
) -> OpenConfig:
    """Return a small pool of two-token pages, and one decode rank with room for two requests."""
    decode = {"decode_pages": 8, "slots": 2, "group": 2, "deadline": 4, "patience": 12, "quarantine": 3, **transfer}
    return OpenConfig(
        cp_size=ranks,
        page_size=2,
        pages=pages,
        pool=PoolConfig(layout=layout, layers=layers, draft_layers=draft, kv_heads=1, head_dim=4),
        transfer=TransferConfig(**decode),
    )


# -- requests --------------------------------------------------------------------------------------------------------


def reserve(call: Issue, pages: int, room: int = ROOM, ranks: Sequence[int] = (0,)) -> Reservation:
    """Reserve a room."""
    made: Reservation = call("transfer.reserve", room=room, num_pages=pages, ranks=tuple(ranks))
    return made


def take(call: Issue, count: int) -> Pages:
    """Allocate pages for one request."""
    asked = extend(call.state, count)
    pages: Pages = call(asked.op, **asked.args).pages
    return pages


def compute(call: Issue, layers: Sequence[int] | None = None) -> None:
    """Write layers of the pages that were taken last, or all of them."""
    for forward in call.state.forwards[-1:]:
        for layer in range(call.state.config.pool.all_layers) if layers is None else layers:
            asked = write(call.state, forward, layer)
            call(asked.op, **asked.args)


def computed(call: Issue, count: int) -> Pages:
    """Allocate pages and write every layer of them."""
    pages = take(call, count)
    compute(call)
    return pages


def send(call: Issue, pages: Sequence[int], first: int = 0, *, room: int = ROOM, index: Sequence[int] = ()) -> None:
    """Send the last chunk of a room, behind what was sent before."""
    call("transfer.send", **chunk(pages, first, room=room), is_last=True, state=tuple(index), aux=b"last"[:1])


def send_part(call: Issue, pages: Sequence[int], first: int = 0, *, room: int = ROOM) -> None:
    """Send a chunk that is not the last."""
    call("transfer.send", **chunk(pages, first, room=room), is_last=False, state=(), aux=b"")


def register(call: Issue, pages: Sequence[int], first: int = 0, *, room: int = ROOM, is_last: bool = True) -> None:
    """Register a chunk."""
    call("overlap.register", **chunk(pages, first, room=room), is_last=is_last)


def chunk(pages: Sequence[int], first: int, *, room: int) -> dict[str, Any]:
    """Return what a send and a registration have in common."""
    return {"room": room, "pages": tuple(pages), "first_position": first}


def end_layers(call: Issue, *layers: int) -> None:
    """Tell the ends of layers."""
    for layer in layers:
        call("overlap.layer_end", layer=layer)


def look(call: Issue, rank: int = 0) -> None:
    """Look at every layer of a decode rank."""
    for layer in range(call.state.config.pool.all_layers):
        call("probe.decode_pool", rank=rank, layer=layer)


def ask(call: Issue, room: int = ROOM) -> None:
    """Ask both sides how far a room is, and what was sent."""
    for op in ("transfer.status", "transfer.send_status", "transfer.report"):
        call.attempt(op, room=room)


def finish(call: Issue, room: int = ROOM) -> None:
    """Commit, close and forget a room, and look at what is free."""
    ask(call, room)
    call("transfer.commit", room=room)
    call("transfer.close_room", room=room)
    call("transfer.forget", room=room)


def close(call: Issue, room: int = ROOM) -> None:
    """Close a room at decode, and ask what prefill knows."""
    call("transfer.close_room", room=room)
    call.attempt("transfer.send_status", room=room)


# -- the network -----------------------------------------------------------------------------------------------------


def stall(call: Issue, *what: str) -> None:
    """Let nothing go on by itself."""
    for each in what:
        call("probe.stall", what=each)


def resume(call: Issue, *what: str) -> None:
    """Let things go on."""
    for each in what:
        call("probe.resume", what=each)


def flying(call: Issue, part: str = "kv", source: int | None = None) -> list[FlightModel]:
    """Return the flights of a part, of one rank or of all, oldest first."""
    state: SendingState = call.state
    return [each for each in state.sending.flying if each.part == part and source in (None, each.source)]


def land(call: Issue, flight: FlightModel) -> None:
    """Land a flight."""
    call("probe.land", flight=shown(call, flight))


def land_all(call: Issue, part: str = "kv") -> None:
    """Land the flights of a part, the newest first."""
    for flight in reversed(flying(call, part)):
        land(call, flight)


def fail(call: Issue, flight: FlightModel, pages: int, *, is_definite: bool) -> None:
    """Let a flight fail behind its first pages."""
    call("probe.fail", flight=shown(call, flight), pages=pages, is_definite=is_definite)


def waiting(call: Issue, kind: str, room: int = ROOM) -> list[Notice]:
    """Return the messages of a kind on the way, oldest first."""
    state: SendingState = call.state
    return [each for each in state.sending.way if (each.kind, each.room) == (kind, room)]


def deliver(call: Issue, kind: str, room: int = ROOM) -> list[Notice]:
    """Deliver the messages of a kind, the newest first, and return them."""
    found = waiting(call, kind, room)
    for notice in reversed(found):
        again(call, notice)
    return found


def again(call: Issue, notice: Notice) -> None:
    """Deliver a message, perhaps once more."""
    call("probe.deliver", message=shown(call, notice))


def shown(call: Issue, thing: FlightModel | Notice) -> int:
    """Return the number by which something was shown; of what was not, one that there is not."""
    number: int | None = call.state.number_of(thing)
    return -1 if number is None else number

"""Pieces of written histories of overlap and abort: rooms, rows, chunks, forwards layer by layer, flights and messages.

A piece is issued through whoever has the history, and takes what it needs from answers: of an implementation that
answers wrongly it goes on as far as it can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig, TransferConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.contract.probe import ControlMessage, Flight
from sharedkv_conformance.draws.copies_rows import prefix_rows
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.step import Answer, Err, Ok

ROOM, OTHER, NOBODY = 5, 6, 77
AUX = b"aux"
HEADS = PoolConfig(layout="mha_bf16", layers=4, draft_layers=1, kv_heads=1, head_dim=4)
LATENT = PoolConfig(layout="mla_bf16", layers=2)
EVERYTHING = ("workers", "writes", "messages")


class Written(Protocol):
    """A written history."""

    @property
    def state(self) -> Any:
        """Return what is known of the session."""

    def __call__(self, op: str, **args: Any) -> Any:
        """Issue one call and return its value; an error ends the history."""

    def attempt(self, op: str, **args: Any) -> Answer:
        """Issue one call and return its answer."""


def config(pool: PoolConfig = HEADS, *, ranks: int = 1, pages: int = 8, **transfer: int) -> OpenConfig:
    """Return two prefill ranks, so many decode ranks, and what else is asked for of the transfer."""
    usual = {"decode_pages": 10, "slots": 4, "group": 2, "deadline": 4, "patience": 12, "quarantine": 6}
    settings = TransferConfig(decode_ranks=ranks, **(usual | transfer))
    return OpenConfig(cp_size=2, page_size=2, pages=pages, pool=pool, transfer=settings)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A room, and the pages that are to be sent of it."""

    room: int
    pages: tuple[int, ...]
    asked: ExtendRequest
    locations: tuple[int, ...]


def begun(call: Written, count: int, room: int = ROOM, ranks: Sequence[int] = (0,)) -> Request:
    """Reserve a room, and take as many pages for its request."""
    call("transfer.reserve", room=room, num_pages=count, ranks=tuple(ranks))
    return taken(call, count, room)


def taken(call: Written, count: int, room: int = ROOM) -> Request:
    """Take pages for a request."""
    asked = ExtendRequest(request=f"r{room}", prefix_tokens=0, extend_tokens=count * call.state.config.page_size)
    given = call("allocation.extend", batch=(asked,))
    return Request(room=room, pages=tuple(given.pages), asked=asked, locations=tuple(given.locations))


def write(call: Written, request: Request, layer: int) -> None:
    """Write the rows of a layer of a request."""
    state = call.state
    tokens = tuple(1000 * request.room + at for at in range(request.asked.extend_tokens))
    rows = prefix_rows(state.config.pool, Geometry.of(state.config), layer, request.asked, tokens)
    args = {"batch": (request.asked,), "locations": request.locations, "static_tokens": len(tokens), "rows": rows}
    call.attempt("direct_write.write", layer=layer, **args)


def write_all(call: Written, *requests: Request) -> None:
    """Write every row of requests."""
    for request in requests:
        for layer in range(call.state.config.pool.all_layers):
            write(call, request, layer)


def register(call: Written, request: Request, start: int, end: int, *, is_last: bool | None = None) -> Answer:
    """Register a chunk, the last where it ends the request."""
    last = end == len(request.pages) if is_last is None else is_last
    pages = request.pages[start:end]
    return call.attempt("overlap.register", room=request.room, pages=pages, first_position=start, is_last=last)


def send(call: Written, request: Request, start: int, end: int, *, is_last: bool | None = None) -> Answer:
    """Send a chunk, the last where it ends the request."""
    last = end == len(request.pages) if is_last is None else is_last
    has_index = call.state.config.pool.layout.startswith("mla")
    return call.attempt(
        "transfer.send",
        room=request.room,
        pages=request.pages[start:end],
        first_position=start,
        is_last=last,
        state=request.pages if last and has_index else (),
        aux=AUX,
    )


def tell(call: Written, *layers: int) -> None:
    """Tell the ends of layers."""
    for layer in layers:
        call.attempt("overlap.layer_end", layer=layer)


def stall(call: Written, *what: str) -> None:
    """Hold what begins from now on."""
    for each in what:
        call("probe.stall", what=each)


def resume(call: Written, *what: str) -> None:
    """Let go on what was held."""
    for each in what:
        call.attempt("probe.resume", what=each)


def flights(call: Written, part: str = "") -> list[Flight]:
    """Return what flies, of one part or of all."""
    return [flight for flight in call("probe.flights") if part in ("", flight.part)]


def land(call: Written, *places: int, part: str = "") -> None:
    """Land flights by their place among those that fly."""
    flying = flights(call, part)
    for flight in [flying[at] for at in places if -len(flying) <= at < len(flying)]:
        call.attempt("probe.land", flight=flight.flight)


def fail(call: Written, at: int = 0, *, part: str = "", is_definite: bool = False, pages: int = 0) -> None:
    """Let a flight fail."""
    for flight in flights(call, part)[at:][:1]:
        call.attempt("probe.fail", flight=flight.flight, pages=pages, is_definite=is_definite)


def on_the_way(call: Written, *kinds: str) -> list[ControlMessage]:
    """Return the messages of some kinds that are on the way."""
    return [message for message in call("probe.messages") if message.kind in kinds]


def deliver(call: Written, messages: Iterable[ControlMessage]) -> None:
    """Deliver messages one by one."""
    for message in messages:
        call.attempt("probe.deliver", message=message.message)


def ask(call: Written, *rooms: int) -> None:
    """Ask both sides how far rooms are."""
    for room in rooms or (ROOM,):
        for op in ("transfer.send_status", "transfer.report", "transfer.status"):
            call.attempt(op, room=room)


def look(call: Written, rank: int = 0) -> None:
    """Look at every layer of a decode rank."""
    for layer in range(call.state.config.pool.all_layers):
        call.attempt("probe.decode_pool", rank=rank, layer=layer)


def finish(call: Written, *rooms: int) -> None:
    """Take the metadata of rooms, close and forget them."""
    for room in rooms or (ROOM,):
        for op in ("transfer.commit", "transfer.close_room", "transfer.forget"):
            call.attempt(op, room=room)


def shortage(call: Written, count: int = 1) -> None:
    """Ask for pages, whether there are any or not, as many times as it takes to have all that there are."""
    asked = ExtendRequest(request="s", prefix_tokens=0, extend_tokens=call.state.config.page_size)
    for _ in range(count):
        found = call.attempt("allocation.extend", batch=(asked,))
        if isinstance(found, Err):
            return


def value(answer: Answer) -> Any:
    """Return the value of an answer; None where it is an error."""
    return answer.value if isinstance(answer, Ok) else None

"""Written histories of reports: what has landed in part, how long it took, and why a room has failed.

`SCRIPTS` are for histories of sending, `ENDINGS` for those of giving up.
"""

from __future__ import annotations

from dataclasses import replace

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Flight
from sharedkv_conformance.draws.host_tree_scripts import Asking, Script, pages_of
from sharedkv_conformance.draws.sending_pinned import HEADS, LATENT, ROOM, config, reserve, send

DRAFT = replace(LATENT, draft_layers=1)
LAYERS = replace(HEADS, layers=3)


def report(call: Asking) -> None:
    """Ask for the report."""
    call.attempt("transfer.report", room=ROOM)


def advance(call: Asking, ticks: int) -> None:
    """Let time go on."""
    call("probe.advance", ticks=ticks)


def flights(call: Asking) -> tuple[Flight, ...]:
    """Return the flights that have not settled."""
    found: tuple[Flight, ...] = call("probe.flights")  # type: ignore[assignment]  # the answer of a probe
    return found


def land_first(call: Asking) -> None:
    """Land the oldest flight."""
    for flight in flights(call)[:1]:
        call("probe.land", flight=flight.flight)


def landing_one_by_one(call: Asking) -> None:
    """Land the flights of a request one at a time, with time between them, and ask after each."""
    reserve(call, 3, 0, 1)
    report(call)
    pages = pages_of(call, 3)
    advance(call, 2)
    call("probe.stall", what="writes")
    send(call, pages[:2], is_last=False)
    advance(call, 1)
    report(call)
    land_first(call)
    report(call)
    send(call, pages[2:], 2, state=pages)
    while flights(call):
        land_first(call)
        report(call)
    advance(call, 3)
    report(call)


def waiting_for_workers(call: Asking) -> None:
    """Ask while nothing was submitted, and when workers went on after a while."""
    reserve(call, 2)
    advance(call, 2)
    call("probe.stall", what="workers")
    send(call, pages_of(call, 2))
    advance(call, 2)
    report(call)
    call("probe.stall", what="writes")
    call("probe.resume", what="workers")
    report(call)
    advance(call, 1)
    call("probe.resume", what="writes")
    advance(call, 1)
    report(call)


def layer_by_layer(call: Asking) -> None:
    """Ask while some layers of a chunk have landed."""
    reserve(call, 2)
    pages = pages_of(call, 2)
    call("overlap.register", room=ROOM, pages=pages, first_position=0, is_last=True)
    for layer in range(2):
        call("overlap.layer_end", layer=layer)
        report(call)
    call("probe.stall", what="writes")
    send(call, pages)
    report(call)
    call("probe.resume", what="writes")
    report(call)


def failing_flight(call: Asking) -> None:
    """Let one of two flights fail for good, and the other land."""
    reserve(call, 2)
    call("probe.stall", what="writes")
    send(call, pages_of(call, 2))
    found = flights(call)
    for flight in found[:1]:
        call("probe.fail", flight=flight.flight, pages=0, is_definite=True)
    report(call)
    call("probe.resume", what="writes")
    report(call)


def late_flight(call: Asking) -> None:
    """Let a flight miss its deadline, and land after it."""
    reserve(call, 2)
    call("probe.stall", what="writes")
    send(call, pages_of(call, 2))
    advance(call, 8)
    report(call)
    land_first(call)
    report(call)


def late_worker(call: Asking) -> None:
    """Let a chunk miss its deadline before a worker has begun with it."""
    reserve(call, 2)
    call("probe.stall", what="workers")
    send(call, pages_of(call, 2))
    advance(call, 8)
    report(call)


def crashing_worker(call: Asking) -> None:
    """Let a worker raise what nobody expects."""
    reserve(call, 2)
    call("probe.inject", fault="worker_crash")
    send(call, pages_of(call, 2))
    report(call)


def given_up_by_prefill(call: Asking) -> None:
    """Give a request up at prefill; the notices of decode come later and do not change the reason."""
    reserve(call, 2)
    call("probe.stall", what="messages")
    send(call, pages_of(call, 2), is_last=False)
    call("abort.prefill", room=ROOM)
    report(call)
    call("abort.decode", room=ROOM)
    call("probe.resume", what="messages")
    report(call)


def given_up_by_decode(call: Asking) -> None:
    """Give a request up at decode."""
    reserve(call, 2)
    send(call, pages_of(call, 1), is_last=False)
    call("abort.decode", room=ROOM)
    report(call)


SCRIPTS: tuple[tuple[OpenConfig, Script], ...] = (
    (config(DRAFT, destinations=2), landing_one_by_one),
    (config(), waiting_for_workers),
    (config(LAYERS, group=1), layer_by_layer),
)
ENDINGS: tuple[tuple[OpenConfig, Script], ...] = (
    (config(), failing_flight),
    (config(), late_flight),
    (config(), late_worker),
    (config(), crashing_worker),
    (config(), given_up_by_prefill),
    (config(), given_up_by_decode),
)

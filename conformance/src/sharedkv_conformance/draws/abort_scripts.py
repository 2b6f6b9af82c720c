"""Written histories of abort: in each state, by each side, with messages in any order, and pages that come again."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.sending_written import (
    OTHER,
    ROOM,
    Issue,
    Script,
    again,
    ask,
    close,
    computed,
    config,
    deliver,
    end_layers,
    fail,
    finish,
    flying,
    land,
    land_all,
    look,
    register,
    reserve,
    resume,
    send,
    send_part,
    stall,
    waiting,
)

SIDES = ("abort.decode", "abort.prefill")


def in_each_state(call: Issue) -> None:
    """Give a room up before prefill has heard of it, before anything is sent, under way, and when all is over."""
    pages = computed(call, 2)
    for op in SIDES:
        call(op, room=ROOM)
        stall(call, "messages")
        reserve(call, 2)
        call(op, room=ROOM)
        ask(call)
        resume(call, "messages")
        call("abort.decode", room=ROOM)
        over(call)
        reserve(call, 2)
        call(op, room=ROOM)
        send(call, pages)
        over(call)
        reserve(call, 2)
        send_part(call, pages[:1])
        call(op, room=ROOM)
        send(call, pages[1:], 1)
        over(call)
        reserve(call, 2)
        send(call, pages)
        call(op, room=ROOM)
        finish(call)


def over(call: Issue) -> None:
    """Ask how far a room is, and end it on both sides where that goes."""
    ask(call)
    call("transfer.close_room", room=ROOM)
    call.attempt("transfer.forget", room=ROOM)


def with_a_context(call: Issue) -> None:
    """Give a room up while its forward goes on, with a group of layers on the way and others that were not told."""
    for op in SIDES:
        reserve(call, 2)
        pages = computed(call, 2)
        stall(call, "writes")
        register(call, pages)
        end_layers(call, 0, 1)
        call(op, room=ROOM)
        end_layers(call, 0, 1, 2)
        call("allocation.release", pages=pages)
        ask(call)
        land_all(call)
        over(call)
        resume(call, "writes")


def with_workers_behind(call: Issue) -> None:
    """Give a room up of which no worker has begun with anything; its pages are nobody's at once."""
    for op in SIDES:
        reserve(call, 2)
        pages = computed(call, 2)
        stall(call, "workers")
        send(call, pages)
        call("allocation.release", pages=pages)
        call(op, room=ROOM)
        computed(call, 2)
        resume(call, "workers")
        look(call)
        over(call)


def free_when_drained(call: Issue) -> None:
    """Give a room up with flights of both ranks on the way; its pages are free when the last has landed."""
    reserve(call, 8)
    pages = computed(call, 8)
    stall(call, "writes")
    send(call, pages)
    call("abort.decode", room=ROOM)
    close(call)
    for flight in flying(call):
        call.attempt("transfer.reserve", room=OTHER, num_pages=8, ranks=(0,))
        land(call, flight)
    reserve(call, 8, OTHER)
    send(call, pages, room=OTHER)
    resume(call, "writes")
    look(call)
    finish(call, OTHER)


def free_by_time(call: Issue) -> None:
    """Leave a flight in doubt, which lands late; its pages are free when time is over, and others use them."""
    reserve(call, 8)
    pages = computed(call, 8)
    stall(call, "writes")
    send(call, pages)
    for flight in flying(call)[:1]:
        fail(call, flight, 1, is_definite=False)
    ask(call)
    close(call)
    look(call)
    for flight in flying(call)[:1]:
        land(call, flight)
    look(call)
    for flight in flying(call)[1:2]:
        land(call, flight)
    call.attempt("transfer.reserve", room=OTHER, num_pages=1, ranks=(0,))
    call("probe.advance", ticks=call.state.config.transfer.quarantine - 1)
    call.attempt("transfer.reserve", room=OTHER, num_pages=1, ranks=(0,))
    call("probe.advance", ticks=1)
    reserve(call, 8, OTHER)
    resume(call, "writes")
    call("allocation.release", pages=pages[:2])
    send(call, (*computed(call, 2), *pages[2:]), room=OTHER)
    look(call)
    finish(call, OTHER)


def open_until_closed(call: Issue) -> None:
    """Let a room fail and drain, wait long, and close it only then."""
    reserve(call, 8)
    call("abort.prefill", room=ROOM)
    call("probe.advance", ticks=call.state.config.transfer.quarantine)
    call.attempt("transfer.reserve", room=OTHER, num_pages=1, ranks=(0,))
    close(call)
    reserve(call, 8, OTHER)


def given_up_unheard(call: Issue) -> None:
    """Let notices overtake what they speak of; rooms that are given up unheard are not sent to."""
    stall(call, "messages")
    reserve(call, 2)
    call("abort.decode", room=ROOM)
    deliver(call, "abort")
    deliver(call, "opened")
    call.attempt("transfer.send_status", room=ROOM)
    deliver(call, "failed")
    deliver(call, "drained")
    close(call)
    reserve(call, 8)
    deliver(call, "opened")
    send(call, computed(call, 8))
    deliver(call, "arrived")
    finish(call)


def the_number_again(call: Issue) -> None:
    """Use the number of a room again while all that the earlier epoch said is still on the way."""
    stall(call, "messages", "writes")
    reserve(call, 2)
    deliver(call, "opened")
    pages = computed(call, 2)
    send(call, pages)
    land_all(call)
    call("abort.decode", room=ROOM)
    close(call)
    early = waiting(call, "arrived")
    reserve(call, 2)
    opened = deliver(call, "opened")
    ask(call)
    for notice in early:
        again(call, notice)
    deliver(call, "failed")
    deliver(call, "abort")
    ask(call)
    deliver(call, "drained")
    send(call, pages)
    land_all(call)
    land_all(call, "aux")
    for notice in opened[:1]:
        again(call, notice)
    deliver(call, "arrived")
    ask(call)
    for notice in early:
        again(call, notice)
    look(call)
    finish(call)


def a_stale_drain(call: Issue) -> None:
    """Let the drains of an epoch come when the next one waits for its own."""
    stall(call, "messages", "writes")
    reserve(call, 4)
    deliver(call, "opened")
    call("abort.decode", room=ROOM)
    deliver(call, "abort")
    close(call)
    stale = deliver(call, "drained")
    reserve(call, 8)
    deliver(call, "opened")
    send(call, computed(call, 8))
    call("abort.decode", room=ROOM)
    close(call)
    for notice in stale:
        again(call, notice)
    call.attempt("transfer.reserve", room=OTHER, num_pages=1, ranks=(0,))
    deliver(call, "abort")
    land_all(call)
    deliver(call, "drained")
    reserve(call, 8, OTHER)


def receipt_is_no_drain(call: Issue) -> None:
    """Let every rank hear the notice while its flight is on the way, and one of them land."""
    reserve(call, 8)
    stall(call, "messages", "writes")
    send(call, computed(call, 8))
    call("abort.decode", room=ROOM)
    close(call)
    deliver(call, "abort")
    call.attempt("transfer.reserve", room=OTHER, num_pages=1, ranks=(0,))
    for flight in flying(call)[1:2]:
        land(call, flight)
    deliver(call, "drained")
    call.attempt("transfer.reserve", room=OTHER, num_pages=1, ranks=(0,))
    for flight in flying(call)[:1]:
        land(call, flight)
    deliver(call, "drained")
    reserve(call, 8, OTHER)


def each_destination(call: Issue) -> None:
    """Give a room of two destinations up, of which one is written longer."""
    reserve(call, 8, ranks=(0, 1))
    stall(call, "writes")
    send(call, computed(call, 8))
    call("abort.decode", room=ROOM)
    close(call)
    for destination in (0, 1):
        for flight in [each for each in flying(call) if each.destination == destination]:
            land(call, flight)
        call.attempt("transfer.reserve", room=OTHER, num_pages=1, ranks=(0, 1))


def noise(call: Issue) -> None:
    """Deliver spoiled copies of every kind of message, and then the messages, some of them twice."""
    stall(call, "messages")
    reserve(call, 2)
    for kind in ("opened", "arrived", "abort", "drained", "failed"):
        if kind == "arrived":
            send_part(call, computed(call, 2)[:1])
        if kind == "abort":
            call("abort.decode", room=ROOM)
        for notice in waiting(call, kind):
            for how in ("empty", "truncated", "noise"):
                call("probe.garble", message=call.state.number_of(notice), how=how)
        for notice in deliver(call, kind):
            again(call, notice)
        ask(call)
    close(call)


def out_of_patience(call: Issue) -> None:
    """Let decode wait for a room that is sent nothing, and one of which a message is lost."""
    reserve(call, 2)
    reserve(call, 2, OTHER)
    stall(call, "messages")
    send(call, computed(call, 2), room=OTHER)
    call("probe.advance", ticks=call.state.config.transfer.patience - 1)
    for room in (ROOM, OTHER):
        ask(call, room)
    call("probe.advance", ticks=1)
    for room in (ROOM, OTHER):
        ask(call, room)
    resume(call, "messages")
    for room in (ROOM, OTHER):
        ask(call, room)
        call("transfer.close_room", room=room)


def past_the_deadline(call: Issue) -> None:
    """Let flights not come to an end; one of them lands when it was given up."""
    reserve(call, 2)
    pages = computed(call, 2)
    stall(call, "writes")
    register(call, pages)
    end_layers(call, 0, 1)
    call("probe.advance", ticks=call.state.config.transfer.deadline - 1)
    ask(call)
    call("probe.advance", ticks=1)
    ask(call)
    call("allocation.release", pages=pages)
    for flight in flying(call)[:1]:
        land(call, flight)
    look(call)
    close(call)
    call("probe.advance", ticks=call.state.config.transfer.quarantine)
    computed(call, 8)
    reserve(call, 8, OTHER)


SCRIPTS: tuple[tuple[OpenConfig, Script], ...] = (
    (config(1), in_each_state),
    (config(3), with_a_context),
    (config(1, pages=4), with_workers_behind),
    (config(1), free_when_drained),
    (config(1), free_by_time),
    (config(1), open_until_closed),
    (config(1), given_up_unheard),
    (config(1), the_number_again),
    (config(1), a_stale_drain),
    (config(1), receipt_is_no_drain),
    (config(1, decode_ranks=2), each_destination),
    (config(1), noise),
    (config(1, patience=5), out_of_patience),
    (config(2), past_the_deadline),
)

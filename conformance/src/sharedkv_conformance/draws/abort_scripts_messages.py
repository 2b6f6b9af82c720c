"""Written histories of abort: noise, messages that come again or late, and rooms that are given up in each state."""

from __future__ import annotations

from sharedkv_conformance.draws.abort_scripts_odd import HOWS, SIDES, USUAL, Script, close, hear, reserve, sent
from sharedkv_conformance.draws.overlap_written import (
    ROOM,
    Written,
    ask,
    begun,
    deliver,
    land,
    on_the_way,
    resume,
    send,
    stall,
    taken,
)


def spoil(call: Written, *kinds: str) -> None:
    """Deliver a spoiled copy of each message of some kinds in each way."""
    for message in on_the_way(call, *kinds):
        for how in HOWS:
            call.attempt("probe.garble", message=message.message, how=how)


def noise_before_a_notice(call: Written) -> None:
    """Let noise come, and right after it what decode and prefill have to say."""
    stall(call, "messages")
    request = begun(call, 2)
    spoil(call, "opened")
    deliver(call, on_the_way(call, "opened")[:1])
    ask(call)
    hear(call, "opened")
    send(call, request, 0, 1)
    spoil(call, "arrived")
    deliver(call, on_the_way(call, "arrived")[:1])
    call.attempt("transfer.status", room=ROOM)
    ask(call)
    call("abort.prefill", room=ROOM)
    for message in on_the_way(call, "failed")[:1]:
        call.attempt("probe.garble", message=message.message, how="truncated")
        ask(call)
        call.attempt("probe.garble", message=message.message, how="noise")
        call.attempt("probe.deliver", message=message.message)
        ask(call)


def noise_before_an_abort(call: Written) -> None:
    """Let noise come, and right after it the notice of decode."""
    request = begun(call, 2)
    stall(call, "messages")
    send(call, request, 0, 1)
    call("abort.decode", room=ROOM)
    for message in on_the_way(call, "abort")[:1]:
        call.attempt("probe.garble", message=message.message, how="truncated")
        ask(call)
        call.attempt("probe.garble", message=message.message, how="empty")
        call.attempt("probe.deliver", message=message.message)
        ask(call)


def one_rank_tells(call: Written) -> None:
    """Let decode hear from the first prefill rank alone, and from the last alone, that it gave up."""
    for at in (0, -1):
        begun(call, 2)
        stall(call, "messages")
        call("abort.prefill", room=ROOM)
        deliver(call, on_the_way(call, "failed")[at:][:1])
        ask(call)
        resume(call, "messages")
        ask(call)
        close(call)


def opened_again(call: Written) -> None:
    """Let prefill hear again of a room that it sends, that has failed, and that it has forgotten."""
    stall(call, "messages")
    request = begun(call, 2)
    opened = on_the_way(call, "opened")
    deliver(call, opened)
    send(call, request, 0, 1)
    for message in opened:
        deliver(call, [message])
        ask(call)
    call("abort.prefill", room=ROOM)
    for message in opened:
        deliver(call, [message])
        ask(call)
    call.attempt("transfer.forget", room=ROOM)
    for message in opened:
        deliver(call, [message])
        ask(call)


def opened_late(call: Written) -> None:
    """Let prefill hear again of the earlier epoch of a room, after it has heard of the later one."""
    stall(call, "messages")
    request = begun(call, 2)
    earlier = on_the_way(call, "opened")
    deliver(call, earlier)
    call("abort.decode", room=ROOM)
    close(call)
    reserve(call)
    hear(call, "opened")
    send(call, request, 0, 1)
    for message in earlier:
        deliver(call, [message])
        ask(call)


def prefill_in_each_state(call: Written) -> None:
    """Give a room up at prefill before it is ready, before a chunk, behind one, and behind all; ask prefill first."""
    stall(call, "messages")
    reserve(call)
    deliver(call, on_the_way(call, "opened")[:1])
    call("abort.prefill", room=ROOM)
    ask(call)
    resume(call, "messages")
    close(call)
    for sent_pages in range(3):
        reserve(call)
        request = taken(call, 2)
        stall(call, "writes")
        if sent_pages:
            send(call, request, 0, sent_pages)
        call("abort.prefill", room=ROOM)
        ask(call)
        resume(call, "writes")
        ask(call)
        close(call)
        call.attempt("allocation.release", pages=request.pages)


def decode_in_each_state(call: Written) -> None:
    """Give a room up at decode before anything has arrived, and after a chunk has; ask decode first."""
    for sent_pages in range(2):
        reserve(call)
        request = taken(call, 2)
        if sent_pages:
            send(call, request, 0, sent_pages)
        call("abort.decode", room=ROOM)
        call.attempt("transfer.status", room=ROOM)
        ask(call)
        close(call)
        call.attempt("allocation.release", pages=request.pages)


def workers_behind(call: Written) -> None:
    """Give a room up of which no worker has begun with a chunk; then workers go on, and flights are held."""
    for op in SIDES:
        request = begun(call, 2)
        stall(call, "workers", "writes")
        send(call, request, 0, 2)
        call(op, room=ROOM)
        resume(call, "workers")
        resume(call, "writes")
        ask(call)
        close(call)
        call.attempt("allocation.release", pages=request.pages)


def told_again(call: Written) -> None:
    """Give a room up again and again, and let prefill hear the notices twice, with something in flight and without."""
    sent(call)
    stall(call, "messages")
    for _ in range(2):
        call("abort.decode", room=ROOM)
    notices = on_the_way(call, "abort")
    for _ in range(2):
        deliver(call, notices)
        ask(call)
    land(call, 0)
    land(call, 0)
    deliver(call, notices)
    hear(call, "failed", "drained")
    ask(call)
    close(call)


def given_up_on_both_sides(call: Written) -> None:
    """Give a room up on both sides at once, so that the notices meet."""
    sent(call)
    stall(call, "messages")
    call("abort.prefill", room=ROOM)
    call("abort.decode", room=ROOM)
    hear(call, "abort")
    hear(call, "failed")
    ask(call)
    resume(call, "messages", "writes")
    ask(call)
    close(call)


def ended_already(call: Written) -> None:
    """Give a room up on each side when it has succeeded, when it was committed, closed and forgotten."""
    request = begun(call, 2)
    send(call, request, 0, 2)
    ask(call)
    for op in SIDES:
        call.attempt(op, room=ROOM)
        ask(call)
    for last in ("transfer.commit", "transfer.close_room", "transfer.forget"):
        call.attempt(last, room=ROOM)
        for op in SIDES:
            call.attempt(op, room=ROOM)


def ended_and_told(call: Written) -> None:
    """Give a room up at decode that has succeeded there, while messages are held."""
    request = begun(call, 2)
    send(call, request, 0, 2)
    stall(call, "messages")
    call("abort.decode", room=ROOM)
    call("abort.prefill", room=ROOM)
    ask(call)


SCRIPTS: tuple[Script, ...] = (
    (USUAL, noise_before_a_notice),
    (USUAL, noise_before_an_abort),
    (USUAL, one_rank_tells),
    (USUAL, opened_again),
    (USUAL, opened_late),
    (USUAL, prefill_in_each_state),
    (USUAL, decode_in_each_state),
    (USUAL, workers_behind),
    (USUAL, told_again),
    (USUAL, given_up_on_both_sides),
    (USUAL, ended_already),
    (USUAL, ended_and_told),
)

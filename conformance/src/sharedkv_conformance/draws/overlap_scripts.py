"""Written histories of overlap: what chance brings too rarely, one situation each."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.overlap_written import (
    HEADS,
    LATENT,
    OTHER,
    ROOM,
    Written,
    ask,
    begun,
    config,
    finish,
    land,
    look,
    register,
    resume,
    send,
    stall,
    tell,
    write,
    write_all,
)

LAYERS = range(HEADS.all_layers)
Script = tuple[OpenConfig, Callable[[Written], None]]

# -- forwards --------------------------------------------------------------------------------------------------------


def layer_by_layer(call: Written) -> None:
    """Two chunks, of which the second is registered before the first is sent; each layer goes when it is written."""
    request = begun(call, 4)
    register(call, request, 0, 2)
    for layer in LAYERS:
        write(call, request, layer)
        tell(call, layer)
    register(call, request, 2, 4)
    send(call, request, 0, 2)
    tell(call, *LAYERS)
    send(call, request, 2, 4)
    look(call)
    ask(call)
    finish(call)


def held_layer_by_layer(call: Written) -> None:
    """Hold the flights of two chunks at once, told together and again, and land them from behind."""
    request = begun(call, 4)
    write_all(call, request)
    stall(call, "writes")
    register(call, request, 0, 2)
    register(call, request, 2, 4)
    tell(call, 0, 1, 1, 0, 1, 3, 4)
    send(call, request, 0, 2)
    land(call, -1)
    ask(call)
    send(call, request, 2, 4)
    land(call, -1, -2)
    ask(call)
    resume(call, "writes")
    look(call)
    ask(call)
    finish(call)


def held_from_behind(call: Written) -> None:
    """One chunk on both ranks: what is left lands before the groups that went early."""
    request = begun(call, 2)
    write_all(call, request)
    stall(call, "writes", "messages")
    register(call, request, 0, 2)
    tell(call, 0, 1, 2)
    send(call, request, 0, 2)
    ask(call)
    land(call, 2, 3)
    ask(call)
    land(call, 1)
    ask(call)
    land(call, 0)
    land(call, 0)
    resume(call, "messages")
    ask(call)
    look(call)
    finish(call)


def behind_a_sent_chunk(call: Written) -> None:
    """Three chunks, each registered when the one before it was sent, with a smaller group at the end."""
    request = begun(call, 5)
    write_all(call, request)
    for start, end in ((0, 2), (2, 3), (3, 5)):
        register(call, request, start, end)
        register(call, request, start, end)
        tell(call, *LAYERS)
        register(call, request, start, end)
        send(call, request, start, end)
    look(call)
    ask(call)
    finish(call)


def two_requests(call: Written) -> None:
    """Two requests in one forward, whose layers are held, and a later forward that tells them again."""
    request, other = begun(call, 2), begun(call, 2, OTHER)
    write_all(call, request, other)
    stall(call, "writes")
    register(call, request, 0, 2)
    register(call, other, 0, 2)
    tell(call, 0, 1, 2)
    send(call, request, 0, 2)
    tell(call, 0, 1, 2, 3, 4)
    send(call, other, 0, 2)
    resume(call, "writes")
    look(call)
    ask(call, ROOM, OTHER)
    finish(call, ROOM, OTHER)


def two_requests_unheld(call: Written) -> None:
    """Two requests in one forward, whose layers land at once; the second has no page on a rank."""
    request, other = begun(call, 3), begun(call, 1, OTHER)
    write_all(call, request, other)
    register(call, request, 0, 3)
    register(call, other, 0, 1)
    tell(call, *LAYERS, *LAYERS)
    send(call, other, 0, 1)
    send(call, request, 0, 3)
    look(call)
    ask(call, ROOM, OTHER)
    finish(call, ROOM, OTHER)


def untold(call: Written) -> None:
    """Never tell the layer of the draft, and tell one of the target after the boundary of its group."""
    request = begun(call, 4)
    write_all(call, request)
    stall(call, "writes")
    register(call, request, 0, 4)
    tell(call, 0, 1, 3, 2)
    send(call, request, 0, 4)
    resume(call, "writes")
    look(call)
    ask(call)
    finish(call)


def untold_unheld(call: Written) -> None:
    """Never tell the first and the last layers, and let all land at once."""
    request = begun(call, 4)
    write_all(call, request)
    register(call, request, 0, 4)
    tell(call, 1, 2)
    send(call, request, 0, 4)
    look(call)
    ask(call)
    finish(call)


def odd_layers(call: Written) -> None:
    """Layers that the pool does not have are told, and layers where nothing is registered."""
    request = begun(call, 2)
    write_all(call, request)
    tell(call, 0, 1, 4, -1)
    stall(call, "writes")
    register(call, request, 0, 2)
    tell(call, -1, HEADS.all_layers, -4, 0)
    send(call, request, 0, 2)
    tell(call, 0, 1, 4)
    resume(call, "writes")
    look(call)
    ask(call)


def late_rows(call: Written) -> None:
    """Tell and land each layer while its rows are late on the device."""
    call("probe.inject", fault="late_writes")
    request = begun(call, 4)
    register(call, request, 0, 4)
    for layer in LAYERS:
        write(call, request, layer)
        tell(call, layer)
        call.attempt("probe.decode_pool", rank=0, layer=layer)
    look(call)
    send(call, request, 0, 4)
    look(call)
    ask(call)


def late_rows_of_a_later_group(call: Written) -> None:
    """Tell two groups, of which the rows of the second alone are late."""
    call("probe.inject", fault="late_writes")
    request = begun(call, 2)
    register(call, request, 0, 2)
    tell(call, 0, 1)
    for layer in (2, 3):
        write(call, request, layer)
    tell(call, 2, 3)
    look(call)


def with_an_index(call: Written) -> None:
    """Two chunks of a layout with an index; flights land from behind."""
    request = begun(call, 4)
    write_all(call, request)
    stall(call, "writes")
    register(call, request, 0, 2)
    tell(call, 0, 1)
    send(call, request, 0, 2)
    register(call, request, 2, 4)
    tell(call, 1)
    send(call, request, 2, 4)
    land(call, -1, -2, part="kv")
    land(call, 0, 1, part="index")
    ask(call)
    resume(call, "writes")
    look(call)
    ask(call)
    finish(call)


def workers_held(call: Written) -> None:
    """Workers have no time: a chunk is registered, told and sent, and asked about; then they go on."""
    request = begun(call, 2)
    write_all(call, request)
    stall(call, "workers")
    register(call, request, 0, 2)
    tell(call, 0, 1, 2)
    send(call, request, 0, 2)
    ask(call)
    resume(call, "workers")
    look(call)
    ask(call)
    finish(call)


def workers_held_at_the_end(call: Written) -> None:
    """Have the layers of a group landed while no worker begins with what is left of the last of two chunks."""
    request = begun(call, 4)
    write_all(call, request)
    register(call, request, 0, 2)
    tell(call, 0, 1)
    send(call, request, 0, 2)
    register(call, request, 2, 4)
    tell(call, 0, 1)
    stall(call, "workers", "messages")
    send(call, request, 2, 4)
    ask(call)
    resume(call, "workers", "messages")
    ask(call)
    finish(call)


USUAL = config()
SCRIPTS: tuple[Script, ...] = (
    (USUAL, layer_by_layer),
    (USUAL, held_layer_by_layer),
    (config(group=3), held_layer_by_layer),
    (config(group=1), held_layer_by_layer),
    (config(group=8), held_layer_by_layer),
    (USUAL, held_from_behind),
    (config(pages=12, group=3), behind_a_sent_chunk),
    (USUAL, two_requests),
    (config(group=3), two_requests_unheld),
    (USUAL, untold),
    (config(group=3), untold_unheld),
    (USUAL, odd_layers),
    (USUAL, late_rows),
    (USUAL, late_rows_of_a_later_group),
    (config(LATENT), with_an_index),
    (USUAL, workers_held),
    (USUAL, workers_held_at_the_end),
)

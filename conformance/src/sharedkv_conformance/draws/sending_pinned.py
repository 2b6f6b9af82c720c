"""Written histories of pages under a transfer: given back while they wait, fly or go with the index.

Each is a geometry and a list of calls; the pool has so few pages that whoever asks next gets those that are let go.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig, TransferConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.host_tree_scripts import Asking, Script, pages_of
from sharedkv_conformance.step import Err, Ok

HEADS = PoolConfig(layout="mha_bf16", layers=2, head_dim=4)
LATENT = PoolConfig(layout="mla_bf16", layers=1)
ROOM = 7


def config(pool: PoolConfig = HEADS, *, pages: int = 4, destinations: int = 1, group: int = 0) -> OpenConfig:
    """Return two lanes of so many pages together, of two tokens each, and destinations with two slots."""
    transfer = TransferConfig(
        decode_ranks=destinations, decode_pages=8, slots=2, aux_bytes=8, group=group, deadline=8, quarantine=4
    )
    return OpenConfig(cp_size=2, page_size=2, pages=pages, pool=pool, transfer=transfer)


def reserve(call: Asking, num_pages: int, *ranks: int, room: int = ROOM) -> tuple[int, tuple[int, ...]]:
    """Reserve a room and return its epoch and its slots."""
    found = call("transfer.reserve", room=room, num_pages=num_pages, ranks=ranks or (0,))
    return found.epoch, tuple(place.slot for place in found.places)  # type: ignore[attr-defined]  # a reservation


def send(call: Asking, pages: Sequence[int], first: int = 0, **more: object) -> Ok | Err:
    """Send a chunk: the last one of the room, with metadata and without an index, unless `more` says otherwise."""
    args = {
        "room": ROOM,
        "pages": tuple(pages),
        "first_position": first,
        "is_last": True,
        "state": (),
        "aux": b"aux",
    }
    return call.attempt("transfer.send", **(args | more))


def ask(call: Asking, count: int) -> None:
    """Ask for pages, whether there are any or not."""
    request = ExtendRequest(request="other", prefix_tokens=0, extend_tokens=2 * count)
    call.attempt("allocation.extend", batch=(request,))


def give_back(call: Asking, way: str, pages: Sequence[int]) -> None:
    """Release or retain pages, whether they may be or not."""
    call.attempt(f"allocation.{way}", pages=tuple(pages))


def released_while_queued(call: Asking) -> None:
    """Give pages back while no worker has begun with them."""
    reserve(call, 4)
    pages = pages_of(call, 4)
    call("probe.stall", what="workers")
    send(call, pages)
    give_back(call, "release", pages[:3])
    ask(call, 1)
    give_back(call, "release", pages[:1])
    give_back(call, "retain", pages[1:2])
    call("probe.resume", what="workers")
    ask(call, 3)
    give_back(call, "release", pages[3:])


def released_in_flight(call: Asking) -> None:
    """Give pages back while the network reads them, by page and by location, and ask for them."""
    reserve(call, 4)
    pages = pages_of(call, 4)
    call("probe.stall", what="writes")
    send(call, pages)
    give_back(call, "release", pages[:2])
    call.attempt("allocation.release_locations", locations=(2 * pages[2],))
    ask(call, 2)
    call.attempt("allocation.release_locations", locations=(2 * pages[2], 2 * pages[3]))
    give_back(call, "release", pages[1:2])
    call("probe.resume", what="writes")
    ask(call, 3)


def retained_in_flight(call: Asking) -> None:
    """Keep pages as cache while the network reads them, and ask for so many that they would give way."""
    reserve(call, 4)
    pages = pages_of(call, 4)
    call("probe.stall", what="writes")
    send(call, pages)
    give_back(call, "retain", pages)
    ask(call, 2)
    give_back(call, "retain", pages[:1])
    give_back(call, "release", pages[1:2])
    call("probe.resume", what="writes")
    ask(call, 2)


def cached_before(call: Asking) -> None:
    """Send pages that are cache, and ask for so many that they would give way."""
    reserve(call, 4)
    pages = pages_of(call, 4)
    give_back(call, "retain", pages)
    call("probe.stall", what="writes")
    send(call, pages)
    ask(call, 2)
    call("probe.resume", what="writes")
    ask(call, 4)


def index_in_flight(call: Asking) -> None:
    """Give the pages of the first chunk back when they have landed, while the index of all is in flight."""
    reserve(call, 4)
    pages = pages_of(call, 4)
    send(call, pages[:2], is_last=False)
    call("probe.stall", what="writes")
    send(call, pages[2:], 2, state=pages)
    give_back(call, "release", pages[:2])
    ask(call, 2)
    give_back(call, "release", pages[2:])
    call("probe.resume", what="writes")
    ask(call, 4)


def released_when_landed(call: Asking) -> None:
    """Give pages back while the first of two chunks is in flight, and when the last has landed."""
    reserve(call, 4)
    pages = pages_of(call, 4)
    call("probe.stall", what="writes")
    send(call, pages[:2], is_last=False)
    give_back(call, "release", pages[:1])
    give_back(call, "retain", pages[1:2])
    call("probe.resume", what="writes")
    ask(call, 2)
    send(call, pages[2:], 2)
    give_back(call, "release", pages[2:])
    ask(call, 2)


SCRIPTS: tuple[tuple[OpenConfig, Script], ...] = (
    (config(), released_while_queued),
    (config(), released_in_flight),
    (config(), retained_in_flight),
    (config(), cached_before),
    (config(LATENT), index_in_flight),
    (config(), released_when_landed),
)

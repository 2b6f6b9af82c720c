"""Written tree histories: what drawn ones meet too seldom, in few calls. Each is a geometry and a list of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.host_tier import BackupRequest
from sharedkv_conformance.contract.implementation import HostConfig, OpenConfig
from sharedkv_conformance.step import Err, Ok

ALL = (6, 6)
A, B, C, D, E, F = (((page + 1) // 2, page) for page in range(1, 7))


class Asking(Protocol):
    """Issues calls: calling it returns the value, `attempt` the answer, whatever it is."""

    def __call__(self, op: str, **args: object) -> object:
        """Issue one call and return its value; an error ends the history."""

    def attempt(self, op: str, **args: object) -> Ok | Err:
        """Issue one call and return its answer."""


Script = Callable[[Asking], None]


def config(write: str = "write_through", host_pages: int = 6) -> OpenConfig:
    """Return two lanes of six device pages, of two tokens each."""
    return OpenConfig(cp_size=2, page_size=2, pages=12, host_pages=host_pages, host=HostConfig(write=write))


def pages_of(call: Asking, count: int) -> tuple[int, ...]:
    """Take pages of the device: three lie on lanes 0 1 1, four on 0 1 1 0."""
    request = ExtendRequest(request="r", prefix_tokens=0, extend_tokens=2 * count)
    given = call("allocation.extend", batch=(request,))
    return tuple(given.pages)  # type: ignore[attr-defined]  # the answer of an extend


def tokens(*pages: Sequence[int]) -> tuple[int, ...]:
    """Return the tokens of pages in order."""
    return tuple(token for page in pages for token in page)


def insert(call: Asking, prefix: Sequence[int], pages: Sequence[int]) -> Ok | Err:
    """Insert pages for tokens."""
    return call.attempt("host_tier.insert", request="r", tokens=tuple(prefix), pages=tuple(pages))


def splits_under_copies(call: Asking) -> None:
    """Split a node under its backup and under a lock, evict past both, and load a part back."""
    a, b, c, d = pages_of(call, 4)
    insert(call, tokens(A, B, C, D), (a, b, c, d))
    first = call("host_tier.lock", tokens=tokens(A, B, C))
    call("host_tier.match", tokens=tokens(A, B))
    call("host_tier.lock", tokens=tokens(A))
    call("host_tier.evict", deficit=ALL)
    call("host_tier.evict_host", deficit=ALL)
    call("host_tier.poll")
    call("host_tier.evict", deficit=ALL)
    call("host_tier.unlock", lock=first)
    call.attempt("host_tier.unlock", lock=first)
    call("host_tier.evict_host", deficit=(1, 0))
    call("host_tier.evict", deficit=ALL)
    call.attempt("host_tier.lock", tokens=tokens(A, B, C))
    call("host_tier.match", tokens=tokens(A, B, C, D))


def loads_under_evictions(call: Asking) -> None:
    """Load a node back, split it meanwhile, and evict past the load on both tiers; then the mirrors give way."""
    a, b, c = pages_of(call, 3)
    insert(call, (*tokens(A, B, C), 0), (a, b, c, *pages_of(call, 1)))
    d, e = pages_of(call, 2)
    insert(call, tokens(A, B, C, D, E), (a, b, c, d, e))
    call("host_tier.poll")
    call("host_tier.evict", deficit=ALL)
    call("host_tier.match", tokens=tokens(A, B, C, D))
    call("host_tier.load_back", tokens=tokens(A, B, C))
    call("host_tier.match", tokens=tokens(A, B, C, D, E))
    call("host_tier.match", tokens=tokens(A, B))
    call("host_tier.evict_host", deficit=(1, 1))
    call("host_tier.evict", deficit=(1, 2))
    call("host_tier.evict_host", deficit=ALL)
    call("host_tier.poll")
    call("host_tier.match", tokens=(1,))
    call("host_tier.evict_host", deficit=ALL)
    call("host_tier.match", tokens=tokens(A, B, C, D))
    call("host_tier.evict", deficit=ALL)


def ways_of_pages(call: Asking) -> None:
    """Insert over what is on the device, on the host alone, and nowhere; branch, and name pages that are refused."""
    a, b, c, d = pages_of(call, 4)
    insert(call, tokens(A, B), (a, b))
    insert(call, tokens(A, B, C, D), (a, b, c, d))
    call("host_tier.poll")
    call("host_tier.evict", deficit=(1, 1))
    call.attempt("host_tier.lock", tokens=tokens(A, B, C))
    e, f, g, h = pages_of(call, 4)
    insert(call, (1,), (e,))
    insert(call, tokens(A, B, C), (e, f))
    insert(call, tokens(A, B, C), (f, e, 0))
    insert(call, tokens(A, B, C), (f, e, 13))
    insert(call, tokens(A, B, C), (f, f, g))
    insert(call, tokens(E, F), (g, a))
    insert(call, (*tokens(A, B, C, E), 0), (a, f, e, g, h))
    insert(call, tokens(A, F), (e, h))
    (free,) = pages_of(call, 1)
    call("allocation.release", pages=(free,))
    insert(call, tokens(A, F), (a, free))
    insert(call, tokens(A, B, C, D), (a, b, e, h))
    call("host_tier.lock", tokens=tokens(A, B, C))
    second = call("host_tier.lock", tokens=tokens(A))
    call("host_tier.unlock", lock=second)
    call.attempt("host_tier.lock", tokens=tokens(A, B, C, D))
    for op in ("host_tier.evict", "host_tier.evict_host"):
        for deficit in ((1,), (1, 1, 1), (1, -1)):
            call.attempt(op, deficit=deficit)
    call("host_tier.evict", deficit=(1, 0))
    call("host_tier.evict", deficit=(0, 3))


def branches_unsaved(call: Asking) -> None:
    """Make branches of which none is backed up, refresh a part of one, and evict what is least recent."""
    for prefix, count in ((tokens(A, B, C), 3), (tokens(D), 1), (tokens(A, E), 2), (tokens(A, B, F), 3)):
        insert(call, prefix, pages_of(call, count))
    call("host_tier.match", tokens=tokens(A, B))
    call("host_tier.evict", deficit=(0, 1))
    call("host_tier.evict", deficit=(1, 0))
    call("host_tier.match", tokens=tokens(A, B, C))
    call("host_tier.evict", deficit=(2, 1))
    call("host_tier.evict", deficit=ALL)


def a_host_that_is_full(call: Asking) -> None:
    """Insert more than the host holds: mirrors give way, and what does not fit is not backed up."""
    for prefix, count in ((tokens(A, B), 2), (tokens(C), 1), (tokens(D, E, F), 3)):
        insert(call, prefix, pages_of(call, count))
        call("host_tier.poll")
    call("host_tier.evict_host", deficit=(1, 0))
    call("host_tier.evict_host", deficit=(1, 1))
    call("host_tier.evict", deficit=ALL)
    call("host_tier.evict_host", deficit=(3, 0))


def mirrors_in_a_row(call: Asking) -> None:
    """Make a way of nodes of one page each, all on one lane, and take their host pages one by one."""
    way: list[int] = []
    for prefix in (tokens(A), tokens(A, B), tokens(A, B, C)):
        way += pages_of(call, 1)
        insert(call, prefix, way)
    call("host_tier.poll")
    for _ in way:
        call("host_tier.evict_host", deficit=(1, 0))
    call("host_tier.evict", deficit=(2, 0))


def a_node_comes_back(call: Asking) -> None:
    """Insert over a node of three pages that is on the host alone, and branch behind it."""
    insert(call, tokens(A, B, C), pages_of(call, 3))
    call("host_tier.poll")
    call("host_tier.evict", deficit=ALL)
    pages = pages_of(call, 4)
    insert(call, tokens(A, B, C, D), pages)
    insert(call, tokens(A, B, C, E), (*pages[:3], *pages_of(call, 1)))
    request = BackupRequest(request="s", extend_tokens=4, pages=pages_of(call, 2))
    call.attempt("host_tier.admit", batch=(request,))
    call.attempt("host_tier.cancel", request="s")


SCRIPTS: tuple[tuple[OpenConfig, Script], ...] = (
    (config(), splits_under_copies),
    (config(), loads_under_evictions),
    (config(), ways_of_pages),
    (config("write_through_selective", host_pages=0), branches_unsaved),
    (config(host_pages=2), a_host_that_is_full),
    (config(), mirrors_in_a_row),
    (config(), a_node_comes_back),
)

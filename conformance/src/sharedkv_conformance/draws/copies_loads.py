"""Written histories of copies: loads that are late, and everybody who reads what they bring."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.draws.copies import with_poll
from sharedkv_conformance.draws.copies_rows import prefix_rows
from sharedkv_conformance.draws.copies_scripts import (
    Script,
    again,
    called,
    dirt,
    dirtied,
    evicted,
    evicted_from_host,
    finished,
    forward,
    layers,
    read,
    write,
)
from sharedkv_conformance.draws.copies_written import (
    FIRST,
    LONG,
    OTHER,
    PAGES,
    SECOND,
    THIRD,
    config,
    once,
    places,
    prompt,
    sources,
    step,
)
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.step import Ok

AHEAD = (config(prefetch=1), config("mla_bf16", prefetch=1, page_size=3))
DEEP = (config(layers=2), config("mla_bf16", layers=2, draft_layers=0, page_size=3))
"""Two layers of the target."""


def late_loads(given: OpenConfig) -> Script:
    """Load as often as there are buffers, and read another one first each time."""
    yield from once(given)
    yield called("probe.inject", fault="late_loads")
    for first in range(len(places(given))):
        yield from with_poll(again(given, prompt(given, FIRST), first))


def several_loads(given: OpenConfig) -> Script:
    """Load two prefixes, and read the second; then again, when the load of the first was acknowledged."""
    yield from once(given)
    yield evicted_from_host(given)
    for name in (SECOND, THIRD):
        yield from with_poll(forward(given, step(given, name)))
    yield called("probe.inject", fault="late_loads")
    yield called("probe.hold")
    for first in range(len(places(given))):
        for is_older_done in (False, True):
            yield from second_of_two(given, first, is_older_done=is_older_done)


def second_of_two(given: OpenConfig, first: int, *, is_older_done: bool) -> Script:
    """Load two prefixes, acknowledge the first load or not, read the second prefix, and let all loads end."""
    yield evicted(given)
    yield from dirtied(given, dirt(given))
    loads = []
    for name in (SECOND, THIRD):
        answer = yield called("host_tier.load_back", tokens=prompt(given, name))
        if not isinstance(answer, Ok) or not answer.value.pages:
            return
        loads.append(answer.value)
    if is_older_done:
        yield from with_poll(finished([loads[0].copy], sources(given)))
    yield from read(given, loads[1].pages, first)
    left = loads[1:] if is_older_done else loads
    yield from with_poll(finished([load.copy for load in left], sources(given)))


def acknowledged_loads(given: OpenConfig) -> Script:
    """Load as often as there are buffers, poll, and read another one first each time."""
    yield from once(given)
    yield called("probe.inject", fault="late_loads")
    for first in range(len(places(given))):
        pages = yield from loaded_late(given)
        yield called("host_tier.poll")
        if pages:
            yield from read(given, pages, first)


def loaded_late(given: OpenConfig) -> Script:
    """Load with nothing read after it; return the pages."""
    yield evicted(given)
    yield from dirtied(given, dirt(given))
    answer = yield called("host_tier.load_back", tokens=prompt(given, FIRST))
    return answer.value.pages if isinstance(answer, Ok) else ()


def reused(given: OpenConfig) -> Script:
    """Make a dense view of each layer of pages that are being loaded, a load for each buffer that is read first."""
    yield from once(given)
    yield called("probe.inject", fault="late_loads")
    for epoch, (layer, buffer) in enumerate(places(given)):
        pages = yield from loaded_late(given)
        if pages:
            asked = ExtendRequest(request="e", prefix_tokens=given.page_size * len(pages), extend_tokens=1)
            rows = prefix_rows(given.pool, Geometry.of(given), layer, asked, prompt(given, FIRST))
            args = {"layer": layer, "epoch": epoch + 1, "batch": (reuse_request(given, pages),), "rows": rows}
            yield called("reuse.compose", **args)
            yield called("reuse.dense", layer=layer, epoch=epoch + 1, buffer=buffer)
        yield called("host_tier.poll")


def prefetched(given: OpenConfig) -> Script:
    """Make a dense prefix ahead of pages that are being loaded."""
    yield from once(given)
    yield called("probe.inject", fault="late_loads")
    for epoch, (layer, buffer) in enumerate(places(given)):
        pages = yield from loaded_late(given)
        if pages:
            args = {"layer": layer, "epoch": epoch + 1, "batch": (reuse_request(given, pages),)}
            yield called("prefetch.start", **args)
            lease = yield called("prefetch.consume", **args)
            if isinstance(lease, Ok):
                yield called("prefetch.read", lease=lease.value, buffer=buffer)
                yield called("prefetch.release", lease=lease.value)
        yield called("host_tier.poll")


def loaded_since(given: OpenConfig) -> Script:
    """Start a dense prefix, load another prefix into its pages, and consume it."""
    yield from once(given)
    yield evicted_from_host(given)
    for name in (LONG, OTHER):
        yield from with_poll(forward(given, step(given, name)))
        yield evicted(given)
    yield called("probe.inject", fault="late_loads")
    kept = ExtendRequest(request="h", prefix_tokens=0, extend_tokens=len(PAGES[LONG]) * given.page_size)
    yield called("allocation.extend", batch=(kept,))
    for epoch, (layer, buffer) in enumerate(places(given)):
        answer = yield called("host_tier.load_back", tokens=prompt(given, LONG))
        if not isinstance(answer, Ok) or not answer.value.pages:
            return
        args = {"layer": layer, "epoch": epoch + 1, "batch": (reuse_request(given, answer.value.pages),)}
        yield called("prefetch.start", **args)
        yield called("host_tier.poll")
        yield evicted(given)
        yield called("host_tier.load_back", tokens=prompt(given, OTHER))
        lease = yield called("prefetch.consume", **args)
        if isinstance(lease, Ok):
            yield called("prefetch.read", lease=lease.value, buffer=buffer)
            yield called("prefetch.release", lease=lease.value)
        yield called("host_tier.poll")
        yield evicted(given)


def reuse_request(given: OpenConfig, pages: Sequence[int]) -> ReuseRequest:
    """Return a request whose prefix is these pages, with one new token in a page of the lane that computes it."""
    new = next(page for page in range(1, given.pages + 1) if page not in pages and page % given.cp_size == 1)
    return ReuseRequest(request="e", prefix_tokens=given.page_size * len(pages), extend_tokens=1, table=(*pages, new))


def reset_under_a_load(given: OpenConfig) -> Script:
    """Reset while a load is late, and let another request have every page of the device."""
    yield from once(given)
    yield called("probe.inject", fault="late_loads")
    yield from loaded_late(given)
    yield called("host_tier.reset")
    tokens = dirt(given)[: given.pages * given.page_size]
    asked = ExtendRequest(request="f", prefix_tokens=0, extend_tokens=len(tokens))
    answer = yield called("allocation.extend", batch=(asked,))
    if isinstance(answer, Ok):
        for layer in layers(given):
            yield write(given, layer, asked, answer.value.locations, tokens)
        yield from read(given, answer.value.pages)

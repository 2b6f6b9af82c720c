"""Written histories of copies: each brings about one thing that drawn ones would come to rarely.

Most begin with one sound round, so that a law of order or of readers can tell what is late from what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import HostConfig, OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.copies import alone, following, with_poll
from sharedkv_conformance.draws.copies_scripts import (
    Forward,
    Script,
    Tokens,
    again,
    begin,
    called,
    dirt,
    dirtied,
    end,
    evicted,
    evicted_from_host,
    finished,
    forward,
    layers,
    looked_at,
    sound,
    spelled,
)
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.step import Answer, Call, Ok

FIRST, SECOND, THIRD, LONG, OTHER, LAST, TWIN = "abcdefg"
PAGES = {FIRST: (1, 2, 3), SECOND: (4, 5), THIRD: (6, 7), LONG: (4, 5, 6, 7), OTHER: (6, 7, 4, 5), LAST: (8, 7, 6)}
PAGES[TWIN] = (5, 5)
"""The pages of each request, as letters."""


def config(layout: str = "mha_bf16", host: HostConfig | None = None, **odd: int) -> OpenConfig:
    """Return ranks with four pages a lane, two unless said, with one layer of the target and one of the draft."""
    of_target, of_draft, ranks = odd.get("layers", 1), odd.get("draft_layers", 1), odd.get("cp_size", 2)
    return OpenConfig(
        cp_size=ranks,
        page_size=odd.get("page_size", 2),
        pages=4 * ranks,
        host_pages=odd.get("host_pages", 4),
        pool=PoolConfig(layout=layout, layers=of_target, draft_layers=of_draft, kv_heads=1, head_dim=4),
        host=host or HostConfig(),
        prefetch=bool(odd.get("prefetch")),
    )


PLAIN = config()
MLA = config("mla_bf16", page_size=3)
BACK = config(host=HostConfig(write="write_back"))
EVERY = (
    config("mha_bf16", HostConfig(layout="page_first_direct"), layers=2, draft_layers=0, page_size=3),
    config("mla_bf16", HostConfig(layout="page_first"), cp_size=3),
    config("mla_fp8", HostConfig(layout="layer_first"), page_size=4),
    config("mla_bf16", HostConfig(layout="page_first_direct"), page_size=3),
)
"""Each layout of rows, each of host memory, with and without a draft, and pages of two to four tokens."""
TIGHT = (config(host_pages=2), config("mla_bf16", host_pages=2))
"""Host memory for one request of four pages."""


def going_on(script: Script, answer: Answer | None) -> Call | None:
    """Return the next call of a history, or None at its end."""
    return next(script, None) if answer is None else following(script, answer)


def prompt(given: OpenConfig, name: str, pages: int | None = None) -> Tokens:
    """Return the tokens of a request, or of its first pages; the first request ends within a page."""
    letters = PAGES[name][:pages]
    return spelled(given, letters, given.page_size - 1 if name == FIRST else 0)


def step(given: OpenConfig, name: str, **odd: Any) -> Forward:
    """Return the forward of a request."""
    return Forward(request=name, tokens=prompt(given, name), **odd)


def once(given: OpenConfig) -> Script:
    """Go once round with nothing late."""
    yield from sound(given, step(given, FIRST))


def twins(given: OpenConfig) -> Script:
    """Back up prefixes that differ in the last token of their first page alone, and load both back."""
    yield from once(given)
    yield evicted_from_host(given)
    for name in (SECOND, TWIN):
        yield from with_poll(forward(given, step(given, name)))
    for name in (SECOND, TWIN):
        yield from with_poll(again(given, prompt(given, name)))


def at_the_end(given: OpenConfig) -> Script:
    """Back up behind the layers, then at the end alone: with a reservation, and without; begin anew after it."""
    yield from once(given)
    for each in (step(given, LAST, told=()), step(given, LONG, is_reserved=False)):
        yield from with_poll(forward(given, each))
        yield evicted(given)
        yield from looked_at(given)
        yield evicted_from_host(given)


def hooks_missed(given: OpenConfig) -> Script:
    """Tell a layer in an idle forward, and each in the next; then tell the last layer alone."""
    yield from once(given)
    yield called("copies.layer_end", layer=0)
    yield from with_poll(forward(given, step(given, SECOND)))
    yield from looked_at(given)
    yield from with_poll(forward(given, step(given, THIRD, told=tuple(layers(given))[-1:])))
    yield from looked_at(given)


def late_writes(given: OpenConfig) -> Script:
    """Back up rows that are late, behind the layers and at the end."""
    yield from at_the_end(given)
    yield called("probe.inject", fault="late_writes")
    for each in (step(given, SECOND), step(given, THIRD, is_reserved=False)):
        yield from with_poll(forward(given, each))
        yield from looked_at(given)


def overtaken(given: OpenConfig) -> Script:
    """Load into pages of a request that ended and whose last rows are late."""
    yield from once(given)
    yield called("probe.inject", fault="late_writes")
    yield from with_poll(again(given, prompt(given, FIRST)))


def places(given: OpenConfig) -> list[tuple[int, str]]:
    """Return every buffer of every layer."""
    return [(layer, buffer) for layer in layers(given) for buffer in buffers_of(given.pool)]


def late_backups(given: OpenConfig) -> Script:
    """Let device pages have other rows after their late backup was acknowledged, and look at the host then."""
    yield from at_the_end(given)
    yield called("probe.inject", fault="late_backups")
    for each in (step(given, SECOND), step(given, THIRD, is_reserved=False)):
        yield from with_poll(forward(given, each))
        yield evicted(given)
        yield from dirtied(given, dirt(given))
        yield from looked_at(given)


def given_up(given: OpenConfig) -> Script:
    """Cancel a reservation whose layers were submitted late, and let another request have its host pages."""
    yield from at_the_end(given)
    yield called("probe.inject", fault="late_backups")
    yield from begin(given, step(given, LONG))
    yield called("host_tier.cancel", request=LONG)
    other = step(given, OTHER, told=())
    pages = yield from begin(given, other)
    if pages is not None:
        yield from with_poll(end(given, other, pages))
        yield from looked_at(given)


def given_up_at_the_insert(given: OpenConfig) -> Script:
    """Insert what another request inserted meanwhile, and let a third have the host pages that it frees."""
    yield from at_the_end(given)
    yield called("probe.inject", fault="late_backups")
    second = step(given, SECOND)
    pages = yield from begin(given, second)
    yield from with_poll(forward(given, replace(second, request="h", is_matched=False, told=())))
    if pages is not None:
        yield from end(given, second, pages)
    yield from with_poll(forward(given, step(given, OTHER, told=())))
    yield from looked_at(given)


def reset_under_a_backup(given: OpenConfig) -> Script:
    """Reset while a backup is late, and let another request have its host pages, and not its device pages."""
    yield from at_the_end(given)
    yield called("probe.inject", fault="late_backups")
    yield from forward(given, step(given, LONG))
    yield called("host_tier.reset")
    kept = ExtendRequest(request="h", prefix_tokens=0, extend_tokens=2 * given.page_size)
    yield called("allocation.extend", batch=(kept,))
    yield from with_poll(forward(given, step(given, OTHER, told=())))
    yield from looked_at(given)


def held_sources(given: OpenConfig) -> Script:
    """Let the sources of a backup and of a load finish rank by rank, and poll after each."""
    yield called("probe.hold")
    for name, order in ((SECOND, sources(given)), (THIRD, sources(given)[::-1])):
        copies = yield from forward(given, step(given, name))
        yield from rank_by_rank(given, copies, order)
        yield evicted(given)
        answer = yield called("host_tier.load_back", tokens=prompt(given, name))
        if isinstance(answer, Ok) and answer.value.pages:
            yield from rank_by_rank(given, [answer.value.copy], order)


def sources(given: OpenConfig) -> tuple[str, ...]:
    """Return what of a copy finishes apart."""
    return ("target", "draft") if given.pool.draft_layers else ("target",)


def rank_by_rank(given: OpenConfig, copies: Sequence[int], order: Sequence[str]) -> Script:
    """Let sources finish in order, the last rank first, and poll after each."""
    yield called("probe.copies")
    for source in order:
        for rank in reversed(range(given.cp_size)):
            yield from with_poll(finished(copies, [source], rank))


def kept_under_copies(given: OpenConfig) -> Script:
    """Ask both tiers for all of their pages while a backup is in flight, and while a load is."""
    yield called("probe.hold")
    copies = yield from forward(given, step(given, SECOND))
    yield from asked_for_all(given)
    yield from with_poll(finished(copies, ["target", "draft"]))
    yield evicted(given)
    answer = yield called("host_tier.load_back", tokens=prompt(given, SECOND))
    if isinstance(answer, Ok) and answer.value.pages:
        yield from asked_for_all(given)
        yield from with_poll(finished([answer.value.copy], ["target", "draft"]))
    yield evicted_from_host(given)


def asked_for_all(given: OpenConfig) -> Script:
    """Ask the host for everything, then the device, and let others write where they are let."""
    yield evicted_from_host(given)
    yield evicted(given)
    yield from dirtied(given, dirt(given))


def split_under_a_backup(given: OpenConfig) -> Script:
    """Split a node while its backup is in flight, and load both parts back."""
    yield called("probe.hold")
    copies = yield from forward(given, step(given, LONG))
    yield called("host_tier.match", tokens=prompt(given, LONG, pages=2))
    yield from with_poll(finished(copies, ["target", "draft"]))
    yield from again(given, prompt(given, LONG))


def told_over_and_over(given: OpenConfig) -> Script:
    """Tell layers for two requests, once more, for a third, and where there are none."""
    for name in (SECOND, THIRD):
        yield from begin(given, step(given, name, told=()))
    for layer in (*layers(given), 0):
        yield called("copies.layer_end", layer=layer)
    yield from begin(given, step(given, FIRST, told=()))
    yield from alone(*(called("copies.layer_end", layer=layer) for layer in (0, 0, given.pool.all_layers, -1)))


def told_after_all(given: OpenConfig) -> Script:
    """Tell layers when a reservation was given up: by a cancel, by an insert that did not take it, by a reset."""
    yield from begin(given, step(given, SECOND, told=()))
    yield called("host_tier.cancel", request=SECOND)
    yield called("copies.layer_end", layer=0)
    third = step(given, THIRD, told=())
    pages = yield from begin(given, third)
    yield from with_poll(forward(given, replace(third, request="h", is_matched=False, is_reserved=False)))
    if pages is not None:
        yield from end(given, third, pages)
    yield called("copies.layer_end", layer=0)
    yield evicted(given)
    yield from begin(given, step(given, SECOND, told=()))
    yield called("host_tier.reset")
    yield called("copies.layer_end", layer=0)

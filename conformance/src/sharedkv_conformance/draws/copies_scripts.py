"""Pieces of histories of copies: each yields calls, gets their answers, and goes on from what was answered.

Pure: draws nothing, and knows nothing of who issues the calls. A piece ends early where an answer is an error.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.host_tier import BackupRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.copies_rows import prefix_rows
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.step import Answer, Call, Ok

Tokens = tuple[int, ...]
Script = Generator[Call, Answer, Any]
EVERY_RANK = -1


@dataclass(frozen=True, kw_only=True)
class Forward:
    """One request whose new tokens are computed in one forward.

    `told` are the layers that are told, in order, after all rows are written; None stands for each layer as it ends.
    Where nothing is to be found, it need not be `is_matched`.
    """

    request: str
    tokens: Tokens
    is_reserved: bool = True
    told: Sequence[int] | None = None
    is_matched: bool = True


def called(op: str, **args: Any) -> Call:
    """Return a call."""
    return Call(op=op, args=args)


def layers(config: OpenConfig) -> range:
    """Return every layer, those of the draft last."""
    return range(config.pool.all_layers)


def lane_pages(config: OpenConfig) -> tuple[int, ...]:
    """Return the pages of each lane."""
    return (Geometry.of(config).lane_pages,) * config.cp_size


def spelled(config: OpenConfig, letters: Sequence[int], rest: int = 0) -> Tokens:
    """Return the tokens of pages, and of the first `rest` tokens of one more.

    Letters 2 and 3, 4 and 5, and so on, differ in the last token of their page alone; 2 and 4 in the first alone.
    """
    pages = [(letter // 2, *(0,) * (config.page_size - 2), letter % 2) for letter in (*letters, letters[-1])]
    return tuple(token for page in pages for token in page)[: len(letters) * config.page_size + rest]


def dirt(config: OpenConfig) -> Tokens:
    """Return the tokens of a request that no tree has; it takes as many pages as it gets."""
    return (90, 80) * (4 * config.page_size)


# -- forwards --------------------------------------------------------------------------------------------------------


def forward(config: OpenConfig, step: Forward) -> Script:
    """Compute what the tree does not have of a request, and give it to the tree; return its copies."""
    begun = yield from begin(config, step)
    return (yield from end(config, step, begun)) if begun is not None else ()


def begin(config: OpenConfig, step: Forward) -> Script:
    """Match, extend, reserve, write and tell; return the pages of the request, or None."""
    cached: tuple[int, ...] = ()
    if step.is_matched:
        found = yield called("host_tier.match", tokens=step.tokens)
        cached = found.value.device if isinstance(found, Ok) else ()
    start = len(cached) * config.page_size
    if start == len(step.tokens):
        return cached
    asked = ExtendRequest(request=step.request, prefix_tokens=start, extend_tokens=len(step.tokens) - start)
    given = yield called("allocation.extend", batch=(asked,))
    if not isinstance(given, Ok):
        return None
    if step.is_reserved:
        need = BackupRequest(request=step.request, extend_tokens=asked.extend_tokens, pages=given.value.pages)
        yield called("host_tier.admit", batch=(need,))
    yield from written(config, asked, given.value.locations, step)
    return (*cached, *given.value.pages)


def written(config: OpenConfig, asked: ExtendRequest, locations: Sequence[int], step: Forward) -> Script:
    """Write every layer, and tell of those that are to be told."""
    for layer in layers(config):
        yield write(config, layer, asked, locations, step.tokens)
        if step.told is None and step.is_reserved:
            yield called("copies.layer_end", layer=layer)
    for layer in step.told or ():
        yield called("copies.layer_end", layer=layer)


def write(config: OpenConfig, layer: int, asked: ExtendRequest, locations: Sequence[int], tokens: Tokens) -> Call:
    """Return the write of one layer of a request."""
    rows = prefix_rows(config.pool, Geometry.of(config), layer, asked, tokens)
    args = {"batch": (asked,), "locations": tuple(locations), "static_tokens": len(locations), "rows": rows}
    return called("direct_write.write", layer=layer, **args)


def end(config: OpenConfig, step: Forward, pages: Sequence[int]) -> Script:
    """Insert a request and give back what is left of it; return the copies that were submitted."""
    inserted = yield called("host_tier.insert", request=step.request, tokens=step.tokens, pages=tuple(pages))
    if not isinstance(inserted, Ok):
        return ()
    if inserted.value.left:
        yield called("allocation.release", pages=inserted.value.left)
    return inserted.value.backups


def dirtied(config: OpenConfig, tokens: Tokens) -> Script:
    """Write rows of another request into as many free pages as it gets, and give the pages back."""
    while tokens:
        asked = ExtendRequest(request="dirt", prefix_tokens=0, extend_tokens=len(tokens))
        given = yield called("allocation.extend", batch=(asked,))
        if isinstance(given, Ok):
            for layer in layers(config):
                yield write(config, layer, asked, given.value.locations, tokens)
            yield called("allocation.release", pages=given.value.pages)
            return
        tokens = tokens[: -config.page_size]


# -- copies ----------------------------------------------------------------------------------------------------------


def looked_at(config: OpenConfig) -> Script:
    """Look at the tree and at every layer of host memory."""
    yield called("probe.tree")
    for layer in layers(config):
        yield called("probe.host_pool", layer=layer)


def evicted(config: OpenConfig) -> Call:
    """Evict everything that may go from the device."""
    return called("host_tier.evict", deficit=lane_pages(config))


def evicted_from_host(config: OpenConfig) -> Call:
    """Evict everything that may go from the host."""
    return called("host_tier.evict_host", deficit=(config.host_pages,) * config.cp_size)


def loaded(config: OpenConfig, tokens: Tokens, first: int = 0) -> Script:
    """Load a prefix back and read every buffer of every layer, the `first` of them at once; return the copy."""
    answer = yield called("host_tier.load_back", tokens=tokens)
    if not isinstance(answer, Ok) or not answer.value.pages:
        return -1
    yield from read(config, answer.value.pages, first)
    return answer.value.copy


def read(config: OpenConfig, pages: Sequence[int], first: int = 0, of: Sequence[int] | None = None) -> Script:
    """Read all rows of pages, buffer after buffer, beginning with one of them; `of` some layers, or of all."""
    locations = tuple(Geometry.of(config).locations(pages, len(pages) * config.page_size))
    places = [(layer, buffer) for layer in (of or layers(config)) for buffer in buffers_of(config.pool)]
    for layer, buffer in places[first % len(places) :] + places[: first % len(places)]:
        yield called("direct_write.read", layer=layer, buffer=buffer, locations=locations)


def sound(config: OpenConfig, step: Forward) -> Script:
    """Go once round with nothing late: compute, back up, look, evict, let others write, load, read, and evict again."""
    yield from forward(config, step)
    yield called("host_tier.poll")
    yield from looked_at(config)
    yield from again(config, step.tokens)
    yield called("host_tier.poll")
    yield evicted(config)


def again(config: OpenConfig, tokens: Tokens, first: int = 0) -> Script:
    """Evict what was backed up, let others write into its pages, and load it back."""
    yield evicted(config)
    yield from dirtied(config, dirt(config))
    return (yield from loaded(config, tokens, first))


def finished(copies: Sequence[int], sources: Sequence[str], rank: int = EVERY_RANK) -> Script:
    """Let sources of held copies finish, and look at the copies after each."""
    for copy in copies:
        for source in sources:
            yield called("probe.finish", copy=copy, source=source, rank=rank)
            yield called("probe.copies")

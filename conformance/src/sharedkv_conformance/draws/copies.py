"""How histories of copies are drawn: pieces of what an engine does, one after another, on tiny pools.

A piece is drawn as a whole, and goes on from what is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.errors import Unsupported
from sharedkv_conformance.contract.implementation import HostConfig, OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.copies_scripts import (
    Forward,
    Script,
    Tokens,
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
    read,
    spelled,
)
from sharedkv_conformance.model.copies_state import CopiesState
from sharedkv_conformance.step import Answer, Call, Err, Ok

Draw = Callable[..., Any]
Piece = Callable[[Draw, CopiesState], Script]
LAYOUTS = ("layer_first", "page_first", "page_first_direct")


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw two ranks with three or four pages a lane, and one or two layers, often with one of a draft.

    A page has two tokens, or sometimes three.
    """
    layout = draw(st.sampled_from(("mha_bf16", "mha_bf16", "mla_bf16")))
    of_target, of_draft = draw(st.sampled_from(((1, 0), (1, 1), (1, 1), (2, 0))))
    pool = PoolConfig(layout=layout, layers=of_target, draft_layers=of_draft, kv_heads=1, head_dim=4)
    pages = min(2 * draw(st.integers(3, 4)), limits.get("max_pages", 8))
    host_pages = min(draw(st.sampled_from((3, 4, 2))), limits.get("max_host_pages", 4))
    host = HostConfig(layout=draw(st.sampled_from(LAYOUTS)))
    size = draw(st.sampled_from((2, 2, 3)))
    return OpenConfig(cp_size=2, page_size=size, pages=pages, host_pages=host_pages, pool=pool, host=host)


def next_call(draw: Draw, state: CopiesState) -> Call:
    """Go on with the piece that was begun, or begin another."""
    while True:
        if state.script is None or state.asked is None:
            state.script = piece(draw, state)
            call = next(state.script, None)
        else:
            call = following(state.script, state.asked[1] or Err(Unsupported(feature=state.asked[0].op)))
        if call is not None:
            state.asked = call, None
            return call
        state.script = None


def following(script: Script, answer: Answer) -> Call | None:
    """Return the next call of a piece, or None where it is at its end."""
    try:
        return script.send(answer)
    except StopIteration:
        return None


def piece(draw: Draw, state: CopiesState) -> Script:
    """Draw what is done next: what fills the tree at first, then what uses it."""
    nodes = state.model.tree.nodes.values()
    if any(node.host and not node.backups for node in nodes):
        pieces: list[Piece] = [*[back] * 7, one, two, hold, split, host_away]
    else:
        pieces = [*[one] * 4, two, two, bare, hold, hold, told]
    if state.model.ledger.copies:
        pieces = [*[finish] * 4, away, away, split, host_away, poll, back]
    drawn: Piece = draw(st.sampled_from(pieces))
    return drawn(draw, state)


def tokens(draw: Draw, state: CopiesState) -> Tokens:
    """Draw a prompt of one to four pages that differ in their last token, sometimes with a page that is not full."""
    letters = draw(st.lists(st.sampled_from((2, 3)), min_size=1, max_size=4))
    return spelled(state.config, letters, draw(st.sampled_from((0, 0, state.config.page_size - 1))))


def known(draw: Draw, state: CopiesState) -> Tokens:
    """Draw the tokens of a node."""
    return draw(st.sampled_from(sorted(map(state.model.tree.path, state.model.tree.nodes.values()))))  # type: ignore[no-any-return]


def told_layers(draw: Draw, state: CopiesState) -> tuple[int, ...] | None:
    """Draw which layers are told: each as it ends, or some of them later, in any order."""
    some = tuple(draw(st.permutations(layers(state.config))))
    return draw(st.sampled_from((None, None, some, some[1:], ())))  # type: ignore[no-any-return]


def name(state: CopiesState, index: int = 0) -> str:
    """Return a name that no reservation has."""
    return [f"r{number}" for number in range(9) if f"r{number}" not in state.model.reservations][index]


def one(draw: Draw, state: CopiesState) -> Script:
    """Compute one request."""
    step = Forward(
        request=name(state),
        tokens=tokens(draw, state),
        told=told_layers(draw, state),
        is_matched=bool(state.model.tree.nodes),
    )
    return with_poll(forward(state.config, step))


def bare(draw: Draw, state: CopiesState) -> Script:
    """Compute one request without a reservation."""
    return with_poll(forward(state.config, Forward(request=name(state), tokens=tokens(draw, state), is_reserved=False)))


def with_poll(script: Script) -> Script:
    """Poll after a piece."""
    yield from script
    yield called("host_tier.poll")


def two(draw: Draw, state: CopiesState) -> Script:
    """Compute two requests in one forward, and end or cancel each."""
    steps = [Forward(request=name(state, index), tokens=tokens(draw, state), told=()) for index in (0, 1)]
    told = [*draw(st.permutations(layers(state.config))), *draw(st.sampled_from(((), (0,), (0, 0))))]
    cancelled = draw(st.sampled_from((False, False, True)))
    return together(state.config, steps, told, cancelled=cancelled)


def together(config: OpenConfig, steps: list[Forward], told: list[int], *, cancelled: bool) -> Script:
    """Reserve for two requests, tell every layer for both, and give both to the tree."""
    begun = [(yield from begin(config, steps[0])), (yield from begin(config, steps[1]))]
    for layer in told:
        yield called("copies.layer_end", layer=layer)
    if cancelled:
        yield called("host_tier.cancel", request=steps[0].request)
    for step, pages in zip(steps, begun, strict=True):
        if pages is not None:
            yield from end(config, step, pages)
    yield called("host_tier.poll")


def told(draw: Draw, state: CopiesState) -> Script:
    """Tell a layer, sometimes one that is not there."""
    return alone(called("copies.layer_end", layer=draw(st.integers(-1, state.pool.all_layers))))


def alone(*calls: Call) -> Script:
    """Issue calls whatever is answered."""
    for call in calls:  # noqa: UP028 - a tuple takes no answers
        yield call


def hold(draw: Draw, state: CopiesState) -> Script:
    """Hold copies from now on, and compute a request."""
    step = Forward(request=name(state), tokens=tokens(draw, state), told=(), is_matched=bool(state.model.tree.nodes))
    return held(state.config, step)


def held(config: OpenConfig, step: Forward) -> Script:
    """Hold, compute, and look at what is in flight."""
    yield called("probe.hold")
    yield from forward(config, step)
    yield called("host_tier.poll")
    yield called("probe.copies")


def finish(draw: Draw, state: CopiesState) -> Script:
    """Let a source of a copy in flight finish on a rank or on all, look, and poll."""
    copy = draw(st.sampled_from(sorted(state.model.ledger.copies)))
    sources = sorted(state.model.ledger.copies[copy].left)
    rank = draw(st.integers(-1, state.config.cp_size - 1))
    return with_poll(finished([copy], [draw(st.sampled_from(sources))], rank))


def back(draw: Draw, state: CopiesState) -> Script:
    """Look at a layer on the host, evict, load something back and read the layer."""
    layer, others = draw(st.sampled_from(layers(state.config))), dirt(state.config)
    return returned(state.config, known(draw, state), layer, draw(st.sampled_from((others, others, ()))))


def returned(config: OpenConfig, path: Tokens, layer: int, others: Tokens) -> Script:
    """Look at the host first, so that what is wrong there is seen there."""
    yield called("probe.tree")
    yield called("probe.host_pool", layer=layer)
    yield evicted(config)
    yield from dirtied(config, others)
    answer = yield called("host_tier.load_back", tokens=path)
    if isinstance(answer, Ok) and answer.value.pages:
        yield from read(config, answer.value.pages, of=(layer,))
    yield called("host_tier.poll")


def away(draw: Draw, state: CopiesState) -> Script:
    """Evict everything that may go, and see whether its pages are given to others."""
    return evicted_and_reused(state.config)


def evicted_and_reused(config: OpenConfig) -> Script:
    """Evict, and let another request write where it is let."""
    yield evicted(config)
    yield from dirtied(config, dirt(config))


def host_away(draw: Draw, state: CopiesState) -> Script:
    """Evict everything that may go from the host."""
    return alone(evicted_from_host(state.config))


def split(draw: Draw, state: CopiesState) -> Script:
    """Match a part of what the tree has, and look at both tiers."""
    path = known(draw, state)
    pages = draw(st.integers(1, len(path) // state.config.page_size))
    match = called("host_tier.match", tokens=path[: pages * state.config.page_size])
    return alone(match, *(looked_at(state.config) if draw(st.booleans()) else ()))


def poll(draw: Draw, state: CopiesState) -> Script:
    """Poll twice, with nothing else to do."""
    return alone(called("host_tier.poll"), called("host_tier.poll"))

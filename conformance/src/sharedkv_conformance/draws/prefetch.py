"""How histories of prefetch are drawn: requests are written layer by layer, then steps start, consume and release.

A step is an epoch with its batch. Its tables have the pages of prefixes, pages for new tokens, and stale ids behind.
What was leased is read at once, and what was prefetched is made once more on demand, for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.draws.direct_write import batch, locations_for, rank_rows
from sharedkv_conformance.model.planning_split import page_owners
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.prefetch_state import Batch, PrefetchState
from sharedkv_conformance.model.reuse_batch import prefix_pages
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, PrefetchState], Call]

MOST_LEASES = 4
FAULTS = ("late_writes", "late_copies")


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a tiny pool, most often with prefetch on."""
    most_ranks = min(limits.get("max_cp_size", 3), limits.get("max_pages", 12) // 2)
    cp_size = draw(st.sampled_from([size for size in (2, 3) if size <= most_ranks]))
    page_size = draw(st.sampled_from([size for size in (2, 4) if size <= limits.get("max_page_size", 4)]))
    lane_pages = draw(st.integers(2, max(2, min(4, limits.get("max_pages", 12) // cp_size))))
    layout = draw(st.sampled_from(("mla_bf16", "mla_bf16", "mha_bf16", "mla_fp8")))
    pool = PoolConfig(layout=layout, layers=draw(st.sampled_from((2, 3))), kv_heads=2, head_dim=4)
    is_on = draw(st.sampled_from((True, True, True, False)))
    return OpenConfig(cp_size=cp_size, page_size=page_size, pages=lane_pages * cp_size, pool=pool, prefetch=is_on)


def next_call(draw: Draw, state: PrefetchState) -> Call:
    """Draw the next call: what is due, the other layers of a batch that was written, else whatever makes sense."""
    if state.due:
        return state.due.pop(0)
    if state.unwritten:
        return _write(state, *state.unwritten.pop(0))
    if not _prefixed(state):
        return write(draw, state)
    if len(state.leases) >= MOST_LEASES:
        return release(draw, state)
    kinds: list[Kind] = [
        ahead,
        overtake,
        faulty,
        lose,
        overtake,
        faulty,
        consume,
        ahead,
        write,
        live_bytes,
        inject,
        start,
        backwards,
        confuse,
    ]
    kinds += [read, read_unknown, disturb, release, finish] if state.leases else []
    kinds += [released] if state.released else []
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


# -- writes ----------------------------------------------------------------------------------------------------------


def write(draw: Draw, state: PrefetchState) -> Call:
    """Write a batch to one layer; its other layers follow."""
    size = state.geometry.page_size
    requests = tuple(
        replace(r, prefix_tokens=held if (held := _tokens(state, r.request)) % size == 0 else 0)
        for r in batch(draw, state.writes)
    )
    locations = locations_for(draw, state.writes, requests)
    first, *others = range(state.pool.all_layers)
    state.unwritten = [(layer, requests, locations) for layer in others]
    return _write(state, first, requests, locations)


def _write(state: PrefetchState, layer: int, requests: Any, locations: tuple[int, ...]) -> Call:
    args = {
        "layer": layer,
        "batch": requests,
        "locations": locations,
        "static_tokens": len(locations),
        "rows": rank_rows(state.writes, layer, requests, "valid", 0),
    }
    return Call(op="direct_write.write", args=args)


def _tokens(state: PrefetchState, name: str) -> int:
    return state.writes.live.get(name, (1, ()))[0]


def _prefixed(state: PrefetchState) -> list[str]:
    """Return the requests that have a whole page."""
    size = state.geometry.page_size
    return sorted(name for name, (tokens, _) in state.writes.live.items() if tokens >= size)


# -- steps -----------------------------------------------------------------------------------------------------------


def step(draw: Draw, state: PrefetchState) -> tuple[int, Batch]:
    """Go on with the step that is, with its batch or another, or begin the next one."""
    epoch, known = state.step
    live = all(request.request in state.writes.live for request in known)
    kind = draw(st.sampled_from(("same", "same", "same", "same", "other batch", "next"))) if known and live else "next"
    if kind == "same":
        return state.step
    return epoch if kind == "other batch" else epoch + 1, reuse_batch(draw, state)


def reuse_batch(draw: Draw, state: PrefetchState) -> Batch:
    """Draw one or two requests with prefixes that were written, and tables with stale ids behind them."""
    names = _prefixed(state)
    names = draw(st.permutations(names))[: draw(st.sampled_from((1, 1, 2)))]
    return tuple(_reused(draw, state, name) for name in names)


def _reused(draw: Draw, state: PrefetchState, name: str) -> ReuseRequest:
    size, last = state.geometry.page_size, state.geometry.cp_size * state.geometry.lane_pages
    tokens, pages = state.writes.live[name]
    prefix = tokens // size - draw(st.sampled_from((0, 0, 0, 1)))
    stale = tuple(draw(st.lists(st.integers(1, last), max_size=2)))
    extend = draw(st.sampled_from((1, size, size + 1)))
    table = (*pages[:prefix], *range(1, 1 + state.geometry.pages_for(extend)), *stale)
    return ReuseRequest(request=name, prefix_tokens=prefix * size, extend_tokens=extend, table=table)


def start(draw: Draw, state: PrefetchState) -> Call:
    """Begin to make a layer's dense prefix, most often of a later layer."""
    epoch, requests = step(draw, state)
    layers = [*range(1, state.pool.all_layers)] * 2 + [0]
    args = {"layer": draw(st.sampled_from(layers)), "epoch": epoch, "batch": requests}
    return Call(op="prefetch.start", args=args)


def consume(draw: Draw, state: PrefetchState) -> Call:
    """Consume what was started, or any layer of a step."""
    if (waiting := [key for key in state.outstanding() if key[1] == state.step[0]]) and draw(st.booleans()):
        layer, epoch, requests = draw(st.sampled_from(waiting))
    else:
        epoch, requests = step(draw, state)
        layer = draw(st.integers(0, state.pool.all_layers - 1))
    state.due = looks(state, min(state.leases)) if state.leases else []
    return Call(op="prefetch.consume", args={"layer": layer, "epoch": epoch, "batch": requests})


def read(draw: Draw, state: PrefetchState) -> Call:
    """Read a lease that may have been read before; rarely a buffer that is not there."""
    buffers = (*buffers_of(state.pool) * 2, "scales")
    args = {"lease": draw(st.sampled_from(sorted(state.leases))), "buffer": draw(st.sampled_from(buffers))}
    return Call(op="prefetch.read", args=args)


def read_unknown(draw: Draw, state: PrefetchState) -> Call:
    """Read a buffer under a lease that is not there."""
    buffer = draw(st.sampled_from(("scales", "", "key" if "latent" in buffers_of(state.pool) else "latent")))
    return Call(op="prefetch.read", args={"lease": draw(st.sampled_from(sorted(state.leases))), "buffer": buffer})


def release(draw: Draw, state: PrefetchState) -> Call:
    """Give up a lease, and sometimes name it once more."""
    lease = draw(st.sampled_from(sorted(state.leases)))
    state.due = draw(st.sampled_from(([], [_again(lease)], looks(state, lease)[:1])))
    return _again(lease)


def _again(lease: int) -> Call:
    return Call(op="prefetch.release", args={"lease": lease})


def released(draw: Draw, state: PrefetchState) -> Call:
    """Read or give up what was given up before."""
    lease = draw(st.sampled_from(sorted(state.released)))
    return draw(st.sampled_from((_again(lease), looks(state, lease)[0])))  # type: ignore[no-any-return]


def live_bytes(draw: Draw, state: PrefetchState) -> Call:
    """Ask how much is live."""
    return Call(op="prefetch.live_bytes")


def ahead(draw: Draw, state: PrefetchState) -> Call:
    """Start a layer, look how much is live, consume it, and read again what was leased before."""
    call = start(draw, state)
    older = looks(state, min(state.leases)) if state.leases else []
    state.due = [Call(op="prefetch.live_bytes"), replace(call, op="prefetch.consume"), *older]
    return call


def lose(draw: Draw, state: PrefetchState) -> Call:
    """Lose a prefetch, and consume its layer all the same."""
    call = start(draw, state)
    state.due = [call, replace(call, op="prefetch.consume")]
    return Call(op="probe.inject", args={"fault": "prefetch_lost"})


def overtake(draw: Draw, state: PrefetchState) -> Call:
    """With no lease left start a layer, write what was written last in it anew, or one page, and consume it."""
    call, last = start(draw, state), state.writes.last_write
    if last is None:
        return call
    freed = [_again(lease) for lease in sorted(state.leases)]
    again = _last_lane_written(state, call) if draw(st.booleans()) else None
    again = again or _write(state, call.layer, last.batch, tuple(last.locations))
    late = (
        [Call(op="probe.inject", args={"fault": "late_writes"})] if draw(st.sampled_from((False, False, True))) else []
    )
    script = [*freed, *late, call, again, replace(call, op="prefetch.consume")]
    state.due = script[1:]
    return script[0]


def _last_lane_written(state: PrefetchState, call: Call) -> Call | None:
    """Return a write of a page for each lane, of which that of the last lane alone is a page of a batch's prefix."""
    geometry, first = state.geometry, call.batch[0]
    prefix = [page for request in call.batch for page in prefix_pages(geometry, request)]
    free = [page for page in range(1, 1 + geometry.cp_size * geometry.lane_pages) if page not in prefix]
    last = geometry.cp_size - 1
    pages = [page for page in prefix if geometry.lane(page) == last] + free
    table: list[int] = []
    for owner in page_owners(geometry, geometry.cp_size * geometry.page_size):
        choice = [page for page in pages if geometry.lane(page) == owner and page not in table]
        table += choice[:1]
    if len(table) < geometry.cp_size or not set(table) & set(prefix):
        return None
    tokens = geometry.cp_size * geometry.page_size
    batch_written = (ExtendRequest(request=first.request, prefix_tokens=0, extend_tokens=tokens),)
    return _write(state, call.layer, batch_written, tuple(geometry.locations(table, tokens)))


def backwards(draw: Draw, state: PrefetchState) -> Call:
    """With no lease left start two layers, and consume the later start first."""
    epoch, requests = step(draw, state)
    layers = draw(st.permutations(range(state.pool.all_layers)))[:2]
    starts = [
        Call(op="prefetch.start", args={"layer": layer, "epoch": epoch, "batch": requests[:1]}) for layer in layers
    ]
    consumes = [replace(call, op="prefetch.consume") for call in starts[::-1]]
    script = [*(_again(lease) for lease in sorted(state.leases)), *starts, *consumes]
    state.due = script[1:]
    return script[0]


def confuse(draw: Draw, state: PrefetchState) -> Call:
    """Start a layer for one batch, and consume it in the same epoch for another with as many tokens."""
    call = start(draw, state)
    first = call.batch[0]
    pages = len(prefix_pages(state.geometry, first))
    rivals = [replace(first, table=(*first.table[:pages][::-1], *first.table[pages:]))] if pages > 1 else []
    for name, (tokens, table) in sorted(state.writes.live.items()):
        if name != first.request and tokens // state.geometry.page_size >= pages > 0:
            rivals.append(replace(first, request=name, table=(*table[:pages], *first.table[pages:])))
    if not rivals:
        return call
    args = dict(call.args)
    other = {**args, "batch": (draw(st.sampled_from(rivals)),)}
    state.due = [Call(op="prefetch.consume", args=other)]
    return Call(op="prefetch.start", args={**args, "batch": (first,)})


def finish(draw: Draw, state: PrefetchState) -> Call:
    """Give up every lease, and look how much is live then."""
    first, *others = map(_again, sorted(state.leases))
    state.due = [*others, Call(op="prefetch.live_bytes")]
    return first


def looks(state: PrefetchState, lease: int) -> list[Call]:
    """Return reads of all buffers of a lease."""
    return [Call(op="prefetch.read", args={"lease": lease, "buffer": buffer}) for buffer in buffers_of(state.pool)]


def disturb(draw: Draw, state: PrefetchState) -> Call:
    """Write once more what was written last, in the layer of a lease, and read the lease again."""
    lease, last = draw(st.sampled_from(sorted(state.leases))), state.writes.last_write
    if last is None:
        return read(draw, state)
    state.due = looks(state, lease)
    return _write(state, state.leases[lease].key[0], last.batch, tuple(last.locations))


def inject(draw: Draw, state: PrefetchState) -> Call:
    """Let copies be late, or writes, of which one follows at once, and a consume of its layer."""
    fault, last = draw(st.sampled_from(FAULTS)), state.writes.last_write
    if fault == "late_writes" and last is not None:
        call = consume(draw, state)
        again = _write(state, call.args["layer"], last.batch, tuple(last.locations))
        state.due = [again, call]
    return Call(op="probe.inject", args={"fault": fault})


def faulty(draw: Draw, state: PrefetchState) -> Call:
    """Start or consume with a layer, a page or a table that is not as it has to be."""
    epoch, requests = state.step[0] + 1, reuse_batch(draw, state)
    size, last = state.geometry.page_size, state.geometry.cp_size * state.geometry.lane_pages
    layer, first = 0, requests[0]
    kind = draw(st.sampled_from(("layer", "page", "table", "prefix", "page", "empty")))
    if kind == "layer":
        layer = draw(st.sampled_from((-1, state.pool.all_layers)))
    elif kind == "table":
        first = replace(
            first, table=first.table[: first.prefix_tokens // size - 1], prefix_tokens=max(size, first.prefix_tokens)
        )
    elif kind == "page":
        first = replace(first, prefix_tokens=size, extend_tokens=1, table=(draw(st.sampled_from((0, -1, last + 1))), 1))
    elif kind == "prefix":
        first = replace(first, prefix_tokens=first.prefix_tokens + draw(st.sampled_from((1, -1))))
    batch_given = () if kind == "empty" else (first, *requests[1:])
    op = draw(st.sampled_from(("prefetch.start", "prefetch.consume")))
    return Call(op=op, args={"layer": layer, "epoch": epoch, "batch": batch_given})

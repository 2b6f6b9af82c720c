"""How histories of dense views are drawn: batches in rising epochs, composed, shown, read and written.

The pages of a prefix are any pages that were written, in any order, so that they come from several extents and are
owned as their ids say. New pages are any others of the lanes that the split asks for, so that pages are written again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import BufferRows, PoolConfig
from sharedkv_conformance.contract.reuse import RankQueries, RankTopK
from sharedkv_conformance.draws.reuse_batches import batch, contents
from sharedkv_conformance.draws.reuse_rows import (
    attention_query,
    index_query,
    joined,
    rank_rows,
    weights,
)
from sharedkv_conformance.model import reuse_batch
from sharedkv_conformance.model.pool import buffers_of
from sharedkv_conformance.model.reuse_batch import Place
from sharedkv_conformance.model.reuse_state import Batch, ReuseState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, ReuseState], Call]
LAYOUTS = ("mla_bf16", "mla_bf16", "mla_bf16", "mla_fp8", "mha_bf16")


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw small pools of a few ranks."""
    most_pages = limits.get("max_pages", 24)
    ranks = [size for size in (2, 3, 4) if size <= min(limits.get("max_cp_size", 4), most_pages // 2)]
    cp_size = draw(st.sampled_from(ranks))
    page_size = draw(st.sampled_from([size for size in (4, 2) if size <= limits.get("max_page_size", 4)]))
    lane_pages = draw(st.integers(2, 5))
    pool = PoolConfig(
        layout=draw(st.sampled_from(LAYOUTS)),
        heads=draw(st.integers(1, 2)),
        index_heads=draw(st.sampled_from((2, 1))),
    )
    pages = min(cp_size * max(lane_pages, 6 - cp_size), most_pages)
    return OpenConfig(cp_size=cp_size, page_size=page_size, pages=pages, pool=pool)


def next_call(draw: Draw, state: ReuseState) -> Call:
    """Draw the next call among those that make sense now: what was composed is shown before it is read."""
    if state.epoch is None or state.is_lost:
        kinds: list[Kind] = [composition, composition, composition, misplaced]
    elif not state.pages and draw(st.booleans()):
        kinds = [written]
    elif unseen(state) and reuse_batch.prefix_spans(state.batch) and draw(st.booleans()):
        kinds = [look]
    else:
        kinds = [written] * 4 if state.unwritten() else [composition] * 4
        kinds += [misplaced, misplaced, another_layer, again, read, fault]
        kinds += [look] * 3 if unseen(state) else [composition]
        kinds += [selection, attention] * 4 if state.pool.layout != "mha_bf16" else [selection, composition]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def unseen(state: ReuseState) -> list[tuple[int, str]]:
    """Return the buffers of layers that were composed and not yet shown."""
    buffers = [(layer, buffer) for layer in state.views for buffer in buffers_of(state.pool)]
    return [found for found in buffers if found not in state.looked]


def look(draw: Draw, state: ReuseState) -> Call:
    """Show a buffer of a layer that was composed."""
    layer, buffer = draw(st.sampled_from(unseen(state)))
    return _call("dense", layer, state.epoch, buffer=buffer)


# -- calls that are right --------------------------------------------------------------------------------------------


def composition(draw: Draw, state: ReuseState) -> Call:
    """Compose a layer for a new batch in a new epoch, after asking for its plan where rows may be padded."""
    epoch = 1 if state.epoch is None else state.epoch + draw(st.integers(1, 2))
    drawn = batch(draw, state)
    return composed(state, draw(st.integers(0, 1)), epoch, drawn, "valid")


def composed(state: ReuseState, layer: int, epoch: int, batch: Batch, domain: str, padding: int = 0) -> Call:
    """Return the composition of a layer from the rows of a domain."""
    plain = "valid" if domain == "valid" else "compute"
    places = state.places(batch, plain) or ()
    rows = rank_rows(state.pool, places, domain, contents(state, batch, epoch), layer, padding)
    return _call("compose", layer, epoch, batch=batch, rows=rows)


def another_layer(draw: Draw, state: ReuseState) -> Call:
    """Compose the other layer for the same batch, from compute or static rows where a plan is known."""
    epoch = state.epoch or 0
    layer = 1 - max(state.views)
    domain = draw(st.sampled_from(("valid", "compute", "static")))
    if domain != "valid" and state.layout(state.batch) is None:
        return plan(state)
    return composed(state, layer, epoch, state.batch, domain, draw(st.integers(0, 2)) if domain == "static" else 0)


def again(draw: Draw, state: ReuseState) -> Call:
    """Compose a layer that is composed, perhaps behind another stale tail."""
    layer = draw(st.sampled_from(sorted(state.views)))
    tail = draw(st.sampled_from(((), (1,))))
    batch = tuple(replace(r, table=(*reuse_batch.own_pages(state.geometry, r), *tail)) for r in state.batch)
    return _call("compose", layer, state.epoch, batch=batch, rows=state.rows_given[layer])


def plan(state: ReuseState) -> Call:
    """Ask for the plan of the present batch."""
    return Call(op="planning.plan", args={"batch": reuse_batch.lengths(state.batch), "static_multiple": 1})


def written(draw: Draw, state: ReuseState) -> Call:
    """Write the new tokens of the present batch, as they were given for a view."""
    return persisted(state, draw(st.sampled_from(state.unwritten())))


def persisted(state: ReuseState, layer: int) -> Call:
    """Return the write of the new tokens of the present batch."""
    plain = reuse_batch.lengths(state.batch)
    locations = tuple(
        where
        for request in state.batch
        for where in state.geometry.locations(
            reuse_batch.own_pages(state.geometry, request)[request.prefix_tokens // state.geometry.page_size :],
            request.extend_tokens,
        )
    )
    places = state.places(state.batch, "valid") or ()
    rows = rank_rows(state.pool, places, "valid", contents(state, state.batch, state.epoch or 0), layer)
    args = {"layer": layer, "batch": plain, "locations": locations, "static_tokens": len(locations), "rows": rows}
    return Call(op="direct_write.write", args=args)


def read(draw: Draw, state: ReuseState) -> Call:
    """Read tokens of the present batch from the pool."""
    pages = [page for request in state.batch for page in reuse_batch.own_pages(state.geometry, request)]
    buffer = draw(st.sampled_from(buffers_of(state.pool)))
    page = draw(st.sampled_from(pages)) * state.geometry.page_size
    args = {
        "layer": max(state.views),
        "buffer": buffer,
        "locations": tuple(range(page, page + state.geometry.page_size)),
    }
    return Call(op="direct_write.read", args=args)


def fault(draw: Draw, state: ReuseState) -> Call:
    """Take the fast kernels away, or let writes be late, once and late in a history; else ask for what is refused."""
    if len(state.past) < 2 or state.faults:  # noqa: PLR2004 - most of a history has its kernels
        return misplaced(draw, state)
    return Call(op="probe.inject", args={"fault": draw(st.sampled_from(("no_kernels", "late_writes")))})


# -- indexer and attention -------------------------------------------------------------------------------------------


def query_domain(draw: Draw, state: ReuseState) -> str:
    """Draw the domain of queries; compute rows take a plan."""
    return str(draw(st.sampled_from(("valid", "compute")))) if state.layout(state.batch) is not None else "valid"


def selection(draw: Draw, state: ReuseState) -> Call:
    """Ask for a selection, of one to all tokens."""
    if state.layout(state.batch) is None and draw(st.booleans()):
        return plan(state)
    layer, domain = draw(st.sampled_from(sorted(state.views))), query_domain(draw, state)
    if (layer, "index") in unseen(state):
        return _call("dense", layer, state.epoch, buffer="index")
    return selecting(state, layer, domain, draw(st.sampled_from((2, 1, 3, 40))))


def selecting(state: ReuseState, layer: int, domain: str, count: int) -> Call:
    """Return the call that asks for a selection."""
    said, heads = contents(state, state.batch, state.epoch or 0), state.pool.index_heads

    def query(content: int, position: int) -> bytes:
        return b"".join(index_query(content, position, head) for head in range(heads))

    queries = tuple(
        RankQueries(
            domain=domain,
            rows=len(rows),
            query=joined(rows, said, query),
            weights=joined(rows, said, lambda content, position: weights(content, position, heads)),
        )
        for rows in state.places(state.batch, domain) or ()
    )
    return _call("top_k", layer, state.epoch, queries=queries, count=count)


def attention(draw: Draw, state: ReuseState) -> Call:
    """Ask for attention over a few positions, some rows having fewer, or none."""
    layer, domain = draw(st.sampled_from(sorted(state.views))), query_domain(draw, state)
    if (layer, "latent") in unseen(state):
        return _call("dense", layer, state.epoch, buffer="latent")
    return attending(state, layer, domain, draw(st.integers(1, 3)), draw(st.integers(0, 6)))


def attending(state: ReuseState, layer: int, domain: str, count: int, seed: int) -> Call:
    """Return the call that asks for attention."""
    said, heads = contents(state, state.batch, state.epoch or 0), state.pool.heads

    def query(content: int, position: int) -> bytes:
        return b"".join(attention_query((content + position + 3 * head) % 8) for head in range(heads))

    places = state.places(state.batch, domain) or ()
    base = reuse_batch.bases(state.batch)
    queries = tuple(RankQueries(domain=domain, rows=len(p), query=joined(p, said, query)) for p in places)
    indices = tuple(RankTopK(indices=tuple(_chosen(base, place, count, seed) for place in rows)) for rows in places)
    return _call("attend", layer, state.epoch, queries=queries, indices=indices)


def _chosen(base: Sequence[int], place: Place | None, count: int, seed: int) -> tuple[int, ...]:
    if place is None or (place[1] + seed) % 7 == 6:  # noqa: PLR2004 - one row of seven selects nothing
        return (-1,) * count
    visible = place[1] + 1
    tokens = dict.fromkeys((place[1], (place[1] * 5 + seed) % visible, (place[1] * 3 + 1 + seed) % visible))
    chosen = [base[place[0]] + token for token in tokens][:count]
    return (*chosen, *[-1] * (count - len(chosen)))


# -- calls that are wrong --------------------------------------------------------------------------------------------


def misplaced(draw: Draw, state: ReuseState) -> Call:
    """Ask for something that must be refused."""
    kinds: list[Kind] = [odd_batch, odd_batch, odd_rows]
    if state.epoch is not None and not state.is_lost:
        kinds += [passed, second_batch, absent]
    if state.views:
        kinds += [odd_queries, odd_queries, odd_positions]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def _right(draw: Draw, state: ReuseState) -> Call:
    """Return a composition that is right, in the next epoch."""
    return composed(state, draw(st.integers(0, 1)), (state.epoch or 0) + 1, batch(draw, state), "valid")


def odd_batch(draw: Draw, state: ReuseState) -> Call:
    """Compose a batch of which one request has no view: no batch, or odd lengths, or a table without its pages."""
    call, size = _right(draw, state), state.geometry.page_size
    requests = list(call.batch)
    where = draw(st.integers(0, len(requests) - 1))
    one, beyond = requests[where], state.config.pages + state.config.cp_size
    changes: tuple[dict[str, Any], ...] = (
        {"prefix_tokens": one.prefix_tokens + 1},
        {"prefix_tokens": -size},
        {"extend_tokens": 0},
        {"table": reuse_batch.own_pages(state.geometry, one)[:-1]},
        {"table": (beyond, *one.table[1:])},
        {"table": (0, *one.table[1:])},
    )
    requests[where] = replace(one, **draw(st.sampled_from(changes)))
    kept = () if draw(st.integers(0, 6)) == 0 else tuple(requests)
    return Call(op=call.op, args={**call.args, "batch": kept})


def odd_rows(draw: Draw, state: ReuseState) -> Call:
    """Compose from rows that are not those of the batch, or for a layer that is not there."""
    call = _right(draw, state)
    rows = list(call.rows)
    where = draw(st.integers(0, len(rows) - 1))
    one, first = rows[where], rows[where].buffers[0]
    named = replace(one, buffers=(BufferRows(buffer="other", data=first.data), *one.buffers[1:]))
    longer = replace(one, buffers=(BufferRows(buffer=first.buffer, data=first.data + b"\0"), *one.buffers[1:]))
    more = replace(one, rows=one.rows + 1, buffers=tuple(_longer(b, one.rows) for b in one.buffers))
    odd = draw(st.sampled_from((named, longer, more, replace(one, domain="dense"), None)))
    layer = call.layer if odd is not None or draw(st.booleans()) else state.pool.all_layers
    rows[where : where + 1] = [odd] if odd is not None else ([] if layer == call.layer else [one])
    return Call(op=call.op, args={**call.args, "layer": layer, "rows": tuple(rows)})


def _longer(rows: BufferRows, count: int) -> BufferRows:
    """Return a buffer with one row more, a copy of the last; of no rows nothing can be copied."""
    size = len(rows.data) // max(1, count)
    return BufferRows(buffer=rows.buffer, data=rows.data + rows.data[len(rows.data) - size :])


def passed(draw: Draw, state: ReuseState) -> Call:
    """Compose in an epoch that has passed."""
    call = _right(draw, state)
    return Call(op=call.op, args={**call.args, "epoch": (state.epoch or 0) - draw(st.integers(1, 2))})


def second_batch(draw: Draw, state: ReuseState) -> Call:
    """Compose another batch under the latest epoch: one token, or one page of the last request, is another."""
    requests = list(state.batch)
    last = requests[-1]
    own = reuse_batch.own_pages(state.geometry, last)
    others = [page for page in sorted(state.pages) if page not in own]
    if others and draw(st.booleans()):
        at = draw(st.integers(0, len(own) - 1))
        requests[-1] = replace(last, table=(*own[:at], draw(st.sampled_from(others)), *own[at + 1 :]))
    elif last.extend_tokens % state.geometry.page_size > 1:
        requests[-1] = replace(last, extend_tokens=last.extend_tokens - 1)
    else:
        requests[-1] = replace(last, request="other")
    return composed(state, draw(st.integers(0, 1)), state.epoch or 0, tuple(requests), "valid")


def absent(draw: Draw, state: ReuseState) -> Call:
    """Read a view that is not there: of another epoch, or of a layer that nobody composed."""
    buffer = draw(st.sampled_from(buffers_of(state.pool)))
    missing = [layer for layer in range(state.pool.all_layers) if layer not in state.views]
    others = [(0, (state.epoch or 0) + 1), (0, (state.epoch or 0) - 1), *((layer, state.epoch) for layer in missing)]
    layer, epoch = draw(st.sampled_from(others))
    if state.pool.layout == "mha_bf16" or draw(st.booleans()):
        return _call("dense", layer, epoch, buffer=buffer)
    call = selection(draw, state) if state.views else selecting(state, layer, "valid", 1)
    return Call(op=call.op, args={**call.args, "layer": layer, "epoch": epoch}) if "epoch" in call.args else call


def odd_queries(draw: Draw, state: ReuseState) -> Call:
    """Put queries to a view that are the rows of no domain."""
    call = draw(st.sampled_from((selection, attention)))(draw, state)
    if "queries" not in call.args:
        return call  # type: ignore[no-any-return]
    queries = list(call.queries)
    where = draw(st.integers(0, len(queries) - 1))
    one = queries[where]
    row_bytes, weight_bytes = (len(data) // max(1, one.rows) for data in (one.query, one.weights))
    fewer = replace(
        one, rows=one.rows + 1, query=one.query + bytes(row_bytes), weights=one.weights + bytes(weight_bytes)
    )
    static = replace(one, domain="static" if one.rows else "dense")
    queries[where] = draw(st.sampled_from((fewer, static, static, replace(one, query=one.query + b"\0"))))
    return Call(op=call.op, args={**call.args, "queries": tuple(queries)})


def odd_positions(draw: Draw, state: ReuseState) -> Call:
    """Attend to a position of another request, or of none."""
    layer = draw(st.sampled_from(sorted(state.views)))
    call = attending(state, layer, "valid", 2, 1)
    tokens = reuse_batch.tokens(state.batch)
    last = len(state.batch) - 1
    places = state.places(state.batch, "valid") or ()
    rank, row = next(
        (at, i) for at, rows in enumerate(places) for i, place in enumerate(rows) if place and place[0] == last
    )
    base = reuse_batch.bases(state.batch)[last]
    wrong = draw(st.sampled_from([tokens, tokens + 3, -2, *([base - 1] if base else [])]))
    indices = [list(given.indices) for given in call.indices]
    indices[rank][row] = (indices[rank][row][0], wrong)
    given = tuple(RankTopK(indices=tuple(rows)) for rows in indices)
    return Call(op=call.op, args={**call.args, "indices": given})


def _call(method: str, layer: int, epoch: int | None, **args: Any) -> Call:
    return Call(op=f"reuse.{method}", args={"layer": layer, "epoch": epoch, **args})

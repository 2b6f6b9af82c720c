"""How histories of direct write are drawn: requests that come, grow in chunks and give way, on tiny pools.

The suite picks logical pages itself: on each page's lane a free one where there is one, else one of a request that
gives way. After each write the layer is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import BufferRows, PoolConfig, RankRows
from sharedkv_conformance.draws.computed_rows import computed_row, garbage_row, row_number
from sharedkv_conformance.draws.page_order import order_fault
from sharedkv_conformance.model.direct_write_refusals import dealt
from sharedkv_conformance.model.direct_write_state import DirectWriteState
from sharedkv_conformance.model.planning_batch import compute_rows
from sharedkv_conformance.model.planning_split import page_owners
from sharedkv_conformance.model.pool import buffers_of, computed_row_bytes
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, DirectWriteState], Call]
Batch = tuple[ExtendRequest, ...]
Args = dict[str, Any]

NAMES = 5
LONG_POOL = 1 << 20
"""Pools of more pages are only asked where pages lie: nobody has the memory for them."""


# -- sessions --------------------------------------------------------------------------------------------------------


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a tiny pool: two to four ranks, two to four pages a lane, often with surplus pages."""
    most_ranks = min(limits.get("max_cp_size", 4), limits.get("max_pages", 16) // 2)
    cp_size = draw(st.sampled_from([size for size in (2, 3, 4) if size <= most_ranks]))
    page_size = draw(st.sampled_from([size for size in (4, 4, 4, 2, 2, 16) if size <= limits.get("max_page_size", 16)]))
    lane_pages = draw(st.integers(2, max(2, min(4 if page_size < 16 else 2, limits.get("max_pages", 16) // cp_size))))  # noqa: PLR2004
    pages = lane_pages * cp_size
    pages += draw(st.integers(0, min(cp_size - 1, max(0, limits.get("max_pages", 16) - pages))))
    return OpenConfig(cp_size=cp_size, page_size=page_size, pages=pages, pool=pool_config(draw))


def pool_config(draw: Draw) -> PoolConfig:
    """Draw a layout, most often the plain one."""
    layout = draw(st.sampled_from(("mla_bf16", "mla_bf16", "mla_fp8", "mla_fp8", "mha_bf16")))
    return PoolConfig(layout=layout, layers=draw(st.sampled_from((2, 1))), kv_heads=2, head_dim=4)


# -- calls -----------------------------------------------------------------------------------------------------------


def next_call(draw: Draw, state: DirectWriteState) -> Call:
    """Draw the next call: a look where one is due, a read before it where bytes may be late, else what makes sense."""
    if state.config.pages > LONG_POOL:
        return draw(st.sampled_from((place, page_at)))(draw, state)  # type: ignore[no-any-return]
    if "late_writes" in state.faults and any(state.due.values()) and draw(st.booleans()):
        return read_due(draw, state)
    if (look := state.next_look()) is not None:
        return look
    kinds: list[Kind] = [*[write] * 5, plan, plan, plan, *[faulty_write] * 4, place, page_at, look_again, read_nothing]
    kinds += [read, read] if state.live else []
    kinds += [] if "late_writes" in state.faults else [inject, inject]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def inject(draw: Draw, state: DirectWriteState) -> Call:
    """Let writes be late from now on."""
    return Call(op="probe.inject", args={"fault": "late_writes"})


def look_again(draw: Draw, state: DirectWriteState) -> Call:
    """Look at a layer that was perhaps not written."""
    return Call(op="probe.pool", args={"layer": draw(st.integers(0, state.pool.all_layers - 1))})


def place(draw: Draw, state: DirectWriteState) -> Call:
    """Ask where pages lie: the first, the last, the dummy, sometimes one that is not of the pool."""
    last = state.geometry.cp_size * state.geometry.lane_pages
    inside = (0, 1, 2, state.geometry.cp_size, state.geometry.cp_size + 1, last - 1, last)
    pages = draw(st.lists(st.sampled_from(inside), min_size=1, max_size=4))
    if draw(st.sampled_from((False, False, True))):
        outside = (last + 1, last + state.geometry.cp_size, -1, -last)
        pages.insert(draw(st.integers(0, len(pages))), draw(st.sampled_from(outside)))
    return Call(op="direct_write.place", args={"pages": tuple(pages)})


def page_at(draw: Draw, state: DirectWriteState) -> Call:
    """Ask which page lies at a place: of any lane, of no lane, and where no page lies."""
    ranks, pages = state.geometry.cp_size, state.geometry.lane_pages
    inside = st.tuples(st.integers(0, ranks - 1), st.sampled_from((1, 2, pages)))
    outside = st.sampled_from(((ranks, 1), (-1, 1), (0, pages + 1), (0, -1), (ranks - 1, pages + 1), (-1, 0), (-1, 0)))
    lane, physical = draw(inside if draw(st.booleans()) else outside)
    return Call(op="direct_write.page_at", args={"lane": lane, "physical": physical})


def plan(draw: Draw, state: DirectWriteState) -> Call:
    """Ask for the plan of the batch that is written next, for its compute rows."""
    args = {"batch": batch(draw, state), "static_multiple": draw(st.sampled_from((1, 2, 4)))}
    return Call(op="planning.plan", args=args)


def write(draw: Draw, state: DirectWriteState) -> Call:
    """Write one layer of a batch."""
    return Call(op="direct_write.write", args=write_args(draw, state))


def read(draw: Draw, state: DirectWriteState) -> Call:
    """Read rows of requests, forth or back or in turns."""
    locations: list[int] = []
    for name in draw(st.lists(st.sampled_from(sorted(state.live)), min_size=1, max_size=2, unique=True)):
        tokens, pages = state.live[name]
        prefix = state.geometry.pages_for(tokens) - len(pages)  # pages of a prefix that nobody wrote have no id
        tokens -= prefix * state.geometry.page_size
        locations += state.geometry.locations(pages, tokens)
    locations = locations[:: draw(st.sampled_from((1, -1, 2, 3)))]
    return _read(draw, state, draw(st.integers(0, state.pool.all_layers - 1)), locations)


def read_due(draw: Draw, state: DirectWriteState) -> Call:
    """Read all that was just written, before anything else is ordered after it."""
    layer = draw(st.sampled_from([layer for layer, due in state.due.items() if due]))
    return _read(draw, state, layer, list(state.due[layer]))


def read_nothing(draw: Draw, state: DirectWriteState) -> Call:
    """Read what is not there: a location outside the pool, a layer or a buffer that nobody has."""
    size, last = state.geometry.page_size, state.geometry.cp_size * state.geometry.lane_pages
    kind = draw(st.sampled_from(("location", "layer", "buffer")))
    layer, buffer, locations = 0, buffers_of(state.pool)[0], [size]
    if kind == "location":
        locations.append(draw(st.sampled_from((-1, -size, (last + 1) * size))))
    elif kind == "layer":
        layer = draw(st.sampled_from((-1, state.pool.all_layers)))
    else:
        buffer = "key" if "latent" in buffers_of(state.pool) else "latent"
    return Call(op="direct_write.read", args={"layer": layer, "buffer": buffer, "locations": tuple(locations)})


def _read(draw: Draw, state: DirectWriteState, layer: int, locations: Sequence[int]) -> Call:
    buffer = draw(st.sampled_from(buffers_of(state.pool)))
    return Call(op="direct_write.read", args={"layer": layer, "buffer": buffer, "locations": tuple(locations)})


# -- batches, pages and rows -----------------------------------------------------------------------------------------


def batch(draw: Draw, state: DirectWriteState) -> Batch:
    """Draw one to three requests whose new pages fit into the pool together; one that ended at a page may go on."""
    size, ranks = state.geometry.page_size, state.geometry.cp_size
    room = [state.geometry.lane_pages] * ranks
    first = draw(st.integers(0, NAMES - 1))
    requests: list[ExtendRequest] = []
    for index in range(draw(st.sampled_from((2, 1, 3)))):
        name = f"r{(first + index) % NAMES}"
        pages = _fitting(state, room, draw(st.integers(1, 2 * ranks)))
        if not pages:
            break
        held = state.live.get(name, (1, ()))[0]
        prefix = held if held % size == 0 else draw(st.sampled_from((0, 1, 2))) * size
        tokens = pages * size - draw(st.sampled_from((0, 1, size - 1)))
        requests.append(ExtendRequest(request=name, prefix_tokens=prefix, extend_tokens=tokens))
    return tuple(requests)


def _fitting(state: DirectWriteState, room: list[int], pages: int) -> int:
    """Return at most so many pages as lanes have room for, and take them."""
    while pages:
        owners = page_owners(state.geometry, pages * state.geometry.page_size)
        need = [owners.count(lane) for lane in range(state.geometry.cp_size)]
        if all(have >= wanted for have, wanted in zip(room, need, strict=True)):
            room[:] = [have - wanted for have, wanted in zip(room, need, strict=True)]
            return pages
        pages -= 1
    return 0


def locations_for(draw: Draw, state: DirectWriteState, requests: Batch) -> tuple[int, ...]:
    """Pick a page on each owner's lane, free ones first and those of growing requests last."""
    grown = {page for r in requests for page in state.live.get(r.request, (0, ()))[1]}
    held = {page for _, pages in state.live.values() for page in pages}
    backwards = draw(st.booleans())
    taken: set[int] = set()
    locations: list[int] = []
    for request in requests:
        table = []
        for owner in page_owners(state.geometry, request.extend_tokens):
            lane = [state.geometry.logical(owner, place) for place in range(1, 1 + state.geometry.lane_pages)]
            lane = lane[::-1] if backwards else lane
            page = min((p for p in lane if p not in taken), key=lambda p: (p in grown, p in held), default=lane[0])
            taken.add(page)
            table.append(page)
        locations += state.geometry.locations(table, request.extend_tokens)
    return tuple(locations)


def write_args(draw: Draw, state: DirectWriteState) -> Args:
    """Draw a write that nothing is wrong with."""
    planned = state.plan[0] if state.plan is not None and draw(st.sampled_from((True, True, False))) else None
    requests = planned or batch(draw, state)
    layer = draw(st.integers(0, state.pool.all_layers - 1))
    domain = draw(st.sampled_from(("compute", "static", "valid"))) if state.planned(requests) else "valid"
    locations = locations_for(draw, state, requests)
    tail = draw(st.sampled_from((0, 0, 1, 3)))
    return {
        "layer": layer,
        "batch": requests,
        "locations": locations + (0,) * tail,
        "static_tokens": len(locations) + tail,
        "rows": rank_rows(state, layer, requests, domain, draw(st.sampled_from((None, 0, None, 2, None)))),
    }


def rank_rows(
    state: DirectWriteState, layer: int, requests: Batch, domain: str, padding: int | None
) -> tuple[RankRows, ...]:
    """Return what each rank is said to have computed: its valid rows where its plan has them, garbage elsewhere.

    Static rows are those of the rank that computes most, and padding; without any, each rank gives its own.
    """
    numbers = [
        row_number(turn=state.writes, request=index, position=request.prefix_tokens + token, layer=layer)
        for index, request in enumerate(requests)
        for token in range(request.extend_tokens)
    ]
    ranks = []
    plan = state.planned(requests) if domain != "valid" else None
    most = max((compute_rows(plan.segments, rank) for rank in range(state.geometry.cp_size)), default=0) if plan else 0
    for rank, tokens in enumerate(dealt(state.geometry, requests)):
        slots: list[int | None] = [numbers[token] for token in tokens]
        if plan is not None:
            is_padded = domain == "static" and padding is not None
            slots = _spread(plan, rank, slots, most + (padding or 0) if is_padded else None)
        ranks.append(_rank_rows(state.pool, domain, slots))
    return tuple(ranks)


def _spread(plan: Any, rank: int, numbers: Sequence[int | None], static: int | None) -> list[int | None]:
    """Put valid rows where the plan has them among its compute rows; None stands for a row that nobody keeps."""
    spread: list[int | None] = [None] * (compute_rows(plan.segments, rank) if static is None else static)
    for part in plan.segments:
        if part.rank == rank:
            for token in range(part.end - part.start):
                spread[part.first_compute_row + token] = numbers[part.first_row + token]
    return spread


def _rank_rows(pool: PoolConfig, domain: str, numbers: Sequence[int | None]) -> RankRows:
    buffers = tuple(
        BufferRows(
            buffer=buffer,
            data=b"".join(
                garbage_row(pool, buffer) if number is None else computed_row(pool, buffer, number)
                for number in numbers
            ),
        )
        for buffer in buffers_of(pool)
    )
    return RankRows(domain=domain, rows=len(numbers), buffers=buffers)


# -- what is refused -------------------------------------------------------------------------------------------------


def faulty_write(draw: Draw, state: DirectWriteState) -> Call:
    """Draw a write with exactly one fault."""
    fault = draw(st.sampled_from(FAULTS))
    return Call(op="direct_write.write", args=fault(draw, state, write_args(draw, state)))


def rows_fault(draw: Draw, state: DirectWriteState, args: Args) -> Args:
    """Let one rank, most often the last, give a row too few or too many, or leave a rank out."""
    last = state.geometry.cp_size - 1
    rank = draw(st.sampled_from((*range(last), last, last)))
    given: RankRows = args["rows"][rank]
    kind = draw(st.sampled_from(("more", "fewer", "rank missing")))
    if kind == "rank missing":
        return {**args, "rows": args["rows"][:-1]}
    due = (state.compute_rows(args["batch"]) or ())[rank] if given.domain == "static" else given.rows
    wanted = due + 1 if kind == "more" else due - 1
    if wanted < 0 or (given.domain == "static" and kind == "more"):
        wanted, given = given.rows + 1, replace(given, domain="valid" if given.domain == "static" else given.domain)
    return {**args, "rows": _instead(args["rows"], rank, _resized(state.pool, given, wanted))}


def _resized(pool: PoolConfig, given: RankRows, rows: int) -> RankRows:
    buffers = tuple(
        replace(b, data=(b.data + garbage_row(pool, b.buffer))[: rows * len(garbage_row(pool, b.buffer))])
        for b in given.buffers
    )
    return replace(given, rows=rows, buffers=buffers)


def bytes_fault(draw: Draw, state: DirectWriteState, args: Args) -> Args:
    """Let one buffer of one rank have a few bytes too many or too few, or a whole row."""
    rank = draw(st.integers(0, state.geometry.cp_size - 1))
    given: RankRows = args["rows"][rank]
    which = draw(st.integers(0, len(given.buffers) - 1))
    data, row = given.buffers[which].data, computed_row_bytes(state.pool, given.buffers[which].buffer)
    if data and draw(st.booleans()):
        data = data[: -draw(st.sampled_from((1, 4, row, row)))]
    else:
        data += bytes(draw(st.sampled_from((1, 16, row, row))))
    buffers = _instead(given.buffers, which, replace(given.buffers[which], data=data))
    return {**args, "rows": _instead(args["rows"], rank, replace(given, buffers=buffers))}


def locations_fault(draw: Draw, state: DirectWriteState, args: Args) -> Args:
    """Give too few locations, or more without proof: unrecorded, otherwise recorded, or a tail that is not all zero."""
    tokens = sum(request.extend_tokens for request in args["batch"])
    own, static = args["locations"][:tokens], tokens
    kind = draw(st.sampled_from(("fewer", "fewer", "unrecorded", "otherwise recorded", "not zero")))
    spare = state.geometry.page_size * draw(st.sampled_from((1, 2)))
    if kind == "fewer":
        return {**args, "locations": own[:-1], "static_tokens": tokens - 1}
    if kind == "not zero":
        return {**args, "locations": (*own, 0, spare), "static_tokens": tokens + 2}
    static = tokens if kind == "unrecorded" else tokens + 3
    return {**args, "locations": (*own, 0, 0), "static_tokens": static}


def place_fault(draw: Draw, state: DirectWriteState, args: Args) -> Args:
    """Put the tokens of one page on another lane, in the dummy page, or outside the pool."""
    size, ranks = state.geometry.page_size, state.geometry.cp_size
    tokens = sum(request.extend_tokens for request in args["batch"])
    own = args["locations"][:tokens]
    pages = list(dict.fromkeys(location // size for location in own))
    lanes = [state.geometry.lane(page) for page in pages]
    later = [page for at, page in enumerate(pages) if lanes[at] in lanes[:at]]
    page = draw(st.sampled_from((*pages, *later, *later)))
    above = page + state.geometry.lane_pages * ranks
    taken, lane = {location // size for location in own}, state.geometry.lane(page)
    others = [p for p in range(1, 1 + ranks * state.geometry.lane_pages) if state.geometry.lane(p) != lane]
    free = [p for p in others if p not in taken] or others
    other = draw(st.sampled_from(free))
    new = draw(st.sampled_from((other, 0, above, other, -1)))
    moved = tuple(new * size + where % size if where // size == page else where for where in own)
    return {**args, "locations": moved + args["locations"][tokens:]}


def name_fault(draw: Draw, state: DirectWriteState, args: Args) -> Args:
    """Name a layer, a buffer or a domain that is not there."""
    kind = draw(st.sampled_from(("layer", "buffer", "domain")))
    if kind == "layer":
        return {**args, "layer": draw(st.sampled_from((-1, state.pool.all_layers)))}
    rank = draw(st.integers(0, state.geometry.cp_size - 1))
    given: RankRows = args["rows"][rank]
    if kind == "buffer":
        renamed = replace(given.buffers[-1], buffer="scales")
        return {**args, "rows": _instead(args["rows"], rank, replace(given, buffers=(*given.buffers[:-1], renamed)))}
    return {**args, "rows": _instead(args["rows"], rank, replace(given, domain="padded"))}


def batch_fault(draw: Draw, state: DirectWriteState, args: Args) -> Args:
    """Give no request at all, or one that has no page-aligned split, with rows and locations that would go with it."""
    size = state.geometry.page_size
    if draw(st.sampled_from((False, False, True))):
        none = tuple(_rank_rows(state.pool, "valid", ()) for _ in range(state.geometry.cp_size))
        return {**args, "batch": (), "locations": (), "static_tokens": 0, "rows": none}
    which = draw(st.integers(0, len(args["batch"]) - 1))
    prefix = draw(st.sampled_from((1, size + 1, -size, -1)))
    odd = replace(args["batch"][which], prefix_tokens=prefix)
    return {**args, "batch": _instead(args["batch"], which, odd)}


FAULTS = (batch_fault, place_fault, order_fault, name_fault, locations_fault, bytes_fault, rows_fault)


def _instead(values: Sequence[Any], index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])

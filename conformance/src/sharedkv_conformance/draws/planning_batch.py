"""How calls on batches are drawn: mostly batches that have a plan, mostly asked about again in another call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.planning_batch import compute_rows, new_tokens, valid_rows
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, PlanningState], Call]
Batch = tuple[ExtendRequest, ...]
Rows = tuple[tuple[int, ...], ...]

MOST_TOKENS = 64
FEW_RANKS = 4
MULTIPLES = (1, 2, 3, 8)
# Locations behind the new tokens, and the recorded length beyond that of the new tokens.
MISSING = (-1,)
TAILS: tuple[tuple[tuple[int, ...], int], ...] = (
    ((), 0),
    ((0, 0, 0), 3),
    (MISSING, 0),
    ((0,), 1),
    ((0, 0, 0), 2),
    ((0, 7), 2),
    (MISSING, -1),
    ((), 0),
    ((5, 0), 2),
    ((), 1),
    ((0,), 1),
    ((0, 0), 0),
    ((0, 9), 0),
)
# Remaining tokens and budget of a chunk, each in pages and tokens more.
CHUNKS = (
    ((5, 1), (3, 1)),
    ((1, 1), (1, 1)),
    ((5, 1), (0, 1)),
    ((0, 0), (3, 0)),
    ((0, 1), (0, 1)),
    ((3, 0), (1, 1)),
    ((3, 1), (9, 0)),
    ((0, 0), (0, 0)),
    ((3, -1), (1, -1)),
    ((7, -1), (5, 0)),
    ((3, 0), (3, -1)),
    ((2, -1), (0, 0)),
)


def small_opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a geometry of few ranks, each of which is to be played."""
    cp_size = draw(st.sampled_from([size for size in (2, 3, 4) if size <= limits.get("max_cp_size", 4)]))
    return OpenConfig(cp_size=cp_size, page_size=min(4, limits.get("max_page_size", 4)), pages=4 * cp_size)


def batch_call(draw: Draw, state: PlanningState) -> Call:
    """Draw a call on a batch: a plan to begin with, then calls on batches that were planned."""
    kind: Kind = draw(st.sampled_from(KINDS if state.sound_plans else FIRST_KINDS))
    return kind(draw, state)


def plan(draw: Draw, state: PlanningState) -> Call:
    """Ask for the plan of a new batch."""
    return _call("plan", batch=drawn_batch(draw, state), static_multiple=draw(st.sampled_from(MULTIPLES)))


def plan_to_no_multiple(draw: Draw, state: PlanningState) -> Call:
    """Ask for a plan with a multiple below one."""
    return _call("plan", batch=drawn_batch(draw, state), static_multiple=draw(st.sampled_from((0, -1))))


def faulty(draw: Draw, state: PlanningState) -> Call:
    """Ask about a batch that has no plan: an empty one, or one with a faulty request in company."""
    size = state.geometry.page_size
    wrong = draw(st.sampled_from(((0, 0), (size, -1), (size + 1, 3), (size - 1, size), (-size, 4))))
    batch = drawn_batch(draw, state)
    place = draw(st.integers(0, len(batch)))
    faulty_batch = (*batch[:place], _request(len(batch), *wrong), *batch[place:])
    return _about(draw, draw(st.sampled_from((faulty_batch, (), faulty_batch))))


def _about(draw: Draw, batch: Batch) -> Call:
    """Draw any call on a batch, with as many values as it has tokens."""
    tokens = max(0, new_tokens(batch))
    calls = (
        _call("plan", batch=batch, static_multiple=1),
        _call("descriptors", batch=batch),
        _call("deal", batch=batch, values=tuple(range(tokens))),
        _call("restore", batch=batch, rows=((), ())),
        _call("collect_last", batch=batch, rows=((), ())),
        _call("strip", batch=batch, locations=tuple(range(4, tokens + 4)), static_tokens=tokens),
    )
    return _chosen(draw, calls)


def descriptors(draw: Draw, state: PlanningState) -> Call:
    """Ask for the descriptors of a batch that was planned."""
    return _call("descriptors", batch=planned(draw, state))


def deal(draw: Draw, state: PlanningState) -> Call:
    """Deal values, mostly as many as there are tokens."""
    batch = planned(draw, state)
    tokens = max(0, new_tokens(batch) + draw(st.sampled_from((0, 0, 1, 0, -1))))
    return _call("deal", batch=batch, values=tuple(range(100, 100 + tokens)))


def restore(draw: Draw, state: PlanningState) -> Call:
    """Restore valid rows, mostly as many as each rank has."""
    batch = planned(draw, state)
    segments = state.sound_plans[batch].segments
    rows = _numbered([valid_rows(segments, rank) for rank in range(state.geometry.cp_size)])
    return _call("restore", batch=batch, rows=_perhaps_wrong(draw, rows))


def collect_last(draw: Draw, state: PlanningState) -> Call:
    """Collect last tokens from compute rows, mostly as many as each rank has by the plan that was given."""
    batch = planned(draw, state)
    segments = state.sound_plans[batch].segments
    rows = _numbered([compute_rows(segments, rank) for rank in range(state.geometry.cp_size)])
    return _call("collect_last", batch=batch, rows=_perhaps_wrong(draw, rows))


def again(draw: Draw, state: PlanningState) -> Call:
    """Ask once more for a plan that was given, or repeat any earlier call."""
    plans = [call for call in state.calls if call.op == "planning.plan"]
    return _chosen(draw, tuple(draw(st.sampled_from((plans, state.calls)))))


def numbers_call(draw: Draw, state: PlanningState) -> Call:
    """Draw a call that looks at numbers alone, whatever was planned."""
    kind: Kind = draw(st.sampled_from((strip, chunk)))
    return kind(draw, state)


def strip(draw: Draw, state: PlanningState) -> Call:
    """Strip locations: without a tail, with one that is proven or not in one of two ways, or with one missing."""
    batch = drawn_batch(draw, state)[:2]
    tokens = new_tokens(batch)
    tail, recorded = draw(st.sampled_from(TAILS))
    locations = tuple(range(4, 3 + tokens)) if tail is MISSING else (*range(4, 4 + tokens), *tail)
    return _call("strip", batch=batch, locations=locations, static_tokens=tokens + recorded)


def chunk(draw: Draw, state: PlanningState) -> Call:
    """Ask for the next chunk: lengths and budgets close to page borders, sometimes a fault."""
    size = state.geometry.page_size
    remaining, budget = (pages * size + more for pages, more in draw(st.sampled_from(CHUNKS)))
    prefix = draw(st.sampled_from((0, size, 8 * size, 0, 3 * size, 1, -size)))
    return _call("chunk", prefix_tokens=prefix, remaining_tokens=remaining, budget_tokens=budget)


def planned(draw: Draw, state: PlanningState) -> Batch:
    """Choose a batch that was planned."""
    chosen: Batch = draw(st.sampled_from(tuple(state.sound_plans)))
    return chosen


def drawn_batch(draw: Draw, state: PlanningState) -> Batch:
    """Draw a batch of one to four requests that have a split, each a page or so, or with pages in every block."""
    count = draw(st.sampled_from((1, 2, 2, 3, 4) if state.geometry.cp_size <= FEW_RANKS else (1, 2, 2)))
    return tuple(_drawn_request(draw, state, index) for index in range(count))


def _drawn_request(draw: Draw, state: PlanningState, index: int) -> ExtendRequest:
    size, blocks = state.geometry.page_size, 2 * state.geometry.cp_size
    most = max(2, min(blocks + 2, MOST_TOKENS // size))
    pages = draw(st.sampled_from((most - 1, most - 1, 0, most - 1, 1, 0)))
    tail = draw(st.sampled_from((0, 1, size - 1)))
    return _request(index, draw(st.sampled_from((0, 0, 1, 3))) * size, max(1, pages * size + tail))


def _request(index: int, prefix_tokens: int, extend_tokens: int) -> ExtendRequest:
    return ExtendRequest(request=f"r{index}", prefix_tokens=prefix_tokens, extend_tokens=extend_tokens)


def _numbered(counts: list[int]) -> Rows:
    """Return rows of so many values a rank, all different."""
    return tuple(tuple(range(1000 * (rank + 1), 1000 * (rank + 1) + count)) for rank, count in enumerate(counts))


def _perhaps_wrong(draw: Draw, rows: Rows) -> Rows:
    """Return rows as they are, or one row too few or too many on a rank, or without a rank."""
    first, *others = rows
    wrong: tuple[Rows, ...] = ((first[:-1], *others), ((*first, 7), *others), rows[:-1], (*rows, ()))
    chosen: Rows = draw(st.sampled_from((rows, rows, rows, rows, *wrong)))
    return chosen


def _chosen(draw: Draw, calls: tuple[Call, ...]) -> Call:
    chosen: Call = draw(st.sampled_from(calls))
    return chosen


def _call(method: str, **args: Any) -> Call:
    return Call(op=f"planning.{method}", args=args)


FIRST_KINDS: tuple[Kind, ...] = (plan, plan, plan, faulty)
KINDS: tuple[Kind, ...] = (
    plan,
    deal,
    restore,
    collect_last,
    descriptors,
    plan,
    deal,
    restore,
    faulty,
    plan_to_no_multiple,
    again,
)

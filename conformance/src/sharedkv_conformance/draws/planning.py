"""How histories of splits and of batch plans are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.planning_batch import batch_call, numbers_call
from sharedkv_conformance.laws.planning import VECTORS
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, PlanningState], Call]


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a supported geometry within the limits of the implementation, mostly one whose blocks fill quickly."""
    ranks = (2, 3, 4, 2, 3, 5, 8, 2, 6, 7, 16)
    cp_size = draw(st.sampled_from([size for size in ranks if size <= limits.get("max_cp_size", 16)]))
    sizes = [size for size in (4, 2, 4, 2, 16, 4, 64) if size <= limits.get("max_page_size", 64)]
    return OpenConfig(cp_size=cp_size, page_size=draw(st.sampled_from(sizes)), pages=4 * cp_size)


def next_call(draw: Draw, state: PlanningState) -> Call:
    """Draw a call on a batch, or a request: usually one that has a split, with page and block borders close by."""
    kind: Kind = draw(st.sampled_from(KINDS))
    return kind(draw, state)


def plausible(draw: Draw, state: PlanningState) -> Call:
    """Draw a request that has a split, its length near a page border."""
    size, blocks = state.geometry.page_size, 2 * state.geometry.cp_size
    pages = draw(st.integers(0, 3 * blocks))
    tail = draw(st.sampled_from((0, 1, size - 1)))
    return _split(draw(st.sampled_from((0, 1, 2, 3, 4, 1000))) * size, max(1, pages * size + tail))


def table_row(draw: Draw, state: PlanningState) -> Call:
    """Draw a row of the written table of this geometry, or any request when the table has none."""
    here = (state.geometry.cp_size, state.geometry.page_size)
    rows = sorted(key for key in VECTORS if key[:2] == here)
    return _split(*draw(st.sampled_from(rows))[2:]) if rows else plausible(draw, state)


def faulty(draw: Draw, state: PlanningState) -> Call:
    """Draw a request that has no split: prefix off a page border or negative, or nothing to compute."""
    size = state.geometry.page_size
    prefix = draw(st.sampled_from((0, size, 1, size + 1, size - 1, -size, -1)))
    extend = draw(st.sampled_from((0, -1) if prefix in (0, size) else (0, 1, 3 * size)))
    return _split(prefix, extend)


def _split(prefix_tokens: int, extend_tokens: int) -> Call:
    return Call(op="planning.split", args={"prefix_tokens": prefix_tokens, "extend_tokens": extend_tokens})


KINDS: tuple[Kind, ...] = (
    plausible,
    table_row,
    faulty,
    batch_call,
    batch_call,
    batch_call,
    batch_call,
    numbers_call,
    numbers_call,
)

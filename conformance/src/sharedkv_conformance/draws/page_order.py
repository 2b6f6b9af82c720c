"""Writes whose new tokens do not fill pages of their own, in order and each from its start; nothing else is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.model.direct_write_state import DirectWriteState

Draw = Callable[..., Any]
Args = dict[str, Any]


def order_fault(draw: Draw, state: DirectWriteState, args: Args) -> Args:
    """Let the tokens of a page stand out of order, not from its start, over two pages, or all in one slot."""
    size, at = state.geometry.page_size, 0
    starts = []
    for request in args["batch"]:
        starts += [(s, min(size, at + request.extend_tokens - s)) for s in range(at, at + request.extend_tokens, size)]
        at += request.extend_tokens
    first, count = draw(st.sampled_from(starts))
    own = list(args["locations"][first : first + count])
    lane = state.geometry.lane(own[0] // size)
    alike = [args["locations"][s] for s, _ in starts if state.geometry.lane(args["locations"][s] // size) == lane]
    others = [where for where in alike if where != own[0]]
    kinds = (
        "backwards",
        "one slot",
        "not from its start",
        "over two pages",
        *["page of another"] * (3 if others else 0),
    )
    kind = draw(st.sampled_from(kinds))
    if kind == "page of another":
        other = draw(st.sampled_from(others))
        own = [other + offset for offset in range(count)]
    elif kind == "not from its start" and count < size:
        own = [where + 1 for where in own]
    elif kind == "over two pages":
        page = own[0] // size
        away = size * state.geometry.cp_size * (1 if page <= state.geometry.cp_size else -1)
        own[-1] += away
    elif count > 1:
        own = own[::-1] if kind == "backwards" else [own[0]] * count
    return {**args, "locations": (*args["locations"][:first], *own, *args["locations"][first + count :])}

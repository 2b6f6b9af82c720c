"""How tree histories of the host tier are drawn: small lanes on both tiers, and few tokens, so that prefixes meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import FreeRoom, HostConfig, OpenConfig
from sharedkv_conformance.draws import host_tier_admission, host_tier_tree, host_tree_kept
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, HostTreeState], Call]
SOURCES: tuple[Callable[[HostTreeState], list[Kind]], ...] = (
    host_tier_tree.kinds,
    host_tier_admission.kinds,
    host_tree_kept.kinds,
)
"""Who offers calls; each names a call as often as it is to be drawn."""


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw lanes of four to six device pages, and of fewer or more host pages."""
    cp_size = draw(st.sampled_from([size for size in (2, 3) if size <= limits.get("max_cp_size", 3)]))
    lane_pages = min(draw(st.sampled_from((5, 4, 6))), limits.get("max_pages", 18) // cp_size)
    host_pages = min(draw(st.sampled_from((4, 2, 6, 1))), limits.get("max_host_pages", 6))
    page_size = draw(st.sampled_from([size for size in (2, 4) if size <= limits.get("max_page_size", 4)]))
    host = HostConfig(
        write=draw(st.sampled_from(("write_through", "write_through_selective", "write_back"))),
        free_room=FreeRoom(target=draw(st.integers(0, 2)), min_chunk=draw(st.integers(1, 2))),
        load_back_least=draw(st.sampled_from((1, 1, 2))),
        load_back_most=draw(st.sampled_from((0, 0, 2))),
    )
    room = FreeRoom(target=draw(st.integers(0, 2)), min_chunk=draw(st.integers(1, 2)))
    return OpenConfig(
        cp_size=cp_size,
        page_size=page_size,
        pages=lane_pages * cp_size,
        host_pages=host_pages,
        host=host,
        free_room=room,
    )


def next_call(draw: Draw, state: HostTreeState) -> Call:
    """Draw the next call among those that make sense now."""
    kinds = [kind for source in SOURCES for kind in source(state)]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)

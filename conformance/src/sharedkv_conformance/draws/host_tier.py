"""How histories of a host tier are drawn: small lanes near full, from pages that the history itself produced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.host_tier_state import HostTierState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, HostTierState], Call]


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a host tier whose lanes run out soon, larger or smaller than the lanes of the device."""
    cp_size = draw(st.sampled_from([size for size in (2, 3, 4) if size <= limits.get("max_cp_size", 4)]))
    page_size = draw(st.sampled_from([size for size in (4, 2, 16) if size <= limits.get("max_page_size", 16)]))
    host_pages = draw(st.integers(1, min(12, limits.get("max_host_pages", 12))))
    pages = min(limits.get("max_pages", 4 * cp_size), 4 * cp_size)
    return OpenConfig(cp_size=cp_size, page_size=page_size, pages=pages, host_pages=host_pages)


def next_call(draw: Draw, state: HostTierState) -> Call:
    """Draw the next call among those that make sense now."""
    kinds: list[Kind] = [*[allocate] * 4, free_slots, free_slots, misplaced]
    if any(lane.allocated for lane in state.lanes):
        kinds += [release] * 4
    else:
        kinds += [fill] * 8
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def allocate(draw: Draw, state: HostTierState) -> Call:
    """Ask each lane for a part of what it has free, or for all of it; sometimes a lane for more."""
    return Call(op="host_tier.allocate", args={"pages": _counts(draw, state)})


def fill(draw: Draw, state: HostTierState) -> Call:
    """Ask for all that is free, so that holes come from what is given back."""
    return Call(op="host_tier.allocate", args={"pages": state.free})


def _counts(draw: Draw, state: HostTierState) -> tuple[int, ...]:
    beyond = draw(st.sampled_from((0, 0, 1)))
    return tuple(draw(st.integers(0, free + beyond)) for free in state.free)


def release(draw: Draw, state: HostTierState) -> Call:
    """Give some pages of a lane back, in any order."""
    lane = draw(st.sampled_from([lane for lane, own in enumerate(state.lanes) if own.allocated]))
    return _release(lane, _some(draw, sorted(state.lanes[lane].allocated)))


def free_slots(draw: Draw, state: HostTierState) -> Call:
    """Look at the slots of a lane."""
    return Call(op="host_tier.free_slots", args={"lane": draw(st.integers(0, len(state.lanes) - 1))})


def misplaced(draw: Draw, state: HostTierState) -> Call:
    """Ask for something that must be refused."""
    kind: Kind = draw(st.sampled_from((misnamed, misnamed, misnamed, bad_counts, bad_lane)))
    return kind(draw, state)


def misnamed(draw: Draw, state: HostTierState) -> Call:
    """Name a page that is free, outside its lane, of another lane or named twice, among good ones."""
    lane = draw(st.integers(0, len(state.lanes) - 1))
    own = state.lanes[lane]
    named = _some(draw, sorted(own.allocated)) if own.allocated else []
    elsewhere = {page for other in state.lanes for page in other.allocated}.difference(own.allocated)
    freed = sorted(page for page in state.released[lane] if own.is_free(page))
    bad = [-1, own.capacity, *own.free_pages()[:2], *sorted(elsewhere)[:2], *freed[:2], *named[:1]]
    named.insert(draw(st.integers(0, len(named))), draw(st.sampled_from(bad)))
    return _release(lane, named)


def bad_counts(draw: Draw, state: HostTierState) -> Call:
    """Ask with a lane too few or too many, or for fewer than no page."""
    counts = list(_counts(draw, state))
    where = draw(st.integers(0, len(counts) - 1))
    odd = draw(st.sampled_from((counts[:-1], [*counts, 0], [*counts[:where], -1, *counts[where + 1 :]], [])))
    return Call(op="host_tier.allocate", args={"pages": tuple(odd)})


def bad_lane(draw: Draw, state: HostTierState) -> Call:
    """Name a lane that is not there, with pages that another lane has allocated."""
    lane = draw(st.sampled_from((-1, len(state.lanes))))
    held = sorted(state.lanes[-1].allocated | state.lanes[0].allocated)
    if held and draw(st.booleans()):
        return _release(lane, _some(draw, held))
    return Call(op="host_tier.free_slots", args={"lane": lane})


def _release(lane: int, pages: Sequence[int]) -> Call:
    return Call(op="host_tier.release", args={"lane": lane, "pages": tuple(pages)})


def _some(draw: Draw, pages: Sequence[int]) -> list[int]:
    return list(draw(st.lists(st.sampled_from(pages), min_size=1, max_size=6, unique=True)))

"""How histories of an allocator are drawn: small pools under pressure, from pages that the history itself produced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import FreeRoom, OpenConfig
from sharedkv_conformance.model.allocation_state import AllocationState
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE, IN_USE
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, AllocationState], Call]


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw a small pool whose lanes run out soon, often with surplus pages and a free-room policy."""
    most_ranks = min(limits.get("max_cp_size", 8), limits.get("max_pages", 64) // 2)
    cp_size = draw(st.sampled_from([size for size in (2, 3, 4, 8) if size <= most_ranks]))
    page_size = draw(st.sampled_from([size for size in (4, 2, 16, 64) if size <= limits.get("max_page_size", 64)]))
    lane_pages = draw(st.integers(2, max(2, min(8, limits.get("max_pages", 64) // cp_size))))
    surplus = draw(st.integers(0, cp_size - 1)) if limits.get("max_pages", 64) >= (lane_pages + 1) * cp_size else 0
    room = FreeRoom(target=draw(st.integers(0, 3)), min_chunk=draw(st.integers(1, 3)))
    return OpenConfig(cp_size=cp_size, page_size=page_size, pages=lane_pages * cp_size + surplus, free_room=room)


def next_call(draw: Draw, state: AllocationState) -> Call:
    """Draw the next call among those that make sense now."""
    held = state.pages_in(IN_USE)
    kept = state.pages_in(EVICTABLE)
    kinds: list[Kind] = [*[extend] * 5, admit, admit, flat, misplaced]
    kinds += [make_room, make_room] if kept else [make_room]
    kinds += [retain, retain, retain, release, release_locations] if held else []
    kinds += [release_kept] if kept else []
    kinds += [owners] if held or kept else []
    kinds += [restore, restore] if state.snapshots else [snapshot]
    kind: Kind = draw(st.sampled_from(kinds))
    return kind(draw, state)


def batch(draw: Draw, state: AllocationState) -> tuple[ExtendRequest, ...]:
    """Draw one to three requests that are about as large as the room that is left."""
    size = state.geometry.page_size
    requests = []
    most = sum(state.room) // state.geometry.cp_size + 2
    for index in range(draw(st.sampled_from((2, 1, 3, 5)))):
        pages = draw(st.integers(1, most))
        tokens = pages * size - draw(st.sampled_from((0, 1, size - 1)))
        prefix = draw(st.sampled_from((0, 1, 2, 3, 100))) * size
        requests.append(ExtendRequest(request=f"r{index}", prefix_tokens=prefix, extend_tokens=tokens))
    return tuple(requests)


def unplannable(draw: Draw, state: AllocationState) -> tuple[ExtendRequest, ...]:
    """Draw a batch of which one request has no owners."""
    requests = list(batch(draw, state))
    size = state.geometry.page_size
    prefix, tokens = draw(st.sampled_from(((1, 2 * size), (size + 1, 1), (-size, size), (0, 0), (size, -1))))
    where = draw(st.integers(0, len(requests)))
    requests.insert(where, ExtendRequest(request="odd", prefix_tokens=prefix, extend_tokens=tokens))
    return tuple(requests)


def extend(draw: Draw, state: AllocationState) -> Call:
    """Allocate a batch."""
    return Call(op="allocation.extend", args={"batch": batch(draw, state)})


def misplaced(draw: Draw, state: AllocationState) -> Call:
    """Ask for something that must be refused: a batch without owners, or pages that are not there to give back."""
    kind: Kind = draw(st.sampled_from((refused_batch, foreign, freed_again)))
    return kind(draw, state)


def refused_batch(draw: Draw, state: AllocationState) -> Call:
    """Allocate, admit or make room for a batch that cannot be planned."""
    op = draw(st.sampled_from(("allocation.extend", "allocation.extend", "allocation.admit", "allocation.make_room")))
    return Call(op=op, args={"batch": unplannable(draw, state)})


def foreign(draw: Draw, state: AllocationState) -> Call:
    """Name pages that are free, outside the pool, the dummy, or named twice, among good ones."""
    held = state.pages_in(IN_USE)
    last = state.geometry.cp_size * state.geometry.lane_pages
    bad = [0, last + 1, last + state.geometry.cp_size, *state.pages_in("free")[:3], *sorted(state.released)[:2]]
    named = _some(draw, held) if held else []
    page = draw(st.sampled_from([*bad, *named]))
    named.insert(draw(st.integers(0, len(named))), page)
    op = draw(st.sampled_from(("allocation.release", "allocation.release_locations", "allocation.retain")))
    if op == "allocation.release_locations":
        size = state.geometry.page_size
        offset = draw(st.sampled_from((0, size - 1)))
        return Call(op=op, args={"locations": tuple(page * size + offset for page in named)})
    return Call(op=op, args={"pages": tuple(named)})


def freed_again(draw: Draw, state: AllocationState) -> Call:
    """Give a page back that was given back before, after one that is fine."""
    free = sorted(page for page in state.released if state.pages.state(page) == FREE)
    if not free:
        return foreign(draw, state)
    return Call(op="allocation.release", args={"pages": (*state.pages_in(IN_USE)[:1], draw(st.sampled_from(free)))})


def admit(draw: Draw, state: AllocationState) -> Call:
    """Ask whether a batch fits."""
    return Call(op="allocation.admit", args={"batch": batch(draw, state)})


def make_room(draw: Draw, state: AllocationState) -> Call:
    """Make room ahead of a batch."""
    return Call(op="allocation.make_room", args={"batch": batch(draw, state)})


def flat(draw: Draw, state: AllocationState) -> Call:
    """Ask for pages without owners."""
    return Call(op="allocation.allocate_flat", args={"num_pages": draw(st.integers(1, 3))})


def retain(draw: Draw, state: AllocationState) -> Call:
    """Keep pages as cache."""
    return Call(op="allocation.retain", args={"pages": tuple(_some(draw, state.pages_in(IN_USE)))})


def release(draw: Draw, state: AllocationState) -> Call:
    """Give pages in use back."""
    return Call(op="allocation.release", args={"pages": tuple(_some(draw, state.pages_in(IN_USE)))})


def release_kept(draw: Draw, state: AllocationState) -> Call:
    """Give cached pages back."""
    return Call(op="allocation.release", args={"pages": tuple(_some(draw, state.pages_in(EVICTABLE)))})


def release_locations(draw: Draw, state: AllocationState) -> Call:
    """Give pages back by some of their token locations, several in one page."""
    size = state.geometry.page_size
    offsets = draw(st.sampled_from(((0,), (1,), (size - 1,), (0, 1), (size - 1, 0), (size - 1, 1), tuple(range(size)))))
    pages = _some(draw, state.pages_in(IN_USE))
    return Call(
        op="allocation.release_locations",
        args={"locations": tuple(page * size + offset for page in pages for offset in offsets)},
    )


def owners(draw: Draw, state: AllocationState) -> Call:
    """Ask for the owners of a table that de-duplication may have patched with pages of other requests."""
    pages = _some(draw, sorted(state.pages_in(IN_USE) + state.pages_in(EVICTABLE)))
    return Call(op="allocation.owners", args={"request": f"r{draw(st.integers(0, 2))}", "pages": tuple(pages)})


def snapshot(draw: Draw, state: AllocationState) -> Call:
    """Remember the state."""
    return Call(op="allocation.snapshot")


def restore(draw: Draw, state: AllocationState) -> Call:
    """Go back to a remembered state."""
    return Call(op="allocation.restore", args={"snapshot": draw(st.sampled_from(sorted(state.snapshots)))})


def _some(draw: Draw, pages: Sequence[int]) -> list[int]:
    return list(draw(st.lists(st.sampled_from(pages), min_size=1, max_size=6, unique=True)))

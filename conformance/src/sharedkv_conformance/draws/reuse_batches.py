"""How batches of dense views are drawn: new pages of the lanes that the split asks for, prefixes of written ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.reuse import ReuseRequest
from sharedkv_conformance.draws.reuse_rows import CONTENTS
from sharedkv_conformance.model.planning_split import page_owners
from sharedkv_conformance.model.reuse_state import Batch, ReuseState

Draw = Callable[..., Any]


def batch(draw: Draw, state: ReuseState) -> Batch:
    """Draw one to three requests: new pages first, then prefixes out of what was written before."""
    room = {lane: list(_lane(state, lane)) for lane in range(state.config.cp_size)}
    wanted = draw(st.sampled_from((2, 1, 3)))
    new: list[tuple[int, tuple[int, ...]]] = []
    for _ in range(wanted):
        found = _new_pages(draw, state, room)
        new += [found] if found else []
    left = [page for page in sorted(state.pages) if any(page in pages for pages in room.values())]
    return tuple(
        ReuseRequest(request=f"r{index}", prefix_tokens=prefix_pages * size, extend_tokens=tokens, table=table)
        for index, (tokens, pages) in enumerate(new)
        for size in (state.geometry.page_size,)
        for prefix in (_some(draw, left, (2, 1, 3, 0)),)
        for prefix_pages in (len(prefix),)
        for table in ((*prefix, *pages, *_stale(draw, state)),)
    )


def _lane(state: ReuseState, lane: int) -> range:
    last = state.geometry.cp_size * state.geometry.lane_pages
    return range(lane + 1, last + 1, state.geometry.cp_size)


def _new_pages(draw: Draw, state: ReuseState, room: dict[int, list[int]]) -> tuple[int, tuple[int, ...]] | None:
    """Take the new pages of a request out of the room that is left, or fewer tokens where there is less."""
    size = state.geometry.page_size
    pages = draw(st.sampled_from((1, 2, 3, 2 * state.config.cp_size)))
    while pages and not _fits(state, room, pages):
        pages -= 1
    if not pages:
        return None
    tokens = pages * size - draw(st.sampled_from((0, 1, size - 1)))
    offset = draw(st.integers(0, 3))
    taken = [room[lane].pop(offset % len(room[lane])) for lane in page_owners(state.geometry, tokens)]
    return tokens, tuple(taken)


def _fits(state: ReuseState, room: Mapping[int, Sequence[int]], pages: int) -> bool:
    owners = page_owners(state.geometry, pages * state.geometry.page_size)
    return all(owners.count(lane) <= len(free) for lane, free in room.items())


def _stale(draw: Draw, state: ReuseState) -> tuple[int, ...]:
    return _some(draw, sorted(state.pages), (0, 2, 1))


def _some(draw: Draw, pages: Sequence[int], counts: Sequence[int]) -> tuple[int, ...]:
    """Draw a few different pages, one way or the other round."""
    count = min(len(pages), draw(st.sampled_from(counts)))
    if not count:
        return ()
    start, step = draw(st.integers(0, len(pages) - 1)), draw(st.sampled_from((1, -1)))
    return tuple(pages[(start + step * at) % len(pages)] for at in range(count))


def contents(state: ReuseState, batch: Batch, epoch: int) -> list[int]:
    """Return what each request of a batch says."""
    return [(epoch + index) % CONTENTS for index in range(len(batch))]

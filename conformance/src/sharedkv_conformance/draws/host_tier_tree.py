"""Calls on the tree itself: pages taken and given to the tree, prefixes asked for, locks, and evictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState
from sharedkv_conformance.model.lane_pages import FREE, IN_USE
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, HostTreeState], Call]
Tokens = tuple[int, ...]


def kinds(state: HostTreeState) -> list[Kind]:
    """Offer what makes sense now: pages are held before they are inserted, and a tree is there before it is evicted."""
    offered: list[Kind]
    if not state.model.tree.nodes:
        offered = [insert, insert, insert, match, lock] if len(held(state)) > 1 else [extend]
        return offered
    on_host = any(not node.pages for node in state.model.tree.nodes.values())
    offered = [*[insert] * 3, match, match, lock, evict, evict_host, misplaced]
    offered += [poll] * 6 if state.model.ledger.copies else [poll, evict, *[evict_all] * 4]
    offered += [load_back, load_back, load_back, match, lock, evict_host, evict_all] if on_host else []
    offered += [unlock] * len(state.model.held_locks)
    if not any(state.model.allocation.pages.counts(FREE)):
        offered += [evict] * 4
    elif len(held(state)) < state.config.cp_size:
        offered += [extend] * 5
    return offered


def held(state: HostTreeState) -> list[int]:
    """Return the pages that are in use and not of the tree."""
    pool, tree = state.model.allocation.pages, state.model.tree
    return sorted({page for lane in pool.by_lane(IN_USE) for page in lane} - tree.device_pages())


def tokens(draw: Draw, state: HostTreeState, most: int = 3) -> Tokens:
    """Draw tokens that go down a way of the tree or a part of it, mostly on by a few pages, and may end within one."""
    size, tree = state.config.page_size, state.model.tree
    paths = sorted((tree.path(node) for node in tree.nodes.values()), key=lambda path: (-len(path), path))
    form = draw(st.sampled_from(("on", "branch", "on", "branch", "again", "fresh", "part") if paths else ("fresh",)))
    path: Tokens = draw(st.sampled_from(paths)) if form != "fresh" else ()
    if form in ("branch", "part"):
        path = path[: draw(st.integers(0, len(path) // size)) * size]
    more = form in ("on", "branch", "fresh") and most > 0
    new = draw(st.lists(st.integers(0, 2), min_size=1, max_size=most)) if more else []
    tail = draw(st.sampled_from((0, 0, 1, size - 1)))
    return (*path, *page_tokens(new, size), *[0] * tail)


def page_tokens(pages: Sequence[int], size: int) -> Tokens:
    """Return the tokens of pages by number: 0 and 1 differ in the last token alone, 0 and 2 in the first."""
    kinds = ((0,) * size, (*[0] * (size - 1), 1), (1, *[0] * (size - 1)))
    return tuple(token for page in pages for token in kinds[page])


def way(draw: Draw, state: HostTreeState, least: int = 0) -> Tokens:
    """Draw tokens that the tree has, all of a way down or a part of it."""
    size, tree = state.config.page_size, state.model.tree
    nodes = sorted(tree.nodes.values(), key=lambda node: len(tree.path(node)))
    path = tree.path(draw(st.sampled_from(nodes[::-1])))
    pages = len(path) // size
    return path[: size * (pages if draw(st.booleans()) else draw(st.integers(min(least, pages), pages)))]


def extend(draw: Draw, state: HostTreeState) -> Call:
    """Take pages for tokens to come, as many as fit if the lanes are even."""
    most = min(state.model.allocation.pages.counts(FREE)) * state.config.cp_size
    pages = min(draw(st.sampled_from((4, 3, 6, 2, 5))), max(1, most))
    request = ExtendRequest(request="r", prefix_tokens=0, extend_tokens=pages * state.config.page_size)
    return Call(op="allocation.extend", args={"batch": (request,)})


def insert(draw: Draw, state: HostTreeState) -> Call:
    """Insert pages that are held; where the tree is resident, its own pages or others for the same tokens."""
    given = tokens(draw, state)
    size, spare = state.config.page_size, held(state)
    own = [page for node, count in state.model.tree.walk(given) for page in node.pages[:count]]
    pages: list[int] = []
    for index in range(-(-len(given) // size)):
        at_home = own[index] if index < len(own) else None
        if at_home is not None and (not spare or draw(st.sampled_from((True, True, False)))):
            pages.append(at_home)
        elif spare:
            pages.append(spare.pop(draw(st.integers(0, len(spare) - 1))))
    given = given[: len(pages) * size]
    return inserting(given, pages)


def inserting(given: Sequence[int], pages: Sequence[int], request: str = "r") -> Call:
    """Return an insert."""
    return Call(op="host_tier.insert", args={"request": request, "tokens": tuple(given), "pages": tuple(pages)})


def match(draw: Draw, state: HostTreeState) -> Call:
    """Ask for a prefix."""
    return Call(op="host_tier.match", args={"tokens": tokens(draw, state, most=1)})


def lock(draw: Draw, state: HostTreeState) -> Call:
    """Lock a prefix that the tree has, on the device or not."""
    given = way(draw, state) if state.model.tree.nodes else tokens(draw, state)
    return Call(op="host_tier.lock", args={"tokens": given})


def unlock(draw: Draw, state: HostTreeState) -> Call:
    """Give a lock up."""
    return Call(op="host_tier.unlock", args={"lock": draw(st.sampled_from(sorted(state.model.held_locks)))})


def evict(draw: Draw, state: HostTreeState) -> Call:
    """Ask each lane of the device for a few pages."""
    return Call(op="host_tier.evict", args={"deficit": _deficit(draw, state)})


def evict_all(draw: Draw, state: HostTreeState) -> Call:
    """Ask every lane of the device, or of the host, for all of its pages."""
    op = draw(st.sampled_from(("host_tier.evict", "host_tier.evict", "host_tier.evict_host")))
    return Call(op=op, args={"deficit": (state.geometry.lane_pages,) * state.config.cp_size})


def evict_host(draw: Draw, state: HostTreeState) -> Call:
    """Ask each lane of the host for a few pages."""
    return Call(op="host_tier.evict_host", args={"deficit": _deficit(draw, state)})


def poll(draw: Draw, state: HostTreeState) -> Call:
    """Acknowledge what is finished."""
    return Call(op="host_tier.poll")


def load_back(draw: Draw, state: HostTreeState) -> Call:
    """Load a way back, all of it or a part."""
    return Call(op="host_tier.load_back", args={"tokens": way(draw, state, least=1)})


def misplaced(draw: Draw, state: HostTreeState) -> Call:
    """Ask for something that must be refused, or for less than a page."""
    kind: Kind = draw(
        st.sampled_from((bad_pages, bad_pages, bad_pages, moved_pages, bad_lock, bad_deficit, less_than_a_page))
    )
    return kind(draw, state)


def bad_pages(draw: Draw, state: HostTreeState) -> Call:
    """Insert among good pages one that is free, foreign, named twice or of the tree elsewhere; or too few, too many."""
    call = insert(draw, state)
    pages, tree = list(call.pages), state.model.tree
    last = state.config.cp_size * state.geometry.lane_pages
    free = [page for lane in state.model.allocation.pages.by_lane(FREE) for page in lane]
    bad = [0, last + 1, *free[:2], *sorted(tree.device_pages())[-3:], *pages[-1:]]
    where = draw(st.integers(0, max(0, len(pages) - 1)))
    if draw(st.booleans()):
        pages[where : where + 1] = [draw(st.sampled_from(bad))]
    else:
        pages = draw(st.sampled_from((pages[:-1], [*pages, *held(state)[:1]])))
    return inserting(call.tokens, pages)


def moved_pages(draw: Draw, state: HostTreeState) -> Call:
    """Insert a way that the tree has, with two of its own pages in each other's place, or one in place of all."""
    given = way(draw, state, least=1)
    own = [page for node, count in state.model.tree.walk(given) for page in node.pages[:count]]
    spare = held(state)
    pages = [*own[1:], *own[:1], *spare][: len(given) // state.config.page_size]
    return inserting(given[: len(pages) * state.config.page_size], pages)


def bad_lock(draw: Draw, state: HostTreeState) -> Call:
    """Give up a lock that is not held, or lock what the device does not have."""
    if draw(st.booleans()):
        return Call(op="host_tier.lock", args={"tokens": tokens(draw, state, most=1)})
    return Call(op="host_tier.unlock", args={"lock": max(state.model.held_locks, default=-1) + 1})


def bad_deficit(draw: Draw, state: HostTreeState) -> Call:
    """Evict with a lane too few or too many, or fewer than no page."""
    lanes = state.config.cp_size
    odd = draw(st.sampled_from(((1,) * (lanes - 1), (1,) * (lanes + 1), (*(1,) * (lanes - 1), -1))))
    return Call(op=draw(st.sampled_from(("host_tier.evict", "host_tier.evict_host"))), args={"deficit": odd})


def less_than_a_page(draw: Draw, state: HostTreeState) -> Call:
    """Match or insert fewer tokens than a page has, the first of a prefix that is there."""
    starts = [node.tokens[:1] for node in state.model.tree.nodes.values() if node.parent == ROOT]
    given = draw(st.sampled_from([*starts, ()]))
    if draw(st.booleans()):
        return Call(op="host_tier.match", args={"tokens": given})
    return inserting(given, held(state)[: len(given)])


def _deficit(draw: Draw, state: HostTreeState) -> tuple[int, ...]:
    return tuple(draw(st.sampled_from((1, 0, 2))) for _ in range(state.config.cp_size))

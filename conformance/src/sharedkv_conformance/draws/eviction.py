"""How histories of plans are drawn: small trees with few different nodes, so that ties, chains and gaps are common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.eviction import EvictionNode
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.laws.eviction import LOAD_BACK, PLAN
from sharedkv_conformance.laws.eviction_written import WRITTEN
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, EvictionState], Call]
Nodes = tuple[EvictionNode, ...]

MOST_NODES = 7
# Lanes of the pages of a node, each counted from a lane that is drawn; most nodes are resident.
PAGES = ((0,), (0, 0), (0, 1), (0,), (1, 0, 0), (0, 0, 0, 1), (), (0, 2))
# Two of eight nodes are held, one by a request and one by a copy.
HOLDS = ((True, False), (False, True), *[(False, False)] * 6)
HITS, TICKS = 4, 4
# Two bytes decide of a node: the parent among eight, lane and pages, the hold, hits and tick.
NODE_BYTES = 2
# A node that is not in the tree, and more nodes than it can have.
FAR = 99


def opening(draw: Draw, limits: Mapping[str, int]) -> OpenConfig:
    """Draw how many lanes there are; pages of the pool mean nothing here."""
    most = min(limits.get("max_cp_size", 8), limits.get("max_pages", 8))
    cp_size = draw(st.sampled_from([size for size in (2, 3, 4, 8) if size <= most]))
    return OpenConfig(cp_size=cp_size, page_size=min(4, limits.get("max_page_size", 4)), pages=cp_size)


def next_call(draw: Draw, state: EvictionState) -> Call:
    """Draw a plan: usually of a tree, sometimes one that was written down or one that must be refused."""
    kind: Kind = draw(st.sampled_from((plausible, plausible, plausible, plausible, written, no_tree, no_deficit)))
    return kind(draw, state)


def plausible(draw: Draw, state: EvictionState) -> Call:
    """Ask for a few pages of a tree, listed in any order."""
    nodes = tree(draw, state.lanes)
    start, backwards = divmod(draw(st.integers(0, 2 * len(nodes) - 1)), 2)
    return _call(draw, (*nodes[start:], *nodes[:start])[:: -1 if backwards else 1], deficit(draw, state.lanes))


def tree(draw: Draw, lanes: int) -> Nodes:
    """Draw a tree in the order of its creation; each node lies below one that was there, or below the root."""
    count = draw(st.integers(1, MOST_NODES))
    data = draw(st.binary(min_size=NODE_BYTES * count, max_size=NODE_BYTES * count))
    numbers = [int.from_bytes(data[at : at + NODE_BYTES], "little") for at in range(0, len(data), NODE_BYTES)]
    return tuple(_node(index, number, lanes) for index, number in enumerate(numbers))


def _node(index: int, number: int, lanes: int) -> EvictionNode:
    number, parent = divmod(number, 8)
    number, first_lane = divmod(number, 2)
    number, pages = divmod(number, len(PAGES))
    number, hold = divmod(number, len(HOLDS))
    tick, hits = divmod(number, HITS)
    return EvictionNode(
        node=index,
        # The last two are likelier than the others, for chains.
        parent=max(ROOT, index - 1 - parent % 2 if parent > 3 else parent % (index + 1) - 1),  # noqa: PLR2004 - half
        owners=tuple((first_lane + lane) % lanes for lane in PAGES[pages]),
        locked=HOLDS[hold][0],
        pending=HOLDS[hold][1],
        hits=hits,
        last_tick=tick % TICKS,
    )


def deficit(draw: Draw, lanes: int) -> tuple[int, ...]:
    """Draw what lanes are short of: the first three, for those are the lanes of pages."""
    short = draw(st.integers(0, 5 * 5 * 3 - 1))
    counts = (short % 5, short // 5 % 5, short // 25)
    return (*counts, *(0,) * lanes)[:lanes]


def written(draw: Draw, state: EvictionState) -> Call:
    """Draw a tree of the written table of so many lanes, or any tree when the table has none."""
    rows = [row for row in WRITTEN if len(row.deficit) == state.lanes]
    if not rows:
        return plausible(draw, state)
    row = draw(st.sampled_from(rows))
    return _call(draw, row.nodes, row.deficit)


def no_tree(draw: Draw, state: EvictionState) -> Call:
    """Ask for a plan of nodes that are no tree."""
    nodes = tree(draw, state.lanes)
    fault = draw(st.sampled_from((_negative, _twice, _orphaned, _cyclic, _own_parent, _off_lanes)))
    return _call(draw, fault(nodes, state.lanes), deficit(draw, state.lanes))


def _negative(nodes: Nodes, lanes: int) -> Nodes:
    return (*nodes, replace(nodes[0], node=-2, parent=ROOT))


def _twice(nodes: Nodes, lanes: int) -> Nodes:
    return (*nodes, nodes[-1])


def _orphaned(nodes: Nodes, lanes: int) -> Nodes:
    return (*nodes[:-1], replace(nodes[-1], parent=FAR))


def _cyclic(nodes: Nodes, lanes: int) -> Nodes:
    low, high = replace(nodes[0], node=FAR, parent=FAR + 1), replace(nodes[0], node=FAR + 1, parent=FAR)
    return (*nodes, low, high)


def _own_parent(nodes: Nodes, lanes: int) -> Nodes:
    return (*nodes, replace(nodes[0], node=FAR, parent=FAR))


def _off_lanes(nodes: Nodes, lanes: int) -> Nodes:
    return (*nodes[:-1], replace(nodes[-1], owners=(*nodes[-1].owners, lanes)))


def no_deficit(draw: Draw, state: EvictionState) -> Call:
    """Ask for a plan of counts that are no deficit."""
    counts = deficit(draw, state.lanes)
    wrong = draw(st.sampled_from((counts[:-1], (*counts, 1), (), (-1, *counts[1:]))))
    return _call(draw, tree(draw, state.lanes), wrong)


def _call(draw: Draw, nodes: Sequence[EvictionNode], counts: Sequence[int]) -> Call:
    op = draw(st.sampled_from((PLAN, LOAD_BACK)))
    return Call(op=op, args={"nodes": tuple(nodes), "deficit": tuple(counts)})

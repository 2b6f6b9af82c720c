"""Loads: pages of the host that get device pages again, all of them or none.

Knows which nodes of a way are on the host alone, and what may be in flight. Does not know how room is made, nor bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from sharedkv.backups import moves
from sharedkv.copy_engine import CopyEngine
from sharedkv.copy_ledger import CopyKind, CopyLedger
from sharedkv.device_room import DeviceRoom
from sharedkv.prefix_tree import PrefixTree, Way
from sharedkv.tier_values import NO_COPY, CachePolicy, LoadBack
from sharedkv.tree_node import Node

SKIPPED = LoadBack(copy=NO_COPY, pages=())


class Loads:
    """Loads nodes back onto the lanes of their host pages."""

    def __init__(
        self, tree: PrefixTree, room: DeviceRoom, engine: CopyEngine, ledger: CopyLedger[Node], policy: CachePolicy
    ) -> None:
        self._tree = tree
        self._room = room
        self._engine = engine
        self._ledger = ledger
        self._policy = policy

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        """Load what tokens have on the host behind what they have on the device, or change nothing."""
        way = self._tree.walk(tokens)
        lanes = [page.lane for node, num_pages in loadable(way) for page in node.host[:num_pages]]
        if self._is_skipped(len(lanes)):
            return SKIPPED
        needed = [lanes.count(lane) for lane in range(self._tree.geometry.cp_size)]
        self._room.make_fit(needed, way.all_nodes())
        nodes = [node for node in self._tree.end_node(way) if not node.pages]
        pages = self._room.take(lanes)
        start = 0
        for node in nodes:
            self._tree.set_pages(node, pages[start : start + len(node.host)])
            start += len(node.host)
        progress = self._engine.submit_load([move for node in nodes for move in moves(node)])
        flight = self._ledger.submit(CopyKind.LOAD, self._engine.sources, progress, nodes, len(pages))
        for node in nodes:
            node.copies.append(flight)
            self._tree.columns.refresh(node)
        return LoadBack(copy=flight.copy, pages=pages)

    def _is_skipped(self, num_pages: int) -> bool:
        """Say whether a load is nothing, or too small to be worth it, or more than may be in flight."""
        most = self._policy.load_back_most
        in_flight = self._ledger.pages_in_flight(CopyKind.LOAD)
        return not num_pages or num_pages < self._policy.load_back_least or 0 < most < in_flight + num_pages


def loadable(way: Way) -> list[tuple[Node, int]]:
    """List the nodes of a way behind its residents that are backed up, and how many of their pages are on it."""
    behind = [(node, num_pages) for node, num_pages in way.pieces() if not node.pages]
    return list(takewhile(lambda piece: piece[0].is_backed_up, behind))

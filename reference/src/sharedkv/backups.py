"""Backups: which nodes get host pages, from whom, and what is copied.

Knows host pages, nodes and the copies that go down. Does not know who calls when: inserts and evictions do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from sharedkv.copy_engine import CopyEngine, PageMove
from sharedkv.copy_ledger import CopyKind, CopyLedger, Progress
from sharedkv.host_room import HostRoom
from sharedkv.prefix_tree import PrefixTree
from sharedkv.tier_values import WritePolicy
from sharedkv.tree_columns import Tier
from sharedkv.tree_node import HostPage, Node


class Backups:
    """Who backs nodes up: with host pages that a request has, or with such as are free or given up."""

    def __init__(
        self, tree: PrefixTree, room: HostRoom, engine: CopyEngine, ledger: CopyLedger[Node], policy: WritePolicy
    ) -> None:
        self.policy = policy
        self._tree = tree
        self._room = room
        self._engine = engine
        self._ledger = ledger

    def adopt(self, node: Node, host: tuple[HostPage, ...], request: str) -> int:
        """Back up a node to the host pages that a request has for it; return the copy."""
        self._tree.set_host(node, host)
        (progress,) = self._engine.submit_backups([moves(node)], request)
        return self._enter(node, progress)

    def back_up_way(self, way: Sequence[Node]) -> list[int]:
        """Back up the nodes of a way that the policy wants on the host; return their copies."""
        least = self.policy.least_hits
        if least is None:
            return []
        missing = [node for node in way if not node.host]
        wanted = list(takewhile(lambda node: node.hits >= least, missing))
        nodes = self._given_room(wanted, way)
        if not nodes:
            return []
        started = self._engine.submit_backups([moves(node) for node in nodes], None)
        return [self._enter(node, progress) for node, progress in zip(nodes, started, strict=True)]

    def back_up_now(self, victims: Sequence[Node], kept: Sequence[Node]) -> None:
        """Back up nodes that are about to lose their device pages, under those above them, and wait for it.

        Neither nodes above them nor `kept` give up host pages for it.
        """
        ways = {node: None for victim in victims for node in victim.way_down()}
        nodes = self._given_room([node for node in ways if not node.host], (*ways, *kept))
        if nodes:
            for progress in self._engine.submit_backups([moves(node) for node in nodes], None):
                progress.settle()

    def _given_room(self, wanted: Sequence[Node], kept: Iterable[Node]) -> list[Node]:
        """Give nodes host pages in one admission, and return those that have them: all, or as many as fit in order."""
        counts = [self._tree.columns.counts(Tier.DEVICE, node) for node in wanted]
        total = [sum(lane) for lane in zip(*counts, strict=True)]
        if wanted:
            self._room.make_fit(total, kept)
        nodes = []
        for node, needed in zip(wanted, counts, strict=True):
            if not self._room.fits(needed):
                break
            self._tree.set_host(node, self._room.take([self._tree.lane(page) for page in node.pages]))
            nodes.append(node)
        return nodes

    def _enter(self, node: Node, progress: Progress) -> int:
        flight = self._ledger.submit(CopyKind.BACKUP, self._engine.sources, progress, [node], len(node.pages))
        node.copies.append(flight)
        self._tree.columns.refresh(node)
        return flight.copy


def moves(node: Node) -> list[PageMove]:
    """Return the pages of a node that has them on both tiers."""
    return [PageMove(host.lane, page, host.page) for page, host in zip(node.pages, node.host, strict=True)]

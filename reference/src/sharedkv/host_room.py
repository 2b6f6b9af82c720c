"""Room on the host: pages for whole needs, and nodes that give theirs up for them.

Knows the host pages of the tree and of the pool. Does not know why room is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sharedkv import eviction
from sharedkv.host_pool import HostPool
from sharedkv.prefix_tree import PrefixTree
from sharedkv.tier_values import Counts, HostEvicted
from sharedkv.tree_columns import Tier
from sharedkv.tree_node import HostPage, Node


class HostRoom:
    """The free host pages, and those that nodes could give up."""

    def __init__(self, tree: PrefixTree, pool: HostPool) -> None:
        self._tree = tree
        self._pool = pool

    def free(self) -> Counts:
        """Count the free pages by lane."""
        return self._pool.statistics().free

    def make_fit(self, needed: Sequence[int], kept: Iterable[Node]) -> Counts | None:
        """Let nodes other than `kept` give up what lanes lack, all or nothing; return the pages that did, or None."""
        lacking = shortfall(needed, self.free())
        if not any(lacking):
            return lacking
        plan = eviction.plan_load_back(self._tree.columns.counted(Tier.HOST, kept), lacking)
        if any(plan.remaining):
            return None
        self._give_up(plan.victims)
        return plan.freed

    def evict(self, deficit: Sequence[int]) -> HostEvicted:
        """Let nodes give up host pages as far as it goes."""
        plan = eviction.plan(self._tree.columns.counted(Tier.HOST), deficit)
        self._give_up(plan.victims)
        return HostEvicted(freed=plan.freed, remaining=plan.remaining)

    def fits(self, needed: Sequence[int]) -> bool:
        """Say whether every lane has so many free pages."""
        return not any(shortfall(needed, self.free()))

    def take(self, lanes: Sequence[int]) -> tuple[HostPage, ...]:
        """Allocate a page for the cache on each of these lanes, which have them free.

        The pages of each lane are as near as can be.
        """
        taken = self._pool.allocate(self.needed(lanes))
        for lane, pages in enumerate(taken):
            self._pool.keep(lane, pages)
        given = [iter(pages) for pages in taken]
        return tuple(HostPage(lane, next(given[lane])) for lane in lanes)

    def give(self, pages: Iterable[HostPage]) -> None:
        """Make pages of the cache free."""
        by_lane: dict[int, list[int]] = {}
        for lane, page in pages:
            by_lane.setdefault(lane, []).append(page)
        for lane, freed in by_lane.items():
            self._pool.release_kept(lane, freed)

    def needed(self, lanes: Iterable[int]) -> list[int]:
        """Count pages by the lane of each."""
        counts = [0] * self._tree.geometry.cp_size
        for lane in lanes:
            counts[lane] += 1
        return counts

    def _give_up(self, victims: Sequence[int]) -> None:
        nodes = [self._tree.nodes[number] for number in victims]
        self.give([page for node in nodes for page in node.host])
        for node in nodes:
            self._tree.set_host(node, ())
            if not node.pages:
                self._tree.remove(node)


def shortfall(needed: Sequence[int], free: Sequence[int]) -> Counts:
    """Return what each lane lacks."""
    return tuple(max(0, need - have) for need, have in zip(needed, free, strict=True))

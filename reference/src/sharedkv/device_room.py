"""Room on the device: nodes that give up their pages, and pages that nodes get back.

Knows the device pages of the tree and of the allocator. Does not know why room is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv import eviction
from sharedkv.allocation import OwnerLaneAllocator
from sharedkv.backups import Backups
from sharedkv.errors import CapacityWaitError
from sharedkv.geometry import PageId
from sharedkv.host_room import shortfall
from sharedkv.prefix_tree import PrefixTree
from sharedkv.tier_values import Counts, Evicted, WritePolicy
from sharedkv.tree_columns import Tier
from sharedkv.tree_node import Node


class DeviceRoom:
    """The free device pages, and those that nodes could give up."""

    def __init__(self, tree: PrefixTree, allocator: OwnerLaneAllocator, backups: Backups) -> None:
        self._tree = tree
        self._allocator = allocator
        self._backups = backups

    def free(self) -> Counts:
        """Count the free pages by lane."""
        return self._allocator.lanes().free

    def evict(self, deficit: Sequence[int]) -> Evicted:
        """Let nodes give up device pages as far as it goes."""
        plan = self._plan(deficit, ())
        return Evicted(pages=self._give_up(plan.victims), freed=plan.freed, remaining=plan.remaining)

    def make_fit(self, needed: Sequence[int], kept: Sequence[Node]) -> None:
        """Let nodes other than `kept` give up what lanes lack, all or nothing.

        Raises:
            CapacityWaitError: they could not; nothing was changed.

        """
        free = self.free()
        lacking = shortfall(needed, free)
        if not any(lacking):
            return
        plan = self._plan(lacking, kept)
        if any(plan.remaining):
            available = tuple(idle + freed for idle, freed in zip(free, plan.freed, strict=True))
            raise CapacityWaitError(needed, available, shortfall(needed, available))
        self._give_up(plan.victims, kept)

    def take(self, lanes: Sequence[int]) -> tuple[int, ...]:
        """Allocate a page for the tree on each of these lanes, which have them free."""
        counts = [0] * self._tree.geometry.cp_size
        for lane in lanes:
            counts[lane] += 1
        taken = self._allocator.take(counts)
        self._allocator.keep([page for pages in taken for page in pages])
        given = [iter(pages) for pages in taken]
        return tuple(next(given[lane]) for lane in lanes)

    def give(self, pages: Sequence[int]) -> None:
        """Make pages of the tree free."""
        self._allocator.release_kept([PageId(page) for page in pages])

    def _plan(self, lacking: Sequence[int], kept: Sequence[Node]) -> eviction.EvictionPlan:
        """Plan without nodes that have a pinned page: these pages would not be free."""
        held = list(kept)
        while True:
            plan = eviction.plan(self._tree.columns.counted(Tier.DEVICE, held), lacking)
            victims = [self._tree.nodes[number] for number in plan.victims]
            pinned = [node for node in victims if self._allocator.is_any_pinned(node.pages)]
            if not pinned:
                return plan
            held += pinned

    def _give_up(self, victims: Sequence[int], kept: Sequence[Node] = ()) -> tuple[int, ...]:
        """Free the pages of nodes, bottom up; those that are not on the host leave the tree."""
        nodes = [self._tree.nodes[number] for number in victims]
        if self._backups.policy is WritePolicy.WRITE_BACK:
            self._backups.back_up_now(nodes, kept)
        freed = [page for node in nodes for page in node.pages]
        self.give(freed)
        for node in nodes:
            self._tree.set_pages(node, ())
            if not node.host:
                self._tree.remove(node)
        return tuple(freed)

"""Wrong variants of who gives way: host pages of ways, quotas that count too much, and locks that are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.host_tier import Evicted
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.host_tier import HostTierModel, Lanes
from sharedkv_conformance.model.host_tier_copies import BACKUP, LOAD
from sharedkv_conformance.model.host_tier_tree import Node
from sharedkv_conformance.model.lane_pages import FREE


@mutant(
    "host_tier.written-back-over-its-own-way",
    kills="RFC-0006:C-BACKUP#S5",
    also={
        "RFC-0006:C-TREE#S2": "Where the way gives way, the victim has host pages below a node without.",
        "RFC-0006:C-BACKUP#S6": "A victim for which nothing but its own way could make room has to leave the tree.",
    },
)
class WrittenBackOverItsOwnWay(HostTierModel):
    """Under write-back takes host pages of nodes above a victim for the victim."""

    def save_victims(self, victims: Sequence[Node], kept: Sequence[Node]) -> None:
        if self.config.host.write == "write_back" and (unsaved := self.unsaved(victims)):
            self.acknowledge(self.back_up(unsaved, kept=[*kept, *victims]))


@mutant(
    "host_tier.written-back-over-the-load",
    kills="RFC-0006:C-LOAD-BACK#S4",
    also={
        "RFC-0006:C-BACKUP#S5": "The node that is loaded is nowhere after an eviction that took its host pages.",
        "RFC-0006:C-BACKUP#S6": "A victim for which nothing but the load could make room has to leave the tree.",
        "RFC-0006:C-LOAD-BACK#S8": "The node that is loaded has neither the device pages nor the host pages.",
    },
)
class WrittenBackOverTheLoad(HostTierModel):
    """Under write-back takes host pages that a load-back is to read for the victims that make room for it."""

    def save_victims(self, victims: Sequence[Node], kept: Sequence[Node]) -> None:
        super().save_victims(victims, kept=())


@mutant("host_tier.quota-of-all-copies", kills="RFC-0006:C-LOAD-BACK#S1")
class QuotaOfAllCopies(HostTierModel):
    """Counts the pages of backups as loaded back at a time."""

    def skips_load(self, pages: int) -> bool:
        most = self.config.host.load_back_most
        in_flight = self.ledger.pages_of(LOAD) + self.ledger.pages_of(BACKUP)
        return super().skips_load(pages) or 0 < most < pages + in_flight


@mutant("host_tier.quota-outlives-a-reset", kills="RFC-0006:C-LOAD-BACK#S1")
class QuotaOutlivesAReset(HostTierModel):
    """Counts the loads that a reset has ended as in flight for good."""

    ended = 0

    def reset(self) -> None:
        self.ended += self.ledger.pages_of(LOAD)
        super().reset()

    def skips_load(self, pages: int) -> bool:
        most = self.config.host.load_back_most
        return super().skips_load(pages) or 0 < most < pages + self.ledger.pages_of(LOAD) + self.ended


@mutant("host_tier.locks-numbered-by-count", kills="RFC-0006:C-LOCKS#S1")
class LocksNumberedByCount(HostTierModel):
    """Numbers a lock by how many are held."""

    def number_lock(self) -> int:
        return len(self.held_locks)


@mutant("host_tier.quota-never-reached", kills="RFC-0006:C-LOAD-BACK#S1")
class QuotaNeverReached(HostTierModel):
    """Skips a load-back that makes exactly the most be in flight."""

    def skips_load(self, pages: int) -> bool:
        most = self.config.host.load_back_most
        return super().skips_load(pages) or 0 < most <= pages + self.ledger.pages_of(LOAD)


@mutant("host_tier.segment-an-insert-old", kills="RFC-0006:C-DEVICE-EVICTION#S1")
class SegmentAnInsertOld(HostTierModel):
    """Protects a node from the third hit on, because it is sorted in before its hits are counted."""

    def evict(self, deficit: Sequence[int]) -> Evicted:
        nodes = [replace(node, hits=max(0, node.hits - 1)) for node in self.tree.on_device()]
        return self.carry_out(self.planner.plan(nodes, deficit))


@mutant("host_tier.load-back-evicts-its-need", kills="RFC-0006:C-LOAD-BACK#S4")
class LoadBackEvictsItsNeed(HostTierModel):
    """Evicts for all that a load-back needs of a lane that is short, as if nothing of it were free, where there is."""

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        free = self.allocation.pages.counts(FREE)
        if any(want > have for want, have in zip(need, free, strict=True)):
            plan = self.planner.plan_load_back(self.tree.on_device({node.number for node in kept}), self._short(need))
            if not any(plan.remaining):
                self.carry_out(plan, kept)
        super().make_device_fit(need, kept)

    def _short(self, need: Sequence[int]) -> Lanes:
        free = self.allocation.pages.counts(FREE)
        return tuple(want if want > have else 0 for want, have in zip(need, free, strict=True))

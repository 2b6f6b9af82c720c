"""Wrong variants of eviction on either tier: who goes, what becomes of them, and what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.eviction import EvictionPlan
from sharedkv_conformance.contract.host_tier import Evicted, HostEvicted
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.eviction_tree import left_of
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_tree import Node
from sharedkv_conformance.model.lane_pages import IN_USE

WRITE_BACK = "write_back"


class Evicting(HostTierModel):
    """Knows that it evicts because a call asks for it, and not to make room."""

    is_evicting = False

    def evict(self, deficit: Sequence[int]) -> Evicted:
        self.is_evicting = True
        try:
            return super().evict(deficit)
        finally:
            self.is_evicting = False


def on_every_lane(model: HostTierModel, deficit: Sequence[int]) -> Sequence[int]:
    """Return the largest count for every lane, where the counts are a deficit."""
    is_one = len(deficit) == model.config.cp_size and min(deficit) >= 0
    return (max(deficit),) * len(deficit) if is_one else deficit


@mutant("host_tier.evicts-on-every-lane", kills="RFC-0006:C-DEVICE-EVICTION#S1")
class EvictsOnEveryLane(HostTierModel):
    """Evicts on every lane what the worst of them lacks."""

    def device_deficit(self, deficit: Sequence[int]) -> Sequence[int]:
        return on_every_lane(self, deficit)

    def evict(self, deficit: Sequence[int]) -> Evicted:
        done = super().evict(deficit)
        return replace(done, remaining=left_of(deficit, done.freed))


@mutant("host_tier.one-victim-a-call", kills="RFC-0006:C-DEVICE-EVICTION#S1")
class OneVictimACall(Evicting):
    """Evicts one node and lets the caller ask again."""

    def carry_out(self, plan: EvictionPlan, kept: Sequence[Node] = ()) -> Evicted:
        victims = plan.victims[:1] if self.is_evicting else plan.victims
        return super().carry_out(replace(plan, victims=victims), kept)


@mutant("host_tier.ancestors-first", kills="RFC-0006:C-DEVICE-EVICTION#S1")
class AncestorsFirst(Evicting):
    """Names the pages of victims from the root down."""

    def carry_out(self, plan: EvictionPlan, kept: Sequence[Node] = ()) -> Evicted:
        ordered = tuple(page for number in plan.victims[::-1] for page in self.tree.nodes[number].pages)
        done = super().carry_out(plan, kept)
        return replace(done, pages=ordered) if self.is_evicting else done


@mutant("host_tier.backups-ignored", kills="RFC-0006:C-DEVICE-EVICTION#S2")
class BackupsIgnored(HostTierModel):
    """Evicts device pages while they are copied to the host."""

    def evict(self, deficit: Sequence[int]) -> Evicted:
        pending = {number for number, node in self.tree.nodes.items() if node.loads}
        nodes = [replace(node, pending=node.node in pending) for node in self.tree.on_device()]
        return self.carry_out(self.planner.plan(nodes, deficit))


@mutant("host_tier.loads-ignored", kills="RFC-0006:C-DEVICE-EVICTION#S2")
class LoadsIgnored(HostTierModel):
    """Evicts device pages while they are loaded."""

    def evict(self, deficit: Sequence[int]) -> Evicted:
        pending = {number for number, node in self.tree.nodes.items() if node.backups}
        nodes = [replace(node, pending=node.node in pending) for node in self.tree.on_device()]
        return self.carry_out(self.planner.plan(nodes, deficit))


@mutant("host_tier.remaining-is-the-deficit", kills="RFC-0006:C-DEVICE-EVICTION#S3")
class RemainingIsTheDeficit(HostTierModel):
    """Reports what was asked for as missing where something still is."""

    def evict(self, deficit: Sequence[int]) -> Evicted:
        done = super().evict(deficit)
        return replace(done, remaining=tuple(deficit)) if any(done.remaining) else done


@mutant("host_tier.freed-no-more-than-asked", kills="RFC-0006:C-DEVICE-EVICTION#S3")
class FreedNoMoreThanAsked(HostTierModel):
    """Reports no more pages of a lane as freed than were asked for."""

    def evict(self, deficit: Sequence[int]) -> Evicted:
        done = super().evict(deficit)
        return replace(done, freed=tuple(map(min, done.freed, deficit)))


@mutant("host_tier.last-evicted-page-lost", kills="RFC-0006:C-DEVICE-EVICTION#S4")
class LastEvictedPageLost(HostTierModel):
    """Frees all pages of an eviction but the last."""

    def evict(self, deficit: Sequence[int]) -> Evicted:
        done = super().evict(deficit)
        self.allocation.pages.move(done.pages[-1:] if len(done.pages) > 1 else (), IN_USE)
        return done


@mutant("host_tier.mirrors-leave-with-their-node", kills="RFC-0006:C-DEVICE-EVICTION#S5")
class MirrorsLeaveWithTheirNode(Evicting):
    """Lets a victim of the device leave the tree though it is backed up."""

    def leave_device(self, node: Node) -> None:
        if self.is_evicting and self.config.host.write != WRITE_BACK:
            self.give_host(node.host)
            node.host = ()
        super().leave_device(node)


@mutant("host_tier.hollow-nodes", kills="RFC-0006:C-DEVICE-EVICTION#S6")
class HollowNodes(Evicting):
    """Leaves victims in the tree that have pages nowhere."""

    def leave_device(self, node: Node) -> None:
        if self.is_evicting and self.config.host.write != WRITE_BACK:
            node.pages = ()
        else:
            super().leave_device(node)


@mutant("host_tier.victims-still-resident", kills="RFC-0006:C-DEVICE-EVICTION#S7")
class VictimsStillResident(Evicting):
    """Frees the device pages of a backed-up victim and leaves them with its node."""

    def leave_device(self, node: Node) -> None:
        if not (self.is_evicting and node.host):
            super().leave_device(node)


@mutant("host_tier.deficit-filled-up", kills="RFC-0006:C-DEVICE-EVICTION#S8")
class DeficitFilledUp(HostTierModel):
    """Takes lanes that are not named for lanes that lack nothing."""

    def device_deficit(self, deficit: Sequence[int]) -> Sequence[int]:
        return (*deficit, *[0] * (self.config.cp_size - len(deficit)))


@mutant("host_tier.negative-deficit-is-none", kills="RFC-0006:C-DEVICE-EVICTION#S8")
class NegativeDeficitIsNone(HostTierModel):
    """Takes a count below 0 for none, on the host."""

    def host_deficit(self, deficit: Sequence[int]) -> Sequence[int]:
        return tuple(max(0, count) for count in deficit)


@mutant("host_tier.mirrors-are-kept", kills="RFC-0006:C-HOST-EVICTION#S1")
class MirrorsAreKept(HostTierModel):
    """Evicts no host page of a node that is on the device."""

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        self.host_deficit(deficit)
        mirrors = {node.number for node in self.tree.nodes.values() if node.pages}
        plan = self.planner.plan(self.tree.on_host(mirrors), deficit)
        self.carry_out_on_host(plan)
        return HostEvicted(freed=plan.freed, remaining=plan.remaining)


@mutant("host_tier.host-evicts-on-every-lane", kills="RFC-0006:C-HOST-EVICTION#S1")
class HostEvictsOnEveryLane(HostTierModel):
    """Evicts on every lane of the host what the worst of them lacks."""

    def host_deficit(self, deficit: Sequence[int]) -> Sequence[int]:
        return on_every_lane(self, deficit)

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        done = super().evict_host(deficit)
        return replace(done, remaining=left_of(deficit, done.freed))


@mutant("host_tier.host-remaining-is-the-deficit", kills="RFC-0006:C-HOST-EVICTION#S2")
class HostRemainingIsTheDeficit(HostTierModel):
    """Reports what was asked of the host as missing where something still is."""

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        done = super().evict_host(deficit)
        return replace(done, remaining=tuple(deficit)) if any(done.remaining) else done


@mutant("host_tier.host-page-lost", kills="RFC-0006:C-HOST-EVICTION#S2")
class HostPageLost(HostTierModel):
    """Frees all host pages of an eviction but one."""

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        used = [set(lane.allocated) for lane in self.lanes]
        done = super().evict_host(deficit)
        for own, before in zip(self.lanes, used, strict=True):
            if freed := sorted(before - own.allocated):
                own.take(freed[:1])
                break
        return done


class LookingPast(HostTierModel):
    """Evicts host pages by a plan that looks past some of what is in flight."""

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        own = self.tree.nodes.values()
        nodes = [
            replace(planned, locked=bool(node.locks) or self.is_read(node), pending=self.is_pending(node))
            for planned, node in zip(self.tree.on_host(), own, strict=True)
        ]
        plan = self.planner.plan(nodes, deficit)
        self.carry_out_on_host(plan)
        return HostEvicted(freed=plan.freed, remaining=plan.remaining)

    def is_read(self, node: Node) -> bool:
        """Say whether something reads the host pages of a node."""
        return bool(node.readers)

    def is_pending(self, node: Node) -> bool:
        """Say whether a copy of a node is on its way."""
        return self.tree.is_pending(node)


@mutant("host_tier.load-source-evicted", kills="RFC-0006:C-HOST-EVICTION#S3")
class LoadSourceEvicted(LookingPast):
    """Evicts host pages while a load reads them."""

    def is_read(self, node: Node) -> bool:
        return False

    def is_pending(self, node: Node) -> bool:
        return bool(node.backups)


@mutant("host_tier.backup-target-evicted", kills="RFC-0006:C-HOST-EVICTION#S3")
class BackupTargetEvicted(LookingPast):
    """Evicts host pages while a backup writes them."""

    def is_pending(self, node: Node) -> bool:
        return bool(node.loads)


@mutant("host_tier.mirror-takes-its-node", kills="RFC-0006:C-HOST-EVICTION#S4")
class MirrorTakesItsNode(HostTierModel):
    """Lets a node leave the tree with its host pages, where nothing is below it, though it is on the device."""

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        mirrors = [node for node in self.tree.nodes.values() if node.pages and node.host]
        done = super().evict_host(deficit)
        for node in mirrors:
            if not node.host and not any(self.tree.children(node.number)):
                self.tree.remove(node)
        return done


@mutant("host_tier.hollow-host-nodes", kills="RFC-0006:C-HOST-EVICTION#S5")
class HollowHostNodes(HostTierModel):
    """Leaves nodes in the tree that lost the only pages that they had."""

    is_asked = False

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        self.is_asked = True
        try:
            return super().evict_host(deficit)
        finally:
            self.is_asked = False

    def leave_host(self, node: Node) -> None:
        if node.pages or not self.is_asked:
            super().leave_host(node)
        else:
            self.give_host(node.host)
            node.host = ()

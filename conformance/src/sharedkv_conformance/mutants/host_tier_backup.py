"""Wrong variants of backups: which nodes, at what price, and what counts as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sharedkv_conformance.contract.host_tier import Inserted
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_refusals import LAYOUTS, WRITE_POLICIES
from sharedkv_conformance.model.host_tier_tree import HostPage, Node


@mutant("host_tier.one-hit-late", kills="RFC-0006:C-BACKUP#S1")
class OneHitLate(HostTierModel):
    """Backs a node up when an insert finds its hits at the threshold, and not when it brings them there."""

    def reaches_threshold(self, node: Node) -> bool:
        node.hits -= 1
        reached = super().reaches_threshold(node)
        node.hits += 1
        return reached


@mutant("host_tier.chunks-not-backed-up", kills="RFC-0006:C-BACKUP#S1")
class ChunksNotBackedUp(HostTierModel):
    """Leaves the backup of a request that goes on where it ended before to its last chunk, and lacks no host page."""

    def due_for_backup(self, way: Sequence[Node]) -> list[Node]:
        due = super().due_for_backup(way)
        return due if len(way) == 1 or not self.fits(self.host_need(due)) else []


@mutant(
    "host_tier.selective-at-the-first-hit",
    kills="RFC-0006:C-BACKUP#S2",
    also={"RFC-0006:C-ADMISSION#S8": "a node whose reservation is turned down is backed up all the same"},
)
class SelectiveAtTheFirstHit(HostTierModel):
    """Takes `write_through_selective` for `write_through`."""

    def reaches_threshold(self, node: Node) -> bool:
        return super().reaches_threshold(node) or self.config.host.write == "write_through_selective"


@mutant(
    "host_tier.write-back-at-the-insert",
    kills="RFC-0006:C-BACKUP#S2",
    also={"RFC-0006:C-ADMISSION#S8": "a node whose reservation is turned down is backed up all the same"},
)
class WriteBackAtTheInsert(HostTierModel):
    """Backs a node up at its second hit under `write_back` too."""

    def reaches_threshold(self, node: Node) -> bool:
        return super().reaches_threshold(node) or (self.config.host.write == "write_back" and node.hits > 1)


@mutant("host_tier.way-gives-way", kills="RFC-0006:C-BACKUP#S3")
class WayGivesWay(HostTierModel):
    """Evicts host pages of the way for the backups of its own nodes, where others would do."""

    def back_up(self, nodes: Sequence[Node], kept: Sequence[Node]) -> list[int]:
        need, free = self.host_need(nodes), self.free()
        plan = self.planner.plan_load_back(
            self.tree.on_host({node.number for node in kept}), self.host_shortage(need, free)
        )
        is_eviction = self.config.host.write == "write_back"
        return super().back_up(nodes, kept if is_eviction or any(plan.remaining) else nodes)


@mutant("host_tier.eviction-a-node", kills="RFC-0006:C-BACKUP#S3")
class EvictionANode(HostTierModel):
    """Makes room for one node of a way after the other, where all fit in the end."""

    def back_up(self, nodes: Sequence[Node], kept: Sequence[Node]) -> list[int]:
        plan = self.planner.plan_load_back(
            self.tree.on_host({node.number for node in kept}), self.host_shortage(self.host_need(nodes), self.free())
        )
        if any(plan.remaining):
            return super().back_up(nodes, kept)
        return [copy for node in nodes for copy in super(EvictionANode, self).back_up([node], kept)]


@mutant("host_tier.mirrors-never-go", kills="RFC-0006:C-BACKUP#S3")
class MirrorsNeverGo(HostTierModel):
    """Makes no room at an insert by nodes that are on the device as well."""

    def back_up(self, nodes: Sequence[Node], kept: Sequence[Node]) -> list[int]:
        if self.config.host.write == "write_back":
            return super().back_up(nodes, kept)
        mirrors = [node for node in self.tree.nodes.values() if node.pages]
        return super().back_up(nodes, [*kept, *mirrors])


@mutant("host_tier.backup-evicts-in-vain", kills="RFC-0006:C-BACKUP#S4")
class BackupEvictsInVain(HostTierModel):
    """Evicts host pages off the way as far as it goes for backups that do not fit."""

    def fitting(self, nodes: Sequence[Node]) -> list[Node]:
        fitting = super().fitting(nodes)
        if self.config.host.write != "write_back":
            held = {node.number for node in nodes for node in (node, *self.tree.above(node))}
            plan = self.planner.plan(self.tree.on_host(held), self.host_shortage(self.host_need(nodes), self.free()))
            self.carry_out_on_host(plan)
        return fitting


@mutant("host_tier.backup-goes-on", kills="RFC-0006:C-BACKUP#S4")
class BackupGoesOn(HostTierModel):
    """Backs up every node of a way that fits, also below one that did not."""

    def fitting(self, nodes: Sequence[Node]) -> list[Node]:
        if self.config.host.write == "write_back":
            return super().fitting(nodes)
        chosen: list[Node] = []
        for node in nodes:
            if self.fits(self.host_need([*chosen, node])):
                chosen.append(node)
        return chosen


@mutant("host_tier.all-backups-or-none", kills="RFC-0006:C-BACKUP#S4")
class AllBackupsOrNone(HostTierModel):
    """Backs up no node of a way where one does not fit."""

    def fitting(self, nodes: Sequence[Node]) -> list[Node]:
        return super().fitting(nodes) if self.config.host.write == "write_back" else []


@mutant("host_tier.victims-alone-written-back", kills="RFC-0006:C-BACKUP#S5")
class VictimsAloneWrittenBack(HostTierModel):
    """Backs up victims below nodes that have host pages, and no others."""

    def unsaved(self, victims: Sequence[Node]) -> list[Node]:
        return [node for node in victims if not node.host and all(above.host for above in self.tree.above(node))]


@mutant("host_tier.nothing-written-back", kills="RFC-0006:C-BACKUP#S5")
class NothingWrittenBack(HostTierModel):
    """Drops victims without host pages under `write_back` too."""

    def unsaved(self, victims: Sequence[Node]) -> list[Node]:
        return []


@mutant("host_tier.failed-backup-counts", kills="RFC-0006:C-BACKUP#S6")
class FailedBackupCounts(HostTierModel):
    """Keeps a victim in the tree that the host had no room for."""

    def leave_device(self, node: Node) -> None:
        if self.config.host.write == "write_back":
            node.pages = ()
        else:
            super().leave_device(node)


@mutant("host_tier.write-back-does-not-wait", kills="RFC-0006:C-BACKUP#S7")
class WriteBackDoesNotWait(HostTierModel):
    """Answers an eviction while its copies are in flight."""

    def save_victims(self, victims: Sequence[Node], kept: Sequence[Node]) -> None:
        self.is_saving = True
        super().save_victims(victims, kept)
        self.is_saving = False

    def acknowledge(self, copies: Iterable[int]) -> None:
        if not getattr(self, "is_saving", False):
            super().acknowledge(tuple(copies))


@mutant("host_tier.host-pages-by-lane", kills="RFC-0006:C-BACKUP#S8")
class HostPagesByLane(HostTierModel):
    """Gives a node its host pages lane by lane, and not in the order of its tokens."""

    def take_host(self, owners: Sequence[int]) -> list[HostPage]:
        return super().take_host(sorted(owners))


@mutant("host_tier.page-more-than-needed", kills="RFC-0006:C-BACKUP#S8")
class PageMoreThanNeeded(HostTierModel):
    """Takes a host page of the first lane more than an insert backs up, where one is left, and loses it."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        is_reserved = request in self.reservations
        inserted = super().insert(request, tokens, pages)
        if inserted.backups and not is_reserved and self.lanes[0].num_free:
            self.take(0, 1)
        return inserted


@mutant("host_tier.unknown-policy-taken", kills="RFC-0006:C-BACKUP#S9")
class UnknownPolicyTaken(HostTierModel):
    """Opens a session with a write policy that nobody knows."""

    @classmethod
    def refuse_config(cls, config: OpenConfig) -> None:
        if config.host.write in WRITE_POLICIES:
            super().refuse_config(config)


@mutant("host_tier.unknown-layout-taken", kills="RFC-0006:C-BACKUP#S9")
class UnknownLayoutTaken(HostTierModel):
    """Opens a session with a host layout that nobody knows."""

    @classmethod
    def refuse_config(cls, config: OpenConfig) -> None:
        if config.host.layout in LAYOUTS:
            super().refuse_config(config)

"""Wrong variants of copies: what they do not wait for, who does not wait for them, and what they do not protect."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sharedkv_conformance.contract.eviction import EvictionNode
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.copies import CopiesModel, Pairs
from sharedkv_conformance.model.data_plane import Enqueued
from sharedkv_conformance.model.direct_write import DirectWriteModel
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_copies import CopyLedger, InFlight, Mover, NoMover
from sharedkv_conformance.model.host_tier_tree import HostPage, Node, PrefixTree
from sharedkv_conformance.model.prefetch import PrefetchModel
from sharedkv_conformance.model.reuse import ReuseModel, Rows

# -- order -----------------------------------------------------------------------------------------------------------


@mutant("copies.backup-overtakes-writes", kills="RFC-0009:C-ORDER#S1")
class BackupOvertakesWrites(CopiesModel):
    """Copies to the host as soon as that is asked for."""

    def submit_backup(self, layer: int, pairs: Pairs) -> None:
        self.copy_out(layer, pairs)
        self.tell("backup_submitted", layer)


@mutant("copies.tail-overtakes-writes", kills="RFC-0009:C-ORDER#S1")
class TailOvertakesWrites(CopiesModel):
    """Waits for the writes of layers that were told, and for no others."""

    def submit_rest(self, layer: int, pairs: Pairs) -> None:
        self.copy_out(layer, pairs)
        self.tell("backup_submitted", layer)


@mutant("copies.load-overtakes-writes", kills="RFC-0009:C-ORDER#S2")
class LoadOvertakesWrites(CopiesModel):
    """Copies to the device as soon as that is asked for, into pages that were free."""

    def submit_load(self, layer: int, pairs: Pairs) -> None:
        self.plane.version += 1
        self.copy_in(layer, pairs)
        self.tell("load_submitted", layer)


# -- readers ---------------------------------------------------------------------------------------------------------


@mutant("copies.index-read-at-once", kills="RFC-0009:C-READERS#S1")
class IndexReadAtOnce(DirectWriteModel):
    """Waits for loads where latents are read, and not where index rows are."""

    def fetched(self, layer: int, buffer: str, location: int) -> bytes:
        if buffer != "index":
            return super().fetched(layer, buffer, location)
        self.plane.settle_writes()
        return self.plane.unordered_pools.read(layer, buffer, location)


@mutant("copies.values-read-at-once", kills="RFC-0009:C-READERS#S1")
class ValuesReadAtOnce(DirectWriteModel):
    """Waits for loads where keys are read, and not where values are."""

    def fetched(self, layer: int, buffer: str, location: int) -> bytes:
        if buffer != "value":
            return super().fetched(layer, buffer, location)
        self.plane.settle_writes()
        return self.plane.unordered_pools.read(layer, buffer, location)


@mutant("copies.draft-read-at-once", kills="RFC-0009:C-READERS#S1")
class DraftReadAtOnce(DirectWriteModel):
    """Waits for loads of the target alone."""

    def fetched(self, layer: int, buffer: str, location: int) -> bytes:
        if layer < self.pool.layers:
            return super().fetched(layer, buffer, location)
        self.plane.settle_writes()
        return self.plane.unordered_pools.read(layer, buffer, location)


@mutant("copies.layer-before-waited-for", kills="RFC-0009:C-READERS#S1")
class LayerBeforeWaitedFor(DirectWriteModel):
    """Waits for the load of the layer before the one that is read."""

    def fetched(self, layer: int, buffer: str, location: int) -> bytes:
        self.plane.settle_writes()
        arrived = [load for load in self.plane.loads if load.layer < layer]
        self.plane.loads = [load for load in self.plane.loads if load.layer >= layer]
        for load in arrived:
            load.work()
        return self.plane.unordered_pools.read(layer, buffer, location)


@mutant("copies.gathered-at-once", kills="RFC-0009:C-READERS#S2")
class GatheredAtOnce(ReuseModel):
    """Gathers pages into a dense view without waiting for their load."""

    def prefix_parts(self, layer: int, buffer: str) -> list[Rows]:
        loads, self.plane.loads = self.plane.loads, []
        parts = super().prefix_parts(layer, buffer)
        self.plane.loads = loads
        return parts


@mutant("copies.prefetched-at-once", kills="RFC-0009:C-READERS#S3")
class PrefetchedAtOnce(PrefetchModel):
    """Makes a dense prefix without waiting for the load of its pages."""

    def row(self, layer: int, buffer: str, location: int) -> bytes:
        self.plane.settle_writes()
        return self.plane.unordered_pools.read(layer, buffer, location)


@mutant("copies.loads-make-nothing-old", kills="RFC-0009:C-READERS#S3")
class LoadsMakeNothingOld(CopiesModel):
    """Counts what is written into a page, and not what is loaded; what was made ahead of a load stays good."""

    def submit_load(self, layer: int, pairs: Pairs) -> None:
        super().submit_load(layer, pairs)
        self.plane.version -= 1


# -- acknowledgement -------------------------------------------------------------------------------------------------


class _TargetAlone(CopyLedger):
    def is_ready(self, own: InFlight) -> bool:
        return not own.left["target"]


class _LastRankAlone(CopyLedger):
    def is_ready(self, own: InFlight) -> bool:
        return not any(self.ranks - 1 in ranks for ranks in own.left.values())


class _Together(CopyLedger):
    def finish(self, number: int, source: str, rank: int) -> None:
        super().finish(number, source, rank)
        for other in self.copies[number].left:
            super().finish(number, other, rank)


class _AnyRank(CopyLedger):
    def finish(self, number: int, source: str, rank: int) -> None:
        super().finish(number, source, rank)
        super().finish(number, source, -1)


@mutant("copies.acknowledged-by-the-target", kills="RFC-0009:C-ACKNOWLEDGEMENT#S1")
class AcknowledgedByTheTarget(HostTierModel):
    """Acknowledges a copy when the target is done, and the draft is not."""

    ledger_type = _TargetAlone


@mutant("copies.acknowledged-by-one-rank", kills="RFC-0009:C-ACKNOWLEDGEMENT#S1")
class AcknowledgedByOneRank(HostTierModel):
    """Acknowledges a copy when the last rank is done with it."""

    ledger_type = _LastRankAlone


@mutant("copies.draft-finishes-with-the-target", kills="RFC-0009:C-ACKNOWLEDGEMENT#S2")
class DraftFinishesWithTheTarget(HostTierModel):
    """Counts the draft as finished as soon as the target is, and the target as soon as the draft is."""

    ledger_type = _Together


@mutant("copies.finished-on-any-rank", kills="RFC-0009:C-ACKNOWLEDGEMENT#S2")
class FinishedOnAnyRank(HostTierModel):
    """Counts a source as finished as soon as it is on one rank."""

    ledger_type = _AnyRank


@mutant("copies.acknowledged-unread", kills="RFC-0009:C-ACKNOWLEDGEMENT#S3")
class AcknowledgedUnread(CopiesModel):
    """Acknowledges a backup that was enqueued, wherever its rows are."""

    def settle(self, numbers: Sequence[int]) -> None:
        super().settle([number for number in numbers if self.kinds.get(number) != "backup"])


class _Unsettled:
    """Passes on what is to be copied, and waits for nothing."""

    def __init__(self, mover: Mover) -> None:
        self.backup, self.load, self.abandoned = mover.backup, mover.load, mover.abandoned

    def settle(self, numbers: Sequence[int]) -> None:
        """Do not wait."""


@mutant("copies.victims-not-waited-for", kills="RFC-0009:C-ACKNOWLEDGEMENT#S3")
class VictimsNotWaitedFor(HostTierModel):
    """Evicts under write-back as soon as the backup of the victims is enqueued."""

    def save_victims(self, victims: Sequence[Node], kept: Sequence[Node]) -> None:
        mover = self.mover
        self.mover = _Unsettled(mover)
        super().save_victims(victims, kept)
        self.mover = mover


# -- lifetime --------------------------------------------------------------------------------------------------------


class _OnHost(PrefixTree):
    """A tree whose nodes are protected otherwise on the host than on the device."""

    on_the_host = False

    def on_host(self, kept: Collection[int] = ()) -> tuple[EvictionNode, ...]:
        self.on_the_host = True
        try:
            return super().on_host(kept)
        finally:
            self.on_the_host = False


class _BackupsUnprotectedOnHost(_OnHost):
    def is_pending(self, node: Node) -> bool:
        return bool(node.loads or (node.backups and not self.on_the_host))


class _LoadsUnprotectedOnHost(_OnHost):
    def is_pending(self, node: Node) -> bool:
        return bool(node.backups or (node.loads and not self.on_the_host))

    def is_held_on_host(self, node: Node) -> bool:
        return bool(node.locks or node.readers - node.loads)


class _BackupsUnprotectedOnDevice(_OnHost):
    def is_pending(self, node: Node) -> bool:
        return bool(node.loads or (node.backups and self.on_the_host))


class _LoadsUnprotectedOnDevice(_OnHost):
    def is_pending(self, node: Node) -> bool:
        return bool(node.backups or (node.loads and self.on_the_host))


@mutant("copies.evicted-under-its-backup", kills="RFC-0009:C-LIFETIME#S1")
class EvictedUnderItsBackup(HostTierModel):
    """Evicts device pages as soon as their backup is enqueued."""

    tree_type = _BackupsUnprotectedOnDevice


@mutant("copies.evicted-under-its-load", kills="RFC-0009:C-LIFETIME#S1")
class EvictedUnderItsLoad(HostTierModel):
    """Evicts device pages that are still being loaded."""

    tree_type = _LoadsUnprotectedOnDevice


@mutant("copies.host-pages-evicted-under-a-load", kills="RFC-0009:C-LIFETIME#S2")
class HostPagesEvictedUnderALoad(HostTierModel):
    """Gives host pages up as soon as their load is enqueued."""

    tree_type = _LoadsUnprotectedOnHost


@mutant("copies.host-pages-evicted-under-a-backup", kills="RFC-0009:C-LIFETIME#S3")
class HostPagesEvictedUnderABackup(HostTierModel):
    """Gives host pages up whose backup is still to fill them."""

    tree_type = _BackupsUnprotectedOnHost


@mutant("copies.told-layers-come-last", kills="RFC-0009:C-LIFETIME#S4")
class ToldLayersComeLast(CopiesModel):
    """Has a stream for backups behind layers and one for those at the end, and no order between them."""

    def submit_rest(self, layer: int, pairs: Pairs) -> None:
        own = Enqueued(layer=layer, work=lambda: self.copy_out(layer, pairs))
        if "late_backups" not in self.plane.faults:
            self.plane.settle_writes()
            own.work()
        else:
            self.plane.backups.insert(0, own)
        self.tell("backup_submitted", layer)

    def abandoned(self, request: str, pairs: Pairs) -> None:
        self.forget(pairs)


@mutant("copies.reset-waits-for-nothing", kills="RFC-0009:C-LIFETIME#S5")
class ResetWaitsForNothing(HostTierModel):
    """Forgets the copies in flight at a reset, and lets them run."""

    def reset(self) -> None:
        mover, self.mover = self.mover, NoMover()
        try:
            super().reset()
        finally:
            self.mover = mover


@mutant("copies.reset-lets-backups-run", kills="RFC-0009:C-LIFETIME#S5")
class ResetLetsBackupsRun(HostTierModel):
    """Leaves backups in flight behind at a reset, on a stream that has no order with the next ones."""

    def reset(self) -> None:
        plane = self.mover.plane if isinstance(self.mover, CopiesModel) else None
        strays = plane.backups if plane else []
        if plane:
            plane.backups = []
        super().reset()
        self.strays = strays

    def submit_backup(self, node: Node, host: Sequence[HostPage], request: str = "") -> int:
        copy = super().submit_backup(node, host, request)
        if isinstance(self.mover, CopiesModel):
            self.mover.plane.backups += self.strays
            self.strays = []
        return copy

    strays: list[Enqueued] = []  # noqa: RUF012 - never changed, only replaced


class _LowerPartForgotten(PrefixTree):
    def split(self, node: Node, pages: int) -> Node:
        upper = super().split(node, pages)
        if node.backups:
            node.host = ()
        return upper


@mutant("copies.lower-part-forgotten", kills="RFC-0009:C-LIFETIME#S6")
class LowerPartForgotten(HostTierModel):
    """Leaves the host pages of a backup in flight with the upper part of a node that is split."""

    tree_type = _LowerPartForgotten


# -- odd but right ---------------------------------------------------------------------------------------------------


@benign("copies.backups-at-once")
class BackupsAtOnce(CopiesModel):
    """Waits for each backup when it is submitted."""

    def submit_backup(self, layer: int, pairs: Pairs) -> None:
        super().submit_backup(layer, pairs)
        self.plane.settle_backups()


@benign("copies.loads-at-once")
class LoadsAtOnce(CopiesModel):
    """Waits for each load when it is submitted."""

    def submit_load(self, layer: int, pairs: Pairs) -> None:
        super().submit_load(layer, pairs)
        self.plane.settle_loads()

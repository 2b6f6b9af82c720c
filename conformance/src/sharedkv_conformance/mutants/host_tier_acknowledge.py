"""Wrong, and odd but right, variants of acknowledgement, of reset, and of what ranks tell each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sharedkv_conformance.contract.host_tier import BackupRequest, HostAdmission, LoadBack
from sharedkv_conformance.contract.probe import Collective
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.eviction_tree import left_of
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_copies import BACKUP, LOAD, CopyLedger, InFlight
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.lane_pages import FREE


class FirstRankLedger(CopyLedger):
    """Takes a copy for finished when the first rank has it."""

    def is_ready(self, own: InFlight) -> bool:
        return all(0 not in ranks for ranks in own.left.values())


class UnorderedLedger(CopyLedger):
    """Acknowledges what is finished, whatever was submitted before it."""

    def due(self) -> tuple[int, ...]:
        return tuple(number for number, own in self.copies.items() if self.is_ready(own))


class OneQueueLedger(CopyLedger):
    """Lets a copy wait for those of other kinds."""

    def due(self) -> tuple[int, ...]:
        due: list[int] = []
        for number, own in self.copies.items():
            if not self.is_ready(own):
                break
            due.append(number)
        return tuple(due)


class BusyLedger(CopyLedger):
    """Acknowledges loads only while a backup is in flight as well."""

    def due(self) -> tuple[int, ...]:
        due = super().due()
        has_backups = any(own.kind == BACKUP for own in self.copies.values())
        return due if has_backups else tuple(number for number in due if self.copies[number].kind != LOAD)


class OneAPollLedger(CopyLedger):
    """Acknowledges one copy of each kind a poll."""

    def due(self) -> tuple[int, ...]:
        firsts: dict[str, int] = {}
        for number in super().due():
            firsts.setdefault(self.copies[number].kind, number)
        return tuple(sorted(firsts.values(), key=list(self.copies).index))


@mutant("host_tier.loads-not-polled-when-idle", kills="RFC-0006:C-ACKNOWLEDGE#S1")
class LoadsNotPolledWhenIdle(HostTierModel):
    """Looks after loads only where backups are in flight."""

    ledger_type = BusyLedger


@mutant("host_tier.one-acknowledgement-a-poll", kills="RFC-0006:C-ACKNOWLEDGE#S1")
class OneAcknowledgementAPoll(HostTierModel):
    """Acknowledges the first copy of each kind and leaves the others to the next forward."""

    ledger_type = OneAPollLedger


@mutant("host_tier.kinds-wait-for-one-another", kills="RFC-0006:C-ACKNOWLEDGE#S1")
class KindsWaitForOneAnother(HostTierModel):
    """Acknowledges a load only after the backups that were submitted before it."""

    ledger_type = OneQueueLedger


@mutant("host_tier.first-rank-is-enough", kills="RFC-0006:C-ACKNOWLEDGE#S2")
class FirstRankIsEnough(HostTierModel):
    """Acknowledges a copy when the first rank has finished it."""

    ledger_type = FirstRankLedger


@mutant("host_tier.acknowledged-out-of-order", kills="RFC-0006:C-ACKNOWLEDGE#S3")
class AcknowledgedOutOfOrder(HostTierModel):
    """Acknowledges a copy that is finished before an earlier one of its kind that is not."""

    ledger_type = UnorderedLedger


@mutant("host_tier.acknowledged-backwards", kills="RFC-0006:C-ACKNOWLEDGE#S3")
class AcknowledgedBackwards(HostTierModel):
    """Acknowledges what is finished from the last copy on."""

    def poll(self) -> tuple[int, ...]:
        return tuple(reversed(super().poll()))


@mutant("host_tier.one-number-for-loads", kills="RFC-0006:C-ACKNOWLEDGE#S4")
class OneNumberForLoads(HostTierModel):
    """Gives a load-back the number of the one before it while that is in flight."""

    def submit_load(self, nodes: Sequence[Node], pages: Sequence[int]) -> LoadBack:
        earlier = [number for number, own in self.ledger.copies.items() if own.kind == LOAD]
        load = super().submit_load(nodes, pages)
        return LoadBack(copy=earlier[-1], pages=load.pages) if earlier else load


@mutant("host_tier.acknowledged-twice", kills="RFC-0006:C-ACKNOWLEDGE#S4")
class AcknowledgedTwice(HostTierModel):
    """Names a copy once for each node that it covers, and at least twice where several are acknowledged."""

    def poll(self) -> tuple[int, ...]:
        due = super().poll()
        return (*due, *due[-1:]) if len(due) > 1 else due


@mutant("host_tier.all-nodes-released", kills="RFC-0006:C-ACKNOWLEDGE#S5")
class AllNodesReleased(HostTierModel):
    """Releases every node that waits for a copy of a kind of which one is acknowledged."""

    def acknowledge(self, copies: Collection[int]) -> None:
        kinds = {self.ledger.copies[copy].kind for copy in copies}
        super().acknowledge(copies)
        for node in self.tree.nodes.values():
            if BACKUP in kinds:
                node.backups.clear()
            if LOAD in kinds:
                node.loads.clear()


@mutant("host_tier.readers-stay", kills="RFC-0006:C-ACKNOWLEDGE#S5")
class ReadersStay(HostTierModel):
    """Counts the load as a reader of host pages after its acknowledgement."""

    def acknowledge(self, copies: Collection[int]) -> None:
        readers = {number: set(node.readers) for number, node in self.tree.nodes.items()}
        super().acknowledge(copies)
        for number, node in self.tree.nodes.items():
            node.readers |= readers[number]


@mutant("host_tier.reset-keeps-the-locked", kills="RFC-0006:C-RESET#S1")
class ResetKeepsTheLocked(HostTierModel):
    """Leaves the nodes in the tree that a lock covers, without pages."""

    def reset(self) -> None:
        locked = {number: node.twin() for number, node in self.tree.nodes.items() if node.locks}
        super().reset()
        for node in locked.values():
            node.pages, node.host, node.locks = (), (), set()
        self.tree.nodes.update(locked)


@mutant("host_tier.reset-leaves-copies", kills="RFC-0006:C-RESET#S1")
class ResetLeavesCopies(HostTierModel):
    """Answers a reset while copies are in flight."""

    def reset(self) -> None:
        flying = dict(self.ledger.copies)
        super().reset()
        self.ledger.copies.update(flying)


@mutant("host_tier.reset-loses-reservations", kills="RFC-0006:C-RESET#S2")
class ResetLosesReservations(HostTierModel):
    """Forgets the reservations at a reset, and leaves their host pages allocated."""

    def reset(self) -> None:
        self.reservations.clear()
        super().reset()


@mutant("host_tier.reset-loses-locked-pages", kills="RFC-0006:C-RESET#S2")
class ResetLosesLockedPages(HostTierModel):
    """Leaves the device pages in use that a lock covered."""

    def reset(self) -> None:
        for node in self.tree.nodes.values():
            node.pages = () if node.locks else node.pages
        super().reset()


@mutant("host_tier.reset-frees-the-host", kills="RFC-0006:C-RESET#S2")
class ResetFreesTheHost(HostTierModel):
    """Makes every host page free at a reset, also those that callers have."""

    def reset(self) -> None:
        super().reset()
        for lane in self.lanes:
            lane.give(list(lane.allocated))


@mutant("host_tier.reservations-outlive-a-reset", kills="RFC-0006:C-RESET#S3")
class ReservationsOutliveAReset(HostTierModel):
    """Finds a request after a reset that had a reservation before it."""

    def reset(self) -> None:
        self.ended = {*getattr(self, "ended", ()), *self.reservations}
        super().reset()

    def cancel(self, request: str) -> None:
        if request in self.reservations or request not in getattr(self, "ended", ()):
            super().cancel(request)


@mutant("host_tier.locks-outlive-a-reset", kills="RFC-0006:C-RESET#S3")
class LocksOutliveAReset(HostTierModel):
    """Takes an unlock after a reset for a lock that was given before it."""

    def reset(self) -> None:
        held = set(self.held_locks)
        super().reset()
        self.held_locks |= held


class RankModel(HostTierModel):
    """Looks at the memory of its own lane, on ranks beyond the first."""

    def own_lane(self, counts: Sequence[int]) -> tuple[int, ...]:
        """Return counts with those of other lanes left out."""
        rank = self.config.rank
        return tuple(count if lane == rank or not rank else 0 for lane, count in enumerate(counts))


@mutant("host_tier.admission-by-own-lane", kills="RFC-0006:C-RANKS#S1")
class AdmissionByOwnLane(RankModel):
    """Admits on ranks beyond the first what has room on the lane of the rank."""

    def make_room_for(self, batch: Sequence[BackupRequest]) -> None:
        if not self.fits(self.own_lane(self.admission_need(batch))) or not self.config.rank:
            super().make_room_for(batch)


@mutant("host_tier.load-back-by-own-lane", kills="RFC-0006:C-RANKS#S1")
class LoadBackByOwnLane(RankModel):
    """Skips a load-back on ranks beyond the first where the lane of the rank has no room, and waits nowhere else."""

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        hosts = self.to_load(self.tree.walk(tokens))
        need = self.own_lane([self.load_lanes(hosts).count(lane) for lane in range(len(self.lanes))])
        if self.config.rank and not any(left_of(need, self.allocation.pages.counts(FREE))):
            return super().load_back(tokens) if self._has_room(hosts) else LoadBack(copy=-1, pages=())
        return super().load_back(tokens)

    def _has_room(self, hosts: Sequence[HostPage]) -> bool:
        need = [self.load_lanes(hosts).count(lane) for lane in range(len(self.lanes))]
        return not any(left_of(need, self.allocation.pages.counts(FREE)))


@mutant("host_tier.acknowledged-by-own-rank", kills="RFC-0006:C-RANKS#S1")
class AcknowledgedByOwnRank(RankModel):
    """Acknowledges on ranks beyond the first what the rank itself has finished."""

    def poll(self) -> tuple[int, ...]:
        rank = self.config.rank
        for own in self.ledger.copies.values() if rank else ():
            if all(rank not in ranks for ranks in own.left.values()):
                own.left = {source: set() for source in own.left}
        return super().poll()


@mutant("host_tier.idle-poll-exchanges-nothing", kills="RFC-0006:C-RANKS#S2")
class IdlePollExchangesNothing(HostTierModel):
    """Leaves the exchange out where nothing is in flight."""

    def agree(self) -> None:
        if self.ledger.copies:
            super().agree()


@mutant("host_tier.unfinished-poll-exchanges-nothing", kills="RFC-0006:C-RANKS#S2")
class UnfinishedPollExchangesNothing(HostTierModel):
    """Leaves the exchange out where nothing can be acknowledged yet."""

    def agree(self) -> None:
        if self.ledger.due() or not self.ledger.copies:
            super().agree()


@mutant("host_tier.exchange-a-copy", kills="RFC-0006:C-RANKS#S2")
class ExchangeACopy(HostTierModel):
    """Makes an exchange more for every copy in flight."""

    def agree(self) -> None:
        for _ in range(1 + len(self.ledger.copies)):
            super().agree()


@mutant("host_tier.admission-by-agreement", kills="RFC-0006:C-RANKS#S3")
class AdmissionByAgreement(HostTierModel):
    """Asks the other ranks at each admission how much room they have."""

    def admit(self, batch: Sequence[BackupRequest]) -> HostAdmission:
        given = super().admit(batch)
        self.collectives.append(Collective(kind="all_reduce", layer=-1, buffer="host_room", spans=()))
        return given


@mutant("host_tier.load-back-by-agreement", kills="RFC-0006:C-RANKS#S3")
class LoadBackByAgreement(HostTierModel):
    """Asks the other ranks at each load-back whether they have loaded."""

    def submit_load(self, nodes: Sequence[Node], pages: Sequence[int]) -> LoadBack:
        self.collectives.append(Collective(kind="all_reduce", layer=-1, buffer="device_room", spans=()))
        return super().submit_load(nodes, pages)


@benign("host_tier.two-exchanges-a-poll")
class TwoExchangesAPoll(HostTierModel):
    """Exchanges backups and loads by themselves, at every poll."""

    def agree(self) -> None:
        for kind in (BACKUP, LOAD):
            self.collectives.append(Collective(kind="all_gather", layer=-1, buffer=kind, spans=()))

"""Wrong, and odd but right, variants of load-back and of room that is made ahead."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import CapacityWait
from sharedkv_conformance.contract.host_tier import Evicted, LoadBack
from sharedkv_conformance.contract.implementation import FreeRoom
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.allocation import by_lane
from sharedkv_conformance.model.host_pool import missing
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.host_tree import Lanes
from sharedkv_conformance.model.lane_pages import FREE, IN_USE


@mutant("host_tier.loads-one-node", kills="RFC-0006:C-LOAD-BACK#S1")
class LoadsOneNode(HostTierModel):
    """Loads the first node behind the residents and leaves the others to the next call."""

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        end, seen = 0, False
        for node, held in self.tree.walk(tokens):
            if seen and not node.pages:
                break
            end += held * self.config.page_size
            seen = seen or not node.pages
        loaded = self.to_load(self.tree.walk(tokens[:end]))
        return super().load_back(tokens if self.skips_load(len(loaded)) else tokens[:end])


@mutant("host_tier.loads-to-the-end-of-the-node", kills="RFC-0006:C-LOAD-BACK#S1")
class LoadsToTheEndOfTheNode(HostTierModel):
    """Loads the whole node where the tokens end inside one, if there are free pages for it."""

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        found = self.tree.walk(tokens)
        if self.skips_load(len(self.to_load(found))):
            return super().load_back(tokens)
        whole = self.tree.path(found[-1][0])
        lanes = self.load_lanes(self.to_load(self.tree.walk(whole)))
        need, free = by_lane(self.geometry, lanes), self.allocation.pages.counts(FREE)
        is_fitting = not any(missing(need, free)) and not self.skips_load(len(lanes))
        return super().load_back(whole if is_fitting else tokens)


@mutant("host_tier.loaded-lane-by-lane", kills="RFC-0006:C-LOAD-BACK#S2")
class LoadedLaneByLane(HostTierModel):
    """Loads pages onto the right number of pages of each lane, in ascending order of lanes."""

    def load_lanes(self, hosts: Sequence[HostPage]) -> Lanes:
        return tuple(sorted(super().load_lanes(hosts)))


@mutant("host_tier.loads-into-a-page-in-use", kills="RFC-0006:C-LOAD-BACK#S3")
class LoadsIntoAPageInUse(HostTierModel):
    """Loads the first page into one that a caller has."""

    def choose_device(self, lanes: Sequence[int]) -> Lanes:
        chosen = super().choose_device(lanes)
        tree = self.tree.device_pages()
        held = [page for page in self.allocation.pages.by_lane(IN_USE)[lanes[0]] if page not in tree]
        return (held[0], *chosen[1:]) if held else chosen


@mutant("host_tier.loads-into-one-page-twice", kills="RFC-0006:C-LOAD-BACK#S3")
class LoadsIntoOnePageTwice(HostTierModel):
    """Loads the last page of a lane into the same page as the first of it."""

    def choose_device(self, lanes: Sequence[int]) -> Lanes:
        chosen = super().choose_device(lanes)
        first = lanes.index(lanes[-1])
        return (*chosen[:-1], chosen[first])


@mutant("host_tier.loaded-pages-stay-free", kills="RFC-0006:C-LOAD-BACK#S3")
class LoadedPagesStayFree(HostTierModel):
    """Leaves the last page that is loaded among the free ones."""

    def submit_load(self, nodes: Sequence[Node], pages: Sequence[int]) -> LoadBack:
        load = super().submit_load(nodes, pages)
        self.allocation.pages.move(pages[-1:], FREE)
        return load


@mutant("host_tier.load-back-never-evicts", kills="RFC-0006:C-LOAD-BACK#S4")
class LoadBackNeverEvicts(HostTierModel):
    """Waits where an eviction would have made room."""

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        free = self.allocation.pages.counts(FREE)
        deficit = missing(need, free)
        if not any(deficit):
            return
        nodes = self.tree.on_device({node.number for node in kept})
        if not any(self.planner.plan_load_back(nodes, deficit).remaining):
            raise CapacityWait(required=need, available=free, deficit=deficit)
        super().make_device_fit(need, kept)


@mutant("host_tier.load-back-evicts-its-way", kills="RFC-0006:C-LOAD-BACK#S4")
class LoadBackEvictsItsWay(HostTierModel):
    """Evicts off the way and, where it can, the last resident of the way before anybody else."""

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        free = self.allocation.pages.counts(FREE)
        super().make_device_fit(need, kept)
        residents = [node for node in kept if node.pages]
        if any(missing(need, free)) and residents and self._is_idle(residents[-1]):
            self.allocation.pages.move(residents[-1].pages, FREE)
            residents[-1].pages = ()

    def _is_idle(self, node: Node) -> bool:
        is_held = self.tree.is_held_on_device(node) or self.tree.is_pending(node)
        return bool(node.host) and not is_held and not any(below.pages for below in self.tree.children(node.number))

    def submit_load(self, nodes: Sequence[Node], pages: Sequence[int]) -> LoadBack:
        total = sum(len(node.host) for node in nodes)
        return super().submit_load([node for node in nodes if total == len(pages) or node is not nodes[0]], pages)


@mutant("host_tier.load-back-evicts-its-whole-need", kills="RFC-0006:C-LOAD-BACK#S4")
class LoadBackEvictsItsWholeNeed(HostTierModel):
    """Evicts what a lane that is short needs, and not what it lacks, as far as it goes."""

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        self.too_many: Lanes = (0,) * len(self.lanes)
        load = super().load_back(tokens)
        kept = {node.number for node, _ in self.tree.walk(tokens)}
        self.carry_out(self.planner.plan(self.tree.on_device(kept), self.too_many))
        return load

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        free = self.allocation.pages.counts(FREE)
        super().make_device_fit(need, kept)
        self.too_many = tuple(have if want > have else 0 for want, have in zip(need, free, strict=True))


@mutant("host_tier.wait-counts-free-pages-alone", kills="RFC-0006:C-LOAD-BACK#S5")
class WaitCountsFreePagesAlone(HostTierModel):
    """Reports free pages as those available, without what an eviction would free."""

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        free = self.allocation.pages.counts(FREE)
        try:
            super().make_device_fit(need, kept)
        except CapacityWait:
            raise CapacityWait(required=need, available=free, deficit=missing(need, free)) from None


@mutant("host_tier.loads-what-fits", kills="RFC-0006:C-LOAD-BACK#S5")
class LoadsWhatFits(HostTierModel):
    """Loads nothing and says that there was nothing to load, where it should wait."""

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        try:
            return super().load_back(tokens)
        except CapacityWait:
            return LoadBack(copy=-1, pages=())


@mutant("host_tier.victims-of-a-failed-load", kills="RFC-0006:C-LOAD-BACK#S6")
class VictimsOfAFailedLoad(HostTierModel):
    """Evicts what can go before it finds that this is not enough."""

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        try:
            super().make_device_fit(need, kept)
        except CapacityWait:
            deficit = missing(need, self.allocation.pages.counts(FREE))
            self.carry_out(self.planner.plan(self.tree.on_device({node.number for node in kept}), deficit), kept)
            raise


@mutant("host_tier.lock-of-a-failed-load", kills="RFC-0006:C-LOAD-BACK#S6")
class LockOfAFailedLoad(HostTierModel):
    """Locks the residents of the way before it makes room, and unlocks them when the load is there."""

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        for node in kept:
            node.locks.add(-1)
        super().make_device_fit(need, kept)
        for node in kept:
            node.locks.discard(-1)


@mutant("host_tier.split-of-a-failed-load", kills="RFC-0006:C-LOAD-BACK#S6")
class SplitOfAFailedLoad(HostTierModel):
    """Splits a node for a load that then has to wait."""

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        is_loading = not self.skips_load(len(self.to_load(self.tree.walk(tokens))))
        if is_loading and self.config.host.write != "write_back":
            self.tree.way(tokens)
        return super().load_back(tokens)


@mutant("host_tier.least-ignored", kills="RFC-0006:C-LOAD-BACK#S7")
class LeastIgnored(HostTierModel):
    """Loads however few pages there are."""

    def skips_load(self, pages: int) -> bool:
        least = self.config.host.load_back_least
        return super().skips_load(least if 0 < pages < least else pages)


@mutant("host_tier.loads-in-flight-forgotten", kills="RFC-0006:C-LOAD-BACK#S7")
class LoadsInFlightForgotten(HostTierModel):
    """Holds the most against the pages of each load-back alone."""

    def skips_load(self, pages: int) -> bool:
        least, most = self.config.host.load_back_least, self.config.host.load_back_most
        return pages < max(1, least) or 0 < most < pages


@mutant("host_tier.split-of-a-skipped-load", kills="RFC-0006:C-LOAD-BACK#S7")
class SplitOfASkippedLoad(HostTierModel):
    """Splits a node for a load that is then skipped."""

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        if self.skips_load(len(self.to_load(self.tree.walk(tokens)))):
            self.tree.way(tokens)
        return super().load_back(tokens)


@mutant("host_tier.load-not-pending", kills="RFC-0006:C-LOAD-BACK#S8")
class LoadNotPending(HostTierModel):
    """Marks the first node of a load as pending, and not the others."""

    def submit_load(self, nodes: Sequence[Node], pages: Sequence[int]) -> LoadBack:
        load = super().submit_load(nodes, pages)
        for node in nodes[1:]:
            node.loads.discard(load.copy)
        return load


@mutant("host_tier.load-does-not-read", kills="RFC-0006:C-LOAD-BACK#S8")
class LoadDoesNotRead(HostTierModel):
    """Lets host pages go while a load reads them."""

    def submit_load(self, nodes: Sequence[Node], pages: Sequence[int]) -> LoadBack:
        load = super().submit_load(nodes, pages)
        for node in nodes:
            node.readers.discard(load.copy)
        return load


@mutant("host_tier.pending-batch-not-counted", kills="RFC-0006:C-FREE-ROOM#S1")
class PendingBatchNotCounted(HostTierModel):
    """Asks for room on the device where free pages alone are below the target."""

    def room_to_make(self, required: Sequence[int]) -> Lanes:
        free = self.allocation.pages.counts(FREE)
        asked = super().room_to_make(required)
        return tuple(want if have < self.config.free_room.target else 0 for want, have in zip(asked, free, strict=True))


@mutant("host_tier.room-by-the-hosts-policy", kills="RFC-0006:C-FREE-ROOM#S1")
class RoomByTheHostsPolicy(HostTierModel):
    """Makes room on the device by the policy of the host."""

    def room_to_make(self, required: Sequence[int]) -> Lanes:
        return self.by_policy(self.config.host.free_room, required, self.allocation.pages.counts(FREE))


@mutant("host_tier.host-room-up-to-the-target", kills="RFC-0006:C-FREE-ROOM#S2")
class HostRoomUpToTheTarget(HostTierModel):
    """Evicts host pages until the target is met, each time."""

    def host_room_to_make(self, required: Sequence[int]) -> Lanes:
        target = self.config.host.free_room.target
        return tuple(max(0, need + target - have) for need, have in zip(required, self.free(), strict=True))


@mutant("host_tier.host-room-by-the-sum", kills="RFC-0006:C-FREE-ROOM#S2")
class HostRoomByTheSum(HostTierModel):
    """Makes no room on host lanes while all of them together have enough."""

    def host_room_to_make(self, required: Sequence[int]) -> Lanes:
        target = self.config.host.free_room.target * len(self.lanes)
        if sum(self.free()) - sum(required) >= target:
            return (0,) * len(self.lanes)
        return super().host_room_to_make(required)


@mutant("host_tier.host-shortage-exactly", kills="RFC-0006:C-FREE-ROOM#S2")
class HostShortageExactly(HostTierModel):
    """Evicts on the host what is missing and never a chunk."""

    def by_policy(self, policy: FreeRoom, required: Sequence[int], free: Sequence[int]) -> Lanes:
        if policy is self.config.host.free_room:
            return missing(required, free)
        return super().by_policy(policy, required, free)


@mutant("host_tier.room-or-wait", kills="RFC-0006:C-FREE-ROOM#S3")
class RoomOrWait(HostTierModel):
    """Answers with a capacity wait where room on the device cannot be made."""

    def make_room(self, required: Sequence[int]) -> Evicted:
        self.check_required(required)
        asked, free = self.room_to_make(required), self.allocation.pages.counts(FREE)
        plan = self.planner.plan(self.tree.on_device(), asked)
        if any(plan.remaining):
            raise CapacityWait(required=asked, available=free, deficit=plan.remaining)
        return super().make_room(required)


@mutant("host_tier.required-cut-to-the-lanes", kills="RFC-0006:C-FREE-ROOM#S5")
class RequiredCutToTheLanes(HostTierModel):
    """Takes lanes that are not named for ones of which nothing is required, and drops those beyond the last."""

    def make_room(self, required: Sequence[int]) -> Evicted:
        lanes = len(self.lanes)
        return super().make_room((*required, *[0] * lanes)[:lanes])


@mutant("host_tier.required-below-nothing", kills="RFC-0006:C-FREE-ROOM#S5")
class RequiredBelowNothing(HostTierModel):
    """Takes a count below 0 for room that will come."""

    def check_required(self, required: Sequence[int]) -> None:
        super().check_required([max(0, count) for count in required])


@benign("host_tier.last-free-pages-first")
class LastFreePagesFirst(HostTierModel):
    """Loads into the last free pages of a lane, in descending order."""

    def choose_device(self, lanes: Sequence[int]) -> Lanes:
        pool = self.allocation.pages
        free = {lane: sorted(pool.by_lane(FREE)[lane]) for lane in set(lanes)}
        return tuple(free[lane].pop() for lane in lanes)

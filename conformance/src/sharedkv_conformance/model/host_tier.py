"""The executable specification of the host tier: its pool, its tree, and what moves pages between the tiers.

`HostTierModel` is one right answer to each call; mutants override one of its small decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.host_tier import BackupRequest, Evicted, HostAdmission, HostEvicted, LoadBack
from sharedkv_conformance.contract.implementation import FreeRoom, OpenConfig
from sharedkv_conformance.contract.probe import Collective, TreeNode
from sharedkv_conformance.model.allocation import by_lane
from sharedkv_conformance.model.eviction_tree import malformed_deficit
from sharedkv_conformance.model.host_pool import missing
from sharedkv_conformance.model.host_tier_copies import LOAD, sources_of
from sharedkv_conformance.model.host_tier_refusals import admit_refusals, is_unknown_config
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.host_tree import HostTreeModel
from sharedkv_conformance.model.lane_pages import FREE, IN_USE

Lanes = tuple[int, ...]


class HostTierModel(HostTreeModel):
    """The host tier as an implementation, one small decision a method."""

    @classmethod
    def refuse_config(cls, config: OpenConfig) -> None:
        """Refuse a host tier that is to behave in a way that nobody knows."""
        if is_unknown_config(config):
            raise Rejected(Reason.HOST_CONFIG_INVALID, f"write {config.host.write!r}, layout {config.host.layout!r}")

    # -- the calls of the contract ---------------------------------------------------------------------------------

    def make_room(self, required: Sequence[int]) -> Evicted:
        """Evict by the free-room policy of the session, as far as it goes."""
        self.check_required(required)
        plan = self.planner.plan(self.tree.on_device(), self.room_to_make(required))
        self.begin()
        return self.carry_out(plan)

    def make_host_room(self, required: Sequence[int]) -> HostEvicted:
        """Evict by the free-room policy of the host, as far as it goes."""
        self.check_required(required)
        plan = self.planner.plan(self.tree.on_host(), self.host_room_to_make(required))
        self.begin()
        self.carry_out_on_host(plan)
        return HostEvicted(freed=plan.freed, remaining=plan.remaining)

    def admit(self, batch: Sequence[BackupRequest]) -> HostAdmission:
        """Check, make room once for all, then reserve request by request."""
        self.check_admit(batch)
        self.begin()
        before = self.free()
        self.make_room_for(batch)
        evicted = tuple(after - earlier for after, earlier in zip(self.free(), before, strict=True))
        return HostAdmission(reserved=tuple(self.reserve(request) for request in batch), evicted=evicted)

    def cancel(self, request: str) -> None:
        """Check, then give back what was reserved for one request."""
        if request not in self.reservations:
            raise Rejected(Reason.REQUEST_UNKNOWN, f"{request!r} of {sorted(self.reservations)}")
        self.begin()
        self.give_reserved(request, self.reservations.pop(request))

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        """Check, make room, then give device pages to every node that can be loaded."""
        found = self.tree.walk(tokens)
        hosts = self.to_load(found)
        if self.skips_load(len(hosts)):
            return LoadBack(copy=-1, pages=())
        self.begin()
        lanes = self.load_lanes(hosts)
        self.make_device_fit(by_lane(self.geometry, lanes), [node for node, _ in found])
        nodes = [node for node in self.tree.way(tokens) if not node.pages]
        return self.submit_load(nodes, self.choose_device(lanes))

    def poll(self) -> tuple[int, ...]:
        """Agree on what is finished everywhere, and acknowledge it."""
        self.agree()
        due = self.ledger.due()
        self.acknowledge(due)
        return due

    def reset(self) -> None:
        """Wait for every copy, then let go of everything."""
        self.begin()
        self.at_reset()
        self.acknowledge(tuple(self.ledger.copies))
        self.held_locks.clear()
        for request in list(self.reservations):
            self.give_reserved(request, self.reservations.pop(request))
        self.allocation.give(sorted(self.tree.device_pages()), FREE)
        for node in self.tree.nodes.values():
            self.give_host(node.host)
        self.tree.nodes.clear()

    # -- the decisions of free room ----------------------------------------------------------------------------------

    def check_required(self, required: Sequence[int]) -> None:
        """Refuse what is not one count a lane."""
        for reason in sorted(malformed_deficit(required, self.config.cp_size)):
            raise Rejected(reason, f"{list(required)} for {self.config.cp_size} lanes")

    def room_to_make(self, required: Sequence[int]) -> Lanes:
        """Return how many pages a free-room step asks of each lane of the device."""
        return self.by_policy(self.config.free_room, required, self.allocation.pages.counts(FREE))

    def host_room_to_make(self, required: Sequence[int]) -> Lanes:
        """Return how many pages a free-room step asks of each lane of the host."""
        return self.by_policy(self.config.host.free_room, required, self.free())

    def by_policy(self, policy: FreeRoom, required: Sequence[int], free: Sequence[int]) -> Lanes:
        """Return how many pages a policy asks of each lane."""
        return tuple(
            0 if have - need >= policy.target else max(policy.min_chunk, need - have)
            for need, have in zip(required, free, strict=True)
        )

    # -- the decisions of admission ----------------------------------------------------------------------------------

    def check_admit(self, batch: Sequence[BackupRequest]) -> None:
        """Refuse a batch for which nothing can be reserved, before anything moves."""
        for reason in sorted(admit_refusals(self.geometry, self.allocation.pages, self.tree, batch, self.reservations)):
            raise Rejected(reason, f"requests {[request.request for request in batch]}")

    def full_pages(self, request: BackupRequest) -> Lanes:
        """Return the pages of a request that will be full."""
        return tuple(request.pages[: request.extend_tokens // self.config.page_size])

    def admission_need(self, requests: Iterable[BackupRequest]) -> Lanes:
        """Count the host pages that requests need of each lane."""
        return by_lane(self.geometry, (lane for r in requests for lane in self.lanes_of(self.full_pages(r))))

    def make_room_for(self, batch: Sequence[BackupRequest]) -> None:
        """Make room once for a whole batch, all or nothing."""
        self.make_host_fit(self.admission_need(batch))

    def reserve(self, request: BackupRequest) -> int:
        """Reserve host pages for all full pages of a request, or for none; return how many."""
        pages = self.full_pages(request)
        if not pages or not self.fits(self.admission_need([request])):
            return 0
        hosts = self.take_host(self.lanes_of(pages))
        self.reservations[request.request] = dict(zip(pages, hosts, strict=True))
        return len(pages)

    # -- the decisions of load-back ----------------------------------------------------------------------------------

    def to_load(self, found: Sequence[tuple[Node, int]]) -> list[HostPage]:
        """Return the host pages behind the residents of a way that are backed up, up to the first gap."""
        hosts: list[HostPage] = []
        for node, held in found:
            if not node.pages:
                if not self.is_backed_up(node):
                    break
                hosts += node.host[:held]
        return hosts

    def skips_load(self, pages: int) -> bool:
        """Say whether a load of so many pages is not worth it, or too much at a time."""
        most = self.config.host.load_back_most
        return pages < max(1, self.config.host.load_back_least) or 0 < most < pages + self.ledger.pages_of(LOAD)

    def load_lanes(self, hosts: Sequence[HostPage]) -> Lanes:
        """Return the lane on which each page is to be loaded."""
        return tuple(lane for lane, _ in hosts)

    def make_device_fit(self, need: Sequence[int], kept: Sequence[Node]) -> None:
        """Evict where a lane of the device is short, all or nothing; raise `CapacityWait` where that does not do."""
        free = self.allocation.pages.counts(FREE)
        deficit = missing(need, free)
        if not any(deficit):
            return
        nodes = self.tree.on_device({node.number for node in kept})
        plan = self.planner.plan_load_back(nodes, deficit)
        if any(plan.remaining):
            most = self.planner.plan(nodes, deficit).freed
            available = tuple(have + more for have, more in zip(free, most, strict=True))
            raise CapacityWait(required=need, available=available, deficit=missing(need, available))
        self.carry_out(plan, kept)

    def choose_device(self, lanes: Sequence[int]) -> Lanes:
        """Choose a free device page on each lane, in order of position."""
        chosen = {
            lane: iter(self.allocation.pages.choose(lane, list(lanes).count(lane))) for lane in sorted(set(lanes))
        }
        return tuple(next(chosen[lane]) for lane in lanes)

    def submit_load(self, nodes: Sequence[Node], pages: Sequence[int]) -> LoadBack:
        """Make nodes resident, and put one copy for all of them in flight."""
        copy = self.number_copy()
        self.allocation.pages.move(pages, IN_USE)
        self.ledger.submit(copy, LOAD, sources_of(self.config), len(pages))
        at = 0
        for node in nodes:
            node.pages = tuple(pages[at : at + len(node.host)])
            at += len(node.host)
            node.loads.add(copy)
            node.readers.add(copy)
        self.mover.load(copy, [pair for node in nodes for pair in self.pairs(node)])
        return LoadBack(copy=copy, pages=tuple(pages))

    # -- the decisions of acknowledgement ----------------------------------------------------------------------------

    def agree(self) -> None:
        """Exchange among the ranks how many copies are finished: once a poll, whatever is in flight."""
        self.collectives.append(Collective(kind="all_reduce", layer=-1, buffer="acknowledged", spans=()))

    # -- what probes show --------------------------------------------------------------------------------------------

    def nodes(self) -> tuple[TreeNode, ...]:
        """Return every node."""
        return tuple(map(self.shown, self.tree.nodes.values()))

    def shown(self, node: Node) -> TreeNode:
        """Return one node as the contract has it."""
        return TreeNode(
            node=node.number,
            parent=node.parent,
            tokens=node.tokens,
            pages=node.pages,
            host_lanes=tuple(lane for lane, _ in node.host),
            host_pages=tuple(page for _, page in node.host),
            device_counts=self.kept_counts(self.lanes_of(node.pages)),
            host_counts=self.kept_counts([lane for lane, _ in node.host]),
            locks=len(node.locks),
            readers=len(node.readers),
            backup_pending=bool(node.backups),
            load_pending=bool(node.loads),
            hits=node.hits,
            last_tick=node.last_tick,
        )

    def kept_counts(self, lanes: Sequence[int]) -> Lanes:
        """Count the pages of each lane."""
        return by_lane(self.geometry, lanes)

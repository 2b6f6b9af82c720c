"""The executable specification of the prefix tree of the host tier: match, insert, locks, eviction on both tiers.

`HostTreeModel` adds to the pool of host pages a tree over both tiers, one small decision a method.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.eviction import EvictionPlan
from sharedkv_conformance.contract.host_tier import Evicted, HostEvicted, Inserted, Match
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.probe import Collective
from sharedkv_conformance.model.allocation import AllocationModel, by_lane
from sharedkv_conformance.model.eviction import EvictionModel
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.host_pool import HostPoolModel, missing
from sharedkv_conformance.model.host_tier_copies import BACKUP, CopyLedger, Mover, NoMover, Pair, sources_of
from sharedkv_conformance.model.host_tier_refusals import insert_refusals
from sharedkv_conformance.model.host_tier_tree import HostPage, Node, PrefixTree
from sharedkv_conformance.model.lane_pages import FREE

Lanes = tuple[int, ...]
THRESHOLDS = {"write_through": 1, "write_through_selective": 2}


class HostTreeModel(HostPoolModel):
    """The host pool and the tree. A session's tree has the allocation and the collectives of the session."""

    tree_type: type[PrefixTree] = PrefixTree
    ledger_type: type[CopyLedger] = CopyLedger

    def __init__(self, config: OpenConfig) -> None:
        super().__init__(config)
        self.geometry = Geometry.of(config)
        self.tree = self.tree_type(self.geometry)
        self.ledger = self.ledger_type(config.cp_size)
        self.reservations: dict[str, dict[int, HostPage]] = {}
        self.held_locks: set[int] = set()
        self.tick = self.next_lock = self.next_copy = 0
        self.collectives: list[Collective] = []
        self.mover: Mover = NoMover()
        self.acknowledged: Callable[[int], None] = lambda _copy: None
        self.at_reset: Callable[[], None] = lambda: None
        self.fetched_pages: Callable[[], Collection[HostPage]] = tuple
        self._allocation: Callable[[], AllocationModel] | None = None

    def attach(self, allocation: Callable[[], AllocationModel], collectives: list[Collective]) -> None:
        """Share the device pages and the list of collectives of a session."""
        self._allocation, self.collectives = allocation, collectives

    @cached_property
    def allocation(self) -> AllocationModel:
        """Return the device pages: those of the session, or its own where there is none."""
        found = self._allocation() if self._allocation else AllocationModel(self.config)
        found.in_tree = self.device_pages
        return found

    @cached_property
    def planner(self) -> EvictionModel:
        """Return who plans evictions."""
        return EvictionModel(self.config)

    def device_pages(self) -> set[int]:
        """Return the device pages that callers can neither retain nor give back."""
        return self.tree.device_pages()

    def host_pages(self) -> set[HostPage]:
        """Return the host pages that callers cannot give back."""
        reserved = {page for own in self.reservations.values() for page in own.values()}
        fetched = set(self.fetched_pages())
        return reserved | fetched | {page for node in self.tree.nodes.values() for page in node.host}

    # -- the calls of the contract ---------------------------------------------------------------------------------

    def match(self, tokens: Sequence[int]) -> Match:
        """Walk, split where the walk ends, and refresh what was walked."""
        if not self.is_tick(tokens):
            return Match(device=(), host=0)
        self.tick += 1
        way = self.tree.way(tokens)
        self.refresh(way)
        return Match(device=tuple(page for node in way for page in node.pages), host=self.loadable(way))

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        """Check, then let every page go one way, and back up what the policy asks for."""
        self.check_insert(tokens, pages)
        self.begin()
        reserved = self.reservations.pop(request, {})
        whole = len(self.tree.whole(tokens)) // self.config.page_size
        if not self.is_tick(tokens):
            self.give_reserved(request, reserved)
            return Inserted(cached=0, adopted=(), freed=(), left=tuple(pages), backups=())
        self.tick += 1
        way = self.tree.way(tokens)
        cached = sum(len(node.pages) for node in way)
        adopted, freed = self.deal(way, pages)
        new = tuple(pages[sum(map(self.tree.num_pages, way)) : whole])
        if new:
            way.append(self.new_node(way, tokens, new))
        self.refresh(way)
        self.count_hit(way)
        self.allocation.give(freed, FREE)
        backups = self.use_reservation(request, way, new, reserved)
        backups += self.back_up(self.due_for_backup(way), kept=way)
        return Inserted(
            cached=cached,
            adopted=(*adopted, *new),
            freed=tuple(freed),
            left=tuple(pages[whole:]),
            backups=tuple(backups),
        )

    def lock(self, tokens: Sequence[int]) -> int:
        """Check, then put a lock on every node of the way."""
        self.check_resident(tokens)
        lock = self.number_lock()
        self.held_locks.add(lock)
        for node in self.tree.way(tokens):
            node.locks.add(lock)
        return lock

    def unlock(self, lock: int) -> None:
        """Check, then take the lock off every node."""
        if lock not in self.held_locks:
            raise Rejected(Reason.LOCK_UNKNOWN, f"lock {lock} of {sorted(self.held_locks)}")
        self.held_locks.discard(lock)
        for node in self.tree.nodes.values():
            node.locks.discard(lock)

    def evict(self, deficit: Sequence[int]) -> Evicted:
        """Plan, then carry it out."""
        plan = self.planner.plan(self.tree.on_device(), self.device_deficit(deficit))
        self.begin()
        return self.carry_out(plan)

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        """Plan over nodes with host pages, then carry it out."""
        plan = self.planner.plan(self.tree.on_host(), self.host_deficit(deficit))
        self.begin()
        self.carry_out_on_host(plan)
        return HostEvicted(freed=plan.freed, remaining=plan.remaining)

    # -- the decisions of what is the tree's ------------------------------------------------------------------------

    def check_not_kept(self, lane: int, pages: Sequence[int]) -> None:
        """Refuse host pages of the tree, of reservations and of fetches."""
        if kept := self.host_pages().intersection((lane, page) for page in pages):
            raise Rejected(Reason.PAGE_IN_TREE, f"host pages {sorted(kept)}")

    # -- the decisions of match and insert ---------------------------------------------------------------------------

    def is_tick(self, tokens: Sequence[int]) -> bool:
        """Say whether there is at least one page."""
        return len(tokens) >= self.config.page_size

    def refresh(self, way: Sequence[Node]) -> None:
        """Make the nodes of a way the most recent."""
        for node in way:
            node.last_tick = self.tick

    def count_hit(self, way: Sequence[Node]) -> None:
        """Count an insert that made nodes or went through them."""
        for node in way:
            node.hits += 1

    def loadable(self, way: Sequence[Node]) -> int:
        """Count the pages behind the residents of a way that can be loaded back."""
        count = 0
        for node in way:
            if not node.pages:
                if not self.is_backed_up(node):
                    break
                count += self.tree.num_pages(node)
        return count

    def is_backed_up(self, node: Node) -> bool:
        """Say whether the node has host pages, and its backup was acknowledged."""
        return bool(node.host) and not node.backups

    def check_insert(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        """Refuse pages that cannot be the tree's, before anything moves."""
        for reason in sorted(insert_refusals(self.geometry, self.allocation.pages, self.tree, tokens, pages)):
            raise Rejected(reason, f"pages {list(pages)} for {len(tokens)} tokens")

    def deal(self, way: Sequence[Node], pages: Sequence[int]) -> tuple[list[int], list[int]]:
        """Let the pages of nodes that are there go to the tree or become free; return those adopted, those freed."""
        adopted: list[int] = []
        freed: list[int] = []
        at = 0
        for node in way:
            given = tuple(pages[at : at + self.tree.num_pages(node)])
            at += len(given)
            if node.pages:
                freed += [page for own, page in zip(node.pages, given, strict=True) if own != page]
            else:
                node.pages = given
                adopted += given
        return adopted, freed

    def new_node(self, way: Sequence[Node], tokens: Sequence[int], pages: tuple[int, ...]) -> Node:
        """Make the node of the pages that the tree does not have, below the way."""
        whole = self.tree.whole(tokens)
        parent = way[-1].number if way else ROOT
        node = self.tree.add(parent, whole[len(whole) - len(pages) * self.config.page_size :])
        node.pages = pages
        return node

    def use_reservation(
        self, request: str, way: Sequence[Node], new: Sequence[int], reserved: Mapping[int, HostPage]
    ) -> list[int]:
        """Give the new node what was reserved for it; what it does not take is free again. Return its backup."""
        backups = []
        if new and self.takes_reservation(way, new, reserved):
            backups.append(self.submit_backup(way[-1], [reserved[page] for page in new], request))
        used = set(new) if backups else set()
        self.give_reserved(request, {page: host for page, host in reserved.items() if page not in used})
        return backups

    def give_reserved(self, request: str, reserved: Mapping[int, HostPage]) -> None:
        """Make host pages free that were reserved behind device pages, and tell who may be copying there."""
        self.give_host(reserved.values())
        self.mover.abandoned(request, [(lane, page, host) for page, (lane, host) in reserved.items()])

    def reserved_pairs(self) -> list[Pair]:
        """Return every page with a reservation on both tiers, request by request."""
        return [(lane, page, host) for own in self.reservations.values() for page, (lane, host) in own.items()]

    def takes_reservation(self, way: Sequence[Node], new: Sequence[int], reserved: Mapping[int, HostPage]) -> bool:
        """Say whether all pages of the new node have a host page reserved, and its parent has host pages."""
        return all(page in reserved for page in new) and all(node.host for node in way[-2:-1])

    # -- the decisions of locks --------------------------------------------------------------------------------------

    def check_resident(self, tokens: Sequence[int]) -> None:
        """Refuse a prefix of which a whole page is not on the device."""
        resident = sum(held for node, held in self.tree.walk(tokens) if node.pages)
        if resident * self.config.page_size < len(self.tree.whole(tokens)):
            raise Rejected(Reason.PREFIX_NOT_RESIDENT, f"{resident} pages of {len(tokens)} tokens")

    def number_lock(self) -> int:
        """Return the number of the next lock."""
        self.next_lock += 1
        return self.next_lock - 1

    # -- the decisions of eviction -----------------------------------------------------------------------------------

    def device_deficit(self, deficit: Sequence[int]) -> Sequence[int]:
        """Return what a call asks the device for."""
        return deficit

    def host_deficit(self, deficit: Sequence[int]) -> Sequence[int]:
        """Return what a call asks the host for."""
        return deficit

    def carry_out(self, plan: EvictionPlan, kept: Sequence[Node] = ()) -> Evicted:
        """Evict the victims of a plan on the device; nothing of `kept` leaves either tier."""
        victims = [self.tree.nodes[number] for number in plan.victims]
        self.save_victims(victims, kept)
        pages = tuple(page for node in victims for page in node.pages)
        for node in victims:
            self.leave_device(node)
        self.allocation.give(pages, FREE)
        return Evicted(pages=pages, freed=plan.freed, remaining=plan.remaining)

    def leave_device(self, node: Node) -> None:
        """Let a node give up its device pages; without host pages it leaves the tree."""
        node.pages = ()
        if not node.host:
            self.tree.remove(node)

    def carry_out_on_host(self, plan: EvictionPlan) -> None:
        """Evict the victims of a plan on the host."""
        for number in plan.victims:
            self.leave_host(self.tree.nodes[number])

    def leave_host(self, node: Node) -> None:
        """Let a node give up its host pages; without device pages it leaves the tree."""
        self.give_host(node.host)
        node.host = ()
        if not node.pages:
            self.tree.remove(node)

    def give_host(self, pages: Iterable[HostPage]) -> None:
        """Make host pages free."""
        for lane, page in pages:
            self.lanes[lane].give([page])

    # -- the decisions of backups ------------------------------------------------------------------------------------

    def due_for_backup(self, way: Sequence[Node]) -> list[Node]:
        """Return the nodes of a way that the write policy asks to back up now, from the root down."""
        return [node for node in way if not node.host and self.reaches_threshold(node)]

    def reaches_threshold(self, node: Node) -> bool:
        """Say whether a node has as many hits as the write policy asks for."""
        threshold = THRESHOLDS.get(self.config.host.write)
        return threshold is not None and node.hits >= threshold

    def back_up(self, nodes: Sequence[Node], kept: Sequence[Node]) -> list[int]:
        """Back nodes up as far as there is room, after one eviction for all of them; return the copies."""
        if not self.make_host_fit(self.host_need(nodes), kept):
            nodes = self.fitting(nodes)
        return [self.submit_backup(node, self.take_host(self.lanes_of(node.pages))) for node in nodes]

    def host_need(self, nodes: Iterable[Node]) -> Lanes:
        """Count the device pages of nodes by lane: so many host pages they need."""
        return by_lane(self.geometry, (lane for node in nodes for lane in self.lanes_of(node.pages)))

    def lanes_of(self, pages: Iterable[int]) -> Lanes:
        """Return the lane of each device page."""
        return tuple(self.geometry.lane(page) for page in pages)

    def make_host_fit(self, need: Sequence[int], kept: Iterable[Node] = ()) -> bool:
        """Say whether so many host pages are free, if need be after one eviction that is all or nothing."""
        if self.fits(need):
            return True
        plan = self.planner.plan_load_back(
            self.tree.on_host({node.number for node in kept}), self.host_shortage(need, self.free())
        )
        if any(plan.remaining):
            return False
        self.carry_out_on_host(plan)
        return True

    def host_shortage(self, need: Sequence[int], free: Sequence[int]) -> Lanes:
        """Return what host lanes lack."""
        return missing(need, free)

    def fitting(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the first nodes that fit together without an eviction."""
        count = 0
        while count < len(nodes) and self.fits(self.host_need(nodes[: count + 1])):
            count += 1
        return list(nodes[:count])

    def take_host(self, owners: Sequence[int]) -> list[HostPage]:
        """Take a host page on the lane of each owner, in order of position."""
        taken = {lane: iter(self.take(lane, owners.count(lane))) for lane in sorted(set(owners))}
        return [(lane, next(taken[lane])) for lane in owners]

    def submit_backup(self, node: Node, host: Sequence[HostPage], request: str = "") -> int:
        """Give a node its host pages and put the copy in flight; return the copy."""
        copy = self.number_copy()
        node.host = tuple(host)
        node.backups.add(copy)
        self.ledger.submit(copy, BACKUP, sources_of(self.config), len(node.host))
        self.mover.backup(copy, request, self.pairs(node))
        return copy

    def number_copy(self) -> int:
        """Return the number of the next copy."""
        self.next_copy += 1
        return self.next_copy - 1

    def pairs(self, node: Node) -> list[Pair]:
        """Return the pages of a node on both tiers."""
        return [(lane, page, host) for page, (lane, host) in zip(node.pages, node.host, strict=True)]

    def acknowledge(self, copies: Collection[int]) -> None:
        """Take copies out of flight, and off every node that waits for them."""
        self.mover.settle(tuple(copies))
        for copy in copies:
            self.ledger.remove(copy)
            for node in self.tree.nodes.values():
                for waiting in (node.backups, node.loads, node.readers):
                    waiting.discard(copy)
            self.acknowledged(copy)

    # -- the decisions of write-back ---------------------------------------------------------------------------------

    def save_victims(self, victims: Sequence[Node], kept: Sequence[Node]) -> None:
        """Under write-back, back up victims without host pages and what is above them, and wait for it."""
        if self.config.host.write != "write_back":
            return
        unsaved = self.unsaved(victims)
        ways = [other for node in victims for other in (node, *self.tree.above(node))]
        if unsaved:
            self.acknowledge(self.back_up(unsaved, kept=[*kept, *ways]))

    def unsaved(self, victims: Sequence[Node]) -> list[Node]:
        """Return victims without host pages and the nodes above them, victim by victim and each from the root down."""
        chains = [[*reversed(list(self.tree.above(node))), node] for node in victims]
        chained = {node.number: node for chain in chains for node in chain if not node.host}
        return list(chained.values())

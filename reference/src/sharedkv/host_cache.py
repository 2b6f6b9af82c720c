"""A prefix cache on two tiers: device pages, and the host pages of the same lanes behind them.

Knows which call moves which pages between the caller, the tree and the free ones, and when copies are submitted. Does
not know bytes or streams: an engine does. Every call checks, then changes, then answers; a call that raises has changed
nothing. Every rank answers alike: all that is decided is decided from counts that every rank has, and `poll` alone asks
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sharedkv.allocation import FreeRoom, OwnerLaneAllocator
from sharedkv.backups import Backups
from sharedkv.copy_engine import CopyEngine
from sharedkv.copy_ledger import CopyLedger
from sharedkv.device_room import DeviceRoom
from sharedkv.errors import Refusal, RefusedError
from sharedkv.host_admissions import HostAdmissions
from sharedkv.host_pool import HostPool
from sharedkv.host_room import HostRoom
from sharedkv.insertion import Insertion, require_given_pages, require_started_pages, resident_pages
from sharedkv.load_back import Loads, loadable
from sharedkv.prefix_tree import PrefixTree
from sharedkv.tier_values import (
    BackupRequest,
    CachePolicy,
    Counts,
    Evicted,
    HostAdmission,
    HostEvicted,
    Inserted,
    LoadBack,
    Match,
)
from sharedkv.tree_node import HostPage, Node


class HostCache:
    """The tree of one session over its device pages and host pages.

    Calls that take `tokens` look at their full pages. Who computed pages gives them by `insert`; `match` finds them.
    """

    def __init__(
        self,
        allocator: OwnerLaneAllocator,
        pool: HostPool,
        policy: CachePolicy,
        engine: CopyEngine,
        ledger: CopyLedger[Node],
    ) -> None:
        self.allocator = allocator
        self.pool = pool
        self.ledger = ledger
        self.tree = PrefixTree(allocator.geometry)
        self.host_room = HostRoom(self.tree, pool)
        self.on_reset: list[Callable[[], None]] = []
        self._policy = policy
        self._engine = engine
        self._admissions = HostAdmissions(self.host_room, engine)
        backups = Backups(self.tree, self.host_room, engine, ledger, policy.write)
        self._device = DeviceRoom(self.tree, allocator, backups)
        self._insertion = Insertion(self.tree, allocator, backups, self._admissions)
        self._loads = Loads(self.tree, self._device, engine, ledger, policy)
        self._locks: dict[int, Node] = {}
        self._next_lock = 0

    def match(self, tokens: Sequence[int]) -> Match:
        """Find the longest prefix of full pages; with one page at least, it counts for the recency of what it finds."""
        way = self.tree.walk(tokens)
        answer = Match(device=tuple(resident_pages(way)), host=sum(num_pages for _, num_pages in loadable(way)))
        if way.tokens:
            self.tree.touch(self.tree.end_node(way))
        return answer

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        """Give the pages of tokens, one for each started page, to the tree; back up what the policy wants on the host.

        Refuses pages that are not one a started page, outside the pool, not in use, named twice, or the tree's at
        another position.
        """
        return self._insertion.insert(request, tokens, pages)

    def lock(self, tokens: Sequence[int]) -> int:
        """Keep the full pages of tokens on the device; return the lock. Refuses tokens that are not all resident."""
        way = self.tree.walk(tokens)
        num_resident, num_pages = len(resident_pages(way)), len(way.tokens) // way.page_size
        if num_resident < num_pages:
            raise RefusedError(Refusal.PREFIX_NOT_RESIDENT, f"{num_resident} pages of {num_pages} are resident")
        nodes = self.tree.end_node(way)
        self._add_locks(nodes, 1)
        self._locks[self._next_lock] = nodes[-1] if nodes else self.tree.root
        self._next_lock += 1
        return self._next_lock - 1

    def unlock(self, lock: int) -> None:
        """Give a lock up; refuses one that is not held. The node where it ends is still the lowest that it covers."""
        if lock not in self._locks:
            raise RefusedError(Refusal.LOCK_UNKNOWN, lock)
        self._add_locks(self._locks.pop(lock).way_down(), -1)

    def evict(self, deficit: Sequence[int]) -> Evicted:
        """Free device pages of nodes as far as it goes; refuses what is not one count a lane."""
        return self._device.evict(deficit)

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        """Free host pages of nodes as far as it goes; refuses what is not one count a lane."""
        return self.host_room.evict(deficit)

    def make_room(self, required: Sequence[int]) -> Evicted:
        """Evict ahead by the free-room policy; a shortfall is no error."""
        return self._device.evict(_ahead(required, self._device.free(), self._policy.free_room))

    def make_host_room(self, required: Sequence[int]) -> HostEvicted:
        """Do the same on the host."""
        return self.host_room.evict(_ahead(required, self.host_room.free(), self._policy.host_free_room))

    def admit(self, batch: Sequence[BackupRequest]) -> HostAdmission:
        """Reserve host pages for the full pages of a batch, all together or as many requests as fit.

        Refuses pages like `insert`, of the tree anywhere, and a request named twice or with a reservation.
        """
        size = self.tree.geometry.page_size
        for request in batch:
            require_started_pages(request.extend_tokens, request.pages, size)
        pages = [page for request in batch for page in request.pages]
        require_given_pages(self.tree, self.allocator, pages)
        self._admissions.require_none([request.request for request in batch], pages)
        needs = [(request.request, request.pages[: request.extend_tokens // size]) for request in batch]
        reserved, evicted = self._admissions.reserve(
            [(request, pages, [self.tree.lane(page) for page in pages]) for request, pages in needs]
        )
        return HostAdmission(reserved=tuple(reserved), evicted=evicted)

    def cancel(self, request: str) -> None:
        """Give back what is reserved for a request; refuses one without a reservation."""
        self._admissions.cancel(request)

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        """Load what is on the host alone, all or nothing; skipped where it is too little or too much.

        Raises `CapacityWaitError` where lanes are short and nodes off the way cannot make up for it.
        """
        return self._loads.load_back(tokens)

    def poll(self) -> tuple[int, ...]:
        """Acknowledge copies that are finished on all ranks, with one exchange; return them."""
        done = self.ledger.poll()
        for copy in done:
            for node in copy.owners:
                node.copies.remove(copy)
                self.tree.columns.refresh(node)
        return tuple(copy.copy for copy in done)

    def reset(self) -> None:
        """Wait for every copy; give up every lock, reservation and node."""
        for hear in self.on_reset:
            hear()
        self.ledger.settle()
        self._admissions.cancel_all()
        self._engine.drain()
        nodes = self.tree.nodes.values()
        self._device.give([page for node in nodes for page in node.pages])
        self.host_room.give([page for node in nodes for page in node.host])
        self._locks.clear()
        self.tree.clear()

    def reserved_pages(self) -> list[HostPage]:
        """List the host pages that are reserved for requests."""
        return self._admissions.pages()

    def _add_locks(self, nodes: Sequence[Node], change: int) -> None:
        for node in nodes:
            node.locks += change
            self.tree.columns.refresh(node)

    def invariants(self) -> list[str]:
        """List the laws that the cache breaks. Reads everything that it has."""
        broken = [*self.tree.invariants(), *self.pool.invariants(), *self.allocator.invariants()]
        nodes = list(self.tree.nodes.values())
        copies = self.ledger.in_flight()
        broken += [
            f"copy {copy.copy} and its nodes differ"
            for copy in copies
            if set(copy.owners) != {node for node in nodes if copy in node.copies}
        ]
        if any(set(node.copies) - set(copies) for node in nodes):
            broken.append("a node waits for a copy that is not in flight")
        covered = [node for end in self._locks.values() for node in end.way_down()]
        if any(node.locks != covered.count(node) for node in nodes):
            broken.append("the locks of nodes differ from those that are held")
        host = [*self._admissions.pages(), *(page for node in nodes for page in node.host)]
        if len(set(host)) < len(host):
            broken.append("a host page is reserved and under a node")
        if sorted(page for node in nodes for page in node.pages) != self.allocator.kept_pages():
            broken.append("the device pages of nodes are not those that the allocator keeps for them")
        return broken


def _ahead(required: Sequence[int], free: Counts, policy: FreeRoom) -> list[int]:
    """Return what lanes evict ahead: what is pending beyond their free pages, and never less than a chunk."""
    if len(required) != len(free) or min(required) < 0:
        return list(required)
    return [
        max(policy.min_chunk, need - idle, 0) if idle - need < policy.target else 0
        for need, idle in zip(required, free, strict=True)
    ]

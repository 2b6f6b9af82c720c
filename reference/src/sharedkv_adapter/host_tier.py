"""The host tier of the contract over the reference's pool of host pages and its cache on two tiers.

Knows which call of the contract is which call of the reference. Does not know when a session asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sharedkv import tier_values
from sharedkv.host_cache import HostCache
from sharedkv.host_pool import HostPool
from sharedkv.tree_columns import Tier
from sharedkv.tree_node import Node
from sharedkv_adapter.translation import contract_errors, free_room
from sharedkv_conformance import contract


class ReferenceHostTier:
    """The host pool and the tree, call by call; the cache is made when the tree is first asked for."""

    def __init__(self, pool: HostPool, cache: Callable[[], HostCache]) -> None:
        self._pool = pool
        self._cache = cache

    def allocate(self, pages: Sequence[int]) -> contract.HostAllocation:
        """Allocate so many pages of each lane, or change nothing and raise `Rejected` or `CapacityWait`."""
        with contract_errors():
            return contract.HostAllocation(pages=tuple(map(tuple, self._pool.allocate(pages))))

    def release(self, lane: int, pages: Sequence[int]) -> None:
        """Give pages of a lane back."""
        with contract_errors():
            self._pool.release(lane, pages)

    def statistics(self) -> contract.HostStatistics:
        """Count the pages of each lane."""
        counts = self._pool.statistics()
        return contract.HostStatistics(capacity=counts.capacity, free=counts.free)

    def free_slots(self, lane: int) -> tuple[int, ...]:
        """List the token slots of the free pages of a lane."""
        with contract_errors():
            return tuple(self._pool.free_slots(lane).tolist())

    def match(self, tokens: Sequence[int]) -> contract.Match:
        """Find the longest prefix of whole pages."""
        with contract_errors():
            found = self._cache().match(tokens)
        return contract.Match(device=found.device, host=found.host)

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> contract.Inserted:
        """Give the pages of a request's tokens to the tree, or raise `Rejected`."""
        with contract_errors():
            found = self._cache().insert(request, tokens, pages)
        return contract.Inserted(
            cached=found.cached, adopted=found.adopted, freed=found.freed, left=found.left, backups=found.backups
        )

    def lock(self, tokens: Sequence[int]) -> int:
        """Keep the whole pages of tokens on the device, or raise `Rejected`."""
        with contract_errors():
            return self._cache().lock(tokens)

    def unlock(self, lock: int) -> None:
        """Give a lock up, or raise `Rejected`."""
        with contract_errors():
            self._cache().unlock(lock)

    def evict(self, deficit: Sequence[int]) -> contract.Evicted:
        """Evict resident nodes as far as it goes."""
        with contract_errors():
            return _evicted(self._cache().evict(deficit))

    def evict_host(self, deficit: Sequence[int]) -> contract.HostEvicted:
        """Evict host pages as far as it goes."""
        with contract_errors():
            return _host_evicted(self._cache().evict_host(deficit))

    def make_room(self, required: Sequence[int]) -> contract.Evicted:
        """Evict ahead by the session's free-room policy."""
        with contract_errors():
            return _evicted(self._cache().make_room(required))

    def make_host_room(self, required: Sequence[int]) -> contract.HostEvicted:
        """Do the same on the host."""
        with contract_errors():
            return _host_evicted(self._cache().make_host_room(required))

    def admit(self, batch: Sequence[contract.BackupRequest]) -> contract.HostAdmission:
        """Reserve host pages for a batch, or raise `Rejected`."""
        with contract_errors():
            found = self._cache().admit(
                [
                    tier_values.BackupRequest(
                        request=request.request, extend_tokens=request.extend_tokens, pages=tuple(request.pages)
                    )
                    for request in batch
                ]
            )
        return contract.HostAdmission(reserved=found.reserved, evicted=found.evicted)

    def cancel(self, request: str) -> None:
        """Give back what was reserved for a request, or raise `Rejected`."""
        with contract_errors():
            self._cache().cancel(request)

    def load_back(self, tokens: Sequence[int]) -> contract.LoadBack:
        """Load what is on the host alone, or change nothing and raise `CapacityWait`."""
        with contract_errors():
            found = self._cache().load_back(tokens)
        return contract.LoadBack(copy=found.copy, pages=found.pages)

    def poll(self) -> tuple[int, ...]:
        """Acknowledge the copies that are finished on all ranks."""
        with contract_errors():
            return self._cache().poll()

    def reset(self) -> None:
        """Wait for every copy and give everything up."""
        with contract_errors():
            self._cache().reset()


def cache_policy(config: contract.OpenConfig) -> tier_values.CachePolicy:
    """Read how the host tier behaves; refuses words that nobody knows."""
    tier_values.require_host_order(config.host.layout)
    return tier_values.CachePolicy(
        write=tier_values.write_policy(config.host.write),
        free_room=free_room(config.free_room),
        host_free_room=free_room(config.host.free_room),
        load_back_least=config.host.load_back_least,
        load_back_most=config.host.load_back_most,
    )


def tree_nodes(cache: HostCache) -> tuple[contract.TreeNode, ...]:
    """Show every node."""
    return tuple(_tree_node(cache, node) for node in cache.tree.nodes.values())


def copies_in_flight(cache: HostCache) -> tuple[contract.CopyInFlight, ...]:
    """Show every copy that was not acknowledged."""
    return tuple(
        contract.CopyInFlight(copy=copy.copy, kind=copy.kind.value, sources=copy.unfinished_sources())
        for copy in cache.ledger.in_flight()
    )


def _tree_node(cache: HostCache, node: Node) -> contract.TreeNode:
    columns = cache.tree.columns
    return contract.TreeNode(
        node=node.number,
        parent=node.parent.number if node.parent is not None else node.number,
        tokens=node.tokens,
        pages=node.pages,
        host_lanes=tuple(page.lane for page in node.host),
        host_pages=tuple(page.page for page in node.host),
        device_counts=columns.counts(Tier.DEVICE, node),
        host_counts=columns.counts(Tier.HOST, node),
        locks=node.locks,
        readers=node.readers,
        backup_pending=node.is_backup_pending,
        load_pending=node.is_load_pending,
        hits=node.hits,
        last_tick=node.last_tick,
    )


def _evicted(found: tier_values.Evicted) -> contract.Evicted:
    return contract.Evicted(pages=found.pages, freed=found.freed, remaining=found.remaining)


def _host_evicted(found: tier_values.HostEvicted) -> contract.HostEvicted:
    return contract.HostEvicted(freed=found.freed, remaining=found.remaining)

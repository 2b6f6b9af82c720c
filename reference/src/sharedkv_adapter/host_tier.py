"""The host tier of the contract over the reference's pool of host pages.

Knows which call of the contract is which call of the pool. Does not know when a session asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv.host_pool import HostPool
from sharedkv_adapter.translation import contract_errors
from sharedkv_conformance import contract


class ReferenceHostTier:
    """The host pool, call by call."""

    def __init__(self, pool: HostPool) -> None:
        self._pool = pool

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

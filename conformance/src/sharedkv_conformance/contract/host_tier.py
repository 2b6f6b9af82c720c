"""The host tier: pages in host memory, behind the device pages of the same lanes.

A session has `OpenConfig.host_pages` host pages on each lane. A host page is named by its lane and its number within
the lane, from 0 on: neighbours by number are neighbours in memory. A page is free or allocated; what it holds is not
spoken of here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class HostAllocation:
    """The host pages that an allocation was given: those of each lane, in the order in which they are to be filled."""

    pages: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class HostStatistics:
    """One count a lane, in host pages: the lane's `capacity`, and how many of it are `free`."""

    capacity: tuple[int, ...]
    free: tuple[int, ...]


class HostTier(Protocol):
    """The host pages of one session. Every call that raises leaves them as they were."""

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        """Allocate so many pages of each lane, on all lanes or on none.

        Raises `CapacityWait` when a lane has fewer free pages than are asked of it, and `Rejected`
        (`host_counts_invalid`) when `pages` is not one count a lane, none below 0.
        """

    def release(self, lane: int, pages: Sequence[int]) -> None:
        """Give pages of a lane back.

        `Rejected` for a lane that is not there (`lane_unknown`), and for a page that is not allocated, outside the lane
        or named twice (`page_not_allocated`, `page_outside_pool`, `page_named_twice`).
        """

    def statistics(self) -> HostStatistics:
        """Count the pages of each lane. Changes nothing."""

    def free_slots(self, lane: int) -> tuple[int, ...]:
        """List the token slots (`page * page_size + offset`) of every free page of a lane, ascending.

        This is how engines that keep slots by token see the pool; nothing is changed. A lane that is not there is
        `Rejected` (`lane_unknown`).
        """

"""Allocation: logical pages for an extend batch, each on the lane of the rank that computes it.

All counts are in pages unless a name says tokens. Page ids are logical; page 0 is the dummy and never given out.
A page is *free*, *in use* (given to a request) or *evictable* (retained as cache, gives way when a lane is short); it
is *allocated* while it is in use or evictable. The owner of a new page is the rank that the page-aligned split of
its request names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class ExtendRequest:
    """One request of an extend batch. Lengths alone describe the prefix; its pages are the caller's."""

    request: str
    prefix_tokens: int
    extend_tokens: int


@dataclass(frozen=True, kw_only=True)
class ExtendAllocation:
    """What an extend batch was given.

    `owners` is the expected lane of each new page, flattened in request order; `pages` the logical page ids, of
    the same length; `locations` the token locations (`page * page_size + offset`) in flattened request-token
    order, one for each extend token; `evicted` the pages that were evictable and gave way, in any order.
    """

    owners: tuple[int, ...]
    pages: tuple[int, ...]
    locations: tuple[int, ...]
    evicted: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Admission:
    """Whether a batch would fit now, with one count a lane; `available` is free and evictable together."""

    fits: bool
    required: tuple[int, ...]
    available: tuple[int, ...]
    deficit: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class RoomMade:
    """The pages that a free-room step evicted, in any order."""

    evicted: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LaneStatistics:
    """One count a lane: `free`, `evictable` and `in_use` pages, and the lane's `capacity`."""

    capacity: tuple[int, ...]
    free: tuple[int, ...]
    evictable: tuple[int, ...]
    in_use: tuple[int, ...]


class Allocation(Protocol):
    """The allocator of one session. Every call that raises leaves the allocator as it was.

    Pages that `host_tier` has in its tree are in use, and given back by it alone: see there.
    """

    def extend(self, batch: Sequence[ExtendRequest]) -> ExtendAllocation:
        """Allocate all new pages of the batch, or change nothing and raise `Rejected` or `CapacityWait`."""

    def admit(self, batch: Sequence[ExtendRequest]) -> Admission:
        """Say whether the batch would fit now. Changes nothing; a batch without owners is `Rejected`."""

    def make_room(self, batch: Sequence[ExtendRequest]) -> RoomMade:
        """Evict ahead of a pending batch by the free-room policy of the session. Feature `allocation.free-room`.

        A shortfall is no error; a batch without owners is `Rejected`.
        """

    def retain(self, pages: Sequence[int]) -> None:
        """Keep pages that are in use as evictable cache."""

    def release(self, pages: Sequence[int]) -> None:
        """Give pages back; a page that is not allocated is `Rejected` and nothing changes."""

    def release_locations(self, locations: Sequence[int]) -> None:
        """Give back each page that holds one of the token locations, once, however many of its tokens are named."""

    def allocate_flat(self, num_pages: int) -> tuple[int, ...]:
        """Allocate pages without owners and keep the lanes right, or raise `Rejected`."""

    def owners(self, request: str, pages: Sequence[int]) -> tuple[int, ...]:
        """Return the lane of each page that the request's table holds now, whatever plan allocated it."""

    def lanes(self) -> LaneStatistics:
        """Count the pages of each lane. Changes nothing."""

    def snapshot(self) -> int:
        """Remember the state of every lane and return a name for it. Feature `allocation.snapshot`."""

    def restore(self, snapshot: int) -> None:
        """Return every page to the state it had at the snapshot; later snapshots are gone."""

"""The host tier: pages in host memory behind the device pages of the same lanes, and the prefix tree over both.

A session has `OpenConfig.host_pages` host pages on each lane. A host page is named by its lane and its number within
the lane, from 0 on: neighbours by number are neighbours in memory. A page is free or allocated.

The tree (feature `host_tier.tree`) keeps what was computed for prefixes of tokens. A *node* holds whole pages of one
prefix, below those of its parent. It is *resident* while it has device pages, which are logical pages of `allocation`,
and *backed up* once the backup of all its pages was acknowledged. Residents form a prefix of every way down from the
root, and so do nodes with host pages. The lane of a device page is read from its id, the lane of a host page is that of
the device page that it was copied from. A node is made by an insert or where a fetch is published, and split where a
match, a lock, a load-back or an insert ends inside it or a fetch is published inside it: the new node is the upper
part, and both parts have every lock, copy and counter of the node. Nodes are numbered in the order of creation; in an
insert a split comes before the new node.

A *tick* is a match or an insert of at least one page; ticks are numbered from 1 on, also across resets. A node's
recency is the last tick whose tokens held all of it; its *hits* count the inserts that made it or went through it.

    call         takes pages from        gives pages to
    insert       the caller              the tree, or free (where the tree has another page already)
    evict        the tree                free
    load_back    free, after evict       the tree
    admit        free host, evict_host   the request, until insert or cancel

What the tree has, and what is reserved or fetched, is nobody else's: `allocation.retain`, `release` and
`release_locations` refuse a device page of the tree, and `release` here a host page of the tree, of a reservation or of
a fetch, with `page_in_tree`. `allocation.restore` refuses so a snapshot at which the tree had other device pages than
it has now.

Plans of eviction are those of `eviction`. On the device a node counts as locked while a lock covers it, on the host
also while a load, a save or a fetch reads or writes its host pages; as pending while a backup or a load of it was not
acknowledged. On the host, nodes with host pages take the place of residents.
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


@dataclass(frozen=True, kw_only=True)
class Match:
    """What the tree has of a prefix.

    `device` are the pages of its resident nodes, in order of position; `host` counts the pages behind them, which are
    on the host alone and can be loaded back. Such a node is backed up: until then it keeps its device pages.
    """

    device: tuple[int, ...]
    host: int


@dataclass(frozen=True, kw_only=True)
class Inserted:
    """Where every page of an insert went; each is named once, in order of position.

    `cached` counts the leading pages that the tree had on the device. `adopted` are the tree's now, `freed` are free
    because the tree has another page for the same tokens; a page that is the tree's own at its position is in neither.
    `left` stay with the caller: the page that is not full. `backups` are the copies that this insert submitted.
    """

    cached: int
    adopted: tuple[int, ...]
    freed: tuple[int, ...]
    left: tuple[int, ...]
    backups: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Evicted:
    """Device pages that became free, victim by victim, and per lane what was freed and what is still missing."""

    pages: tuple[int, ...]
    freed: tuple[int, ...]
    remaining: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class HostEvicted:
    """Host pages that became free and those still missing, one count a lane."""

    freed: tuple[int, ...]
    remaining: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class BackupRequest:
    """One request of a forward batch that asks for host pages: its new tokens, and a page for each started page."""

    request: str
    extend_tokens: int
    pages: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class HostAdmission:
    """What a batch was given: `reserved` counts the pages of each request, `evicted` those that gave way by lane."""

    reserved: tuple[int, ...]
    evicted: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LoadBack:
    """A load that was submitted: its copy, and the device pages in order of position; -1 and none where skipped."""

    copy: int
    pages: tuple[int, ...]


class HostTier(Protocol):
    """The host pages and the tree of one session. Every call that raises leaves them as they were.

    Every rank answers every call alike, from counts that all ranks have; `poll` alone exchanges anything.
    """

    def allocate(self, pages: Sequence[int]) -> HostAllocation:
        """Allocate so many pages of each lane, on all lanes or on none.

        Raises `CapacityWait` when a lane has fewer free pages than are asked of it, and `Rejected`
        (`host_counts_invalid`) when `pages` is not one count a lane, none below 0.
        """

    def release(self, lane: int, pages: Sequence[int]) -> None:
        """Give pages of a lane back.

        `Rejected` for a lane that is not there (`lane_unknown`), and for a page that is not allocated, outside the
        lane, named twice, or of the tree, a reservation or a fetch (`page_not_allocated`, `page_outside_pool`,
        `page_named_twice`, `page_in_tree`).
        """

    def statistics(self) -> HostStatistics:
        """Count the pages of each lane. Changes nothing."""

    def free_slots(self, lane: int) -> tuple[int, ...]:
        """List the token slots (`page * page_size + offset`) of every free page of a lane, ascending.

        This is how engines that keep slots by token see the pool; nothing is changed. A lane that is not there is
        `Rejected` (`lane_unknown`).
        """

    def match(self, tokens: Sequence[int]) -> Match:
        """Find the longest prefix of whole pages; fewer than one page of tokens finds nothing and is no tick."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        """Give the pages of a request's tokens to the tree, a page for each started page of tokens.

        Nodes that are not resident become so with these pages, and keep their host pages. The new node takes the
        host pages that `admit` reserved for the request if they cover all its pages and its parent has host pages;
        what else was reserved for the request is free again, whatever became of it. Then nodes on the way that have
        no host pages and whose hits reach the threshold of the session's `write` policy (1, 2, none) are backed up,
        from the root down: one admission for all of them, which may evict once and evicts nothing of the way; where
        they do not all fit even so, nothing is evicted and those are backed up that fit, from the root down, until
        one does not.

        `Rejected`: another number of pages than started ones (`pages_mismatch`); a page outside the pool
        (`page_outside_pool`), not in use (`page_not_allocated`), named twice (`page_named_twice`), or of the tree
        at another position (`page_in_tree`).
        """

    def lock(self, tokens: Sequence[int]) -> int:
        """Keep the whole pages of `tokens` on the device until `unlock`; return the lock. No tick.

        `Rejected` (`prefix_not_resident`) unless all of them are. Less than a page is a lock that covers nothing.
        """

    def unlock(self, lock: int) -> None:
        """Give a lock up. `Rejected` (`lock_unknown`) for one that is not held."""

    def evict(self, deficit: Sequence[int]) -> Evicted:
        """Evict resident nodes by `eviction.plan`, as far as it goes; `deficit` has one count a lane.

        A victim that is backed up keeps its host pages, any other leaves the tree. Under `write_back` victims without
        host pages are backed up first, each with the nodes above it that have none, in one admission as in `insert`:
        victim by victim, each from the root down, until one does not fit; nothing of the ways of victims is evicted
        on the host. The call waits for these copies, held or not, and acknowledges them; victims that did not fit
        leave the tree. `Rejected` as `eviction.plan`.
        """

    def evict_host(self, deficit: Sequence[int]) -> HostEvicted:
        """Evict host pages by the same plan over nodes with host pages; a node with pages nowhere leaves the tree."""

    def make_room(self, required: Sequence[int]) -> Evicted:
        """Evict ahead as `evict`, by the session's free-room policy, lane by lane; never raises for want of room.

        `required` has one count a lane and is `Rejected` like a deficit.
        """

    def make_host_room(self, required: Sequence[int]) -> HostEvicted:
        """Do the same on the host, by the policy of `OpenConfig.host`."""

    def admit(self, batch: Sequence[BackupRequest]) -> HostAdmission:
        """Reserve host pages for the full new pages of a forward batch, before it runs.

        The needs of the batch are summed by lane; where a lane is short, one eviction that is all or nothing makes
        room. Where even so it does not fit, nothing is evicted, and each request in batch order is given all its pages
        if they are still free, and none otherwise. A request that is given nothing has no reservation. `Rejected` as
        `insert` for pages (of the tree at any position; `page_named_twice` also for one that another request has a
        reservation for); a request named twice or with a reservation already (`request_named_twice`).
        """

    def cancel(self, request: str) -> None:
        """Give back what was reserved for a request, and for no other. `Rejected` (`request_unknown`)."""

    def load_back(self, tokens: Sequence[int]) -> LoadBack:
        """Load what `match` would count as `host`, onto the lanes of the host pages, all or nothing. No tick.

        Skipped with nothing changed where there is nothing to load, fewer pages than `load_back_least`, or more in
        flight than `load_back_most` allows. Where a lane is short, nodes off the way are evicted by
        `eviction.plan_load_back`, as `evict` does it, and no host page of the way; `CapacityWait` where that does not
        suffice: `available` is free and what `eviction.plan` for what is missing would free off the way, whole victims
        counted. The pages are resident, and pending, from here on.
        """

    def poll(self) -> tuple[int, ...]:
        """Acknowledge the copies that are finished on all ranks, as the scheduler does also when it is idle.

        A copy is acknowledged after those of its kind that were submitted before it. Answers with the copies in the
        order of submission.
        """

    def reset(self) -> None:
        """Wait for every copy, give up every lock and reservation, and make every page of the tree free."""

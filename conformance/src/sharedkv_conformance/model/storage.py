"""The executable specification of storage: what is written of a page, what is a hit, and how pages come back.

`StorageModel` is one right answer to each call; mutants override one of its small decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.storage import FetchStatus
from sharedkv_conformance.model.allocation import by_lane
from sharedkv_conformance.model.data_plane import DataPlane
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_copies import EVERY_RANK
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.storage_fetches import (
    BEST_EFFORT,
    POLICIES,
    TIMEOUT,
    WAIT_COMPLETE,
    Fetch,
    PlannedPage,
)
from sharedkv_conformance.model.storage_objects import Store
from sharedkv_conformance.model.storage_saves import StorageSaves


class StorageModel(StorageSaves):
    """Storage as an implementation, one small decision a method. A session's storage has the session's tree."""

    def __init__(
        self, config: OpenConfig, tier: HostTierModel, store: Store | None = None, plane: DataPlane | None = None
    ) -> None:
        super().__init__(config, tier, store, plane)
        self.fetches: dict[int, Fetch] = {}
        self.clock = 0
        self.listen()

    def listen(self) -> None:
        """Hear of what the tree acknowledges and when it is reset, and tell which host pages fetches have."""
        self.tier.acknowledged = self.acknowledged
        self.tier.at_reset = self.revoke_all
        self.tier.fetched_pages = lambda: [page for own in self.fetches.values() for page in own.hosts]

    def twin(self, tier: HostTierModel) -> Self:
        """Return an independent copy over a copy of the tree."""
        other = super().twin(tier)
        other.fetches = {number: fetch.twin() for number, fetch in self.fetches.items()}
        other.listen()
        return other

    # -- the calls of the contract ---------------------------------------------------------------------------------

    def fetch(self, tokens: Sequence[int], policy: str, timeout: int) -> int:
        """Check, plan, make room, and begin."""
        self.check_policy(policy)
        first = self.pages_in_tree(tokens)
        plan = self.plan(tokens, first)
        if self.declines(len(plan)) or not self.make_room(tokens, plan):
            return -1
        return self.begin_fetch(
            Fetch(
                tokens=self.tier.tree.whole(tokens),
                first=first,
                plan=plan,
                hosts=self.take_pages(plan),
                policy=policy,
                timeout=timeout,
                began=self.clock,
                unlooked=set(range(self.config.cp_size)),
                arrived=dict.fromkeys(self.parts, 0),
            )
        )

    def check(self, fetch: int) -> FetchStatus:
        """Say how far a fetch is."""
        own = self.known(fetch)
        planned, arrived = self.num_planned(own), self.num_arrived(own)
        return FetchStatus(planned=planned, arrived=arrived, is_done=self.may_end(own, planned, arrived))

    def end(self, fetch: int) -> int:
        """Publish what has arrived, as far as the tree can take it, and free the rest."""
        own = self.known(fetch)
        taken = self.to_publish(own)
        if taken:
            self.publish(own, taken)
        self.give_back(fetch, [own.hosts[position - own.first] for position in taken])
        return len(taken)

    def revoke(self, fetch: int) -> None:
        """Free everything."""
        self.known(fetch)
        self.give_back(fetch, [])

    def quota(self) -> int:
        """Count the pages of fetches in flight."""
        return sum(map(self.quota_of, self.fetches.values()))

    # -- what probes do ----------------------------------------------------------------------------------------------

    def advance(self, ticks: int) -> None:
        """Let the clock go on."""
        self.clock += ticks

    def finish_query(self, fetch: int, rank: int) -> None:
        """Let a rank, or every rank, have looked at its objects."""
        ranks = set(range(self.config.cp_size)) if rank == EVERY_RANK else {rank}
        if fetch not in self.fetches or not ranks <= set(range(self.config.cp_size)):
            raise Rejected(Reason.COPY_UNKNOWN, f"fetch {fetch}, rank {rank}")
        self.fetches[fetch].unlooked -= ranks

    def arrive(self, fetch: int, part: str, pages: int) -> None:
        """Let so many more pages of a part arrive, as far as their objects can be read."""
        own = self.known(fetch)
        for _ in range(pages):
            at = own.arrived[part]
            if at == len(own.plan) or not self.is_readable(own.plan[at], part):
                break
            self.bring(own, at, part)
            own.arrived[part] += 1

    # -- the decisions of fetches ------------------------------------------------------------------------------------

    def check_policy(self, policy: str) -> None:
        """Refuse a policy that nobody knows."""
        if policy not in POLICIES:
            raise Rejected(Reason.POLICY_UNKNOWN, f"{policy!r}, known are {', '.join(POLICIES)}")

    def known(self, fetch: int) -> Fetch:
        """Return a fetch in flight, or refuse its number."""
        if fetch not in self.fetches:
            raise Rejected(Reason.FETCH_UNKNOWN, f"fetch {fetch} of {sorted(self.fetches)}")
        return self.fetches[fetch]

    def pages_in_tree(self, tokens: Sequence[int]) -> int:
        """Count the leading pages of tokens that the tree has, on either tier."""
        return sum(held for _, held in self.tier.tree.walk(tokens))

    def plan(self, tokens: Sequence[int], first: int) -> list[PlannedPage]:
        """Return the leading stored pages from a position on."""
        return self.leading(self.own_keys(tokens)[first:])

    def declines(self, pages: int) -> bool:
        """Say whether a fetch of so many pages is not worth it, or more than the quota has room for."""
        return self.is_too_small(pages) or self.exceeds_quota(pages)

    def is_too_small(self, pages: int) -> bool:
        """Say whether there is nothing to bring, or less than is worth it."""
        return pages < max(1, self.config.storage.least)

    def exceeds_quota(self, pages: int) -> bool:
        """Say whether the quota has no room for so many pages."""
        return 0 < self.config.storage.quota < self.quota() + pages

    def quota_of(self, fetch: Fetch) -> int:
        """Count the pages that a fetch holds of the quota."""
        return len(fetch.plan)

    def make_room(self, tokens: Sequence[int], plan: Sequence[PlannedPage]) -> bool:
        """Say whether there are host pages for a plan, if need be after one eviction off the way of its tokens."""
        return self.tier.make_host_fit(self.needed(plan), self.kept_nodes(tokens))

    def needed(self, plan: Sequence[PlannedPage]) -> tuple[int, ...]:
        """Count the host pages that a plan needs of each lane."""
        return by_lane(self.tier.geometry, self.lanes_of(plan))

    def kept_nodes(self, tokens: Sequence[int]) -> list[Node]:
        """Return the nodes that a fetch must not evict: those on its way."""
        return [node for node, _ in self.tier.tree.walk(tokens)]

    def lanes_of(self, plan: Sequence[PlannedPage]) -> tuple[int, ...]:
        """Return the lane on which each page of a plan is to lie."""
        return tuple(page.lane for page in plan)

    def take_pages(self, plan: Sequence[PlannedPage]) -> list[HostPage]:
        """Take a host page for each page of a plan, in order of position."""
        return self.tier.take_host(self.lanes_of(plan))

    def begin_fetch(self, fetch: Fetch) -> int:
        """Put a fetch in flight; unless fetches are held, all of it has arrived already."""
        number = self.tier.number_copy()
        self.fetches[number] = fetch
        if not self.tier.ledger.is_holding:
            fetch.unlooked.clear()
            for part in self.parts:
                self.arrive(number, part, len(fetch.plan))
        return number

    def is_readable(self, page: PlannedPage, part: str) -> bool:
        """Say whether an object can be read for what was planned."""
        found = self.store.find(page.key, part)
        return found is not None and not found.fault and found.lane == page.lane

    def bring(self, fetch: Fetch, at: int, part: str) -> None:
        """Write a part of a page into its host page."""
        found = self.store.find(fetch.plan[at].key, part)
        if self.plane is not None and found is not None:
            lane, page = fetch.hosts[at]
            for (layer, buffer), data in found.rows.items():
                self.plane.host.put(lane, layer, buffer, page, data)

    def num_planned(self, fetch: Fetch) -> int:
        """Count the planned pages, once every rank has looked."""
        return 0 if fetch.unlooked else len(fetch.plan)

    def num_arrived(self, fetch: Fetch) -> int:
        """Count the leading planned pages of which every part has arrived."""
        return min(self.num_planned(fetch), *fetch.arrived.values())

    def may_end(self, fetch: Fetch, planned: int, arrived: int) -> bool:
        """Say whether the policy of a fetch lets it end now."""
        if fetch.policy == WAIT_COMPLETE:
            return self.is_complete(planned, arrived)
        if fetch.policy == TIMEOUT:
            return self.is_complete(planned, arrived) or self.is_over(fetch)
        return fetch.policy == BEST_EFFORT

    def is_complete(self, planned: int, arrived: int) -> bool:
        """Say whether all of a plan that is known has arrived."""
        return arrived == planned > 0

    def is_over(self, fetch: Fetch) -> bool:
        """Say whether the time of a fetch is over."""
        return self.clock - fetch.began >= fetch.timeout

    # -- the decisions of ends ---------------------------------------------------------------------------------------

    def to_publish(self, fetch: Fetch) -> range:
        """Return the positions whose pages have arrived, follow on what the tree has now, and are not in it."""
        end = fetch.first + self.num_arrived(fetch)
        way = self.tier.tree.walk(self.tokens_to(fetch, end))
        start = self.start_of_publishing(fetch, sum(held for _, held in way))
        return range(start, end) if start < end and self.follows_on(fetch, way) else range(0)

    def start_of_publishing(self, fetch: Fetch, present: int) -> int:
        """Return the first position that may be published where the tree has so many leading pages."""
        return max(present, fetch.first)

    def follows_on(self, fetch: Fetch, way: Sequence[tuple[Node, int]]) -> bool:
        """Say whether the tree has everything before the fetch, and host pages where it ends."""
        return sum(held for _, held in way) >= fetch.first and all(node.host for node, _ in way[-1:])

    def tokens_to(self, fetch: Fetch, position: int) -> tuple[int, ...]:
        """Return the tokens before a position."""
        return fetch.tokens[: position * self.config.page_size]

    def publish(self, fetch: Fetch, taken: range) -> Node:
        """Make pages of a fetch one node behind what is before them."""
        before = self.tokens_to(fetch, taken.start)
        way = self.tier.tree.way(before)
        tokens = self.tokens_to(fetch, taken.stop)[len(before) :]
        node = self.tier.tree.add(way[-1].number if way else ROOT, tokens)
        node.host = tuple(fetch.hosts[position - fetch.first] for position in taken)
        node.last_tick = self.tier.tick
        return node

    def give_back(self, number: int, kept: Sequence[HostPage]) -> None:
        """Let a fetch go, with its quota and all its host pages but those that the tree has kept."""
        fetch = self.fetches.pop(number)
        self.tier.give_host(host for host in fetch.hosts if host not in kept)

    def revoke_all(self) -> None:
        """Revoke every fetch, as a reset does."""
        for number in tuple(self.fetches):
            self.revoke(number)

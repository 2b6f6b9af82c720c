"""Wrong variants of fetches: which are begun, where their pages come from, and when they are done."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.storage import StorageModel
from sharedkv_conformance.model.storage_fetches import Fetch, PlannedPage


@mutant("storage.fetch-of-all-or-nothing", kills="RFC-0010:C-FETCH#S1")
class FetchOfAllOrNothing(StorageModel):
    """Begins nothing where not all of the prefix is stored."""

    def plan(self, tokens: Sequence[int], first: int) -> list[PlannedPage]:
        found = super().plan(tokens, first)
        return found if len(found) == len(self.own_keys(tokens)) - first else []


@mutant("storage.fetch-makes-no-room", kills="RFC-0010:C-FETCH#S1")
class FetchMakesNoRoom(StorageModel):
    """Begins nothing for which host pages would have to go."""

    def make_room(self, tokens: Sequence[int], plan: Sequence[PlannedPage]) -> bool:
        return self.tier.fits(self.needed(plan)) and super().make_room(tokens, plan)


@mutant("storage.fetch-from-the-root-alone", kills="RFC-0010:C-FETCH#S1")
class FetchFromTheRootAlone(StorageModel):
    """Begins nothing of which the tree has the first pages."""

    def plan(self, tokens: Sequence[int], first: int) -> list[PlannedPage]:
        return [] if first else super().plan(tokens, first)


@mutant("storage.fetch-of-what-is-stored-from-the-root", kills="RFC-0010:C-FETCH#S1")
class FetchOfWhatIsStoredFromTheRoot(StorageModel):
    """Begins nothing behind pages of the tree that are not stored."""

    def plan(self, tokens: Sequence[int], first: int) -> list[PlannedPage]:
        return self.leading(self.own_keys(tokens))[first:]


@mutant("storage.fetch-of-less", kills="RFC-0010:C-FETCH#S2")
class FetchOfLess(StorageModel):
    """Begins a fetch of fewer pages than the least number, if there is one at all."""

    def is_too_small(self, pages: int) -> bool:
        return pages < 1


@mutant("storage.fetch-of-nothing", kills="RFC-0010:C-FETCH#S2")
class FetchOfNothing(StorageModel):
    """Begins a fetch also where nothing is planned."""

    def is_too_small(self, pages: int) -> bool:
        return 0 < pages < self.config.storage.least


@mutant("storage.quota-of-each", kills="RFC-0010:C-FETCH#S3")
class QuotaOfEach(StorageModel):
    """Holds each fetch by itself against the quota."""

    def exceeds_quota(self, pages: int) -> bool:
        return 0 < self.config.storage.quota < pages


@mutant("storage.quota-when-full", kills="RFC-0010:C-FETCH#S3")
class QuotaWhenFull(StorageModel):
    """Looks whether the quota is used up, not whether the fetch still fits."""

    def exceeds_quota(self, pages: int) -> bool:
        return 0 < self.config.storage.quota <= self.quota() and bool(pages)


@mutant("storage.fetch-as-far-as-there-is-room", kills="RFC-0010:C-FETCH#S4")
class FetchAsFarAsThereIsRoom(StorageModel):
    """Begins a shorter fetch where there is no room for all of it."""

    def plan(self, tokens: Sequence[int], first: int) -> list[PlannedPage]:
        found = super().plan(tokens, first)
        if self.declines(len(found)) or self.make_room(tokens, found):
            return found
        while found and not self.tier.fits(self.needed(found)):
            found.pop()
        return found


@mutant("storage.room-by-the-sum", kills="RFC-0010:C-FETCH#S4")
class RoomByTheSum(StorageModel):
    """Compares sums over lanes, and takes pages of other lanes where its own have none."""

    def make_room(self, tokens: Sequence[int], plan: Sequence[PlannedPage]) -> bool:
        return super().make_room(tokens, plan) or len(plan) <= sum(self.tier.free())

    def take_pages(self, plan: Sequence[PlannedPage]) -> list[HostPage]:
        if self.tier.fits(self.needed(plan)):
            return super().take_pages(plan)
        free = [lane for lane, count in enumerate(self.tier.free()) for _ in range(count)]
        return self.tier.take_host(tuple(free[: len(plan)]))


@mutant("storage.lanes-in-turn", kills="RFC-0010:C-FETCH#S5")
class LanesInTurn(StorageModel):
    """Takes pages of the lanes in turn, as the first owner did, where they are free."""

    def take_pages(self, plan: Sequence[PlannedPage]) -> list[HostPage]:
        turn = tuple(at % self.config.cp_size for at in range(len(plan)))
        counts = tuple(turn.count(lane) for lane in range(self.config.cp_size))
        return self.tier.take_host(turn) if self.tier.fits(counts) else super().take_pages(plan)


@mutant(
    "storage.plan-behind-the-host",
    kills="RFC-0010:C-FETCH#S5",
    also={"RFC-0010:C-FETCH#S1": "where the pages on the device are not stored, nothing is begun"},
)
class PlanBehindTheHost(StorageModel):
    """Takes host pages also for what the tree has on the device alone."""

    def pages_in_tree(self, tokens: Sequence[int]) -> int:
        return sum(held for node, held in self.tier.tree.walk(tokens) if node.host)


@mutant("storage.number-of-another-fetch", kills="RFC-0010:C-FETCH#S1")
class NumberOfAnotherFetch(StorageModel):
    """Numbers fetches by how many there are: once an older one has ended, two have one number."""

    def begin_fetch(self, fetch: Fetch) -> int:
        number = super().begin_fetch(fetch)
        return number if len(self.fetches) < 2 else max(other for other in self.fetches if other != number)  # noqa: PLR2004


@mutant("storage.evicts-the-node-that-it-ends-in", kills="RFC-0010:C-FETCH#S6")
class EvictsTheNodeThatItEndsIn(StorageModel):
    """Makes room with the node of which the first pages are on its way."""

    def kept_nodes(self, tokens: Sequence[int]) -> list[Node]:
        tree = self.tier.tree
        return [node for node, held in tree.walk(tokens) if held == tree.num_pages(node)]


@mutant("storage.page-too-many", kills="RFC-0010:C-FETCH#S5")
class PageTooMany(StorageModel):
    """Takes a page more than is planned on the lane of the last, where there is one."""

    def take_pages(self, plan: Sequence[PlannedPage]) -> list[HostPage]:
        pages = super().take_pages(plan)
        last = plan[-1].lane
        if self.tier.free()[last]:
            self.tier.take(last, 1)
        return pages


@mutant("storage.evicts-its-own-way", kills="RFC-0010:C-FETCH#S6")
class EvictsItsOwnWay(StorageModel):
    """Makes room with the nodes that the fetch is to hang below."""

    def kept_nodes(self, tokens: Sequence[int]) -> list[Node]:
        del tokens
        return []


@mutant("storage.evicts-before-it-declines", kills="RFC-0010:C-FETCH#S6")
class EvictsBeforeItDeclines(StorageModel):
    """Makes room before it looks at the quota."""

    def exceeds_quota(self, pages: int) -> bool:
        exceeds = super().exceeds_quota(pages)
        if exceeds and self.asked:
            self.make_room(*self.asked)
        return exceeds

    def plan(self, tokens: Sequence[int], first: int) -> list[PlannedPage]:
        found = super().plan(tokens, first)
        self.asked = tokens, found
        return found


@mutant("storage.evicts-for-all-of-it", kills="RFC-0010:C-FETCH#S6")
class EvictsForAllOfIt(StorageModel):
    """Evicts as many pages as are planned where one is missing."""

    def make_room(self, tokens: Sequence[int], plan: Sequence[PlannedPage]) -> bool:
        if self.tier.fits(self.needed(plan)) or not super().make_room(tokens, plan):
            return self.tier.fits(self.needed(plan))
        kept = {node.number for node in self.kept_nodes(tokens)}
        more = self.tier.planner.plan(self.tier.tree.on_host(kept), self.needed(plan))
        self.tier.carry_out_on_host(more)
        return True


@mutant("storage.evicts-what-it-can", kills="RFC-0010:C-FETCH#S6")
class EvictsWhatItCan(StorageModel):
    """Evicts as far as it goes, and then sees that this does not suffice."""

    def make_room(self, tokens: Sequence[int], plan: Sequence[PlannedPage]) -> bool:
        if not super().make_room(tokens, plan):
            kept = {node.number for node in self.kept_nodes(tokens)}
            lacking = self.tier.host_shortage(self.needed(plan), self.tier.free())
            self.tier.carry_out_on_host(self.tier.planner.plan(self.tier.tree.on_host(kept), lacking))
            return False
        return True

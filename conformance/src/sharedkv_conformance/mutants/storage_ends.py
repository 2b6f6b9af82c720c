"""Wrong variants of how fetches end, of the quota, and of host pages under a save."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.storage import StorageModel
from sharedkv_conformance.model.storage_fetches import Fetch, PlannedPage

Way = Sequence[tuple[Node, int]]


class OwnEnd(StorageModel):
    """Counts in a way of its own what is published; checks count as they should."""

    is_ending = False

    def end(self, fetch: int) -> int:
        self.is_ending = True
        try:
            return super().end(fetch)
        finally:
            self.is_ending = False

    def num_arrived(self, fetch: Fetch) -> int:
        return self.count(fetch) if self.is_ending else super().num_arrived(fetch)

    def count(self, fetch: Fetch) -> int:
        """Count the pages of a fetch that may be published."""
        return super().num_arrived(fetch)


@mutant("storage.published-by-kv", kills="RFC-0010:C-PUBLISH#S1")
class PublishedByKv(OwnEnd):
    """Publishes the pages whose main rows have arrived, with or without the rows beside them."""

    def count(self, fetch: Fetch) -> int:
        return min(self.num_planned(fetch), fetch.arrived["kv"])


@mutant("storage.published-when-complete", kills="RFC-0010:C-PUBLISH#S1")
class PublishedWhenComplete(OwnEnd):
    """Throws away what has arrived where something is missing."""

    def count(self, fetch: Fetch) -> int:
        found = super().count(fetch)
        return found if found == len(fetch.plan) else 0


@mutant("storage.published-as-planned", kills="RFC-0010:C-PUBLISH#S1")
class PublishedAsPlanned(OwnEnd):
    """Publishes all that was planned."""

    def count(self, fetch: Fetch) -> int:
        return self.num_planned(fetch)


@mutant("storage.attach-point-of-the-begin", kills="RFC-0010:C-PUBLISH#S2")
class AttachPointOfTheBegin(StorageModel):
    """Publishes below what the tree had when the fetch began, beside what was inserted there since."""

    def start_of_publishing(self, fetch: Fetch, present: int) -> int:
        return super().start_of_publishing(fetch, min(fetch.first, present))


@mutant("storage.answers-all-that-arrived", kills="RFC-0010:C-PUBLISH#S2")
class AnswersAllThatArrived(StorageModel):
    """Says that every page that has arrived was published, also those that the tree had."""

    def end(self, fetch: int) -> int:
        own = self.known(fetch)
        arrived = self.num_arrived(own)
        published = super().end(fetch)
        return arrived if published else 0


@mutant("storage.published-below-the-device", kills="RFC-0010:C-PUBLISH#S3")
class PublishedBelowTheDevice(StorageModel):
    """Publishes below a node that has no host pages."""

    def follows_on(self, fetch: Fetch, way: Way) -> bool:
        return sum(held for _, held in way) >= fetch.first


@mutant("storage.published-within-a-node-of-the-device", kills="RFC-0010:C-PUBLISH#S3")
class PublishedWithinANodeOfTheDevice(StorageModel):
    """Looks for host pages at the nodes that the way holds whole, not at the one in which it ends."""

    def follows_on(self, fetch: Fetch, way: Way) -> bool:
        whole = [(node, held) for node, held in way if held == self.tier.tree.num_pages(node)]
        return sum(held for _, held in way) >= fetch.first and all(node.host for node, _ in whole[-1:])


@mutant("storage.published-behind-a-gap", kills="RFC-0010:C-PUBLISH#S3")
class PublishedBehindAGap(StorageModel):
    """Publishes below whatever is left of the way."""

    def follows_on(self, fetch: Fetch, way: Way) -> bool:
        del fetch
        return all(node.host for node, _ in way[-1:])


@mutant("storage.published-pending", kills="RFC-0010:C-PUBLISH#S4")
class PublishedPending(StorageModel):
    """Publishes a node that waits for a backup that nobody makes."""

    def publish(self, fetch: Fetch, taken: range) -> Node:
        node = super().publish(fetch, taken)
        node.backups.add(-1)
        return node


@mutant("storage.published-out-of-step", kills="RFC-0010:C-PUBLISH#S4")
class PublishedOutOfStep(StorageModel):
    """Gives each page of the node the host page of the next."""

    def publish(self, fetch: Fetch, taken: range) -> Node:
        node = super().publish(fetch, taken)
        node.host = (*node.host[1:], *node.host[:1])
        return node


@mutant("storage.published-below-the-whole-node", kills="RFC-0010:C-PUBLISH#S4")
class PublishedBelowTheWholeNode(StorageModel):
    """Publishes below the node in which the way ends, all of it, where a part of it is meant."""

    def publish(self, fetch: Fetch, taken: range) -> Node:
        way = self.tier.tree.walk(self.tokens_to(fetch, taken.start))
        node = super().publish(fetch, taken)
        if way and way[-1][0].parent == node.parent:
            node.parent = way[-1][0].number
        return node


@mutant("storage.published-without-age", kills="RFC-0010:C-PUBLISH#S4")
class PublishedWithoutAge(StorageModel):
    """Publishes nodes that are the first to be evicted again."""

    def publish(self, fetch: Fetch, taken: range) -> Node:
        node = super().publish(fetch, taken)
        node.last_tick = 0
        return node


class Losing(StorageModel):
    """Loses host pages of a fetch that ends, but not at a reset."""

    is_resetting = False

    def revoke_all(self) -> None:
        self.is_resetting = True
        super().revoke_all()
        self.is_resetting = False

    def give_back(self, number: int, kept: Sequence[HostPage]) -> None:
        lost = [] if self.is_resetting else self.lost(self.fetches[number])
        super().give_back(number, [*kept, *lost])

    def lost(self, fetch: Fetch) -> Sequence[HostPage]:
        """Return the host pages that are lost."""
        return fetch.hosts


@mutant("storage.missing-pages-kept", kills="RFC-0010:C-PUBLISH#S5")
class MissingPagesKept(Losing):
    """Keeps the host pages of what has not arrived when a fetch ends early."""

    def lost(self, fetch: Fetch) -> Sequence[HostPage]:
        return fetch.hosts[min(fetch.arrived.values()) :]


@mutant("storage.pages-before-it-kept", kills="RFC-0010:C-PUBLISH#S5")
class PagesNotNeededKept(Losing):
    """Keeps the host pages of what has arrived and is not published."""

    def lost(self, fetch: Fetch) -> Sequence[HostPage]:
        return fetch.hosts[: min(fetch.arrived.values())]


@mutant("storage.published-pages-freed", kills="RFC-0010:C-PUBLISH#S5")
class PublishedPagesFreed(StorageModel):
    """Frees all pages of a fetch, those among them that the tree has now."""

    def give_back(self, number: int, kept: Sequence[HostPage]) -> None:
        del kept
        super().give_back(number, [])


@mutant("storage.one-fetch-ends-at-a-reset", kills="RFC-0010:C-PUBLISH#S6")
class OneFetchEndsAtAReset(StorageModel):
    """Revokes the first fetch alone when the tree is reset."""

    def revoke_all(self) -> None:
        for number in tuple(self.fetches)[:1]:
            self.revoke(number)


@mutant("storage.fetches-survive-a-reset", kills="RFC-0010:C-PUBLISH#S6")
class FetchesSurviveAReset(StorageModel):
    """Lets fetches go on when the tree is reset."""

    def revoke_all(self) -> None:
        pass


@mutant("storage.quota-of-what-is-missing", kills="RFC-0010:C-QUOTA#S1")
class QuotaOfWhatIsMissing(StorageModel):
    """Gives the quota of each page back when it has arrived."""

    def quota(self) -> int:
        return sum(len(own.plan) - min(own.arrived.values()) for own in self.fetches.values())

    def exceeds_quota(self, pages: int) -> bool:
        return 0 < self.config.storage.quota < super().quota() + pages


@mutant("storage.quota-when-the-plan-is-known", kills="RFC-0010:C-QUOTA#S1")
class QuotaWhenThePlanIsKnown(StorageModel):
    """Counts a fetch from when its plan is known."""

    def quota(self) -> int:
        return sum(map(self.num_planned, self.fetches.values()))

    def exceeds_quota(self, pages: int) -> bool:
        return 0 < self.config.storage.quota < super().quota() + pages


@mutant("storage.quota-of-the-declined", kills="RFC-0010:C-QUOTA#S1")
class QuotaOfTheDeclined(StorageModel):
    """Keeps the quota of a fetch for which there is no room."""

    off = 0

    def make_room(self, tokens: Sequence[int], plan: Sequence[PlannedPage]) -> bool:
        found = super().make_room(tokens, plan)
        self.off += 0 if found else len(plan)
        return found

    def quota(self) -> int:
        return super().quota() + self.off

    def exceeds_quota(self, pages: int) -> bool:
        return 0 < self.config.storage.quota < super().quota() + pages

    def give_back(self, number: int, kept: Sequence[HostPage]) -> None:
        super().give_back(number, kept)
        self.off = 0

    def revoke_all(self) -> None:
        super().revoke_all()
        self.off = 0


class Leaking(StorageModel):
    """Reports a quota that is off after a fetch has ended."""

    off = 0

    def quota(self) -> int:
        return super().quota() + self.off

    def exceeds_quota(self, pages: int) -> bool:
        return 0 < self.config.storage.quota < super().quota() + pages


@mutant("storage.quota-of-the-missing-lost", kills="RFC-0010:C-QUOTA#S2")
class QuotaOfTheMissingLost(Leaking):
    """Gives back what has arrived and forgets the rest."""

    def give_back(self, number: int, kept: Sequence[HostPage]) -> None:
        own = self.fetches[number]
        self.off += len(own.plan) - self.num_arrived(own)
        super().give_back(number, kept)

    def revoke_all(self) -> None:
        off = self.off
        super().revoke_all()
        self.off = off


@mutant("storage.quota-given-back-twice", kills="RFC-0010:C-QUOTA#S2")
class QuotaGivenBackTwice(Leaking):
    """Gives back the published pages when they are published, and then all of the fetch."""

    def give_back(self, number: int, kept: Sequence[HostPage]) -> None:
        super().give_back(number, kept)
        self.off -= len(kept)


@mutant(
    "storage.pages-not-kept",
    kills="RFC-0010:C-LIFETIME#S1",
    also={
        "RFC-0010:C-LIFETIME#S2": "neither part of a split node is kept either",
    },
)
class PagesNotKept(StorageModel):
    """Lets host pages go while a save reads them."""

    def keep(self, node: Node, number: int) -> None:
        pass


@mutant("storage.first-node-kept", kills="RFC-0010:C-LIFETIME#S1")
class KeptForTheFirstPage(StorageModel):
    """Keeps the node of the first page of a save alone."""

    def keep(self, node: Node, number: int) -> None:
        if not any(number in other.readers for other in self.tier.tree.nodes.values()):
            super().keep(node, number)


@mutant("storage.lower-part-let-go", kills="RFC-0010:C-LIFETIME#S2")
class LowerPartLetGo(StorageModel):
    """Keeps the upper part of a split node under the save, and lets the lower one go."""

    def listen(self) -> None:
        super().listen()
        split = self.tier.tree.split

        def forgetful(node: Node, pages: int) -> Node:
            above = split(node, pages)
            node.readers.difference_update(self.saving)
            return above

        self.tier.tree.split = forgetful  # type: ignore[method-assign]


@mutant("storage.acknowledged-by-rank-zero", kills="RFC-0010:C-LIFETIME#S3")
class AcknowledgedByRankZero(StorageModel):
    """Acknowledges a save when rank 0 is done."""

    def save(self, tokens: Sequence[int]) -> int:
        number = super().save(tokens)
        if number >= 0:
            own = self.tier.ledger.copies[number]
            own.left = {source: ranks & {0} for source, ranks in own.left.items()}
        return number


@mutant("storage.acknowledged-without-the-draft", kills="RFC-0010:C-LIFETIME#S3")
class AcknowledgedWithoutTheDraft(StorageModel):
    """Acknowledges a save when the target is done."""

    def save(self, tokens: Sequence[int]) -> int:
        number = super().save(tokens)
        if number >= 0:
            own = self.tier.ledger.copies[number]
            own.left = {source: ranks if source == "target" else set() for source, ranks in own.left.items()}
        return number


@mutant("storage.kept-for-ever", kills="RFC-0010:C-LIFETIME#S4")
class KeptForEver(StorageModel):
    """Keeps host pages that were saved once."""

    def keep(self, node: Node, number: int) -> None:
        super().keep(node, number)
        node.readers.add(-1 - number)


@mutant("storage.save-splits", kills="RFC-0010:C-LIFETIME#S5")
class SaveSplits(StorageModel):
    """Splits the node in which a save ends."""

    def save(self, tokens: Sequence[int]) -> int:
        self.tier.tree.way(tokens)
        return super().save(tokens)


@mutant("storage.query-refreshes", kills="RFC-0010:C-LIFETIME#S5")
class QueryRefreshes(StorageModel):
    """Takes a query for a use of what the tree has of the prefix."""

    def query(self, tokens: Sequence[int]) -> int:
        self.tier.tick += 1
        self.tier.refresh([node for node, _ in self.tier.tree.walk(tokens)])
        return super().query(tokens)

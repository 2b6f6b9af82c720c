"""Wrong variants of the tree: nodes, splits, counts, recency, and what a lookup may move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.eviction import EvictionPlan
from sharedkv_conformance.contract.host_tier import Match
from sharedkv_conformance.contract.probe import TreeNode
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.host_tier import HostTierModel, Lanes
from sharedkv_conformance.model.host_tier_tree import HostPage, Node, PrefixTree
from sharedkv_conformance.model.lane_pages import FREE


@mutant("host_tier.tail-in-the-node", kills="RFC-0006:C-TREE#S1")
class TailInTheNode(HostTierModel):
    """Keeps the tokens of the page that is not full in the node as well."""

    def new_node(self, way: Sequence[Node], tokens: Sequence[int], pages: tuple[int, ...]) -> Node:
        node = super().new_node(way, tokens, pages)
        node.tokens += tuple(tokens[len(self.tree.whole(tokens)) :])
        return node


@mutant("host_tier.node-shown-twice", kills="RFC-0006:C-TREE#S1")
class NodeShownTwice(HostTierModel):
    """Lists a node that has branches once for each of them."""

    def nodes(self) -> tuple[TreeNode, ...]:
        nodes = super().nodes()
        parents = [node.parent for node in nodes]
        return (*nodes, *(node for node in nodes if parents.count(node.node) > 1))


@mutant("host_tier.host-gap", kills="RFC-0006:C-TREE#S2")
class HostGap(HostTierModel):
    """Takes the host pages of the node above a victim where it has as many on each lane, and leaves the victim's."""

    def carry_out_on_host(self, plan: EvictionPlan) -> None:
        for number in plan.victims:
            node = self.tree.nodes[number]
            above = self.tree.nodes.get(node.parent)
            fits = above is not None and above.pages and self.host_lanes(above) == self.host_lanes(node)
            self.leave_host(above if above is not None and fits else node)

    def host_lanes(self, node: Node) -> list[int]:
        return sorted(lane for lane, _ in node.host)


@mutant("host_tier.match-splits-nothing", kills="RFC-0006:C-TREE#S3")
class MatchSplitsNothing(HostTierModel):
    """Finds a part of a node without splitting it, and refreshes no more than whole nodes."""

    def match(self, tokens: Sequence[int]) -> Match:
        if not self.is_tick(tokens):
            return super().match(tokens)
        self.tick += 1
        found = self.tree.walk(tokens)
        self.refresh([node for node, held in found if held == self.tree.num_pages(node)])
        host = sum(held for node, held in found if not node.pages and self.is_backed_up(node))
        return Match(device=tuple(page for node, held in found for page in node.pages[:held]), host=host)


@mutant("host_tier.lock-splits-nothing", kills="RFC-0006:C-TREE#S3")
class LockSplitsNothing(HostTierModel):
    """Locks all of a node of which a part is asked for."""

    def lock(self, tokens: Sequence[int]) -> int:
        whole = [token for node, _ in self.tree.walk(tokens) for token in node.tokens]
        self.check_resident(tokens)
        return super().lock(whole)


@mutant("host_tier.lookup-splits-off-a-page", kills="RFC-0006:C-TREE#S3")
class LookupSplitsOffAPage(HostTierModel):
    """Splits the last page off a node that a match goes through to its end."""

    def match(self, tokens: Sequence[int]) -> Match:
        found = super().match(tokens)
        for node, _ in self.tree.walk(tokens)[-1:]:
            if self.tree.num_pages(node) > 1:
                self.tree.split(node, self.tree.num_pages(node) - 1)
        return found


class SplitDropsLocks(PrefixTree):
    """Leaves locks with the lower part."""

    def split(self, node: Node, pages: int) -> Node:
        upper = super().split(node, pages)
        upper.locks.clear()
        return upper


@mutant(
    "host_tier.split-drops-locks",
    kills="RFC-0006:C-TREE#S4",
    also={"RFC-0006:C-LOCKS#S2": "A lock that ends inside a locked node covers its upper part once, and has to twice."},
)
class LocksOfTheLowerPart(HostTierModel):
    """Leaves the locks of a node that is split with its lower part."""

    tree_type = SplitDropsLocks


class SplitMovesBackup(PrefixTree):
    """Leaves the backup with the upper part."""

    def split(self, node: Node, pages: int) -> Node:
        upper = super().split(node, pages)
        node.backups.clear()
        return upper


@mutant("host_tier.split-moves-the-backup", kills="RFC-0006:C-TREE#S4")
class BackupOfTheUpperPart(HostTierModel):
    """Acknowledges a backup for the upper part of a node alone, and takes the lower one for backed up at once."""

    tree_type = SplitMovesBackup


class SplitMovesLoad(PrefixTree):
    """Leaves the load with the lower part."""

    def split(self, node: Node, pages: int) -> Node:
        upper = super().split(node, pages)
        upper.loads.clear()
        upper.readers.clear()
        return upper


@mutant("host_tier.split-moves-the-load", kills="RFC-0006:C-TREE#S4")
class LoadOfTheLowerPart(HostTierModel):
    """Protects the lower part alone of a node that is split while it is loaded."""

    tree_type = SplitMovesLoad


class SplitDropsHostPages(PrefixTree):
    """Forgets the host pages of the lower part."""

    def split(self, node: Node, pages: int) -> Node:
        upper = super().split(node, pages)
        if node.pages and not any(below.host for below in self.children(node.number)):
            node.host = ()
        return upper


@mutant("host_tier.split-drops-host-pages", kills="RFC-0006:C-TREE#S4")
class HostPagesOfTheUpperPart(HostTierModel):
    """Keeps the host pages of the upper part of a split resident, and forgets the others."""

    tree_type = SplitDropsHostPages


@mutant(
    "host_tier.counts-of-the-whole",
    kills="RFC-0006:C-TREE#S5",
    also={"RFC-0006:C-LOAD-BACK#S8": "A load-back that ends inside a node splits it as well."},
)
class CountsOfTheWhole(HostTierModel):
    """Leaves the counts of the whole node to both parts of a split."""

    def shown(self, node: Node) -> TreeNode:
        shown = super().shown(node)
        below = [other for other in self.tree.children(node.number) if other.number < node.number]
        if not below or not all(other.host for other in (node, *below)):
            return shown
        return replace(shown, host_counts=self.kept_counts([lane for part in (node, *below) for lane, _ in part.host]))


@mutant("host_tier.counts-on-the-first-lane", kills="RFC-0006:C-TREE#S5")
class CountsOnTheFirstLane(HostTierModel):
    """Keeps one count for all lanes, and gives it to the first."""

    def kept_counts(self, lanes: Sequence[int]) -> Lanes:
        return (len(lanes), *[0] * (self.config.cp_size - 1))


@mutant("host_tier.match-moves-host-pages", kills="RFC-0006:C-TREE#S6")
class MatchMovesHostPages(HostTierModel):
    """Puts the host pages of what it finds in ascending order, lane by lane, and then in descending order."""

    def match(self, tokens: Sequence[int]) -> Match:
        found = super().match(tokens)
        for node, _ in self.tree.walk(tokens):
            node.host = tuple(self.turned(node.host))
        return found

    def turned(self, host: Sequence[HostPage]) -> list[HostPage]:
        by_lane = {lane: [page for own, page in host if own == lane] for lane, _ in host}
        return [(lane, by_lane[lane].pop()) for lane, _ in host]


@mutant("host_tier.host-page-of-two-nodes", kills="RFC-0006:C-TREE#S6")
class HostPageOfTwoNodes(HostTierModel):
    """Names the first host page of a lane for every page of the lane that is further than that."""

    def shown(self, node: Node) -> TreeNode:
        return replace(super().shown(node), host_pages=tuple(0 for _ in node.host))


@mutant("host_tier.match-refreshes-the-rest", kills="RFC-0006:C-TREE#S7")
class MatchRefreshesTheRest(HostTierModel):
    """Refreshes what is below the end of a match as well."""

    def match(self, tokens: Sequence[int]) -> Match:
        found = super().match(tokens)
        ends = [node.number for node, _ in self.tree.walk(tokens)][-1:]
        self.refresh([below for number in ends for below in self.tree.children(number)])
        return found


@mutant("host_tier.last-node-refreshed", kills="RFC-0006:C-TREE#S7")
class LastNodeRefreshed(HostTierModel):
    """Refreshes the last node of a way alone."""

    def refresh(self, way: Sequence[Node]) -> None:
        super().refresh(way[-1:])


@mutant("host_tier.insert-refreshes-nothing", kills="RFC-0006:C-TREE#S7")
class InsertRefreshesNothing(HostTierModel):
    """Takes an insert for no use of what was there before."""

    def refresh(self, way: Sequence[Node]) -> None:
        super().refresh([node for node in way if self.is_new(node) or not self.is_inserting])

    is_inserting = False

    def is_new(self, node: Node) -> bool:
        return node.hits == 0

    def deal(self, way: Sequence[Node], pages: Sequence[int]) -> tuple[list[int], list[int]]:
        self.is_inserting = True
        return super().deal(way, pages)

    def count_hit(self, way: Sequence[Node]) -> None:
        super().count_hit(way)
        self.is_inserting = False


@mutant("host_tier.match-counts-as-a-hit", kills="RFC-0006:C-TREE#S8")
class MatchCountsAsAHit(HostTierModel):
    """Counts every lookup as a hit."""

    def match(self, tokens: Sequence[int]) -> Match:
        found = super().match(tokens)
        self.count_hit([node for node, _ in self.tree.walk(tokens)])
        return found


@mutant("host_tier.hits-of-the-last-node", kills="RFC-0006:C-TREE#S8")
class HitsOfTheLastNode(HostTierModel):
    """Counts a hit of the node at which an insert ends alone, unless hits decide about backups."""

    def count_hit(self, way: Sequence[Node]) -> None:
        decides = self.config.host.write == "write_through_selective"
        super().count_hit(way if decides else way[-1:])


class SplitForgetsHits(PrefixTree):
    """Begins to count anew."""

    def split(self, node: Node, pages: int) -> Node:
        upper = super().split(node, pages)
        upper.hits = 0
        return upper


@mutant(
    "host_tier.split-forgets-hits",
    kills="RFC-0006:C-TREE#S8",
    also={
        "RFC-0006:C-BACKUP#S1": "The part that has no hits does not reach the threshold at the insert that splits it.",
        "RFC-0006:C-LOAD-BACK#S8": "A load-back that ends inside a node splits it as well.",
    },
)
class HitsFromTheSplitOn(HostTierModel):
    """Counts the hits of the upper part of a split from there on."""

    tree_type = SplitForgetsHits


@mutant("host_tier.match-drops-mirrors", kills="RFC-0006:C-TREE#S9")
class MatchDropsMirrors(HostTierModel):
    """Takes a use of residents for a sign that their host pages are needed no more."""

    def match(self, tokens: Sequence[int]) -> Match:
        found = super().match(tokens)
        for node in self.mirrors(tokens):
            self.leave_host(node)
        return found

    def mirrors(self, tokens: Sequence[int]) -> list[Node]:
        """Return the last node of a way, if it is resident and nothing with host pages is below."""
        ends = [node for node, _ in self.tree.walk(tokens)][-1:]
        idle = [node for node in ends if node.pages and not self.tree.is_pending(node)]
        return [node for node in idle if not any(other.host for other in self.tree.children(node.number))]


@mutant("host_tier.lock-takes-host-pages", kills="RFC-0006:C-TREE#S9")
class LockTakesHostPages(HostTierModel):
    """Sets a host page aside for each lock."""

    def lock(self, tokens: Sequence[int]) -> int:
        lock = super().lock(tokens)
        self.take(0, min(1, self.lanes[0].num_free))
        return lock


@mutant("host_tier.unlock-evicts", kills="RFC-0006:C-TREE#S9")
class UnlockEvicts(HostTierModel):
    """Takes a prefix that is unlocked off the device where it is backed up and nothing resident is below."""

    def unlock(self, lock: int) -> None:
        covered = [node for node in self.tree.nodes.values() if lock in node.locks]
        super().unlock(lock)
        for node in covered:
            busy = self.tree.is_pending(node) or any(other.pages for other in self.tree.children(node.number))
            if self.is_backed_up(node) and not node.locks and not busy:
                self.allocation.pages.move(node.pages, FREE)
                self.leave_device(node)

"""Wrong variants of a match, and odd but right variants of what the tree is free to choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.host_tier import Match
from sharedkv_conformance.contract.probe import TreeNode
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.host_tier import HostTierModel, Lanes
from sharedkv_conformance.model.host_tier_tree import Node, PrefixTree
from sharedkv_conformance.model.lane_pages import FREE


@mutant("host_tier.match-in-ascending-order", kills="RFC-0006:C-MATCH#S1")
class MatchInAscendingOrder(HostTierModel):
    """Names the pages of a prefix in ascending order."""

    def match(self, tokens: Sequence[int]) -> Match:
        found = super().match(tokens)
        return replace(found, device=tuple(sorted(found.device)))


@mutant("host_tier.match-of-the-last-node", kills="RFC-0006:C-MATCH#S1")
class MatchOfTheLastNode(HostTierModel):
    """Names the pages of the first node and forgets those further down."""

    def match(self, tokens: Sequence[int]) -> Match:
        found = super().match(tokens)
        first = [node.pages for node, _ in self.tree.walk(tokens)][:1]
        return replace(found, device=first[0] if first else ())


@mutant("host_tier.match-counts-host-nodes", kills="RFC-0006:C-MATCH#S2")
class MatchCountsHostNodes(HostTierModel):
    """Counts the first node on the host alone, and none below it."""

    def loadable(self, way: Sequence[Node]) -> int:
        on_host = [node for node in way if not node.pages]
        return super().loadable(on_host[:1])


@mutant("host_tier.match-counts-mirrors", kills="RFC-0006:C-MATCH#S2")
class MatchCountsMirrors(HostTierModel):
    """Counts the host pages of residents as well."""

    def loadable(self, way: Sequence[Node]) -> int:
        return sum(len(node.host) for node in way if self.is_backed_up(node))


@mutant("host_tier.less-than-a-page-found", kills="RFC-0006:C-MATCH#S3")
class LessThanAPageFound(HostTierModel):
    """Finds the first page that begins with the tokens where they are fewer than a page."""

    def match(self, tokens: Sequence[int]) -> Match:
        if self.is_tick(tokens) or not tokens:
            return super().match(tokens)
        begun = [node for node in self.tree.children(ROOT) if node.tokens[: len(tokens)] == tuple(tokens)]
        return Match(device=begun[0].pages[:1] if begun else (), host=0)


@mutant("host_tier.less-than-a-page-refreshes", kills="RFC-0006:C-MATCH#S3")
class LessThanAPageRefreshes(HostTierModel):
    """Takes a lookup of less than a page for a use of the node that begins like it."""

    def match(self, tokens: Sequence[int]) -> Match:
        begun = [node for node in self.tree.children(ROOT) if node.tokens[: len(tokens)] == tuple(tokens)]
        if begun and not self.is_tick(tokens):
            self.tick += 1
            self.refresh(begun)
        return super().match(tokens)


class NumbersFromAbove(PrefixTree):
    """Numbers nodes in steps."""

    def number(self) -> int:
        return 3 * super().number() + 5


@benign("host_tier.numbers-in-steps")
class NumbersInSteps(HostTierModel):
    """Numbers nodes from 5 on in steps of 3, locks and copies from 100 on."""

    tree_type = NumbersFromAbove

    def number_lock(self) -> int:
        return 100 + super().number_lock()

    def number_copy(self) -> int:
        return 100 + super().number_copy()


@benign("host_tier.last-pages-first")
class LastPagesFirst(HostTierModel):
    """Takes the last free pages of a lane, on either tier."""

    def choose(self, lane: int, count: int) -> Sequence[int]:
        runs = self.lanes[lane].runs()
        long_enough = [run for run in runs if len(run) >= count]
        return long_enough[-1][-count:] if count and long_enough else super().choose(lane, count)

    def choose_device(self, lanes: Sequence[int]) -> Lanes:
        free = [list(pages) for pages in self.allocation.pages.by_lane(FREE)]
        return tuple(free[lane].pop() for lane in lanes)

    def nodes(self) -> tuple[TreeNode, ...]:
        return super().nodes()[::-1]

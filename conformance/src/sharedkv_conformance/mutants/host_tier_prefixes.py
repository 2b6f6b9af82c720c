"""Wrong variants of what tells prefixes apart: parts of pages, one page size, branches, whose pages are whose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.host_tier import BackupRequest, Inserted, Match
from sharedkv_conformance.contract.probe import TreeNode
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.host_pool import slots
from sharedkv_conformance.model.host_tier import HostTierModel, Lanes
from sharedkv_conformance.model.host_tier_refusals import insert_refusals
from sharedkv_conformance.model.host_tier_tree import Node, PrefixTree

LONG = 5


class OneTokenAPage(HostTierModel):
    """Takes a page on the device for one that is asked for if they have the same token at one place."""

    place: int

    def match(self, tokens: Sequence[int]) -> Match:
        return super().match(self._taken_for(tuple(tokens))) if self.is_tick(tokens) else super().match(tokens)

    def _taken_for(self, tokens: tuple[int, ...]) -> tuple[int, ...]:
        """Return tokens with those of the tree in place of what looks like them."""
        size, above, at = self.config.page_size, ROOT, 0
        while node := self._alike(above, tokens[at:]):
            for start in range(0, len(node.tokens), size):
                if not self._looks_like(node.tokens[start:], tokens[at:]):
                    return tokens
                tokens = (*tokens[:at], *node.tokens[start : start + size], *tokens[at + size :])
                at += size
            above = node.number
        return tokens

    def _alike(self, above: int, rest: Sequence[int]) -> Node | None:
        return next((n for n in self.tree.children(above) if n.pages and self._looks_like(n.tokens, rest)), None)

    def _looks_like(self, own: Sequence[int], asked: Sequence[int]) -> bool:
        size = self.config.page_size
        return len(asked) >= size and own[:size][self.place] == asked[:size][self.place]


@mutant("host_tier.pages-known-by-their-first-token", kills="RFC-0006:C-MATCH#S1")
class PagesKnownByTheirFirstToken(OneTokenAPage):
    """Looks pages up by their first token alone."""

    place = 0


@mutant("host_tier.pages-known-by-their-last-token", kills="RFC-0006:C-MATCH#S1")
class PagesKnownByTheirLastToken(OneTokenAPage):
    """Looks pages up by their last token alone."""

    place = -1


@mutant("host_tier.branch-found-too-early", kills="RFC-0006:C-MATCH#S1")
class BranchFoundTooEarly(HostTierModel):
    """Halves the rest of a long node once too often when it looks for the page at which tokens leave it."""

    def match(self, tokens: Sequence[int]) -> Match:
        way, size = self.tree.walk(tokens), self.config.page_size
        pages = sum(held for _, held in way)
        is_late = any(node.pages and LONG > held >= LONG - 2 for node, held in way[-1:])
        if is_late and self.tree.num_pages(way[-1][0]) == LONG and len(self.tree.whole(tokens)) > pages * size:
            return super().match(tokens[: (pages - 1) * size])
        return super().match(tokens)


@mutant("host_tier.tail-behind-two-tokens-a-page", kills="RFC-0006:C-INSERT#S4")
class TailBehindTwoTokensAPage(HostTierModel):
    """Finds the page that is not full by counting two tokens a page, whatever the page size is."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        done = super().insert(request, tokens, pages)
        return replace(done, left=tuple(pages[len(tokens) // 2 :])) if self.is_tick(tokens) else done


@mutant("host_tier.own-page-moves", kills="RFC-0006:C-INSERT#S6")
class OwnPageMoves(HostTierModel):
    """Takes a page of the way at another position of the same way, in whatever order the caller names them."""

    def check_insert(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        against = insert_refusals(self.geometry, self.allocation.pages, self.tree, tokens, pages)
        own = {page for node, held in self.tree.walk(tokens) for page in node.pages[:held]}
        if against != {Reason.PAGE_IN_TREE} or not self.tree.device_pages().intersection(pages) <= own:
            super().check_insert(tokens, pages)


class SplitKeepsOneLock(PrefixTree):
    """Counts the locks of the upper part as one."""

    def split(self, node: Node, pages: int) -> Node:
        upper = super().split(node, pages)
        upper.locks = set(sorted(upper.locks)[:1])
        return upper


@mutant("host_tier.split-keeps-one-lock", kills="RFC-0006:C-TREE#S4")
class OneLockForTheUpperPart(HostTierModel):
    """Leaves one lock on the upper part of a node that is split under several."""

    tree_type = SplitKeepsOneLock


@mutant(
    "host_tier.host-pages-from-one",
    kills="RFC-0006:C-TREE#S6",
    also={"RFC-0006:C-TREE#S10": "A page that is shown by the number of another is not refused by its own."},
)
class HostPagesFromOne(HostTierModel):
    """Counts the host pages of a lane from 1 in the tree, and from 0 everywhere else."""

    def shown(self, node: Node) -> TreeNode:
        shown = super().shown(node)
        return replace(shown, host_pages=tuple(page + 1 for page in shown.host_pages))


@mutant("host_tier.free-slots-of-the-tree", kills="RFC-0006:C-TREE#S6")
class FreeSlotsOfTheTree(HostTierModel):
    """Lists the host pages of residents as free, because a backup may have them."""

    def free_slots(self, lane: int) -> Lanes:
        self.check_lane(lane)
        mirrors = {page for node in self.tree.nodes.values() if node.pages for own, page in node.host if own == lane}
        return slots(sorted({*self.lanes[lane].free_pages(), *mirrors}), self.config.page_size)


@mutant("host_tier.page-reserved-twice", kills="RFC-0006:C-ADMISSION#S9")
class PageReservedTwice(HostTierModel):
    """Reserves host pages for a page that another request has a reservation for."""

    def check_admit(self, batch: Sequence[BackupRequest]) -> None:
        reserved, self.reservations = self.reservations, {request: {} for request in self.reservations}
        try:
            super().check_admit(batch)
        finally:
            self.reservations = reserved

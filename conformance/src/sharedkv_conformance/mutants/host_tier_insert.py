"""Wrong variants of inserts and locks: where pages go, what is refused, and what a lock covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sharedkv_conformance.contract.errors import CapacityWait, Reason, Rejected
from sharedkv_conformance.contract.host_tier import Evicted, Inserted
from sharedkv_conformance.marks import mutant
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_copies import BACKUP
from sharedkv_conformance.model.host_tier_refusals import insert_refusals
from sharedkv_conformance.model.host_tier_tree import HostPage, Node
from sharedkv_conformance.model.lane_pages import FREE, IN_USE


@mutant("host_tier.cached-on-any-tier", kills="RFC-0006:C-INSERT#S1")
class CachedOnAnyTier(HostTierModel):
    """Counts what was on the host alone as cached, so that the caller frees what the tree has just taken."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        known = sum(held for _, held in self.tree.walk(tokens))
        return replace(super().insert(request, tokens, pages), cached=known)


@mutant("host_tier.cached-as-given", kills="RFC-0006:C-INSERT#S1")
class CachedAsGiven(HostTierModel):
    """Counts as cached only pages for which the caller named the tree's own."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        done = super().insert(request, tokens, pages)
        return replace(done, cached=done.cached - len(done.freed))


@mutant("host_tier.revived-pages-freed", kills="RFC-0006:C-INSERT#S2")
class RevivedPagesFreed(HostTierModel):
    """Frees pages for nodes that are on the host alone, as if they were on the device."""

    def deal(self, way: Sequence[Node], pages: Sequence[int]) -> tuple[list[int], list[int]]:
        adopted, freed = super().deal(way, pages)
        for node in way:
            node.pages = () if set(node.pages) & set(adopted) else node.pages
        return [], [*freed, *adopted]


@mutant("host_tier.revived-in-reverse", kills="RFC-0006:C-INSERT#S2")
class RevivedInReverse(HostTierModel):
    """Gives a node that becomes resident its pages from the end."""

    def deal(self, way: Sequence[Node], pages: Sequence[int]) -> tuple[list[int], list[int]]:
        adopted, freed = super().deal(way, pages)
        for node in way:
            if node.pages and set(node.pages) <= set(adopted):
                node.pages = node.pages[::-1]
        return adopted, freed


@mutant("host_tier.branch-below-the-root", kills="RFC-0006:C-INSERT#S2")
class BranchBelowTheRoot(HostTierModel):
    """Hangs a new node below the root where the one above it has branches already."""

    def new_node(self, way: Sequence[Node], tokens: Sequence[int], pages: tuple[int, ...]) -> Node:
        has_branches = bool(way) and any(self.tree.children(way[-1].number))
        node = super().new_node(way, tokens, pages)
        if has_branches and not any(self.tree.common(node.tokens, top.tokens) for top in self.tree.children(ROOT)):
            node.parent = ROOT
        return node


@mutant("host_tier.adopted-pages-free", kills="RFC-0006:C-INSERT#S3")
class AdoptedPagesFree(HostTierModel):
    """Makes pages free that a node which was on the host alone has just adopted."""

    def deal(self, way: Sequence[Node], pages: Sequence[int]) -> tuple[list[int], list[int]]:
        adopted, freed = super().deal(way, pages)
        self.allocation.pages.move(adopted, FREE)
        return adopted, freed


@mutant("host_tier.duplicates-kept", kills="RFC-0006:C-INSERT#S3")
class DuplicatesKept(HostTierModel):
    """Says of pages that the tree has already that they are free, and keeps them."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        done = super().insert(request, tokens, pages)
        self.allocation.pages.move(done.freed, IN_USE)
        return done


@mutant("host_tier.own-pages-freed", kills="RFC-0006:C-INSERT#S3")
class OwnPagesFreed(HostTierModel):
    """Says that every cached page of the caller is free, the tree's own as well."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        done = super().insert(request, tokens, pages)
        return replace(done, freed=tuple(pages[: done.cached]))


@mutant("host_tier.tail-forgotten", kills="RFC-0006:C-INSERT#S4")
class TailForgotten(HostTierModel):
    """Does not say that the page which is not full stays with the caller."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        done = super().insert(request, tokens, pages)
        return replace(done, left=()) if self.is_tick(tokens) else done


@mutant("host_tier.freed-pages-left", kills="RFC-0006:C-INSERT#S4")
class FreedPagesLeft(HostTierModel):
    """Leaves to the caller what it has just freed as well."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        done = super().insert(request, tokens, pages)
        return replace(done, left=(*done.freed, *done.left))


@mutant("host_tier.less-than-a-page-freed", kills="RFC-0006:C-INSERT#S5")
class LessThanAPageFreed(HostTierModel):
    """Makes the page of a request free that has not filled one."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        done = super().insert(request, tokens, pages)
        if not self.is_tick(tokens):
            self.allocation.pages.move(pages, FREE)
        return done


@mutant("host_tier.less-than-a-page-cached", kills="RFC-0006:C-INSERT#S5")
class LessThanAPageCached(HostTierModel):
    """Counts the page that begins like the tokens as cached where they are fewer than a page."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        done = super().insert(request, tokens, pages)
        begun = any(node.tokens[: len(tokens)] == tuple(tokens) for node in self.tree.children(ROOT))
        return done if self.is_tick(tokens) else replace(done, cached=int(begun and bool(tokens)))


class Lenient(HostTierModel):
    """Passes over one reason against an insert."""

    passed_over: Reason

    def check_insert(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        against = insert_refusals(self.geometry, self.allocation.pages, self.tree, tokens, pages)
        if against != {self.passed_over}:
            super().check_insert(tokens, pages)


@mutant("host_tier.page-in-two-nodes", kills="RFC-0006:C-INSERT#S6")
class PageInTwoNodes(Lenient):
    """Takes a page that is the tree's at another position."""

    passed_over = Reason.PAGE_IN_TREE


@mutant("host_tier.free-page-inserted", kills="RFC-0006:C-INSERT#S6")
class FreePageInserted(Lenient):
    """Takes a page that is free."""

    passed_over = Reason.PAGE_NOT_ALLOCATED


@mutant("host_tier.page-inserted-twice", kills="RFC-0006:C-INSERT#S6")
class PageInsertedTwice(Lenient):
    """Takes one page for two."""

    passed_over = Reason.PAGE_NAMED_TWICE


@mutant("host_tier.pages-not-counted", kills="RFC-0006:C-INSERT#S6")
class PagesNotCounted(HostTierModel):
    """Inserts as many pages as there are, whatever the tokens ask for."""

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        fewer = min(self.geometry.pages_for(len(tokens)), len(pages))
        return super().insert(request, tokens[: fewer * self.config.page_size], pages[:fewer])


@mutant("host_tier.one-name-for-bad-inserts", kills="RFC-0006:C-INSERT#S6")
class OneNameForBadInserts(HostTierModel):
    """Refuses every bad insert with a reason that has nothing to do with it."""

    def check_insert(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        try:
            super().check_insert(tokens, pages)
        except Rejected as error:
            raise Rejected(Reason.PREFIX_NOT_RESIDENT) from error


@mutant("host_tier.split-before-the-refusal", kills="RFC-0006:C-INSERT#S6")
class SplitBeforeTheRefusal(HostTierModel):
    """Walks and refreshes before it looks at the pages."""

    def check_insert(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        try:
            super().check_insert(tokens, pages)
        except Rejected:
            self.refresh(self.tree.way(tokens))
            raise


@mutant("host_tier.insert-waits-for-the-host", kills="RFC-0006:C-INSERT#S7")
class InsertWaitsForTheHost(HostTierModel):
    """Takes no pages while the host has no room for their backup."""

    def check_insert(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        super().check_insert(tokens, pages)
        need = [1] * self.config.cp_size
        if self.config.host.write != "write_back" and not any(self.free()):
            raise CapacityWait(required=need, available=self.free(), deficit=need)


@mutant("host_tier.duplicates-refused", kills="RFC-0006:C-INSERT#S7")
class DuplicatesRefused(HostTierModel):
    """Refuses other pages for tokens that are on the device."""

    def check_insert(self, tokens: Sequence[int], pages: Sequence[int]) -> None:
        super().check_insert(tokens, pages)
        own = [page for node, held in self.tree.walk(tokens) for page in node.pages[:held]]
        if own != list(pages[: len(own)]):
            raise Rejected(Reason.PAGE_IN_TREE)


@mutant("host_tier.copies-numbered-by-kind", kills="RFC-0006:C-INSERT#S8")
class CopiesNumberedByKind(HostTierModel):
    """Names every backup by the same number while it is in flight."""

    def submit_backup(self, node: Node, host: Sequence[HostPage], request: str = "") -> int:
        fresh = self.next_copy
        backups = [number for number, own in self.ledger.copies.items() if own.kind == BACKUP]
        self.next_copy = min(backups, default=fresh)
        copy = super().submit_backup(node, host, request)
        self.next_copy = max(fresh, self.next_copy)
        return copy


@mutant("host_tier.locks-numbered-alike", kills="RFC-0006:C-LOCKS#S1")
class LocksNumberedAlike(HostTierModel):
    """Gives every lock that begins at the same node the same number."""

    def number_lock(self) -> int:
        return 0


@mutant("host_tier.one-lock-a-node", kills="RFC-0006:C-LOCKS#S1")
class OneLockANode(HostTierModel):
    """Refuses to lock what another has locked."""

    def check_resident(self, tokens: Sequence[int]) -> None:
        super().check_resident(tokens)
        if any(node.locks for node, _ in self.tree.walk(tokens)):
            raise Rejected(Reason.PREFIX_NOT_RESIDENT)


@mutant("host_tier.last-node-locked", kills="RFC-0006:C-LOCKS#S2")
class LastNodeLocked(HostTierModel):
    """Locks the last node of a way alone."""

    def lock(self, tokens: Sequence[int]) -> int:
        lock = super().lock(tokens)
        for node in self.tree.way(tokens)[:-1]:
            node.locks.discard(lock)
        return lock


@mutant("host_tier.below-locked-too", kills="RFC-0006:C-LOCKS#S2")
class BelowLockedToo(HostTierModel):
    """Locks what is below the end of a way as well."""

    def lock(self, tokens: Sequence[int]) -> int:
        lock = super().lock(tokens)
        ends = self.tree.way(tokens)[-1:]
        for node in [below for end in ends for below in self.tree.children(end.number)]:
            node.locks.add(lock)
        return lock


@mutant("host_tier.lock-of-what-is-there", kills="RFC-0006:C-LOCKS#S3")
class LockOfWhatIsThere(HostTierModel):
    """Locks the part of a prefix that is on the device, and says nothing of the rest."""

    def lock(self, tokens: Sequence[int]) -> int:
        resident = sum(held for node, held in self.tree.walk(tokens) if node.pages)
        return super().lock(tokens[: resident * self.config.page_size])


@mutant("host_tier.lock-of-host-pages", kills="RFC-0006:C-LOCKS#S3")
class LockOfHostPages(HostTierModel):
    """Takes pages that are on the host for pages that are on the device."""

    def check_resident(self, tokens: Sequence[int]) -> None:
        if sum(held for _, held in self.tree.walk(tokens)) * self.config.page_size < len(self.tree.whole(tokens)):
            super().check_resident(tokens)


@mutant("host_tier.refused-lock-splits", kills="RFC-0006:C-LOCKS#S3")
class RefusedLockSplits(HostTierModel):
    """Splits before it looks whether all is on the device."""

    def check_resident(self, tokens: Sequence[int]) -> None:
        try:
            super().check_resident(tokens)
        except Rejected:
            self.tree.way(tokens)
            raise


@mutant("host_tier.unlock-lifts-all", kills="RFC-0006:C-LOCKS#S4")
class UnlockLiftsAll(HostTierModel):
    """Lifts every lock of the nodes that a lock covers."""

    def unlock(self, lock: int) -> None:
        covered = [node for node in self.tree.nodes.values() if lock in node.locks]
        super().unlock(lock)
        for node in covered:
            node.locks.clear()


@mutant("host_tier.unlock-leaves-the-top", kills="RFC-0006:C-LOCKS#S4")
class UnlockLeavesTheTop(HostTierModel):
    """Leaves the first node of a way locked."""

    def unlock(self, lock: int) -> None:
        top = [node for node in self.tree.children(ROOT) if lock in node.locks]
        super().unlock(lock)
        for node in top:
            node.locks.add(lock)


@mutant(
    "host_tier.unlock-twice",
    kills="RFC-0006:C-LOCKS#S5",
    also={"RFC-0006:C-RESET#S3": "a lock that a reset has ended is one that is not held"},
)
class UnlockTwice(HostTierModel):
    """Says nothing when a lock is given up that is not held."""

    def unlock(self, lock: int) -> None:
        if lock in self.held_locks:
            super().unlock(lock)


@mutant("host_tier.locks-ignored", kills="RFC-0006:C-LOCKS#S6")
class LocksIgnored(HostTierModel):
    """Evicts what a running request has locked."""

    def evict(self, deficit: Sequence[int]) -> Evicted:
        nodes = [replace(node, locked=False) for node in self.tree.on_device()]
        return self.carry_out(self.planner.plan(nodes, deficit))

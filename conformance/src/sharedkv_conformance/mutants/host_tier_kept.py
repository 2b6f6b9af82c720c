"""Wrong, and odd but right, variants of who gives pages of the tree up: its callers must not."""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.marks import benign, mutant
from sharedkv_conformance.model.allocation import AllocationModel
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_tree import HostPage
from sharedkv_conformance.model.lane_pages import EVICTABLE, FREE


@mutant("host_tier.tree-pages-released", kills="RFC-0006:C-INSERT#S9")
class TreePagesReleased(HostTierModel):
    """Lets callers give up whatever is in use."""

    def device_pages(self) -> set[int]:
        return set()


@mutant("host_tier.locked-pages-kept-alone", kills="RFC-0006:C-INSERT#S9")
class LockedPagesKeptAlone(HostTierModel):
    """Keeps from callers only what a lock covers."""

    def device_pages(self) -> set[int]:
        return {page for node in self.tree.nodes.values() if node.locks for page in node.pages}


@mutant("host_tier.saved-pages-released", kills="RFC-0006:C-INSERT#S9")
class SavedPagesReleased(HostTierModel):
    """Lets callers give up device pages that are on the host as well."""

    def device_pages(self) -> set[int]:
        return {page for node in self.tree.nodes.values() if not node.host for page in node.pages}


@mutant("host_tier.unsaved-pages-released", kills="RFC-0006:C-INSERT#S9")
class UnsavedPagesReleased(HostTierModel):
    """Lets callers give up device pages that are not on the host."""

    def device_pages(self) -> set[int]:
        return {page for node in self.tree.nodes.values() if node.host for page in node.pages}


@mutant("host_tier.tree-pages-retained", kills="RFC-0006:C-INSERT#S9")
class TreePagesRetained(AllocationModel):
    """Lets callers retain pages of the tree, which give way to the next batch."""

    def retain(self, pages: Sequence[int]) -> None:
        kept = [page for page in pages if page in self.in_tree()]
        super().retain([page for page in pages if page not in kept])
        self.pages.move(kept, EVICTABLE)


@mutant("host_tier.locations-released", kills="RFC-0006:C-INSERT#S9")
class LocationsReleased(AllocationModel):
    """Does not ask the tree when pages are named by the locations of their tokens."""

    def release_locations(self, locations: Sequence[int]) -> None:
        pages = self.pages_of(locations)
        kept = [page for page in pages if page in self.in_tree()]
        self.release([page for page in pages if page not in kept])
        self.pages.move(kept, FREE)


@mutant("host_tier.own-pages-released-first", kills="RFC-0006:C-INSERT#S9")
class OwnPagesReleasedFirst(AllocationModel):
    """Gives back the caller's own pages before it comes to those of the tree."""

    def check_not_in_tree(self, pages: Sequence[int]) -> None:
        if not self.in_tree().isdisjoint(pages):
            self.pages.move([page for page in pages if page not in self.in_tree()], FREE)
        super().check_not_in_tree(pages)


@mutant("host_tier.tree-pages-not-allocated", kills="RFC-0006:C-INSERT#S9")
class TreePagesNotAllocated(AllocationModel):
    """Says of pages of the tree that nobody has them."""

    def check_not_in_tree(self, pages: Sequence[int]) -> None:
        if not self.in_tree().isdisjoint(pages):
            raise Rejected(Reason.PAGE_NOT_ALLOCATED)


@benign("host_tier.tree-asked-first")
class TreeAskedFirst(AllocationModel):
    """Asks the tree before it looks for other faults."""

    def check_named(self, pages: Sequence[int], allowed: Sequence[str]) -> None:
        self.check_not_in_tree(pages)
        super().check_named(pages, allowed)


@mutant("host_tier.tree-host-pages-released", kills="RFC-0006:C-TREE#S10")
class TreeHostPagesReleased(HostTierModel):
    """Lets callers give back host pages of the tree."""

    def host_pages(self) -> set[HostPage]:
        return super().host_pages() - {page for node in self.tree.nodes.values() for page in node.host}


@mutant("host_tier.reserved-host-pages-released", kills="RFC-0006:C-TREE#S10")
class ReservedHostPagesReleased(HostTierModel):
    """Lets callers give back host pages that are reserved for a request."""

    def host_pages(self) -> set[HostPage]:
        return super().host_pages() - {page for own in self.reservations.values() for page in own.values()}


@mutant("host_tier.backed-up-host-pages-released", kills="RFC-0006:C-TREE#S10")
class BackedUpHostPagesReleased(HostTierModel):
    """Keeps from callers the host pages of nodes that are on the host alone."""

    def host_pages(self) -> set[HostPage]:
        return super().host_pages() - {page for node in self.tree.nodes.values() if node.pages for page in node.host}


@mutant("host_tier.own-host-pages-released-first", kills="RFC-0006:C-TREE#S10")
class OwnHostPagesReleasedFirst(HostTierModel):
    """Gives back the caller's own host pages before it comes to those of the tree."""

    def check_not_kept(self, lane: int, pages: Sequence[int]) -> None:
        kept = {page for own, page in self.host_pages() if own == lane}
        if not kept.isdisjoint(pages):
            self.lanes[lane].give([page for page in pages if page not in kept])
        super().check_not_kept(lane, pages)


@mutant("host_tier.host-pages-not-allocated", kills="RFC-0006:C-TREE#S10")
class HostPagesNotAllocated(HostTierModel):
    """Says of host pages of the tree that nobody has them."""

    def check_not_kept(self, lane: int, pages: Sequence[int]) -> None:
        try:
            super().check_not_kept(lane, pages)
        except Rejected as error:
            raise Rejected(Reason.PAGE_NOT_ALLOCATED) from error


@benign("host_tier.host-tree-asked-first")
class HostTreeAskedFirst(HostTierModel):
    """Asks the tree before it looks for other faults."""

    def check_named(self, lane: int, pages: Sequence[int]) -> None:
        self.check_not_kept(lane, pages)
        super().check_named(lane, pages)


@mutant("host_tier.fetched-host-pages-released", kills="RFC-0006:C-TREE#S11")
class FetchedHostPagesReleased(HostTierModel):
    """Lets callers give back host pages that a fetch is to fill."""

    def host_pages(self) -> set[HostPage]:
        return super().host_pages() - set(self.fetched_pages())


@mutant("host_tier.fetched-host-pages-not-allocated", kills="RFC-0006:C-TREE#S11")
class FetchedHostPagesNotAllocated(HostTierModel):
    """Says of host pages of a fetch that nobody has them."""

    def check_not_kept(self, lane: int, pages: Sequence[int]) -> None:
        if not {(lane, page) for page in pages}.isdisjoint(self.fetched_pages()):
            raise Rejected(Reason.PAGE_NOT_ALLOCATED)
        super().check_not_kept(lane, pages)


@mutant("host_tier.own-host-pages-before-fetched", kills="RFC-0006:C-TREE#S11")
class OwnHostPagesBeforeFetched(HostTierModel):
    """Gives back the caller's own host pages before it comes to those of a fetch."""

    def check_not_kept(self, lane: int, pages: Sequence[int]) -> None:
        fetched = {page for own, page in self.fetched_pages() if own == lane}
        if not fetched.isdisjoint(pages):
            self.lanes[lane].give([page for page in pages if page not in fetched])
        super().check_not_kept(lane, pages)

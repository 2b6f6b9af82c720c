"""The checks of `host_tier`: pages of the tree, and reserved ones, are given up by it alone."""

from __future__ import annotations

from sharedkv_conformance.draws.storage_written import SMALL, Issue, fetched
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier_kept import (
    device_pages_of_the_tree_are_given_up_by_it_alone,
    host_pages_of_a_fetch_are_given_up_by_it_alone,
    host_pages_of_the_tree_are_given_up_by_it_alone,
)
from sharedkv_conformance.marks import check
from sharedkv_conformance.step import Ok


@check(
    "host_tier.tree-pages-kept",
    "RFC-0006:C-INSERT#S9",
    witnesses=(
        "release_of_a_page_on_both_tiers",
        "release_of_a_page_on_the_device_alone",
        "retain_of_a_page_of_the_tree",
        "locations_in_a_page_of_the_tree",
    ),
    needs=("host_tier.tree",),
)
def test_device_pages_of_the_tree_are_given_up_by_it_alone(histories: Histories) -> None:
    """A request that frees its prefix twice lets the next one write over what others read."""
    histories.run("host_tree", laws=[device_pages_of_the_tree_are_given_up_by_it_alone])


@check(
    "host_tier.tree-host-pages-kept",
    "RFC-0006:C-TREE#S10",
    witnesses=("host_release_of_a_page_of_the_tree", "host_release_of_a_reserved_page"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_host_pages_of_the_tree_are_given_up_by_it_alone(histories: Histories) -> None:
    """A host page that is free and the tree's is written over, and loaded back as a prefix."""
    histories.run("host_tree", laws=[host_pages_of_the_tree_are_given_up_by_it_alone])


@check(
    "host_tier.fetched-pages-kept",
    "RFC-0006:C-TREE#S11",
    witnesses=("host_release_of_a_fetched_page",),
    needs=("host_tier.tree", "storage"),
)
def test_host_pages_of_a_fetch_are_given_up_by_it_alone(histories: Histories) -> None:
    """What a fetch writes lands in pages that were given to somebody else."""
    with histories.written("storage", SMALL, laws=[host_pages_of_a_fetch_are_given_up_by_it_alone]) as call:
        _fetched_pages_given_back(call)


def _fetched_pages_given_back(call: Issue) -> None:
    """Give back the host pages of a fetch, of which one has arrived, beside a page that the caller allocated."""
    fetch = fetched(call, 1)
    lanes, pages = range(call.state.config.cp_size), range(call.state.config.host_pages)
    mine = call("host_tier.allocate", pages=tuple(1 for _ in lanes)).pages
    for lane in lanes:
        for page in pages:
            shown = call.attempt("host_tier.free_slots", lane=lane)
            free = (
                {slot // call.state.config.page_size for slot in shown.value} if isinstance(shown, Ok) else set(pages)
            )
            if page not in (*free, *mine[lane]):
                call.attempt("host_tier.release", lane=lane, pages=(*mine[lane], page))
    call.attempt("storage.revoke", fetch=fetch)

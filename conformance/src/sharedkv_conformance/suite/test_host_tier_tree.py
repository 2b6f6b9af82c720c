"""The checks of `host_tier`: what the tree is made of, and what a match finds."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier_insert import (
    a_match_counts_what_can_be_loaded_back,
    a_match_names_the_longest_resident_prefix,
    less_than_a_page_matches_nothing,
)
from sharedkv_conformance.laws.host_tier_tree import (
    asking_moves_no_page,
    both_parts_of_a_split_keep_everything,
    each_tier_is_a_prefix,
    hits_count_inserts,
    host_pages_stay_where_they_are,
    kept_counts_are_those_of_the_pages,
    nodes_are_split_where_tokens_end,
    nodes_are_whole_pages_of_one_prefix,
    recency_is_the_last_tick_that_held_all_of_a_node,
)
from sharedkv_conformance.marks import check


@check(
    "host_tier.tree-nodes",
    "RFC-0006:C-TREE#S1",
    witnesses=("tree_has_branches", "insert_with_a_tail"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_nodes_are_whole_pages_of_one_prefix(histories: Histories) -> None:
    """A node with a part of a page keeps rows that the next request writes."""
    histories.run("host_tree", laws=[nodes_are_whole_pages_of_one_prefix])


@check(
    "host_tier.tree-prefixes",
    "RFC-0006:C-TREE#S2",
    witnesses=("host_only_below_a_mirror", "unsaved_below_a_mirror", "evict_host_of_a_mirror"),
    cases=("KV-83", "KV-84"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_each_tier_is_a_prefix(histories: Histories) -> None:
    """Pages below a gap are found by nobody, and leave the tree under those who still use them."""
    histories.run("host_tree", laws=[each_tier_is_a_prefix])


@check(
    "host_tier.tree-splits",
    "RFC-0006:C-TREE#S3",
    witnesses=("match_ends_inside", "insert_ends_inside", "lock_ends_inside"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_nodes_are_split_where_tokens_end(histories: Histories) -> None:
    """A lock, or a copy, of a part of a node holds all of it."""
    histories.run("host_tree", laws=[nodes_are_split_where_tokens_end])


@check(
    "host_tier.tree-split-parts",
    "RFC-0006:C-TREE#S4",
    witnesses=(
        "split_under_a_backup",
        "split_under_a_load",
        "split_under_a_lock",
        "split_under_two_locks",
        "split_of_host_pages",
    ),
    needs=("host_tier.tree", "probe.tree"),
)
def test_both_parts_of_a_split_keep_everything(histories: Histories) -> None:
    """A half that lost its lock or its copy is evicted while it is read."""
    histories.run("host_tree", laws=[both_parts_of_a_split_keep_everything])


@check(
    "host_tier.tree-counts",
    "RFC-0006:C-TREE#S5",
    witnesses=("node_on_unequal_lanes", "split_of_host_pages"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_kept_counts_are_those_of_the_pages(histories: Histories) -> None:
    """A plan that reads stale counts evicts for lanes that get nothing."""
    histories.run("host_tree", laws=[kept_counts_are_those_of_the_pages])


@check(
    "host_tier.tree-host-pages",
    "RFC-0006:C-TREE#S6",
    witnesses=("tree_shown_with_known_host_pages", "split_of_host_pages", "free_slots_beside_the_tree"),
    cases=("KV-12",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_host_pages_stay_where_they_are(histories: Histories) -> None:
    """A host page that two nodes name is loaded back under the wrong prefix."""
    histories.run("host_tree", laws=[host_pages_stay_where_they_are])


@check(
    "host_tier.tree-recency",
    "RFC-0006:C-TREE#S7",
    witnesses=("match_ends_inside", "match_of_several_nodes", "insert_goes_through"),
    cases=("KV-87",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_recency_is_the_last_tick_that_held_all_of_a_node(histories: Histories) -> None:
    """A tail that nobody asks for outlives prefixes that are in use."""
    histories.run("host_tree", laws=[recency_is_the_last_tick_that_held_all_of_a_node])


@check(
    "host_tier.tree-hits",
    "RFC-0006:C-TREE#S8",
    witnesses=("insert_goes_through", "insert_ends_inside", "match_of_several_nodes"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_hits_count_inserts(histories: Histories) -> None:
    """A prefix that was asked for once is backed up and protected like one that is in use."""
    histories.run("host_tree", laws=[hits_count_inserts])


@check(
    "host_tier.tree-lookups",
    "RFC-0006:C-TREE#S9",
    witnesses=("match_of_both_tiers", "lock_of_several_nodes", "unlock_beside_another"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_asking_moves_no_page(histories: Histories) -> None:
    """A page that moves when somebody looks is read where it was."""
    histories.run("host_tree", laws=[asking_moves_no_page])


@check(
    "host_tier.match-device",
    "RFC-0006:C-MATCH#S1",
    witnesses=(
        "match_of_several_nodes",
        "match_ends_inside",
        "match_of_both_tiers",
        "match_of_a_page_that_begins_alike",
        "match_of_a_page_that_ends_alike",
        "match_branches_late_in_a_node",
        "pages_of_more_than_two_tokens",
    ),
    needs=("host_tier.tree",),
)
def test_a_match_names_the_longest_resident_prefix(histories: Histories) -> None:
    """A request computes again what is there, or reads pages of other tokens."""
    histories.run("host_tree", laws=[a_match_names_the_longest_resident_prefix])


@check(
    "host_tier.match-host",
    "RFC-0006:C-MATCH#S2",
    witnesses=("match_of_both_tiers", "match_of_host_nodes", "match_of_several_nodes"),
    cases=("KV-84",),
    needs=("host_tier.tree",),
)
def test_a_match_counts_what_can_be_loaded_back(histories: Histories) -> None:
    """A load-back is planned for pages that are not there."""
    histories.run("host_tree", laws=[a_match_counts_what_can_be_loaded_back])


@check(
    "host_tier.match-less-than-a-page",
    "RFC-0006:C-MATCH#S3",
    witnesses=("match_of_less_than_a_page",),
    cases=("KV-14",),
    needs=("host_tier.tree",),
)
def test_less_than_a_page_matches_nothing(histories: Histories) -> None:
    """A key of no page finds the first one, or counts as a use of it."""
    histories.run("host_tree", laws=[less_than_a_page_matches_nothing])

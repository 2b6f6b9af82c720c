"""The checks of `host_tier`: where the pages of an insert go, and what locks keep."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier_insert import (
    a_lock_covers_the_whole_way,
    a_lock_that_is_not_held_is_refused,
    a_page_that_is_not_full_stays_with_the_caller,
    a_resident_prefix_can_be_locked,
    an_insert_counts_what_was_cached,
    an_unlock_lifts_one_lock,
    copies_have_numbers_of_their_own,
    less_than_a_page_inserts_nothing,
    locked_pages_stay_on_the_device,
    pages_that_cannot_be_the_trees_are_refused,
    pages_that_the_tree_has_already_are_free,
    the_tree_adopts_what_it_does_not_have,
    what_can_be_inserted_is,
    what_is_not_resident_cannot_be_locked,
)
from sharedkv_conformance.marks import check


@check(
    "host_tier.insert-cached",
    "RFC-0006:C-INSERT#S1",
    witnesses=("insert_goes_through", "insert_revives_a_node", "insert_of_other_pages"),
    cases=("KV-11",),
    needs=("host_tier.tree",),
)
def test_an_insert_counts_what_was_cached(histories: Histories) -> None:
    """A caller that frees what counts as cached frees pages that the tree has just taken."""
    histories.run("host_tree", laws=[an_insert_counts_what_was_cached])


@check(
    "host_tier.insert-adopted",
    "RFC-0006:C-INSERT#S2",
    witnesses=(
        "insert_revives_a_node",
        "insert_branches",
        "insert_ends_inside",
        "insert_of_a_page_that_begins_alike",
    ),
    cases=("KV-11",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_the_tree_adopts_what_it_does_not_have(histories: Histories) -> None:
    """A page that nobody takes is lost, and its tokens are computed again."""
    histories.run("host_tree", laws=[the_tree_adopts_what_it_does_not_have])


@check(
    "host_tier.insert-freed",
    "RFC-0006:C-INSERT#S3",
    witnesses=("insert_of_other_pages", "insert_revives_a_node"),
    cases=("KV-11", "KV-12"),
    needs=("host_tier.tree",),
)
def test_pages_that_the_tree_has_already_are_free(histories: Histories) -> None:
    """A page of the tree that is free as well is overwritten by the next request."""
    histories.run("host_tree", laws=[pages_that_the_tree_has_already_are_free])


@check(
    "host_tier.insert-left",
    "RFC-0006:C-INSERT#S4",
    witnesses=("insert_with_a_tail", "pages_of_more_than_two_tokens"),
    cases=("KV-14",),
    needs=("host_tier.tree",),
)
def test_a_page_that_is_not_full_stays_with_the_caller(histories: Histories) -> None:
    """A page that is not full is written to while others read it."""
    histories.run("host_tree", laws=[a_page_that_is_not_full_stays_with_the_caller])


@check(
    "host_tier.insert-less-than-a-page",
    "RFC-0006:C-INSERT#S5",
    witnesses=("insert_of_less_than_a_page",),
    cases=("KV-14",),
    needs=("host_tier.tree",),
)
def test_less_than_a_page_inserts_nothing(histories: Histories) -> None:
    """A node without a page breaks every walk through it."""
    histories.run("host_tree", laws=[less_than_a_page_inserts_nothing])


@check(
    "host_tier.insert-refusals",
    "RFC-0006:C-INSERT#S6",
    witnesses=(
        "insert_of_too_few_pages",
        "insert_of_a_free_page",
        "insert_of_a_page_in_the_tree",
        "insert_of_an_own_page_elsewhere",
        "insert_of_a_page_twice",
        "insert_of_a_foreign_page",
    ),
    cases=("KV-12",),
    needs=("host_tier.tree",),
)
def test_pages_that_cannot_be_the_trees_are_refused(histories: Histories) -> None:
    """One page under two prefixes has the rows of one of them."""
    histories.run("host_tree", laws=[pages_that_cannot_be_the_trees_are_refused])


@check(
    "host_tier.insert-served",
    "RFC-0006:C-INSERT#S7",
    witnesses=("insert_without_host_room", "insert_branches", "insert_of_other_pages"),
    needs=("host_tier.tree",),
)
def test_what_can_be_inserted_is(histories: Histories) -> None:
    """A request whose pages nobody takes back at its end keeps them for good."""
    histories.run("host_tree", laws=[what_can_be_inserted_is])


@check(
    "host_tier.insert-copies",
    "RFC-0006:C-INSERT#S8",
    witnesses=("insert_beside_a_copy",),
    needs=("host_tier.tree",),
)
def test_copies_have_numbers_of_their_own(histories: Histories) -> None:
    """Two copies under one name are acknowledged together, the second before it is there."""
    histories.run("host_tree", laws=[copies_have_numbers_of_their_own])


@check(
    "host_tier.lock-given",
    "RFC-0006:C-LOCKS#S1",
    witnesses=("lock_beside_another", "lock_ends_inside", "locked_after_an_unlock_beside_another"),
    needs=("host_tier.tree",),
)
def test_a_resident_prefix_can_be_locked(histories: Histories) -> None:
    """A request that cannot lock its prefix runs on pages that go."""
    histories.run("host_tree", laws=[a_resident_prefix_can_be_locked])


@check(
    "host_tier.lock-covers",
    "RFC-0006:C-LOCKS#S2",
    witnesses=("lock_of_several_nodes", "lock_ends_inside"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_a_lock_covers_the_whole_way(histories: Histories) -> None:
    """The upper part of a prefix goes while the request reads it."""
    histories.run("host_tree", laws=[a_lock_covers_the_whole_way])


@check(
    "host_tier.lock-not-resident",
    "RFC-0006:C-LOCKS#S3",
    witnesses=("lock_of_what_is_on_the_host",),
    needs=("host_tier.tree",),
)
def test_what_is_not_resident_cannot_be_locked(histories: Histories) -> None:
    """A lock on pages that are not there promises what nobody can keep."""
    histories.run("host_tree", laws=[what_is_not_resident_cannot_be_locked])


@check(
    "host_tier.unlock",
    "RFC-0006:C-LOCKS#S4",
    witnesses=("unlock_beside_another",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_an_unlock_lifts_one_lock(histories: Histories) -> None:
    """A request that ends lifts the lock of another, or leaves its own for good."""
    histories.run("host_tree", laws=[an_unlock_lifts_one_lock])


@check(
    "host_tier.unlock-unknown",
    "RFC-0006:C-LOCKS#S5",
    witnesses=("unlock_of_no_lock",),
    needs=("host_tier.tree",),
)
def test_a_lock_that_is_not_held_is_refused(histories: Histories) -> None:
    """A lock given up twice is another's."""
    histories.run("host_tree", laws=[a_lock_that_is_not_held_is_refused])


@check(
    "host_tier.lock-holds",
    "RFC-0006:C-LOCKS#S6",
    witnesses=("evict_past_a_lock",),
    needs=("host_tier.tree",),
)
def test_locked_pages_stay_on_the_device(histories: Histories) -> None:
    """A running request reads what was written over its prefix."""
    histories.run("host_tree", laws=[locked_pages_stay_on_the_device])

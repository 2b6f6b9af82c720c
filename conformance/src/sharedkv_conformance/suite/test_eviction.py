"""The checks of `eviction`: what a plan may name and say."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.eviction import (
    a_load_back_that_can_be_met_is_planned,
    a_load_back_that_stays_short_evicts_nobody,
    a_locked_node_is_no_victim,
    a_pending_node_is_no_victim,
    counts_that_are_no_deficit_are_refused_by_name,
    freed_are_the_pages_of_the_victims,
    nodes_that_are_no_tree_are_refused_by_name,
    nothing_resident_is_left_below_a_victim,
    owners_are_read_once,
    ranks_plan_alike,
    remaining_is_what_freed_leaves_of_the_deficit,
    victims_are_resident_and_named_once,
    what_is_well_formed_has_a_plan,
)
from sharedkv_conformance.marks import check


@check(
    "eviction.no-tree",
    "RFC-0008:C-REFUSALS#S1",
    witnesses=("unknown_parent", "cycle", "node_twice", "negative_node", "owner_off_lanes"),
)
def test_nodes_that_are_no_tree_are_refused(histories: Histories) -> None:
    """A plan for a broken tree evicts nodes that others hang on, or never ends."""
    histories.run("eviction", laws=[nodes_that_are_no_tree_are_refused_by_name])


@check("eviction.no-deficit", "RFC-0008:C-REFUSALS#S2", witnesses=("deficit_of_other_lanes", "negative_deficit"))
def test_counts_that_are_no_deficit_are_refused(histories: Histories) -> None:
    """A deficit of other lanes is paid with pages of the wrong ones."""
    histories.run("eviction", laws=[counts_that_are_no_deficit_are_refused_by_name])


@check("eviction.always-a-plan", "RFC-0008:C-REFUSALS#S3", witnesses=("nothing_is_missing", "nobody_can_go"))
def test_what_is_well_formed_has_a_plan(histories: Histories) -> None:
    """A scheduler that meets an error where nothing can be evicted stops, where it should wait."""
    histories.run("eviction", laws=[what_is_well_formed_has_a_plan])


@check("eviction.resident", "RFC-0008:C-VICTIMS#S1", witnesses=("no_pages_on_the_device", "several_victims"))
def test_victims_are_resident_and_named_once(histories: Histories) -> None:
    """A node evicted twice has its pages freed twice."""
    histories.run("eviction", laws=[victims_are_resident_and_named_once])


@check("eviction.locked", "RFC-0008:C-VICTIMS#S2", witnesses=("locked_with_missing_pages",))
def test_a_locked_node_is_no_victim(histories: Histories) -> None:
    """The pages of a running request are given to another."""
    histories.run("eviction", laws=[a_locked_node_is_no_victim])


@check("eviction.pending", "RFC-0008:C-VICTIMS#S3", witnesses=("pending_with_missing_pages",))
def test_a_pending_node_is_no_victim(histories: Histories) -> None:
    """A copy in flight reads rows that somebody else writes by now."""
    histories.run("eviction", laws=[a_pending_node_is_no_victim])


@check(
    "eviction.children-first",
    "RFC-0008:C-VICTIMS#S4",
    witnesses=("parent_with_missing_pages", "resident_below_a_gap", "several_victims"),
    cases=("KV-83",),
)
def test_nothing_resident_is_left_below_a_victim(histories: Histories) -> None:
    """The prefix of a cached node is gone: its pages stay taken, and nobody can match them."""
    histories.run("eviction", laws=[nothing_resident_is_left_below_a_victim])


@check("eviction.freed", "RFC-0008:C-ACCOUNTS#S1", witnesses=("pages_beyond_the_deficit", "several_victims"))
def test_freed_are_the_pages_of_the_victims(histories: Histories) -> None:
    """A caller that waits for other counts than come waits for ever, or takes too early."""
    histories.run("eviction", laws=[freed_are_the_pages_of_the_victims])


@check("eviction.remaining", "RFC-0008:C-ACCOUNTS#S2", witnesses=("pages_beyond_the_deficit", "short_in_the_end"))
def test_remaining_is_what_freed_leaves_of_the_deficit(histories: Histories) -> None:
    """A lane that is short is taken for satisfied, because another one has pages left over."""
    histories.run("eviction", laws=[remaining_is_what_freed_leaves_of_the_deficit])


@check("eviction.load-back-short", "RFC-0008:C-LOAD-BACK#S1", witnesses=("load_back_that_stays_short",))
def test_a_load_back_that_stays_short_evicts_nobody(histories: Histories) -> None:
    """Warm prefixes are thrown away for a load that does not happen."""
    histories.run("eviction", laws=[a_load_back_that_stays_short_evicts_nobody])


@check("eviction.load-back-met", "RFC-0008:C-LOAD-BACK#S2", witnesses=("load_back_that_is_met",))
def test_a_load_back_that_can_be_met_is_planned(histories: Histories) -> None:
    """A prefix that lies on the host is computed again although there was room for it."""
    histories.run("eviction", laws=[a_load_back_that_can_be_met_is_planned])


@check("eviction.same-on-every-rank", "RFC-0008:C-RANKS#S1", witnesses=("evictions_planned_on_a_second_rank",))
def test_ranks_plan_alike(histories: Histories) -> None:
    """Trees that once differ between ranks match different prefixes from then on."""
    histories.run("eviction", laws=[ranks_plan_alike], ranks=None)


@check("eviction.cost", "RFC-0008:C-COST#S1", witnesses=("several_rounds_were_counted",), needs=("probe.cost",))
def test_owners_are_read_once(histories: Histories) -> None:
    """Counting again in every round took a production server a minute, which looked like a hang."""
    histories.run("eviction", laws=[owners_are_read_once])

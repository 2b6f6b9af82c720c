"""The checks of `host_tier`: what gives way on either tier, and what becomes of it."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier_eviction import (
    a_backed_up_victim_stays_on_the_host,
    a_host_eviction_accounts_by_lane,
    a_host_victim_that_is_nowhere_leaves_the_tree,
    a_mirror_gives_way_and_its_node_stays,
    a_victim_without_host_pages_leaves_the_tree,
    an_eviction_accounts_by_lane,
    counts_that_are_no_deficit_evict_nobody,
    evicted_pages_are_free,
    host_pages_under_a_copy_stay,
    pending_pages_stay_on_the_device,
    the_victims_of_the_host_plan_are_evicted,
    the_victims_of_the_plan_are_evicted,
    victims_are_no_longer_resident,
)
from sharedkv_conformance.marks import check


@check(
    "host_tier.evict-victims",
    "RFC-0006:C-DEVICE-EVICTION#S1",
    witnesses=(
        "evict_some_of_several",
        "evict_several_in_order",
        "evict_more_than_asked",
        "segment_decides_over_recency",
        "way_of_a_load_back_that_waited_evicted",
    ),
    cases=("KV-81",),
    needs=("host_tier.tree",),
)
def test_the_victims_of_the_plan_are_evicted(histories: Histories) -> None:
    """Warm prefixes go for pages that nobody lacked."""
    histories.run("host_tree", laws=[the_victims_of_the_plan_are_evicted])


@check(
    "host_tier.evict-pending",
    "RFC-0006:C-DEVICE-EVICTION#S2",
    witnesses=("evict_past_a_backup", "evict_past_a_load"),
    needs=("host_tier.tree",),
)
def test_pending_pages_stay_on_the_device(histories: Histories) -> None:
    """A copy in flight reads rows that somebody else writes by now."""
    histories.run("host_tree", laws=[pending_pages_stay_on_the_device])


@check(
    "host_tier.evict-accounts",
    "RFC-0006:C-DEVICE-EVICTION#S3",
    witnesses=("evict_more_than_asked", "evict_several_in_order"),
    needs=("host_tier.tree",),
)
def test_an_eviction_accounts_by_lane(histories: Histories) -> None:
    """A scheduler that is told of pages which are not free starts a request that cannot run."""
    histories.run("host_tree", laws=[an_eviction_accounts_by_lane])


@check(
    "host_tier.evict-frees",
    "RFC-0006:C-DEVICE-EVICTION#S4",
    witnesses=("evict_several_in_order", "evict_backed_up"),
    cases=("KV-11",),
    needs=("host_tier.tree",),
)
def test_evicted_pages_are_free(histories: Histories) -> None:
    """Pages that are neither free nor anybody's are lost to every request."""
    histories.run("host_tree", laws=[evicted_pages_are_free])


@check(
    "host_tier.evict-backed-up",
    "RFC-0006:C-DEVICE-EVICTION#S5",
    witnesses=("evict_backed_up",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_a_backed_up_victim_stays_on_the_host(histories: Histories) -> None:
    """What was copied to the host is dropped at the moment when it is needed."""
    histories.run("host_tree", laws=[a_backed_up_victim_stays_on_the_host])


@check(
    "host_tier.evict-unsaved",
    "RFC-0006:C-DEVICE-EVICTION#S6",
    witnesses=("evict_without_host_pages", "evict_backed_up"),
    cases=("KV-83",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_a_victim_without_host_pages_leaves_the_tree(histories: Histories) -> None:
    """A node with pages nowhere counts as a hit of nothing."""
    histories.run("host_tree", laws=[a_victim_without_host_pages_leaves_the_tree])


@check(
    "host_tier.evict-resident",
    "RFC-0006:C-DEVICE-EVICTION#S7",
    witnesses=("evict_some_of_several", "evict_backed_up"),
    cases=("KV-11",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_victims_are_no_longer_resident(histories: Histories) -> None:
    """A match names pages that are another request's by now."""
    histories.run("host_tree", laws=[victims_are_no_longer_resident])


@check(
    "host_tier.evict-no-deficit",
    "RFC-0006:C-DEVICE-EVICTION#S8",
    witnesses=("evict_for_no_deficit", "evict_host_for_no_deficit"),
    needs=("host_tier.tree",),
)
def test_counts_that_are_no_deficit_evict_nobody(histories: Histories) -> None:
    """A deficit of other lanes is paid with pages of the wrong ones."""
    histories.run("host_tree", laws=[counts_that_are_no_deficit_evict_nobody])


@check(
    "host_tier.evict-host-victims",
    "RFC-0006:C-HOST-EVICTION#S1",
    witnesses=("evict_host_some_of_several", "evict_host_of_a_mirror", "way_of_a_backup_that_failed_evicted"),
    cases=("KV-86",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_the_victims_of_the_host_plan_are_evicted(histories: Histories) -> None:
    """A host that keeps its mirrors fills once, and takes no backup and no fetch any more."""
    histories.run("host_tree", laws=[the_victims_of_the_host_plan_are_evicted])


@check(
    "host_tier.evict-host-accounts",
    "RFC-0006:C-HOST-EVICTION#S2",
    witnesses=("evict_host_falls_short", "evict_host_of_the_last_copy"),
    needs=("host_tier.tree",),
)
def test_a_host_eviction_accounts_by_lane(histories: Histories) -> None:
    """Host pages that are lost at each eviction are gone after a day."""
    histories.run("host_tree", laws=[a_host_eviction_accounts_by_lane])


@check(
    "host_tier.evict-host-in-use",
    "RFC-0006:C-HOST-EVICTION#S3",
    witnesses=("evict_host_past_a_load", "evict_host_past_a_backup", "evict_host_past_a_lock"),
    cases=("KV-03", "KV-04"),
    needs=("host_tier.tree", "probe.tree"),
)
def test_host_pages_under_a_copy_stay(histories: Histories) -> None:
    """A load brings what was backed up into its source meanwhile."""
    histories.run("host_tree", laws=[host_pages_under_a_copy_stay])


@check(
    "host_tier.evict-host-mirror",
    "RFC-0006:C-HOST-EVICTION#S4",
    witnesses=("evict_host_of_a_mirror",),
    cases=("KV-86",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_a_mirror_gives_way_and_its_node_stays(histories: Histories) -> None:
    """A prefix on the device is forgotten because its copy had to go."""
    histories.run("host_tree", laws=[a_mirror_gives_way_and_its_node_stays])


@check(
    "host_tier.evict-host-last",
    "RFC-0006:C-HOST-EVICTION#S5",
    witnesses=("evict_host_of_the_last_copy",),
    cases=("KV-84",),
    needs=("host_tier.tree", "probe.tree"),
)
def test_a_host_victim_that_is_nowhere_leaves_the_tree(histories: Histories) -> None:
    """A node with pages nowhere is found, and loaded from nothing."""
    histories.run("host_tree", laws=[a_host_victim_that_is_nowhere_leaves_the_tree])

"""The checks of `copies` on calls: what is submitted, when it counts as done, and what it protects until then."""

from __future__ import annotations

from sharedkv_conformance.draws import copies_written as histories_of
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.copies_calls import (
    a_layer_that_is_not_there_is_refused,
    a_load_is_submitted_layer_by_layer,
    both_parts_of_a_split_are_backed_up,
    device_pages_under_copies_are_nobody_elses,
    host_pages_under_backups_stay,
    host_pages_under_loads_stay,
    no_copy_is_acknowledged_before_all_its_sources,
    one_set_of_descriptors_serves_all_requests,
    sources_finish_by_themselves,
    the_end_of_a_layer_submits_nothing_twice,
    the_end_of_a_layer_submits_what_is_due,
)
from sharedkv_conformance.marks import check
from sharedkv_conformance.suite.test_copies import written

TREE = ("host_tier.tree", "allocation", "direct_write")
TOLD = (*TREE, "probe.events")
HELD = (*TREE, "probe.copies")
PLAIN = (histories_of.PLAIN,)


@check("copies.one-set", "RFC-0009:C-LAYERS#S1", witnesses=("layer_told_for_several",), needs=TOLD)
def test_one_set_of_descriptors_serves_all_requests(histories: Histories) -> None:
    """A set of descriptors for each request takes longer to make than the forward takes to run."""
    written(histories, one_set_of_descriptors_serves_all_requests, histories_of.told_over_and_over, PLAIN)
    histories.run("copies", laws=[one_set_of_descriptors_serves_all_requests])


@check("copies.layer-due", "RFC-0009:C-LAYERS#S2", witnesses=("layer_told_for_one",), needs=TOLD)
def test_the_end_of_a_layer_submits_what_is_due(histories: Histories) -> None:
    """A backup that begins when the forward is over makes the next one wait."""
    written(histories, the_end_of_a_layer_submits_what_is_due, histories_of.told_over_and_over, PLAIN)
    histories.run("copies", laws=[the_end_of_a_layer_submits_what_is_due])


@check(
    "copies.layer-once",
    "RFC-0009:C-LAYERS#S3",
    witnesses=(
        "layer_told_again",
        "layer_told_after_a_cancel",
        "layer_told_after_a_freed_insert",
        "layer_told_after_a_reset",
    ),
    needs=TOLD,
)
def test_the_end_of_a_layer_submits_nothing_twice(histories: Histories) -> None:
    """A layer that is copied each time it is told is copied by every forward of a chunked prompt."""
    for script in (histories_of.told_over_and_over, histories_of.told_after_all):
        written(histories, the_end_of_a_layer_submits_nothing_twice, script, PLAIN)
    histories.run("copies", laws=[the_end_of_a_layer_submits_nothing_twice])


@check("copies.layer-outside", "RFC-0009:C-LAYERS#S5", witnesses=("layer_outside_told",))
def test_a_layer_that_is_not_there_is_refused(histories: Histories) -> None:
    """A layer that is numbered wrongly is one that is never backed up."""
    written(histories, a_layer_that_is_not_there_is_refused, histories_of.told_over_and_over, PLAIN)
    histories.run("copies", laws=[a_layer_that_is_not_there_is_refused])


@check("copies.load-layers", "RFC-0009:C-LAYERS#S6", witnesses=("load_of_several_layers",), needs=TOLD)
def test_a_load_is_submitted_layer_by_layer(histories: Histories) -> None:
    """A forward whose first layer is loaded last waits for the whole of the load."""
    written(histories, a_load_is_submitted_layer_by_layer, histories_of.once, PLAIN)
    histories.run("copies", laws=[a_load_is_submitted_layer_by_layer])


@check(
    "copies.all-sources",
    "RFC-0009:C-ACKNOWLEDGEMENT#S1",
    witnesses=("polled_with_an_unfinished_draft", "polled_with_an_unfinished_rank"),
    needs=HELD,
)
def test_no_copy_is_acknowledged_before_all_its_sources(histories: Histories) -> None:
    """Pages that are evicted while the draft is still copied are loaded back without their draft."""
    written(histories, no_copy_is_acknowledged_before_all_its_sources, histories_of.held_sources, PLAIN)
    histories.run("copies", laws=[no_copy_is_acknowledged_before_all_its_sources])


@check(
    "copies.sources-apart",
    "RFC-0009:C-ACKNOWLEDGEMENT#S2",
    witnesses=("one_source_finished", "one_rank_finished"),
    needs=HELD,
)
def test_sources_finish_by_themselves(histories: Histories) -> None:
    """Who hears of the draft when the target is done has not heard of the draft."""
    written(histories, sources_finish_by_themselves, histories_of.held_sources, PLAIN)
    histories.run("copies", laws=[sources_finish_by_themselves])


@check(
    "copies.device-pages",
    "RFC-0009:C-LIFETIME#S1",
    witnesses=("evicted_under_backups", "evicted_under_loads"),
    needs=HELD,
    cases=("KV-04",),
)
def test_device_pages_under_copies_are_nobody_elses(histories: Histories) -> None:
    """A page that is given away under its backup has the rows of two requests on the host."""
    written(histories, device_pages_under_copies_are_nobody_elses, histories_of.kept_under_copies, PLAIN)
    histories.run("copies", laws=[device_pages_under_copies_are_nobody_elses])


@check(
    "copies.host-pages-of-loads",
    "RFC-0009:C-LIFETIME#S2",
    witnesses=("host_evicted_under_loads",),
    needs=HELD,
    cases=("KV-03", "KV-61"),
)
def test_host_pages_under_loads_stay(histories: Histories) -> None:
    """A load whose host pages are gone brings what the next owner has there."""
    written(histories, host_pages_under_loads_stay, histories_of.kept_under_copies, PLAIN)
    histories.run("copies", laws=[host_pages_under_loads_stay])


@check(
    "copies.host-pages-of-backups",
    "RFC-0009:C-LIFETIME#S3",
    witnesses=("host_evicted_under_backups",),
    needs=HELD,
    cases=("KV-04",),
)
def test_host_pages_under_backups_stay(histories: Histories) -> None:
    """Of two backups into one host page the one that comes last wins, and both nodes count as backed up."""
    written(histories, host_pages_under_backups_stay, histories_of.kept_under_copies, PLAIN)
    histories.run("copies", laws=[host_pages_under_backups_stay])


@check("copies.split", "RFC-0009:C-LIFETIME#S6", witnesses=("split_backup_loaded",), needs=HELD)
def test_both_parts_of_a_split_are_backed_up(histories: Histories) -> None:
    """A match that ends inside a node while it is backed up leaves half of it without a copy."""
    written(histories, both_parts_of_a_split_are_backed_up, histories_of.split_under_a_backup, PLAIN)

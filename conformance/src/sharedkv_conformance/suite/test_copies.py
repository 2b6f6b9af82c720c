"""The checks of `copies` on bytes: what a host copy and a loaded page have, what they wait for, and who waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws import copies_loads as loads_of
from sharedkv_conformance.draws import copies_written as histories_of
from sharedkv_conformance.draws.copies_scripts import Script
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.copies import (
    a_backup_at_the_end_leaves_the_same_bytes,
    a_backup_waits_for_the_writes_of_its_layer,
    a_dense_prefix_waits_for_loads,
    a_dense_view_waits_for_loads,
    a_host_copy_has_the_bytes_of_its_page,
    a_load_is_not_overtaken_by_writes,
    a_loaded_page_has_the_bytes_of_its_host_copy,
    every_read_waits_for_the_load_of_its_layer,
    layers_without_a_hook_are_copied,
    nothing_of_before_a_reset_comes_after_it,
    what_is_acknowledged_is_on_the_device,
    what_is_acknowledged_is_on_the_host,
    what_was_given_up_changes_nobody_elses_copy,
)
from sharedkv_conformance.marks import Law, check

BOTH, BACK, EVERY = (histories_of.PLAIN, histories_of.MLA), histories_of.BACK, histories_of.EVERY


def written(
    histories: Histories, law: Law, script: Callable[[OpenConfig], Script], configs: Sequence[OpenConfig]
) -> None:
    """Issue a written history for each configuration."""
    for config in configs:
        with histories.written("copies", config, laws=[law]) as call:
            going, answer = script(config), None
            while (asked := histories_of.going_on(going, answer)) is not None:
                answer = call.attempt(asked.op, **asked.args)


TREE = ("host_tier.tree", "allocation", "direct_write")
ON_HOST = (*TREE, "probe.tree", "probe.host_pool")


@check(
    "copies.host-bytes",
    "RFC-0009:C-BYTES#S1",
    witnesses=(
        "host_copies_looked_at",
        "host_copies_of_the_index_looked_at",
        "host_copies_of_the_draft_looked_at",
    ),
    needs=ON_HOST,
    cases=("KV-64", "KV-89", "KV-91"),
)
def test_a_host_copy_has_the_bytes_of_its_page(histories: Histories) -> None:
    """A buffer that was not backed up is missing when the prefix comes back, and nothing but the answer tells."""
    written(histories, a_host_copy_has_the_bytes_of_its_page, histories_of.once, EVERY)


@check(
    "copies.round-trip",
    "RFC-0009:C-BYTES#S2",
    witnesses=(
        "loaded_rows_read",
        "loaded_index_rows_read",
        "loaded_draft_rows_read",
        "loaded_rows_of_a_twin_read",
    ),
    needs=TREE,
    cases=("KV-89", "KV-91"),
)
def test_a_loaded_page_has_the_bytes_of_its_host_copy(histories: Histories) -> None:
    """A hit on the host that is not what was computed is worse than a miss."""
    written(histories, a_loaded_page_has_the_bytes_of_its_host_copy, histories_of.once, EVERY)
    written(histories, a_loaded_page_has_the_bytes_of_its_host_copy, histories_of.twins, BOTH)
    histories.run("copies", laws=[a_loaded_page_has_the_bytes_of_its_host_copy])


@check(
    "copies.tail-backup",
    "RFC-0009:C-BYTES#S3",
    witnesses=("tail_backups_looked_at", "backups_of_victims_looked_at"),
    needs=ON_HOST,
)
def test_a_backup_at_the_end_leaves_the_same_bytes(histories: Histories) -> None:
    """The path that is chosen for short prompts is the one that nobody looks at."""
    written(histories, a_backup_at_the_end_leaves_the_same_bytes, histories_of.at_the_end, (*BOTH, BACK))


@check(
    "copies.missed-hooks",
    "RFC-0009:C-LAYERS#S4",
    witnesses=("odd_backups_looked_at",),
    needs=ON_HOST,
    cases=("KV-63", "KV-64"),
)
def test_layers_without_a_hook_are_copied(histories: Histories) -> None:
    """A layer type without the hook leaves its rows behind, or shifts all that follow."""
    written(histories, layers_without_a_hook_are_copied, histories_of.hooks_missed, BOTH)


@check(
    "copies.backup-order",
    "RFC-0009:C-ORDER#S1",
    witnesses=("backups_of_late_rows_looked_at",),
    needs=(*ON_HOST, "probe.inject"),
    cases=("KV-58",),
)
def test_a_backup_waits_for_the_writes_of_its_layer(histories: Histories) -> None:
    """Half a page of this request and half of the one before is what the next hit gets."""
    written(histories, a_backup_waits_for_the_writes_of_its_layer, histories_of.late_writes, BOTH)


@check(
    "copies.load-order",
    "RFC-0009:C-ORDER#S2",
    witnesses=("rows_loaded_after_late_writes",),
    needs=(*TREE, "probe.inject"),
    cases=("KV-59",),
)
def test_a_load_is_not_overtaken_by_writes(histories: Histories) -> None:
    """The last step of a request that ended writes into what was just loaded for another."""
    written(histories, a_load_is_not_overtaken_by_writes, histories_of.overtaken, BOTH)


@check(
    "copies.readers",
    "RFC-0009:C-READERS#S1",
    witnesses=(
        "late_loads_read",
        "late_loads_of_the_index_read",
        "late_loads_of_the_draft_read",
        "second_of_two_late_loads_read",
        "late_load_read_after_an_older_was_acknowledged",
    ),
    needs=(*TREE, "probe.inject", "probe.copies"),
)
def test_every_read_waits_for_the_load_of_its_layer(histories: Histories) -> None:
    """One accessor without its wait selects among keys that are not there yet."""
    written(histories, every_read_waits_for_the_load_of_its_layer, loads_of.late_loads, BOTH)
    written(histories, every_read_waits_for_the_load_of_its_layer, loads_of.several_loads, BOTH)


@check(
    "copies.reader-reuse",
    "RFC-0009:C-READERS#S2",
    witnesses=("dense_view_of_late_loads",),
    needs=(*TREE, "reuse", "probe.inject"),
)
def test_a_dense_view_waits_for_loads(histories: Histories) -> None:
    """A gather of pages that are still being filled gives every rank the rows of another request."""
    written(histories, a_dense_view_waits_for_loads, loads_of.reused, BOTH)


@check(
    "copies.reader-prefetch",
    "RFC-0009:C-READERS#S3",
    witnesses=("dense_prefix_of_late_loads", "dense_prefix_loaded_since_its_start"),
    needs=(*TREE, "prefetch", "probe.inject"),
)
def test_a_dense_prefix_waits_for_loads(histories: Histories) -> None:
    """What is made ahead of time is made before the load is done, if nobody stops it."""
    for script in (loads_of.prefetched, loads_of.loaded_since):
        written(histories, a_dense_prefix_waits_for_loads, script, loads_of.AHEAD)


@check(
    "copies.acknowledged-bytes",
    "RFC-0009:C-ACKNOWLEDGEMENT#S3",
    witnesses=("host_copies_outlived_their_pages", "host_copies_of_victims_outlived_their_pages"),
    needs=(*ON_HOST, "probe.inject"),
)
def test_what_is_acknowledged_is_on_the_host(histories: Histories) -> None:
    """A copy that counts as done and is not reads the page of whoever has it next."""
    written(histories, what_is_acknowledged_is_on_the_host, histories_of.late_backups, (*BOTH, BACK))


@check(
    "copies.acknowledged-loads",
    "RFC-0009:C-ACKNOWLEDGEMENT#S4",
    witnesses=("late_load_read_after_its_acknowledgement",),
    needs=(*TREE, "probe.inject"),
)
def test_what_is_acknowledged_is_on_the_device(histories: Histories) -> None:
    """A load that counts as done with its first layer leaves the others to whoever reads them."""
    written(histories, what_is_acknowledged_is_on_the_device, loads_of.acknowledged_loads, loads_of.DEEP)


@check(
    "copies.given-up",
    "RFC-0009:C-LIFETIME#S4",
    witnesses=("host_copies_after_a_cancel_looked_at", "host_copies_after_a_freed_insert_looked_at"),
    needs=(*ON_HOST, "probe.inject"),
    cases=("KV-61",),
)
def test_what_was_given_up_changes_nobody_elses_copy(histories: Histories) -> None:
    """A copy of a cancelled request lands in host pages that another request was given."""
    for script in (histories_of.given_up, histories_of.given_up_at_the_insert):
        written(histories, what_was_given_up_changes_nobody_elses_copy, script, histories_of.TIGHT)


@check(
    "copies.reset",
    "RFC-0009:C-LIFETIME#S5",
    witnesses=("pages_read_after_a_reset",),
    needs=(*TREE, "probe.inject"),
)
def test_nothing_of_before_a_reset_comes_after_it(histories: Histories) -> None:
    """After new weights were loaded, rows of the old ones run into pages of new requests."""
    written(histories, nothing_of_before_a_reset_comes_after_it, loads_of.reset_under_a_load, BOTH)


@check(
    "copies.reset-backups",
    "RFC-0009:C-LIFETIME#S5",
    witnesses=("host_copies_after_a_reset_looked_at",),
    needs=(*ON_HOST, "probe.inject"),
)
def test_no_backup_of_before_a_reset_comes_after_it(histories: Histories) -> None:
    """A backup of the old weights lands in host pages that count as a hit for the new ones."""
    law = nothing_of_before_a_reset_comes_after_it
    written(histories, law, histories_of.reset_under_a_backup, histories_of.TIGHT)

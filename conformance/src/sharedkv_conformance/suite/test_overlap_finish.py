"""The checks of overlap: how a context ends, what has arrived then, and what becomes of failures."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.overlap_finish import (
    a_chunk_arrives_with_its_last_layer,
    a_chunk_has_arrived_when_its_layers_have,
    a_context_ends_with_its_chunk,
    a_crash_fails_the_room_it_was_for,
    index_and_metadata_go_as_ever,
    nothing_goes_beside_the_layers,
    the_bytes_are_those_without_overlap,
    what_is_left_goes_at_the_end,
    what_is_not_done_in_time_has_failed,
)
from sharedkv_conformance.marks import check


@check(
    "overlap.rest",
    "RFC-0013:C-FINISH#S1",
    witnesses=(
        "untold_layers_at_the_end",
        "several_ranks_at_the_end",
    ),
    cases=("KV-64",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_what_is_left_goes_at_the_end(histories: Histories) -> None:
    """A request with 78 hooks and 79 layers waits for thirty seconds, and is given up."""
    histories.run("overlap", laws=[what_is_left_goes_at_the_end])


@check(
    "overlap.nothing-beside",
    "RFC-0013:C-FINISH#S2",
    witnesses=(
        "untold_layers_at_the_end",
        "nothing_left_at_the_end",
    ),
    cases=("KV-64",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_nothing_goes_beside_the_layers(histories: Histories) -> None:
    """Every byte goes twice, the second time when decode has begun."""
    histories.run("overlap", laws=[nothing_goes_beside_the_layers])


@check(
    "overlap.same-bytes",
    "RFC-0013:C-FINISH#S3",
    witnesses=("rows_of_groups_shown",),
    needs=(
        "transfer.requests",
        "probe.network",
        "direct_write",
        "probe.decode_pool",
    ),
)
def test_the_bytes_are_those_without_overlap(histories: Histories) -> None:
    """Answers change with the size of the groups."""
    histories.run("overlap", laws=[the_bytes_are_those_without_overlap])


@check(
    "overlap.arrives-with-its-last-layer",
    "RFC-0013:C-FINISH#S4",
    witnesses=(
        "last_flight_lands_first",
        "sent_while_workers_are_held",
        "early_layers_asked_about",
    ),
    cases=(
        "KV-24",
        "KV-32",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_chunk_arrives_with_its_last_layer(histories: Histories) -> None:
    """Decode begins on layers that are not there yet."""
    histories.run("overlap", laws=[a_chunk_arrives_with_its_last_layer])


@check(
    "overlap.index-and-metadata",
    "RFC-0013:C-FINISH#S5",
    witnesses=(
        "index_behind_early_layers",
        "metadata_behind_early_layers",
        "last_flight_lands_first",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_index_and_metadata_go_as_ever(histories: Histories) -> None:
    """Decode waits for a part that nobody sends, or gets the first token before the pages."""
    histories.run("overlap", laws=[index_and_metadata_go_as_ever])


@check(
    "overlap.crash",
    "RFC-0013:C-FINISH#S6",
    witnesses=(
        "worker_crashed",
        "asked_beside_a_crash",
    ),
    cases=("KV-33",),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.inject",
    ),
)
def test_a_crash_fails_the_room_it_was_for(histories: Histories) -> None:
    """A worker that dies quietly leaves its request hanging, and all that come to it later."""
    histories.run("overlap", laws=[a_crash_fails_the_room_it_was_for])


@check(
    "overlap.deadline",
    "RFC-0013:C-FINISH#S7",
    witnesses=(
        "deadline_passed",
        "deadline_passed_in_flight",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.clock",
    ),
)
def test_what_is_not_done_in_time_has_failed(histories: Histories) -> None:
    """A request that waits for good keeps its pages for good."""
    histories.run("overlap", laws=[what_is_not_done_in_time_has_failed])


@check(
    "overlap.contexts-end",
    "RFC-0013:C-FINISH#S8",
    witnesses=(
        "context_finished",
        "context_dropped",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_context_ends_with_its_chunk(histories: Histories) -> None:
    """Nine hundred contexts of a hundred requests are told of every layer."""
    histories.run("overlap", laws=[a_context_ends_with_its_chunk])


@check(
    "overlap.arrived",
    "RFC-0013:C-FINISH#S9",
    witnesses=(
        "early_layers_arrived",
        "early_layers_arrived_told_often",
        "early_layers_arrived_untold",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_chunk_has_arrived_when_its_layers_have(histories: Histories) -> None:
    """Who counts what was told waits for three thousand layers of seventy-nine."""
    histories.run("overlap", laws=[a_chunk_has_arrived_when_its_layers_have])

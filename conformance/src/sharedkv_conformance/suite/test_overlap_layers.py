"""The checks of overlap: what the end of a layer sends, where, with which rows and at what cost."""

from __future__ import annotations

from dataclasses import replace

from sharedkv_conformance.draws import overlap_crossings
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.overlap_layers import (
    a_boundary_costs_one_event,
    a_forward_waits_for_nobody,
    a_group_goes_at_its_boundary,
    a_layer_goes_once,
    a_layer_that_concerns_nobody_changes_nothing,
    a_layer_that_concerns_nobody_costs_nothing,
    layers_bring_the_rows_that_the_forward_wrote,
    layers_go_to_their_own_room,
    nothing_goes_within_a_group,
    the_end_of_a_layer_is_never_an_error,
)
from sharedkv_conformance.marks import Law, check
from sharedkv_conformance.model.sending_state import FLIGHTS


@check(
    "overlap.groups",
    "RFC-0013:C-LAYERS#S1",
    witnesses=(
        "full_group_told",
        "last_group_is_smaller",
        "layer_left_out",
        "draft_layer_goes_early",
        "two_requests_in_a_forward",
    ),
    cases=("KV-63",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_group_goes_at_its_boundary(histories: Histories) -> None:
    """Layers that wait for the end of the forward are as late as without overlap."""
    histories.run("overlap", laws=[a_group_goes_at_its_boundary])
    _with_nobody_looking(histories, a_group_goes_at_its_boundary)


def _with_nobody_looking(histories: Histories, law: Law) -> None:
    """Judge flights where nobody asks for contexts: who does may be what tells them of layers."""
    for config, script in overlap_crossings.SCRIPTS:
        with histories.written("overlap", config, laws=[replace(law, on=frozenset({FLIGHTS}))]) as call:
            script(call)


@check(
    "overlap.within-a-group",
    "RFC-0013:C-LAYERS#S2",
    witnesses=("layer_within_a_group",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_nothing_goes_within_a_group(histories: Histories) -> None:
    """790 submissions a forward cost more than they hide."""
    histories.run("overlap", laws=[nothing_goes_within_a_group])


@check(
    "overlap.layers-once",
    "RFC-0013:C-LAYERS#S3",
    witnesses=("layers_told_again",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_layer_goes_once(histories: Histories) -> None:
    """A layer that is sent for each forward of the batch is sent nine times, the last time over another request's."""
    histories.run("overlap", laws=[a_layer_goes_once])


@check(
    "overlap.layers-to-their-room",
    "RFC-0013:C-LAYERS#S4",
    witnesses=(
        "two_requests_in_a_forward",
        "chunk_behind_another_goes_early",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_layers_go_to_their_own_room(histories: Histories) -> None:
    """Two requests of a forward have each other's layers then."""
    histories.run("overlap", laws=[layers_go_to_their_own_room])


@check(
    "overlap.layers-in-order",
    "RFC-0013:C-LAYERS#S5",
    witnesses=("late_rows_of_a_group_shown",),
    cases=("KV-58",),
    needs=(
        "transfer.requests",
        "probe.network",
        "direct_write",
        "probe.decode_pool",
        "probe.inject",
    ),
)
def test_layers_bring_the_rows_that_the_forward_wrote(histories: Histories) -> None:
    """A layer that is read before the device has written it is noise, and only under load."""
    histories.run("overlap", laws=[layers_bring_the_rows_that_the_forward_wrote])


@check(
    "overlap.forward-waits-for-nobody",
    "RFC-0013:C-LAYERS#S6",
    witnesses=(
        "forward_while_flights_are_held",
        "forward_while_workers_are_held",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_forward_waits_for_nobody(histories: Histories) -> None:
    """What waits on the thread of the forward is paid by every request of the batch."""
    histories.run("overlap", laws=[a_forward_waits_for_nobody])


@check(
    "overlap.one-event",
    "RFC-0013:C-LAYERS#S7",
    witnesses=(
        "two_requests_in_a_forward",
        "boundary_with_nothing_left",
        "layer_within_a_group",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.events",
    ),
)
def test_a_boundary_costs_one_event(histories: Histories) -> None:
    """Ten requests record ten events a layer, and the device waits for the host."""
    histories.run("overlap", laws=[a_boundary_costs_one_event])


@check(
    "overlap.idle-layers",
    "RFC-0013:C-LAYERS#S8",
    witnesses=(
        "layer_that_concerns_nobody",
        "layer_that_is_none",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.events",
    ),
)
def test_a_layer_that_concerns_nobody_changes_nothing(histories: Histories) -> None:
    """Forwards that have nothing to send are slower for those that have, or fail for a layer that they do not know."""
    histories.run(
        "overlap",
        laws=[
            a_layer_that_concerns_nobody_changes_nothing,
            the_end_of_a_layer_is_never_an_error,
            a_layer_that_concerns_nobody_costs_nothing,
        ],
    )

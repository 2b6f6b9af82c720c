"""The checks of `transfer`: what is reported of it."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.sending_metrics import (
    bytes_are_those_that_landed,
    flights_are_counted,
    nothing_took_no_time,
    pages_are_those_of_which_every_layer_landed,
    the_reason_is_what_came_first,
    the_time_is_that_of_the_flights,
)
from sharedkv_conformance.marks import check

NEEDS = ("allocation", "transfer.requests", "probe.network")
TIMED = (*NEEDS, "probe.clock")


@check(
    "transfer.reported-bytes",
    "RFC-0012:C-METRICS#S1",
    witnesses=(
        "reported_in_part",
        "reported_before_the_last_chunk",
        "reported_with_index",
        "reported_with_metadata",
        "reported_with_draft_layers",
    ),
    needs=NEEDS,
)
def test_bytes_are_those_that_landed(histories: Histories) -> None:
    """A dashboard shows a network that is twice as fast as the one that is there."""
    histories.run("sending", laws=[bytes_are_those_that_landed])


@check(
    "transfer.reported-pages",
    "RFC-0012:C-METRICS#S2",
    witnesses=("reported_with_two_destinations", "reported_between_layers"),
    needs=(*NEEDS, "overlap"),
)
def test_pages_are_those_of_which_every_layer_landed(histories: Histories) -> None:
    """A transfer that stands still at its last layers looks like one that is done."""
    histories.run("sending", laws=[pages_are_those_of_which_every_layer_landed])


@check(
    "transfer.reported-flights",
    "RFC-0012:C-METRICS#S3",
    witnesses=("reported_with_a_failed_flight",),
    needs=NEEDS,
)
def test_flights_are_counted(histories: Histories) -> None:
    """Who looks for what is missing of a transfer finds that nothing is."""
    histories.run("abort", laws=[flights_are_counted])


@check(
    "transfer.reported-no-time",
    "RFC-0012:C-METRICS#S4",
    witnesses=("reported_before_a_submission", "reported_before_a_completion"),
    needs=TIMED,
)
def test_nothing_took_no_time(histories: Histories) -> None:
    """One request that never began turns the mean of all into nonsense."""
    histories.run("sending", laws=[nothing_took_no_time])


@check("transfer.reported-time", "RFC-0012:C-METRICS#S5", witnesses=("reported_after_a_while",), needs=TIMED)
def test_the_time_is_that_of_the_flights(histories: Histories) -> None:
    """The time that a request waited for somebody to ask is taken for that of the network."""
    histories.run("sending", laws=[the_time_is_that_of_the_flights])


@check(
    "transfer.reported-reason",
    "RFC-0012:C-METRICS#S6",
    witnesses=(
        "reported_as_aborted",
        "reported_as_given_up_by_the_peer",
        "reported_as_a_fault_of_the_engine",
        "reported_as_a_fault_of_a_worker",
        "reported_as_late",
        "reported_with_a_later_notice",
    ),
    needs=(*TIMED, "abort", "probe.inject"),
)
def test_the_reason_is_what_came_first(histories: Histories) -> None:
    """Every failure is told as the other side's, for its answer came last."""
    histories.run("abort", laws=[the_reason_is_what_came_first])

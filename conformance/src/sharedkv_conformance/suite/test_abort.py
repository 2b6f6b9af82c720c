"""The checks of abort: who takes a room for failed when, and what is not done for it any more."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.abort import (
    a_late_chunk_is_no_error,
    decode_has_as_much_patience_as_it_says,
    each_side_hears_of_the_other,
    giving_up_is_never_an_error,
    nothing_is_sent_of_what_has_failed,
    what_decode_gives_up_has_failed,
    what_has_ended_stays,
    what_prefill_gives_up_has_failed,
)
from sharedkv_conformance.marks import check


@check(
    "abort.prefill-gives-up",
    "RFC-0014:C-GIVING-UP#S1",
    witnesses=(
        "prefill_gives_up_unready",
        "prefill_gives_up_before_a_chunk",
        "prefill_gives_up_under_way",
        "prefill_has_given_up",
    ),
    cases=("KV-33",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_what_prefill_gives_up_has_failed(histories: Histories) -> None:
    """A rank that gives up and does not say so lets the others succeed."""
    histories.run("abort", laws=[what_prefill_gives_up_has_failed])


@check(
    "abort.decode-gives-up",
    "RFC-0014:C-GIVING-UP#S2",
    witnesses=(
        "decode_gives_up_before_arrivals",
        "decode_gives_up_under_way",
        "decode_has_given_up",
    ),
    cases=("KV-33",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_what_decode_gives_up_has_failed(histories: Histories) -> None:
    """A request that was cancelled goes on to hold its pages."""
    histories.run("abort", laws=[what_decode_gives_up_has_failed])


@check(
    "abort.ended-stays",
    "RFC-0014:C-GIVING-UP#S3",
    witnesses=(
        "nobody_is_given_up",
        "success_is_given_up",
    ),
    cases=("KV-30",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_what_has_ended_stays(histories: Histories) -> None:
    """A cancellation that comes too late ends the scheduler, or takes back what decode reads."""
    histories.run("abort", laws=[what_has_ended_stays, giving_up_is_never_an_error])


@check(
    "abort.nothing-submitted",
    "RFC-0014:C-GIVING-UP#S4",
    witnesses=(
        "workers_go_on_after_a_failure",
        "flights_end_after_a_failure",
        "forward_goes_on_after_a_failure",
    ),
    cases=("KV-07",),
    needs=(
        "transfer.requests",
        "probe.network",
        "overlap",
    ),
)
def test_nothing_is_sent_of_what_has_failed(histories: Histories) -> None:
    """A worker reads pages that are somebody else's by then, and sends them."""
    histories.run("abort", laws=[nothing_is_sent_of_what_has_failed])


@check(
    "abort.late-chunk",
    "RFC-0014:C-GIVING-UP#S5",
    witnesses=("chunk_of_a_failed_room",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_late_chunk_is_no_error(histories: Histories) -> None:
    """A forward that was under way ends the scheduler when its request was cancelled."""
    histories.run("abort", laws=[a_late_chunk_is_no_error])


@check(
    "abort.patience",
    "RFC-0014:C-GIVING-UP#S6",
    witnesses=(
        "patience_is_over",
        "patience_is_over_under_way",
        "patience_is_nearly_over",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.clock",
    ),
)
def test_decode_has_as_much_patience_as_it_says(histories: Histories) -> None:
    """A request whose prefill is gone waits for good, or a slow one is given up for nothing."""
    histories.run("abort", laws=[decode_has_as_much_patience_as_it_says])


@check(
    "abort.each-side-hears",
    "RFC-0014:C-GIVING-UP#S7",
    witnesses=(
        "decode_heard_of_a_failure",
        "decode_heard_of_a_failure_from_one_rank",
        "prefill_heard_of_a_failure",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_each_side_hears_of_the_other(histories: Histories) -> None:
    """One side waits for what the other has given up."""
    histories.run("abort", laws=[each_side_hears_of_the_other])

"""The checks of `transfer.requests`: what is in flight, what it brings, and what is refused."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.sending import (
    a_chunk_is_a_flight_for_each_rank_and_destination,
    a_chunk_that_is_right_is_sent,
    a_room_has_to_be_known_and_ready,
    chunks_follow_one_another,
    counts_agree_or_nothing_is_sent,
    pages_change_by_flights_of_their_room,
    rows_that_are_loaded_late_are_sent,
    rows_that_are_written_late_are_sent,
    the_index_goes_with_the_last_chunk,
    what_cannot_be_sent_is_refused,
    what_has_landed_is_what_was_computed,
)
from sharedkv_conformance.marks import check

REQUESTS = ("transfer.requests", "allocation")
NETWORK = (*REQUESTS, "probe.network")
BYTES = (*REQUESTS, "direct_write", "probe.decode_pool")


@check(
    "transfer.landed-bytes",
    "RFC-0012:C-SEND#S1",
    witnesses=(
        "looked_at_a_later_chunk",
        "looked_at_scattered_pages",
        "looked_at_two_destinations",
        "looked_at_an_index",
        "looked_at_a_draft_layer",
    ),
    needs=BYTES,
)
def test_what_has_landed_is_what_was_computed(histories: Histories) -> None:
    """The model answers from another part of the prompt, or from another prompt."""
    histories.run("sending", laws=[what_has_landed_is_what_was_computed])


@check(
    "transfer.other-pages",
    "RFC-0012:C-SEND#S2",
    witnesses=("looked_at_pages_of_nobody", "looked_at_scattered_pages"),
    needs=BYTES,
)
def test_pages_change_by_flights_of_their_room(histories: Histories) -> None:
    """A request that was decoding for a minute begins to talk of something else."""
    histories.run("sending", laws=[pages_change_by_flights_of_their_room])


@check(
    "transfer.flights-of-a-chunk",
    "RFC-0012:C-SEND#S3",
    witnesses=("several_ranks_fly", "pages_fly_out_of_order", "rank_without_pages_flies_not"),
    cases=("KV-53",),
    needs=NETWORK,
)
def test_a_chunk_is_a_flight_for_each_rank_and_destination(histories: Histories) -> None:
    """Pages that lie on one rank are taken from another, or not at all."""
    histories.run("sending", laws=[a_chunk_is_a_flight_for_each_rank_and_destination])


@check(
    "transfer.flights-of-an-index",
    "RFC-0012:C-SEND#S4",
    witnesses=("index_of_several_chunks_flies",),
    needs=NETWORK,
)
def test_the_index_goes_with_the_last_chunk(histories: Histories) -> None:
    """The indexer of decode finds the tokens of other pages."""
    histories.run("sending", laws=[the_index_goes_with_the_last_chunk])


@check(
    "transfer.late-rows",
    "RFC-0012:C-SEND#S5",
    witnesses=("looked_after_late_writes",),
    needs=(*BYTES, "probe.inject"),
)
def test_rows_that_are_written_late_are_sent(histories: Histories) -> None:
    """The pages at chunk borders are garbled, now and then, under load."""
    histories.run("sending", laws=[rows_that_are_written_late_are_sent])


@check(
    "transfer.loading-rows",
    "RFC-0012:C-SEND#S6",
    witnesses=("looked_after_late_loads",),
    needs=(*BYTES, "probe.inject", "host_tier.tree", "copies"),
)
def test_rows_that_are_loaded_late_are_sent(histories: Histories) -> None:
    """A request whose prefix was cached on the host decodes from whatever was in the pages before."""
    histories.run("sending", laws=[rows_that_are_loaded_late_are_sent])


@check(
    "transfer.chunk-counts",
    "RFC-0012:C-SEND#S7",
    witnesses=("chunk_behind_the_reserved_pages", "last_chunk_too_short", "index_of_other_length"),
    needs=REQUESTS,
)
def test_counts_agree_or_nothing_is_sent(histories: Histories) -> None:
    """A list is cut with a warning, and the end of the prompt is missing."""
    histories.run("sending", laws=[counts_agree_or_nothing_is_sent])


@check(
    "transfer.chunk-order",
    "RFC-0012:C-SEND#S8",
    witnesses=("chunk_with_a_gap", "chunk_sent_again", "chunk_after_the_last"),
    cases=("KV-71",),
    needs=REQUESTS,
)
def test_chunks_follow_one_another(histories: Histories) -> None:
    """A chunk that was lost is never asked for."""
    histories.run("sending", laws=[chunks_follow_one_another])


@check(
    "transfer.send-refusals",
    "RFC-0012:C-SEND#S9",
    witnesses=("sent_a_page_of_nobody", "sent_the_dummy", "sent_a_page_twice", "sent_too_much_metadata"),
    needs=REQUESTS,
)
def test_what_cannot_be_sent_is_refused(histories: Histories) -> None:
    """Pages are sent that the next request is writing."""
    histories.run("sending", laws=[what_cannot_be_sent_is_refused])


@check(
    "transfer.send-before-ready",
    "RFC-0012:C-SEND#S10",
    witnesses=("sent_to_nobody", "sent_before_it_was_ready"),
    needs=NETWORK,
)
def test_a_room_has_to_be_known_and_ready(histories: Histories) -> None:
    """One destination gets nothing, for it was not heard of in time."""
    histories.run("sending", laws=[a_room_has_to_be_known_and_ready])


@check(
    "transfer.right-chunks",
    "RFC-0012:C-SEND#S11",
    witnesses=("sent_out_of_order", "sent_from_the_cache"),
    needs=REQUESTS,
)
def test_a_chunk_that_is_right_is_sent(histories: Histories) -> None:
    """After a day no request can be sent any more, for no pages lie in a row."""
    histories.run("sending", laws=[a_chunk_that_is_right_is_sent])

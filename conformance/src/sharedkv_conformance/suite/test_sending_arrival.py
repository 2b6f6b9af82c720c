"""The checks of `transfer.requests`: when decode may begin, and how far prefill says it is."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.sending_arrival import (
    a_flight_that_fails_fails_its_room,
    a_last_chunk_without_pages_is_sent,
    decode_begins_once_all_has_landed,
    decode_does_not_begin_before_all_has_landed,
    prefill_forgets_what_has_ended,
    prefill_says_how_far_it_is,
    the_metadata_comes_last,
    the_metadata_is_one_flight_from_rank_0,
    what_becomes_of_one_room_is_nothing_to_others,
)
from sharedkv_conformance.marks import check

REQUESTS = ("transfer.requests", "allocation")
NETWORK = (*REQUESTS, "probe.network")


@check(
    "transfer.not-before-it-landed",
    "RFC-0012:C-ARRIVAL#S1",
    witnesses=(
        "asked_while_the_last_flies",
        "asked_while_the_metadata_flies",
        "asked_while_pages_fly_and_metadata_has_landed",
        "asked_while_one_destination_waits",
    ),
    cases=("KV-24", "KV-32"),
    needs=NETWORK,
)
def test_decode_does_not_begin_before_all_has_landed(histories: Histories) -> None:
    """A request is decoded on pages that are still on their way."""
    histories.run("sending", laws=[decode_does_not_begin_before_all_has_landed])


@check(
    "transfer.once-it-landed",
    "RFC-0012:C-ARRIVAL#S2",
    witnesses=(
        "succeeded_in_chunks",
        "succeeded_with_a_rank_without_pages",
        "succeeded_on_two_destinations",
        "succeeded_behind_an_empty_chunk",
    ),
    cases=("KV-53",),
    needs=REQUESTS,
)
def test_decode_begins_once_all_has_landed(histories: Histories) -> None:
    """A short prompt leaves a rank without a page, and hangs until it is given up."""
    histories.run("sending", laws=[decode_begins_once_all_has_landed])


@check(
    "transfer.empty-last-chunk",
    "RFC-0012:C-ARRIVAL#S3",
    witnesses=("index_of_an_empty_chunk_flies", "metadata_of_an_empty_chunk_flies"),
    cases=("KV-25", "KV-73"),
    needs=NETWORK,
)
def test_a_last_chunk_without_pages_is_sent(histories: Histories) -> None:
    """Prompts of certain lengths are never answered."""
    histories.run("sending", laws=[a_last_chunk_without_pages_is_sent])


@check(
    "transfer.metadata-from-one",
    "RFC-0012:C-ARRIVAL#S4",
    witnesses=("metadata_flies_to_two",),
    needs=NETWORK,
)
def test_the_metadata_is_one_flight_from_rank_0(histories: Histories) -> None:
    """Late metadata of one rank lands in a slot that another request has by then."""
    histories.run("sending", laws=[the_metadata_is_one_flight_from_rank_0])


@check(
    "transfer.metadata-last",
    "RFC-0012:C-ARRIVAL#S5",
    witnesses=("metadata_waits_for_pages", "metadata_waits_for_an_index", "metadata_waits_for_an_earlier_chunk"),
    needs=NETWORK,
)
def test_the_metadata_comes_last(histories: Histories) -> None:
    """Whoever looks at the slot alone begins before the pages are there."""
    histories.run("sending", laws=[the_metadata_comes_last])


@check(
    "transfer.failed-flight",
    "RFC-0012:C-ARRIVAL#S6",
    witnesses=("pages_have_failed", "an_index_has_failed", "metadata_has_failed"),
    cases=("KV-29",),
    needs=NETWORK,
)
def test_a_flight_that_fails_fails_its_room(histories: Histories) -> None:
    """A return code that nobody reads makes a success of half a transfer."""
    histories.run("sending", laws=[a_flight_that_fails_fails_its_room])


@check(
    "transfer.failed-neighbour",
    "RFC-0012:C-ARRIVAL#S7",
    witnesses=("asked_beside_a_failed_room",),
    cases=("KV-33",),
    needs=NETWORK,
)
def test_what_becomes_of_one_room_is_nothing_to_others(histories: Histories) -> None:
    """A client that goes away takes all the others with it."""
    histories.run("sending", laws=[what_becomes_of_one_room_is_nothing_to_others])


@check(
    "transfer.prefill-states",
    "RFC-0012:C-ARRIVAL#S8",
    witnesses=(
        "prefill_has_heard_of_some",
        "prefill_waits",
        "prefill_sends",
        "prefill_sends_metadata",
        "prefill_is_between_chunks",
        "prefill_has_sent_all",
    ),
    needs=NETWORK,
)
def test_prefill_says_how_far_it_is(histories: Histories) -> None:
    """A scheduler that believes a transfer over gives the pages to the next request."""
    histories.run("sending", laws=[prefill_says_how_far_it_is])


@check(
    "transfer.forgetting",
    "RFC-0012:C-ARRIVAL#S9",
    witnesses=("forgotten_after_the_end", "forgotten_before_the_end", "prefill_asked_for_a_stranger"),
    needs=NETWORK,
)
def test_prefill_forgets_what_has_ended(histories: Histories) -> None:
    """Prefill remembers every request it ever served, or forgets one that is under way."""
    histories.run("sending", laws=[prefill_forgets_what_has_ended])

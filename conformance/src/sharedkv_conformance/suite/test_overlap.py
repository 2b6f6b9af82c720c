"""The checks of overlap: which chunks are registered, and what a registration is good for."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.overlap import (
    a_chunk_that_can_go_early_is_registered,
    a_chunk_that_cannot_go_early_is_declined,
    a_context_is_kept_until_its_chunk_is_sent,
    a_context_stays_when_its_chunk_is_registered_again,
    a_page_of_a_context_is_nobody_elses,
    a_registration_is_never_an_error,
    contexts_are_kept_in_order,
    what_is_declined_is_told,
    what_is_sent_is_what_was_registered,
)
from sharedkv_conformance.marks import check


@check(
    "overlap.registered",
    "RFC-0013:C-CONTEXTS#S1",
    witnesses=(
        "chunk_registered",
        "chunk_registered_behind_a_registered_one",
        "chunk_registered_behind_a_sent_one",
    ),
    needs=("transfer.requests",),
)
def test_a_chunk_that_can_go_early_is_registered(histories: Histories) -> None:
    """Chunks that are declined for nothing are sent when the forward is done, and nobody sees why."""
    histories.run("overlap", laws=[a_chunk_that_can_go_early_is_registered])


@check(
    "overlap.declined",
    "RFC-0013:C-CONTEXTS#S2",
    witnesses=(
        "chunk_declined_when_off",
        "chunk_declined_for_its_room",
        "chunk_declined_for_its_destinations",
        "chunk_declined_without_pages",
        "chunk_declined_for_its_place",
        "chunk_declined_for_its_pages",
        "chunk_registered_otherwise",
    ),
    needs=("transfer.requests",),
)
def test_a_chunk_that_cannot_go_early_is_declined(histories: Histories) -> None:
    """What is registered for several places is finished once for each, with somebody else's chunk."""
    histories.run("overlap", laws=[a_chunk_that_cannot_go_early_is_declined])


@check(
    "overlap.registered-without-errors",
    "RFC-0013:C-CONTEXTS#S3",
    witnesses=(
        "chunk_declined_of_an_unknown_room",
        "chunk_declined_for_its_pages",
        "chunk_registered_otherwise",
    ),
    needs=("transfer.requests",),
)
def test_a_registration_is_never_an_error(histories: Histories) -> None:
    """A hint that is refused with an error ends the scheduler with every request that it has."""
    histories.run("overlap", laws=[a_registration_is_never_an_error])


@check(
    "overlap.fallback",
    "RFC-0013:C-CONTEXTS#S4",
    witnesses=(
        "chunk_declined_when_off",
        "chunk_declined_for_its_place",
        "chunk_registered_again",
    ),
    needs=(
        "transfer.requests",
        "probe.events",
    ),
)
def test_what_is_declined_is_told(histories: Histories) -> None:
    """A path that is left in silence is slow for weeks; one that is told where nothing was left hides the others."""
    histories.run("overlap", laws=[what_is_declined_is_told])


@check(
    "overlap.registered-again",
    "RFC-0013:C-CONTEXTS#S5",
    witnesses=(
        "chunk_registered_again",
        "chunk_registered_otherwise",
    ),
    needs=("transfer.requests",),
)
def test_a_context_stays_when_its_chunk_is_registered_again(histories: Histories) -> None:
    """A context that is built anew at each look at the batch sends layers twice, and waits for others for good."""
    histories.run("overlap", laws=[a_context_stays_when_its_chunk_is_registered_again])


@check(
    "overlap.contexts-in-order",
    "RFC-0013:C-CONTEXTS#S6",
    witnesses=(
        "contexts_of_two_rooms",
        "contexts_of_two_chunks",
        "context_without_a_rank",
    ),
    cases=("KV-53",),
    needs=("transfer.requests",),
)
def test_contexts_are_kept_in_order(histories: Histories) -> None:
    """The chunk behind takes the place of the one before it, whose layers nobody sends then."""
    histories.run("overlap", laws=[contexts_are_kept_in_order, a_context_is_kept_until_its_chunk_is_sent])


@check(
    "overlap.sent-as-registered",
    "RFC-0013:C-CONTEXTS#S7",
    witnesses=(
        "sent_with_other_pages",
        "sent_with_another_end",
    ),
    needs=("transfer.requests",),
)
def test_what_is_sent_is_what_was_registered(histories: Histories) -> None:
    """Some layers of a page are of one request then, and some of another."""
    histories.run("overlap", laws=[what_is_sent_is_what_was_registered])


@check(
    "overlap.contexts-pin",
    "RFC-0013:C-CONTEXTS#S8",
    witnesses=("pages_taken_while_registered_ones_were_released",),
    cases=("KV-06",),
    needs=(
        "transfer.requests",
        "allocation",
    ),
)
def test_a_page_of_a_context_is_nobody_elses(histories: Histories) -> None:
    """A tree that finds a prefix twice frees pages that a forward is about to fill, and the next request gets them."""
    histories.run("overlap", laws=[a_page_of_a_context_is_nobody_elses])

"""The checks of `transfer.requests`: what decode sets aside for a room, and gets back."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.sending_reserve import (
    a_reservation_has_a_page_for_each_position,
    a_room_is_reserved_where_there_is_room,
    a_room_that_has_not_ended_stays,
    a_room_that_succeeded_gives_back_what_it_had,
    epochs_grow,
    every_page_of_decode_is_counted_once,
    nothing_is_set_aside_twice,
    what_is_no_room_is_refused,
)
from sharedkv_conformance.marks import check

REQUESTS = ("transfer.requests",)
NETWORK = (*REQUESTS, "probe.network")


@check(
    "transfer.reservation",
    "RFC-0012:C-RESERVE#S1",
    witnesses=("reserved_on_several_ranks", "reserved_beside_another"),
    needs=REQUESTS,
)
def test_a_reservation_has_a_page_for_each_position(histories: Histories) -> None:
    """Two positions of a prompt land on one page."""
    histories.run("sending", laws=[a_reservation_has_a_page_for_each_position])


@check(
    "transfer.set-aside-once",
    "RFC-0012:C-RESERVE#S2",
    witnesses=("reserved_beside_another", "reserved_what_was_used", "reserved_beside_quarantine"),
    needs=NETWORK,
)
def test_nothing_is_set_aside_twice(histories: Histories) -> None:
    """The end of one request's transfer lands in the middle of another's context."""
    histories.run("sending", laws=[nothing_is_set_aside_twice])


@check(
    "transfer.room-for-a-room",
    "RFC-0012:C-RESERVE#S3",
    witnesses=("reserved_the_last_pages", "short_of_pages", "short_of_slots"),
    needs=REQUESTS,
)
def test_a_room_is_reserved_where_there_is_room(histories: Histories) -> None:
    """A request that waits for more than it needs waits for good."""
    histories.run("sending", laws=[a_room_is_reserved_where_there_is_room])


@check(
    "transfer.reserve-refusals",
    "RFC-0012:C-RESERVE#S4",
    witnesses=("reserved_twice", "reserved_for_nothing", "reserved_on_no_such_ranks"),
    cases=("KV-95",),
    needs=REQUESTS,
)
def test_what_is_no_room_is_refused(histories: Histories) -> None:
    """Two clients that chose one number get one another's answers."""
    histories.run("sending", laws=[what_is_no_room_is_refused])


@check(
    "transfer.growing-epochs",
    "RFC-0012:C-RESERVE#S5",
    witnesses=("number_used_again", "reserved_beside_another"),
    cases=("KV-98",),
    needs=REQUESTS,
)
def test_epochs_grow(histories: Histories) -> None:
    """A late message of the first attempt ends the second."""
    histories.run("sending", laws=[epochs_grow])


@check(
    "transfer.given-back",
    "RFC-0012:C-RESERVE#S6",
    witnesses=("closed_after_success", "closed_without_commit"),
    needs=REQUESTS,
)
def test_a_room_that_succeeded_gives_back_what_it_had(histories: Histories) -> None:
    """Decode runs out of pages in a week, and nobody knows why."""
    histories.run("sending", laws=[a_room_that_succeeded_gives_back_what_it_had])


@check(
    "transfer.closed-too-early",
    "RFC-0012:C-RESERVE#S7",
    witnesses=("closed_before_the_end",),
    needs=NETWORK,
)
def test_a_room_that_has_not_ended_stays(histories: Histories) -> None:
    """Pages are given to the next request while they are being written."""
    histories.run("sending", laws=[a_room_that_has_not_ended_stays])


@check(
    "transfer.decode-counts",
    "RFC-0012:C-RESERVE#S8",
    witnesses=("pages_of_decode_counted", "quarantined_pages_counted"),
    needs=NETWORK,
)
def test_every_page_of_decode_is_counted_once(histories: Histories) -> None:
    """A scheduler admits a request for pages that are not there."""
    histories.run("sending", laws=[every_page_of_decode_is_counted_once])

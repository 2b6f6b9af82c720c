"""The checks of `transfer`: what decode may believe of a room."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.transfer_rooms import (
    a_closed_room_is_opened_under_another_epoch,
    a_complete_room_has_succeeded,
    a_message_is_never_an_error,
    a_repetition_changes_nothing,
    a_room_is_closed_once_it_has_ended,
    a_room_that_is_not_open_is_unknown,
    a_room_that_is_open_is_not_opened_again,
    a_room_waits_until_something_arrives,
    a_room_without_sources_or_parts_is_refused,
    a_source_that_gives_up_fails_the_room,
    success_means_every_chunk_of_every_part_of_every_source,
    what_is_not_awaited_changes_nothing,
)
from sharedkv_conformance.marks import check


@check(
    "transfer.success",
    "RFC-0012:C-ROOMS#S1",
    witnesses=("all_but_one_part", "last_chunk_before_an_earlier_one"),
    cases=("KV-24", "KV-25"),
)
def test_success_means_every_chunk_of_every_part_of_every_source(histories: Histories) -> None:
    """A request is decoded on pages of which one rank's have not come."""
    histories.run("transfer_rooms", laws=[success_means_every_chunk_of_every_part_of_every_source])


@check("transfer.complete", "RFC-0012:C-ROOMS#S2", witnesses=("every_part_is_there",))
def test_a_complete_room_has_succeeded(histories: Histories) -> None:
    """A request whose chunks came out of order waits until it is given up."""
    histories.run("transfer_rooms", laws=[a_complete_room_has_succeeded])


@check("transfer.repetition", "RFC-0012:C-ROOMS#S3", witnesses=("chunk_told_again",))
def test_a_repetition_changes_nothing(histories: Histories) -> None:
    """A message that is sent twice stands for one that never came."""
    histories.run("transfer_rooms", laws=[a_repetition_changes_nothing])


@check(
    "transfer.strangers",
    "RFC-0012:C-ROOMS#S4",
    witnesses=(
        "message_of_an_earlier_epoch",
        "message_of_a_stranger",
        "stranger_heard",
        "failure_after_success",
    ),
    cases=("KV-30", "KV-98"),
)
def test_what_is_not_awaited_changes_nothing(histories: Histories) -> None:
    """The late end of one request is taken for that of the next."""
    histories.run("transfer_rooms", laws=[what_is_not_awaited_changes_nothing])


@check("transfer.failure", "RFC-0012:C-ROOMS#S5", witnesses=("source_gave_up",))
def test_a_source_that_gives_up_fails_the_room(histories: Histories) -> None:
    """Decode waits for a rank that has given up."""
    histories.run("transfer_rooms", laws=[a_source_that_gives_up_fails_the_room])


@check("transfer.waiting", "RFC-0012:C-ROOMS#S6", witnesses=("room_in_the_middle",))
def test_a_room_waits_until_something_arrives(histories: Histories) -> None:
    """A request that nobody has begun to send is not looked after."""
    histories.run("transfer_rooms", laws=[a_room_waits_until_something_arrives])


@check("transfer.room-in-use", "RFC-0012:C-ROOMS#S7", witnesses=("room_opened_twice",), cases=("KV-95",))
def test_a_room_that_is_open_is_not_opened_again(histories: Histories) -> None:
    """The chunks of two requests count for one."""
    histories.run("transfer_rooms", laws=[a_room_that_is_open_is_not_opened_again])


@check("transfer.room-for-nothing", "RFC-0012:C-ROOMS#S8", witnesses=("room_for_nothing",))
def test_a_room_without_sources_or_parts_is_refused(histories: Histories) -> None:
    """A request begins to decode before anything was sent."""
    histories.run("transfer_rooms", laws=[a_room_without_sources_or_parts_is_refused])


@check("transfer.epochs", "RFC-0012:C-ROOMS#S9", witnesses=("room_number_again",), cases=("KV-98",))
def test_a_closed_room_is_opened_under_another_epoch(histories: Histories) -> None:
    """Messages of the first attempt end the second."""
    histories.run("transfer_rooms", laws=[a_closed_room_is_opened_under_another_epoch])


@check(
    "transfer.closing",
    "RFC-0012:C-ROOMS#S10",
    witnesses=("closing_before_the_end", "closing_after_the_end"),
)
def test_a_room_is_closed_once_it_has_ended(histories: Histories) -> None:
    """Pages are given away that are still being written."""
    histories.run("transfer_rooms", laws=[a_room_is_closed_once_it_has_ended])


@check("transfer.unknown-room", "RFC-0012:C-ROOMS#S11", witnesses=("room_of_yesterday",))
def test_a_room_that_is_not_open_is_unknown(histories: Histories) -> None:
    """Who asks for a room of yesterday is told of today's."""
    histories.run("transfer_rooms", laws=[a_room_that_is_not_open_is_unknown])


@check(
    "transfer.messages",
    "RFC-0012:C-ROOMS#S12",
    witnesses=("message_without_a_room", "message_of_a_stranger"),
    cases=("KV-30",),
)
def test_a_message_is_never_an_error(histories: Histories) -> None:
    """One stray message ends the thread that listens, and every room with it."""
    histories.run("transfer_rooms", laws=[a_message_is_never_an_error])

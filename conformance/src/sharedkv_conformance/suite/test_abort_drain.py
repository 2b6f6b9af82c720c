"""The checks of abort: who may say that nothing lands any more, and who may have the pages then."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.abort_again import (
    a_number_can_be_used_again,
    pages_of_a_room_that_was_given_up_come_back,
    prefill_goes_over_to_the_later_epoch,
)
from sharedkv_conformance.laws.abort_drain import (
    a_drain_names_the_epoch_that_was_asked_for,
    a_drain_of_another_epoch_frees_nothing,
    late_bytes_change_no_other_room,
    late_metadata_change_no_other_room,
    nothing_drains_that_flies,
    nothing_drains_that_was_in_doubt,
    pages_of_an_open_room_are_its_own,
    quarantined_pages_are_nobodys,
    what_has_drained_is_free,
    what_has_ended_drains,
    what_has_waited_long_enough_is_free,
    what_nobody_knows_drains,
)
from sharedkv_conformance.marks import check


@check(
    "abort.no-drain-in-flight",
    "RFC-0014:C-DRAIN#S1",
    witnesses=(
        "notice_heard_in_flight",
        "notice_heard_with_metadata_in_flight",
        "one_flight_of_several_ends",
    ),
    cases=(
        "KV-01",
        "KV-32",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_nothing_drains_that_flies(histories: Histories) -> None:
    """Pages are given away on a receipt, and overwritten."""
    histories.run("abort", laws=[nothing_drains_that_flies])


@check(
    "abort.no-drain-in-doubt",
    "RFC-0014:C-DRAIN#S2",
    witnesses=(
        "notice_heard_in_doubt",
        "doubt_is_over",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.clock",
    ),
)
def test_nothing_drains_that_was_in_doubt(histories: Histories) -> None:
    """A library reports an error, and writes for a second more."""
    histories.run("abort", laws=[nothing_drains_that_was_in_doubt])


@check(
    "abort.drains",
    "RFC-0014:C-DRAIN#S3",
    witnesses=(
        "drained_at_once",
        "drained_later",
        "drained_to_one_of_two_destinations",
        "failed_room_hears_a_notice",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_what_has_ended_drains(histories: Histories) -> None:
    """Pages stay in quarantine until the time is over, however quickly the flights end."""
    histories.run("abort", laws=[what_has_ended_drains])


@check(
    "abort.nobody-drains",
    "RFC-0014:C-DRAIN#S4",
    witnesses=(
        "notice_heard_of_nobody",
        "notice_heard_of_a_forgotten_room",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_what_nobody_knows_drains(histories: Histories) -> None:
    """Pages that nobody was told of wait for the end of the quarantine."""
    histories.run("abort", laws=[what_nobody_knows_drains])


@check(
    "abort.drain-names-epoch",
    "RFC-0014:C-DRAIN#S5",
    witnesses=("notice_heard_of_an_earlier_epoch",),
    cases=("KV-100",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_drain_names_the_epoch_that_was_asked_for(histories: Histories) -> None:
    """An answer to the first attempt frees the pages of the second."""
    histories.run("abort", laws=[a_drain_names_the_epoch_that_was_asked_for])


@check(
    "abort.quarantined",
    "RFC-0014:C-QUARANTINE#S1",
    witnesses=(
        "room_in_quarantine",
        "room_partly_drained",
        "room_drained_to_one_destination",
        "reserved_beside_a_quarantine",
    ),
    cases=("KV-01",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_quarantined_pages_are_nobodys(histories: Histories) -> None:
    """The next request gets pages that the last one still writes: its answer is slightly wrong, and nobody sees why."""
    histories.run("abort", laws=[quarantined_pages_are_nobodys])


@check(
    "abort.late-bytes",
    "RFC-0014:C-QUARANTINE#S2",
    witnesses=(
        "late_bytes_beside_another_room",
        "late_metadata_beside_another_room",
    ),
    cases=("KV-01",),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.decode_pool",
    ),
)
def test_late_bytes_change_no_other_room(histories: Histories) -> None:
    """Bytes of a request that is over change one that is not."""
    histories.run("abort", laws=[late_bytes_change_no_other_room, late_metadata_change_no_other_room])


@check(
    "abort.free-when-drained",
    "RFC-0014:C-QUARANTINE#S3",
    witnesses=(
        "freed_by_drains",
        "freed_at_the_close",
    ),
    cases=("KV-01",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_what_has_drained_is_free(histories: Histories) -> None:
    """A decode that loses pages with each cancellation is empty after a day."""
    histories.run("abort", laws=[what_has_drained_is_free])


@check(
    "abort.free-by-time",
    "RFC-0014:C-QUARANTINE#S4",
    witnesses=("freed_by_time",),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.clock",
    ),
)
def test_what_has_waited_long_enough_is_free(histories: Histories) -> None:
    """A prefill that is gone keeps pages of decode for good."""
    histories.run("abort", laws=[what_has_waited_long_enough_is_free])


@check(
    "abort.stale-drain",
    "RFC-0014:C-QUARANTINE#S5",
    witnesses=("drain_of_another_epoch",),
    cases=("KV-100",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_drain_of_another_epoch_frees_nothing(histories: Histories) -> None:
    """What was said of the first attempt frees the pages of the second."""
    histories.run("abort", laws=[a_drain_of_another_epoch_frees_nothing])


@check(
    "abort.open-room",
    "RFC-0014:C-QUARANTINE#S6",
    witnesses=(
        "drained_before_the_close",
        "time_over_before_the_close",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.clock",
    ),
)
def test_pages_of_an_open_room_are_its_own(histories: Histories) -> None:
    """A room that nobody has closed shares its pages with the next."""
    histories.run("abort", laws=[pages_of_an_open_room_are_its_own])


@check(
    "abort.number-again",
    "RFC-0014:C-AGAIN#S1",
    witnesses=(
        "number_again_in_quarantine",
        "number_again",
    ),
    cases=(
        "KV-95",
        "KV-98",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_number_can_be_used_again(histories: Histories) -> None:
    """A retry is refused because of what it retries."""
    histories.run("abort", laws=[a_number_can_be_used_again])


@check(
    "abort.later-epoch",
    "RFC-0014:C-AGAIN#S2",
    witnesses=(
        "later_epoch_asked_about",
        "later_epoch_heard_under_way",
    ),
    cases=("KV-98",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_prefill_goes_over_to_the_later_epoch(histories: Histories) -> None:
    """Prefill sends the second attempt to the pages of the first."""
    histories.run("abort", laws=[prefill_goes_over_to_the_later_epoch])


@check(
    "abort.pages-come-back",
    "RFC-0014:C-AGAIN#S3",
    witnesses=(
        "pages_of_a_failed_room_are_free",
        "pages_taken_after_a_failure",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
        "allocation",
        "probe.clock",
    ),
)
def test_pages_of_a_room_that_was_given_up_come_back(histories: Histories) -> None:
    """Each cancellation costs pages of prefill, until there are none."""
    histories.run("abort", laws=[pages_of_a_room_that_was_given_up_come_back])

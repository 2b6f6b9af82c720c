"""The checks of `transfer`: metadata slots."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.sending_slots import (
    a_commit_is_refused,
    a_commit_returns_what_was_sent,
    a_committed_slot_is_free,
    a_foreign_slot_fails_the_room,
    a_slot_counts_when_all_has_arrived,
)
from sharedkv_conformance.marks import check

NEEDS = ("allocation", "transfer.requests")
SPOILED = (*NEEDS, "probe.network")


@check(
    "transfer.metadata",
    "RFC-0012:C-SLOTS#S1",
    witnesses=(
        "committed_with_two_destinations",
        "committed_after_several_chunks",
        "committed_less_than_a_slot",
    ),
    needs=NEEDS,
)
def test_a_commit_returns_what_was_sent(histories: Histories) -> None:
    """Decode goes on from another first token than prefill has computed."""
    histories.run("sending", laws=[a_commit_returns_what_was_sent])


@check(
    "transfer.foreign-slots",
    "RFC-0012:C-SLOTS#S2",
    witnesses=("slot_of_another_room", "slot_of_another_epoch", "slot_of_another_at_the_second_destination"),
    cases=("KV-07", "KV-97"),
    needs=SPOILED,
)
def test_a_foreign_slot_fails_the_room(histories: Histories) -> None:
    """The first token of one user goes to another."""
    histories.run("sending", laws=[a_foreign_slot_fails_the_room])


@check(
    "transfer.slots-of-before",
    "RFC-0012:C-SLOTS#S3",
    witnesses=("slot_of_another_too_early", "slot_that_was_used_before"),
    cases=("KV-97",),
    needs=SPOILED,
)
def test_a_slot_counts_when_all_has_arrived(histories: Histories) -> None:
    """A good request is given up for what the last one has left in its slot."""
    histories.run("sending", laws=[a_slot_counts_when_all_has_arrived])


@check(
    "transfer.commit-refused",
    "RFC-0012:C-SLOTS#S4",
    witnesses=(
        "commit_of_an_unknown_room",
        "commit_before_the_end",
        "commit_after_a_commit",
        "commit_of_a_failed_room",
    ),
    needs=SPOILED,
)
def test_a_commit_is_refused(histories: Histories) -> None:
    """Decode begins with whatever stands in a slot."""
    histories.run("sending", laws=[a_commit_is_refused])


@check("transfer.slot-given-back", "RFC-0012:C-SLOTS#S5", witnesses=("slots_counted_after_a_commit",), needs=NEEDS)
def test_a_committed_slot_is_free(histories: Histories) -> None:
    """As many requests are taken as there are slots, and the decode batch stays small."""
    histories.run("sending", laws=[a_committed_slot_is_free])

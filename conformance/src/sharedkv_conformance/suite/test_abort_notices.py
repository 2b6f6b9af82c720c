"""The checks of abort: who is told of a failure, how often, and what is heard."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.abort_notices import (
    a_dead_epoch_is_not_sent_to,
    decode_tells_a_rank_once,
    decode_tells_every_prefill_rank,
    messages_of_earlier_epochs_change_nothing,
    messages_that_come_again_change_nothing,
    noise_changes_nothing,
    prefill_tells_a_destination_once,
    prefill_tells_every_destination,
    what_comes_after_noise_is_heard,
)
from sharedkv_conformance.marks import check


@check(
    "abort.decode-tells",
    "RFC-0014:C-NOTICES#S1",
    witnesses=(
        "decode_tells_of_its_abort",
        "decode_tells_of_its_impatience",
        "decode_tells_of_what_it_heard",
        "two_destinations_tell",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
        "probe.clock",
    ),
)
def test_decode_tells_every_prefill_rank(histories: Histories) -> None:
    """A prefill rank that nobody tells goes on to write."""
    histories.run("abort", laws=[decode_tells_every_prefill_rank])


@check(
    "abort.decode-tells-once",
    "RFC-0014:C-NOTICES#S2",
    witnesses=("given_up_again",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_decode_tells_a_rank_once(histories: Histories) -> None:
    """Every further notice is answered, and an answer to it looks like one to the first."""
    histories.run("abort", laws=[decode_tells_a_rank_once])


@check(
    "abort.prefill-tells",
    "RFC-0014:C-NOTICES#S3",
    witnesses=("prefill_tells_of_its_failure",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_prefill_tells_every_destination(histories: Histories) -> None:
    """Decode keeps the pages of a request that is over until its patience is."""
    histories.run("abort", laws=[prefill_tells_every_destination])


@check(
    "abort.prefill-tells-once",
    "RFC-0014:C-NOTICES#S4",
    witnesses=("failed_room_hears_a_notice",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_prefill_tells_a_destination_once(histories: Histories) -> None:
    """Two ranks that answer each other do so for good."""
    histories.run("abort", laws=[prefill_tells_a_destination_once])


@check(
    "abort.dead-epoch",
    "RFC-0014:C-NOTICES#S5",
    witnesses=("dead_epoch_asked_about",),
    cases=("KV-98",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_a_dead_epoch_is_not_sent_to(histories: Histories) -> None:
    """Prefill writes into pages that were given up before it heard of them."""
    histories.run("abort", laws=[a_dead_epoch_is_not_sent_to])


@check(
    "abort.earlier-epoch",
    "RFC-0014:C-NOTICES#S6",
    witnesses=("earlier_epoch_heard",),
    cases=(
        "KV-98",
        "KV-100",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_messages_of_earlier_epochs_change_nothing(histories: Histories) -> None:
    """A retry under the same number is ended by what is left of the first attempt."""
    histories.run("abort", laws=[messages_of_earlier_epochs_change_nothing])


@check(
    "abort.again",
    "RFC-0014:C-NOTICES#S7",
    witnesses=("message_heard_again",),
    cases=("KV-30",),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_messages_that_come_again_change_nothing(histories: Histories) -> None:
    """A message that is sent twice begins or ends a request for the second time."""
    histories.run("abort", laws=[messages_that_come_again_change_nothing])


@check(
    "abort.noise",
    "RFC-0014:C-NOTICES#S8",
    witnesses=(
        "noise_heard",
        "heard_after_noise",
    ),
    needs=(
        "transfer.requests",
        "probe.network",
    ),
)
def test_noise_changes_nothing(histories: Histories) -> None:
    """A port scan ends the thread that hears for every request."""
    histories.run("abort", laws=[noise_changes_nothing, what_comes_after_noise_is_heard])

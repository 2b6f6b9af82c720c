"""The checks of `transfer`: pages under a transfer."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.sending_pins import (
    a_page_goes_where_it_was_asked_to,
    a_page_is_given_back_once,
    a_page_that_is_read_is_in_use,
    a_page_that_is_read_is_nobody_elses,
    a_page_that_is_read_is_taken_back,
)
from sharedkv_conformance.marks import check

NEEDS = ("allocation", "transfer.requests", "probe.network")


@check(
    "transfer.pinned-pages",
    "RFC-0012:C-PINS#S1",
    witnesses=(
        "asked_while_released_pages_wait",
        "asked_while_released_pages_fly",
        "asked_while_cached_pages_fly",
        "asked_while_the_index_flies",
    ),
    cases=("KV-06",),
    needs=NEEDS,
)
def test_a_page_that_is_read_is_nobody_elses(histories: Histories) -> None:
    """Decode gets the rows of another request, which took the page before the sender read it."""
    histories.run("sending", laws=[a_page_that_is_read_is_nobody_elses])


@check(
    "transfer.pins-end",
    "RFC-0012:C-PINS#S2",
    witnesses=(
        "pinned_page_released",
        "pinned_location_released",
        "pinned_page_retained",
        "page_of_a_chunk_given_again",
    ),
    needs=NEEDS,
)
def test_a_page_goes_where_it_was_asked_to(histories: Histories) -> None:
    """With every transfer the pool gets smaller, until nothing is admitted any more."""
    histories.run("sending", laws=[a_page_goes_where_it_was_asked_to, a_page_that_is_read_is_taken_back])


@check(
    "transfer.pinned-once",
    "RFC-0012:C-PINS#S3",
    witnesses=("pinned_page_released_again", "pinned_page_retained_again"),
    needs=NEEDS,
)
def test_a_page_is_given_back_once(histories: Histories) -> None:
    """A page that is freed twice is given to two requests."""
    histories.run("sending", laws=[a_page_is_given_back_once])


@check(
    "transfer.pinned-in-use",
    "RFC-0012:C-PINS#S4",
    witnesses=("released_page_counted", "retained_page_counted"),
    needs=NEEDS,
)
def test_a_page_that_is_read_is_in_use(histories: Histories) -> None:
    """A batch is admitted on pages that nobody may have, and fails in the middle."""
    histories.run("sending", laws=[a_page_that_is_read_is_in_use])

"""The checks of `direct_write`: where rows stand once written, in which form, and what else did not change."""

from __future__ import annotations

from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.direct_write import (
    equal_rows_are_stored_equally,
    every_valid_row_is_at_its_location,
    fp8_rows_are_near_what_was_computed,
    fp8_rows_are_numbers,
    index_rows_lie_in_the_page_of_their_token,
    no_other_byte_changes,
    pools_have_the_size_of_their_layout,
    rows_are_stored_as_computed,
    rows_keep_the_order_of_their_rank,
)
from sharedkv_conformance.marks import check


@check(
    "direct_write.valid-rows",
    "RFC-0003:C-VALID-ROWS#S1",
    witnesses=("written_rows_looked_at", "several_requests_written", "rank_without_rows", "rows_written_anew"),
    needs=("probe.pool",),
    cases=("KV-40", "KV-51"),
)
def test_every_valid_row_is_at_its_location(histories: Histories) -> None:
    """A row that is not where its location says is read by nobody, and what stood there by everybody."""
    histories.run("direct_write", laws=[every_valid_row_is_at_its_location])


@check(
    "direct_write.nothing-else",
    "RFC-0003:C-VALID-ROWS#S2",
    witnesses=("written_rows_looked_at", "tail_page_written", "static_tail_given", "other_layer_looked_at"),
    needs=("probe.pool",),
    cases=("KV-36", "KV-54"),
)
def test_no_other_byte_changes(histories: Histories) -> None:
    """A padded row that is persisted overwrites a page of somebody else, or a slot that is later read as a token."""
    histories.run("direct_write", laws=[no_other_byte_changes])


@check(
    "direct_write.dummies-dropped",
    "RFC-0003:C-VALID-ROWS#S2",
    witnesses=("dummy_rows_given", "padding_rows_given"),
    needs=("probe.pool", "planning.batch"),
)
def test_dummy_rows_are_not_persisted(histories: Histories) -> None:
    """A rank that keeps what it computed for the sake of a collective has bytes in its pool that belong to no token."""
    histories.run("direct_write", laws=[no_other_byte_changes])


@check(
    "direct_write.row-order",
    "RFC-0003:C-VALID-ROWS#S3",
    witnesses=("written_rows_looked_at", "both_parts_written", "several_requests_written"),
    needs=("probe.pool",),
)
def test_rows_keep_the_order_of_their_rank(histories: Histories) -> None:
    """Rows and locations in different orders give each token the bytes of another, and every count is right."""
    histories.run("direct_write", laws=[rows_keep_the_order_of_their_rank])


@check(
    "direct_write.same-bytes",
    "RFC-0003:C-VALID-ROWS#S4",
    witnesses=("fp8_row_written_twice", "one_request_written", "several_requests_written"),
    needs=("probe.pool",),
)
def test_equal_rows_are_stored_equally(histories: Histories) -> None:
    """A cache whose bytes depend on the batch gives another answer to the same question, depending on the load."""
    histories.run("direct_write", laws=[equal_rows_are_stored_equally])


@check(
    "direct_write.pool-size",
    "RFC-0003:C-LAYOUTS#S1",
    witnesses=("plain_rows_looked_at", "head_rows_looked_at", "fp8_rows_looked_at"),
    needs=("probe.pool",),
    cases=("KV-89", "KV-91"),
)
def test_pools_have_the_size_of_their_layout(histories: Histories) -> None:
    """A row width that is derived twice differs some day, and copies run with the wrong stride."""
    histories.run("direct_write", laws=[pools_have_the_size_of_their_layout])


@check(
    "direct_write.plain-rows",
    "RFC-0003:C-LAYOUTS#S2",
    witnesses=("plain_rows_looked_at", "head_rows_looked_at"),
    needs=("probe.pool",),
)
def test_rows_are_stored_as_computed(histories: Histories) -> None:
    """A cast on the way into the pool changes what attention reads."""
    histories.run("direct_write", laws=[rows_are_stored_as_computed])


@check(
    "direct_write.index-pages",
    "RFC-0003:C-LAYOUTS#S3",
    witnesses=("index_rows_looked_at", "fp8_rows_looked_at"),
    needs=("probe.pool",),
)
def test_index_rows_lie_in_the_page_of_their_token(histories: Histories) -> None:
    """An index that is addressed like latents scores the keys of other tokens."""
    histories.run("direct_write", laws=[index_rows_lie_in_the_page_of_their_token])


@check(
    "direct_write.fp8-numbers",
    "RFC-0003:C-LAYOUTS#S4",
    witnesses=("tile_of_zeros_looked_at", "fp8_rows_looked_at"),
    needs=("probe.pool",),
)
def test_fp8_rows_are_numbers(histories: Histories) -> None:
    """A tile of zeros divided by its scale of zero is NaN, and from there every score is."""
    histories.run("direct_write", laws=[fp8_rows_are_numbers])


@check(
    "direct_write.fp8-values",
    "RFC-0003:C-LAYOUTS#S5",
    witnesses=("fp8_rows_looked_at",),
    needs=("probe.pool",),
)
def test_fp8_rows_are_near_what_was_computed(histories: Histories) -> None:
    """A scale of the wrong tile loses small values; a rope that is rounded turns every position a little."""
    histories.run("direct_write", laws=[fp8_rows_are_near_what_was_computed])

"""The checks of `direct_write`: where pages lie, what a read returns, and what comes before the end of a layer."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.direct_write_places import (
    a_layer_ends_after_its_rows,
    a_read_returns_the_rows_of_its_locations,
    a_read_sees_what_was_written_before_it,
    pages_lie_on_their_lanes,
    the_dummy_page_lies_on_no_lane,
    the_page_at_a_place_is_the_one_placed_there,
    what_is_not_of_the_pool_is_refused,
)
from sharedkv_conformance.marks import check

LONG = 1 << 33
"""Logical pages of a pool whose page numbers, and those of each lane, need more than 32 bits."""


@check("direct_write.places", "RFC-0003:C-PLACEMENT#S1", witnesses=("last_page_placed",), cases=("KV-47",))
def test_pages_lie_on_their_lanes(histories: Histories) -> None:
    """A page number that is divided without its offset lies one lane or one page further, in perfect balance."""
    histories.run("direct_write", laws=[pages_lie_on_their_lanes])
    with histories.written(
        "direct_write", OpenConfig(cp_size=4, page_size=16, pages=40), laws=[pages_lie_on_their_lanes]
    ) as call:
        call("direct_write.place", pages=(4, 4, 4, 5, 6, 7, 8, 11, 40))


@check(
    "direct_write.long-pools",
    "RFC-0003:C-PLACEMENT#S1",
    "RFC-0003:C-PLACEMENT#S3",
    witnesses=("last_page_placed", "page_asked_back"),
    cases=("KV-38",),
)
def test_places_of_long_pools_are_exact(histories: Histories) -> None:
    """A page number that is cut to 32 bits names a page at the other end of the pool."""
    laws = [pages_lie_on_their_lanes, the_page_at_a_place_is_the_one_placed_there]
    lane_pages = min(LONG, histories.description.limits.get("max_pages", LONG)) // 2
    with histories.written("direct_write", OpenConfig(cp_size=2, page_size=2, pages=2 * lane_pages), laws=laws) as call:
        call("direct_write.place", pages=(1, lane_pages + 1, 2 * lane_pages))
        for physical in (1, lane_pages // 2, lane_pages):
            call("direct_write.page_at", lane=1, physical=physical)


@check("direct_write.dummy-page", "RFC-0003:C-PLACEMENT#S2", witnesses=("dummy_page_placed",))
def test_the_dummy_page_lies_on_no_lane(histories: Histories) -> None:
    """Padded writes of all ranks go to the dummy page; on a lane it would be a page of somebody."""
    laws = [the_dummy_page_lies_on_no_lane]
    histories.run("direct_write", laws=laws)
    with histories.written("direct_write", OpenConfig(cp_size=2, page_size=4, pages=8), laws=laws) as call:
        call("direct_write.place", pages=(0, 1, 8, 0))


@check("direct_write.places-undone", "RFC-0003:C-PLACEMENT#S3", witnesses=("page_asked_back",), cases=("KV-47",))
def test_the_page_at_a_place_is_the_one_placed_there(histories: Histories) -> None:
    """A rank that cannot say which page it holds sends it under the name of another."""
    histories.run("direct_write", laws=[the_page_at_a_place_is_the_one_placed_there])


@check(
    "direct_write.outside",
    "RFC-0003:C-PLACEMENT#S4",
    witnesses=("page_outside_asked", "place_outside_asked", "location_outside_read"),
    cases=("KV-36",),
)
def test_what_is_not_of_the_pool_is_refused(histories: Histories) -> None:
    """An index of minus one that is taken for a number names the last row of the pool."""
    laws = [what_is_not_of_the_pool_is_refused]
    histories.run("direct_write", laws=laws)
    with histories.written("direct_write", OpenConfig(cp_size=2, page_size=4, pages=9), laws=laws) as call:
        for pages in ((1, 9), (1, -1)):
            call.attempt("direct_write.place", pages=pages)
        for lane, physical in ((0, 5), (2, 1), (-1, 1), (1, -1)):
            call.attempt("direct_write.page_at", lane=lane, physical=physical)


@check(
    "direct_write.read",
    "RFC-0003:C-PLACEMENT#S5",
    witnesses=("rows_read_across_lanes",),
    cases=("KV-51",),
)
def test_a_read_returns_the_rows_of_its_locations(histories: Histories) -> None:
    """A location of the whole pool that is used on the buffer of one rank reads another token, or beyond the end."""
    histories.run("direct_write", laws=[a_read_returns_the_rows_of_its_locations])


@check(
    "direct_write.layer-end",
    "RFC-0003:C-ORDER#S1",
    witnesses=("layer_written_and_told",),
    needs=("probe.events",),
)
def test_a_layer_ends_after_its_rows(histories: Histories) -> None:
    """Who copies a layer away at its end copies an index that is still to be written."""
    histories.run("direct_write", laws=[a_layer_ends_after_its_rows])


@check(
    "direct_write.late-writes",
    "RFC-0003:C-ORDER#S2",
    witnesses=("late_rows_read",),
    needs=("probe.inject", "probe.pool"),
    cases=("KV-58",),
)
def test_a_read_sees_what_was_written_before_it(histories: Histories) -> None:
    """A host that knows of a row before the device has written it, and does not wait, reads what was there."""
    histories.run("direct_write", laws=[a_read_sees_what_was_written_before_it])

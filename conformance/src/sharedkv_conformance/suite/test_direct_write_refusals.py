"""The checks of `direct_write`: which writes are refused, with which reason, and that nothing of them is left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.pool import PoolConfig
from sharedkv_conformance.draws.direct_write import rank_rows
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.direct_write_refusals import (
    a_batch_without_a_plan_is_refused,
    a_faultless_write_is_done,
    a_refused_write_leaves_nothing,
    an_unknown_layout_is_refused,
    locations_are_counted,
    new_tokens_fill_pages_in_order,
    the_bytes_of_rows_are_counted,
    the_rows_of_each_rank_are_counted,
    tokens_lie_on_the_rank_that_computes_them,
    unknown_names_are_refused,
)
from sharedkv_conformance.marks import check
from sharedkv_conformance.model.direct_write_state import DirectWriteState

SMALL = OpenConfig(cp_size=2, page_size=2, pages=4)


def _four_pages(locations: tuple[int, ...]) -> dict[str, Any]:
    """Return a write of four pages of one request: the first and the last are of rank 0."""
    batch = (ExtendRequest(request="r0", prefix_tokens=0, extend_tokens=8),)
    rows = rank_rows(DirectWriteState(SMALL), 0, batch, "valid", None)
    return {"layer": 0, "batch": batch, "locations": locations, "static_tokens": len(locations), "rows": rows}


@check(
    "direct_write.row-count",
    "RFC-0003:C-VALIDATION#S1",
    witnesses=(
        "rows_miscounted",
        "rows_of_one_request_miscounted",
        "rows_of_the_last_rank_miscounted",
        "several_requests_written",
    ),
)
def test_the_rows_of_each_rank_are_counted(histories: Histories) -> None:
    """Rows of another batch, or of one request in place of all, are written somewhere if nobody counts them."""
    laws = [the_rows_of_each_rank_are_counted]
    histories.run("direct_write", laws=laws)
    with histories.written("direct_write", SMALL, laws=laws) as call:
        args = _four_pages((2, 3, 4, 5, 8, 9, 6, 7))
        first, last = args["rows"]
        halved = [replace(each, data=each.data[: len(each.data) // 2]) for each in last.buffers]
        half = replace(last, rows=last.rows // 2, buffers=tuple(halved))
        call.attempt("direct_write.write", **{**args, "rows": (first, half)})


@check(
    "direct_write.row-bytes",
    "RFC-0003:C-VALIDATION#S2",
    witnesses=("row_bytes_miscounted", "whole_rows_miscounted"),
    cases=("KV-89",),
)
def test_the_bytes_of_rows_are_counted(histories: Histories) -> None:
    """Rows of another width shift each row after the first."""
    laws = [the_bytes_of_rows_are_counted]
    histories.run("direct_write", laws=laws)
    with histories.written("direct_write", SMALL, laws=laws) as call:
        args = _four_pages((2, 3, 4, 5, 8, 9, 6, 7))
        first, second = args["rows"]
        for more in (first.buffers[0].data, b"", first.buffers[0].data[: len(first.buffers[0].data) // first.rows]):
            buffers = (replace(first.buffers[0], data=first.buffers[0].data + more), *first.buffers[1:])
            call.attempt("direct_write.write", **{**args, "rows": (replace(first, buffers=buffers), second)})


@check(
    "direct_write.location-count",
    "RFC-0003:C-VALIDATION#S3",
    witnesses=("too_few_locations", "tail_unproven", "static_tail_given"),
)
def test_locations_are_counted(histories: Histories) -> None:
    """Two lists that are cut to the shorter of both hide that one of them is wrong."""
    histories.run("direct_write", laws=[locations_are_counted])


@check(
    "direct_write.owner",
    "RFC-0003:C-VALIDATION#S4",
    witnesses=("page_of_another_lane", "page_not_of_the_pool"),
    cases=("KV-36", "KV-51"),
)
def test_tokens_lie_on_the_rank_that_computes_them(histories: Histories) -> None:
    """A rank that writes a row for a page that it does not own writes into a page of somebody else."""
    histories.run("direct_write", laws=[tokens_lie_on_the_rank_that_computes_them])


@check("direct_write.names", "RFC-0003:C-VALIDATION#S5", witnesses=("unknown_name_written", "unknown_name_read"))
def test_unknown_names_are_refused(histories: Histories) -> None:
    """A layer of minus one is the last one in many languages."""
    laws = [unknown_names_are_refused]
    histories.run("direct_write", laws=laws)
    with histories.written("direct_write", SMALL, laws=laws) as call:
        call.attempt("direct_write.write", **{**_four_pages((2, 3, 4, 5, 8, 9, 6, 7)), "layer": -1})
        call.attempt("direct_write.read", layer=-1, buffer="latent", locations=(2,))


@check("direct_write.unplannable", "RFC-0003:C-VALIDATION#S6", witnesses=("unplannable_write",))
def test_a_batch_without_a_plan_is_refused(histories: Histories) -> None:
    """A prefix that ends within a page makes two ranks write one page."""
    histories.run("direct_write", laws=[a_batch_without_a_plan_is_refused])


@check(
    "direct_write.refused-untouched",
    "RFC-0003:C-VALIDATION#S7",
    witnesses=("looked_at_after_a_refusal",),
    needs=("probe.pool",),
)
def test_a_refused_write_leaves_nothing(histories: Histories) -> None:
    """A write that is refused half way leaves a page of two batches."""
    histories.run("direct_write", laws=[a_refused_write_leaves_nothing])


@check(
    "direct_write.accepted",
    "RFC-0003:C-VALIDATION#S8",
    witnesses=("several_requests_written", "one_request_written", "rank_without_rows", "static_tail_given"),
)
def test_a_faultless_write_is_done(histories: Histories) -> None:
    """Who refuses whatever is unusual sends it down a slower path that nobody looks at."""
    histories.run("direct_write", laws=[a_faultless_write_is_done])


@check(
    "direct_write.static-accepted",
    "RFC-0003:C-VALIDATION#S8",
    witnesses=("own_static_rows_given",),
    needs=("planning.batch",),
)
def test_static_rows_of_each_rank_are_taken(histories: Histories) -> None:
    """A rank that computes little need not pad its rows to those of the rank that computes most."""
    histories.run("direct_write", laws=[a_faultless_write_is_done])


@check(
    "direct_write.page-order",
    "RFC-0003:C-VALIDATION#S9",
    witnesses=("page_out_of_order", "page_written_twice", "one_request_written"),
)
def test_new_tokens_fill_pages_in_order(histories: Histories) -> None:
    """A page that is not filled in order is read in order all the same."""
    laws = [new_tokens_fill_pages_in_order]
    histories.run("direct_write", laws=laws)
    with histories.written("direct_write", SMALL, laws=laws) as call:
        for locations in ((2, 3, 4, 5, 4, 5, 6, 7), (2, 3, 5, 4, 8, 9, 6, 7), (2, 3, 4, 9, 8, 5, 6, 7)):
            call.attempt("direct_write.write", **_four_pages(locations))


@check("direct_write.layout", "RFC-0003:C-LAYOUTS#S6", witnesses=("unknown_layout_opened", "known_layout_opened"))
def test_an_unknown_layout_is_refused(histories: Histories) -> None:
    """A layout that is misspelt and taken for the default one stores rows of another width."""
    for layout in ("mla_bf16", "mla_fp8", "mha_bf16", "mla_fp16", ""):
        config = OpenConfig(cp_size=2, page_size=2, pages=4, pool=PoolConfig(layout=layout))
        histories.opened("direct_write", config, laws=[an_unknown_layout_is_refused])

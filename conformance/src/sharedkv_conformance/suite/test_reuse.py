"""The checks of `reuse` that concern the dense view: what it holds, and when it is made anew."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.draws.reuse_odd_scripts import batches_of_one_epoch, late_prefixes, static_rows
from sharedkv_conformance.draws.reuse_scripts import (
    Script,
    absent_views,
    config,
    read_back,
    refused_batches,
    several_prefixes,
    tiny_extends,
)
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.reuse import (
    a_batch_without_a_view_is_refused_by_name,
    a_refused_composition_leaves_the_views,
    a_view_is_made_of_what_the_pools_hold_now,
    a_view_that_is_not_there_is_refused,
    an_epoch_belongs_to_one_batch,
    an_epoch_that_has_passed_is_refused,
    bases_and_tokens_count_prefixes_and_new_tokens,
    every_buffer_has_a_row_for_each_token,
    every_rank_has_the_same_view,
    index_keys_cross_as_bytes,
    new_rows_are_read_alike,
    new_rows_are_those_that_ranks_computed,
    prefix_rows_are_read_alike,
    prefix_rows_are_those_of_the_pools,
    prefix_rows_stand_in_the_order_of_the_table,
    rows_that_are_not_of_the_batch_are_refused_by_name,
    what_is_stale_behind_a_table_is_not_shown,
)
from sharedkv_conformance.marks import Law, check


def _written(
    histories: Histories, script: Callable[[Script], None], laws: list[Law], layout: str = "mla_bf16", cp_size: int = 2
) -> None:
    """Run a written history."""
    opened = config(layout, cp_size)
    with histories.written("reuse", opened, laws=laws) as call:
        script(Script(call, opened))


@check(
    "reuse.bases",
    "RFC-0004:C-DENSE-VIEW#S1",
    witnesses=("cached_prefix_shown", "view_of_several_requests", "index_shown"),
    cases=("KV-93",),
    needs=("direct_write",),
)
def test_every_token_has_its_place(histories: Histories) -> None:
    """Latents of one length and index rows of another make attention read past one of them."""
    laws = [bases_and_tokens_count_prefixes_and_new_tokens, every_buffer_has_a_row_for_each_token]
    histories.run("reuse", laws=laws)
    _written(histories, several_prefixes, laws)


@check(
    "reuse.prefix",
    "RFC-0004:C-DENSE-VIEW#S2",
    witnesses=("several_prefixes_shown", "fp8_latents_shown", "prefix_read_from_the_pool"),
    cases=("KV-50", "KV-51", "KV-76"),
    needs=("direct_write",),
)
def test_prefix_rows_are_those_of_the_pools(histories: Histories) -> None:
    """A cached token that is read from another place answers from another text."""
    laws = [prefix_rows_are_those_of_the_pools, prefix_rows_are_read_alike]
    histories.run("reuse", laws=laws)
    for layout in ("mla_bf16", "mla_fp8", "mha_bf16"):
        _written(histories, read_back, laws, layout)


@check(
    "reuse.new-rows",
    "RFC-0004:C-DENSE-VIEW#S3",
    witnesses=("rows_of_two_segments", "view_of_several_requests", "new_row_read_from_the_pool"),
    needs=("direct_write",),
)
def test_new_rows_are_those_that_ranks_computed(histories: Histories) -> None:
    """A row that is looked up by its place in the batch is one that another rank computed."""
    laws = [new_rows_are_those_that_ranks_computed, new_rows_are_read_alike]
    histories.run("reuse", laws=laws)
    for layout in ("mla_bf16", "mla_fp8", "mha_bf16"):
        _written(histories, read_back, laws, layout)


@check(
    "reuse.late-prefix",
    "RFC-0004:C-DENSE-VIEW#S2",
    witnesses=("late_prefix_shown",),
    needs=("direct_write", "probe.inject"),
)
def test_late_prefix_rows_are_waited_for(histories: Histories) -> None:
    """A view is gathered before the rows of its prefix have arrived."""
    laws = [prefix_rows_are_those_of_the_pools]
    for layout in ("mla_bf16", "mla_fp8", "mha_bf16"):
        _written(histories, late_prefixes, laws, layout)


@check(
    "reuse.new-rows-beside-dummies",
    "RFC-0004:C-DENSE-VIEW#S3",
    witnesses=("compute_rows_composed",),
    needs=("planning.batch",),
)
def test_dummy_rows_are_not_shown(histories: Histories) -> None:
    """A row that a rank computes for company stands where a token should."""
    _written(histories, tiny_extends, [new_rows_are_those_that_ranks_computed], cp_size=4)


@check(
    "reuse.order",
    "RFC-0004:C-DENSE-VIEW#S4",
    witnesses=("prefix_of_several_extents",),
    cases=("KV-50",),
    needs=("direct_write",),
)
def test_prefix_rows_stand_in_the_order_of_the_table(histories: Histories) -> None:
    """What was gathered rank by rank is a text with its pages shuffled."""
    laws = [prefix_rows_stand_in_the_order_of_the_table]
    histories.run("reuse", laws=laws)
    _written(histories, several_prefixes, laws)


@check("reuse.stale-tail", "RFC-0004:C-DENSE-VIEW#S5", witnesses=("stale_tail_shown",), needs=("direct_write",))
def test_what_is_stale_behind_a_table_is_not_shown(histories: Histories) -> None:
    """The end of a shorter table shows the text of a request that has left."""
    laws = [what_is_stale_behind_a_table_is_not_shown]
    histories.run("reuse", laws=laws)
    _written(histories, several_prefixes, laws)


@check("reuse.index-bytes", "RFC-0004:C-DENSE-VIEW#S6", witnesses=("index_shown",))
def test_index_keys_cross_as_bytes(histories: Histories) -> None:
    """A key that was converted scores differently from the one that was written."""
    histories.run("reuse", laws=[index_keys_cross_as_bytes])


@check("reuse.all-ranks", "RFC-0004:C-DENSE-VIEW#S7", witnesses=("rows_of_two_segments", "view_of_one_request"))
def test_every_rank_has_the_same_view(histories: Histories) -> None:
    """Ranks that see only their own new rows attend to zeros in place of the others."""
    histories.run("reuse", laws=[every_rank_has_the_same_view])


@check(
    "reuse.batch-refusals",
    "RFC-0004:C-DENSE-VIEW#S8",
    witnesses=("batch_without_a_view", "table_too_short", "batch_composed"),
    cases=("KV-78",),
    needs=("direct_write",),
)
def test_a_batch_without_a_view_is_refused(histories: Histories) -> None:
    """A table that is too short is read past its end."""
    laws = [a_batch_without_a_view_is_refused_by_name]
    histories.run("reuse", laws=laws)
    _written(histories, refused_batches, laws)


@check(
    "reuse.row-refusals",
    "RFC-0004:C-DENSE-VIEW#S9",
    witnesses=("rows_of_another_batch", "batch_composed"),
    needs=("direct_write",),
)
def test_rows_of_another_batch_are_refused(histories: Histories) -> None:
    """Rows that are one too few put every later one in the place of its neighbour."""
    laws = [rows_that_are_not_of_the_batch_are_refused_by_name]
    histories.run("reuse", laws=laws)
    _written(histories, batches_of_one_epoch, laws)


@check(
    "reuse.static-rows",
    "RFC-0004:C-DENSE-VIEW#S9",
    witnesses=("static_rows_without_padding",),
    needs=("planning.batch",),
)
def test_static_rows_need_no_padding(histories: Histories) -> None:
    """A batch whose computed rows fill the static ones is turned away."""
    for cp_size in (2, 3, 4):
        laws = [rows_that_are_not_of_the_batch_are_refused_by_name]
        _written(histories, static_rows, laws, cp_size=cp_size)


@check("reuse.stale-epoch", "RFC-0004:C-EPOCHS#S1", witnesses=("passed_epoch", "second_layer_composed"))
def test_an_epoch_that_has_passed_is_refused(histories: Histories) -> None:
    """A straggler of the last batch overwrites the views of this one."""
    histories.run("reuse", laws=[an_epoch_that_has_passed_is_refused])


@check("reuse.one-batch-an-epoch", "RFC-0004:C-EPOCHS#S2", witnesses=("second_batch_of_an_epoch", "composed_again"))
def test_an_epoch_belongs_to_one_batch(histories: Histories) -> None:
    """Two batches under one number are given the rows of the first."""
    histories.run("reuse", laws=[an_epoch_belongs_to_one_batch])


@check(
    "reuse.nearly-the-same-batch",
    "RFC-0004:C-EPOCHS#S2",
    witnesses=("pages_of_a_later_request_differ", "another_split_of_the_same_tokens"),
    needs=("direct_write",),
)
def test_a_batch_is_compared_whole(histories: Histories) -> None:
    """A batch that differs from another in its last page alone is given the other's rows."""
    _written(histories, batches_of_one_epoch, [an_epoch_belongs_to_one_batch])


@check("reuse.not-composed", "RFC-0004:C-EPOCHS#S3", witnesses=("view_that_is_not_there", "view_read"))
def test_a_view_that_is_not_there_is_refused(histories: Histories) -> None:
    """A buffer that nobody filled is read as if it held something."""
    laws = [a_view_that_is_not_there_is_refused]
    histories.run("reuse", laws=laws)
    _written(histories, absent_views, laws)


@check(
    "reuse.made-anew",
    "RFC-0004:C-EPOCHS#S4",
    witnesses=("later_epoch_shown", "second_layer_shown"),
    cases=("KV-61",),
)
def test_a_view_is_made_of_what_the_pools_hold_now(histories: Histories) -> None:
    """The rows of the last batch, or of the layer before, are served to this one."""
    histories.run("reuse", laws=[a_view_is_made_of_what_the_pools_hold_now])


@check("reuse.refused-and-whole", "RFC-0004:C-EPOCHS#S5", witnesses=("view_read_after_a_refusal",))
def test_a_refused_composition_leaves_the_views(histories: Histories) -> None:
    """A request that is turned away takes the views of the others with it."""
    histories.run("reuse", laws=[a_refused_composition_leaves_the_views])

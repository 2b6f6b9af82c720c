"""The checks of `reuse` that concern its readers: the selection of the indexer, attention, and the second pass."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.draws.reuse_odd_scripts import nothing_selected, odd_questions
from sharedkv_conformance.draws.reuse_scripts import (
    Script,
    config,
    selections,
    tiny_extends,
    two_passes,
    without_an_index,
)
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.reuse_reading import (
    a_dummy_row_selects_nothing,
    a_layout_without_an_index_has_no_selection,
    a_position_of_another_request_is_refused,
    a_row_sees_its_own_request_up_to_itself,
    a_second_pass_attends_alike,
    a_second_pass_selects_alike,
    as_many_as_asked_for_and_visible,
    attention_is_that_of_a_single_rank,
    no_token_left_out_scores_higher,
    positions_are_those_of_the_dense_view,
    queries_are_the_rows_of_a_domain,
    what_is_not_there_has_no_share,
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
    "reuse.scores",
    "RFC-0004:C-TOP-K#S1",
    witnesses=("some_left_out", "one_request_selects", "scores_below_zero_told_apart"),
    needs=("direct_write",),
)
def test_no_token_left_out_scores_higher(histories: Histories) -> None:
    """Attention misses the tokens that matter most."""
    laws = [no_token_left_out_scores_higher]
    histories.run("reuse", laws=laws)
    _written(histories, selections, laws)
    _written(histories, two_passes, laws)


@check(
    "reuse.selection-size",
    "RFC-0004:C-TOP-K#S2",
    witnesses=("fewer_visible_than_asked_for", "some_left_out"),
    needs=("direct_write",),
)
def test_as_many_as_asked_for_and_visible(histories: Histories) -> None:
    """A short context that is cut shorter loses tokens for nothing."""
    laws = [as_many_as_asked_for_and_visible]
    histories.run("reuse", laws=laws)
    _written(histories, selections, laws)


@check("reuse.visible", "RFC-0004:C-TOP-K#S3", witnesses=("some_left_out",), needs=("direct_write",))
def test_a_row_sees_its_own_request_up_to_itself(histories: Histories) -> None:
    """A row that looks ahead, or next door, answers with what it must not know."""
    laws = [a_row_sees_its_own_request_up_to_itself]
    histories.run("reuse", laws=laws)
    _written(histories, selections, laws)


@check("reuse.coordinates", "RFC-0004:C-TOP-K#S4", witnesses=("some_left_out",), needs=("direct_write",))
def test_positions_are_those_of_the_dense_view(histories: Histories) -> None:
    """The right tokens, counted from elsewhere, are the wrong ones."""
    laws = [positions_are_those_of_the_dense_view]
    histories.run("reuse", laws=laws)
    _written(histories, selections, laws)


@check("reuse.dummy-selection", "RFC-0004:C-TOP-K#S5", witnesses=("dummy_rows_asked",), needs=("planning.batch",))
def test_a_dummy_row_selects_nothing(histories: Histories) -> None:
    """The selection of a row that nobody keeps is kept."""
    laws = [a_dummy_row_selects_nothing]
    histories.run("reuse", laws=laws)
    _written(histories, tiny_extends, laws, cp_size=4)


@check(
    "reuse.query-rows",
    "RFC-0004:C-TOP-K#S6",
    witnesses=(
        "queries_of_no_domain",
        "static_queries_offered",
        "queries_miscounted",
        "queries_mismeasured",
        "valid_queries_beside_dummies",
    ),
    needs=("planning.batch",),
)
def test_queries_are_the_rows_of_a_domain(histories: Histories) -> None:
    """Valid rows that are taken for compute rows are shifted by each dummy before them."""
    laws = [queries_are_the_rows_of_a_domain]
    histories.run("reuse", laws=laws)
    _written(histories, tiny_extends, laws, cp_size=4)
    _written(histories, odd_questions, laws, cp_size=4)


@check("reuse.no-index", "RFC-0004:C-TOP-K#S7", witnesses=("layout_without_an_index", "one_request_selects"))
def test_a_layout_without_an_index_has_no_selection(histories: Histories) -> None:
    """A pool of keys and values is read as if it held an index."""
    laws = [a_layout_without_an_index_has_no_selection]
    histories.run("reuse", laws=laws)
    _written(histories, without_an_index, laws, "mha_bf16")
    _written(histories, two_passes, laws)


@check(
    "reuse.attention",
    "RFC-0004:C-ATTENTION#S1",
    witnesses=("several_positions_attended",),
    needs=("direct_write",),
)
def test_attention_is_that_of_a_single_rank(histories: Histories) -> None:
    """The answer depends on how many ranks computed it."""
    laws = [attention_is_that_of_a_single_rank]
    histories.run("reuse", laws=laws)
    for layout in ("mla_bf16", "mla_fp8"):
        _written(histories, selections, laws, layout)


@check(
    "reuse.missing-positions",
    "RFC-0004:C-ATTENTION#S2",
    witnesses=("missing_positions_attended", "dummy_rows_attended"),
    cases=("KV-36",),
    needs=("planning.batch",),
)
def test_what_is_not_there_has_no_share(histories: Histories) -> None:
    """An index of -1 reads the last row of the buffer."""
    laws = [what_is_not_there_has_no_share]
    histories.run("reuse", laws=laws)
    _written(histories, tiny_extends, laws, cp_size=4)


@check(
    "reuse.nothing-selected",
    "RFC-0004:C-ATTENTION#S2",
    witnesses=("nothing_selected_attended", "several_positions_attended"),
    needs=("direct_write",),
)
def test_a_row_that_selected_nothing_has_zeros(histories: Histories) -> None:
    """A sum of no shares is divided by, and what is no number goes on through every layer."""
    laws = [what_is_not_there_has_no_share]
    histories.run("reuse", laws=laws)
    for layout in ("mla_bf16", "mla_fp8"):
        _written(histories, nothing_selected, laws, layout)


@check(
    "reuse.foreign-positions",
    "RFC-0004:C-ATTENTION#S3",
    witnesses=("position_of_another_request", "several_positions_attended"),
)
def test_a_position_of_another_request_is_refused(histories: Histories) -> None:
    """One request reads what another was told."""
    histories.run("reuse", laws=[a_position_of_another_request_is_refused])


@check(
    "reuse.second-pass",
    "RFC-0004:C-SECOND-PASS#S1",
    witnesses=("seen_in_an_earlier_pass",),
    needs=("direct_write",),
)
def test_a_second_pass_is_like_the_first(histories: Histories) -> None:
    """The same question is answered worse the second time."""
    for layout in ("mla_bf16", "mla_fp8"):
        _written(histories, two_passes, [a_second_pass_selects_alike, a_second_pass_attends_alike], layout)

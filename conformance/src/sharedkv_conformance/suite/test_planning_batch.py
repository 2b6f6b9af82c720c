"""The checks of `planning.batch`: plans of several requests, their rows, and the order in which rows come back."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.planning_batch import small_opening
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.planning_batch import (
    a_batch_with_a_plan_is_planned,
    a_batch_without_a_plan_is_refused_by_name,
    each_request_has_its_own_split,
    equal_calls_have_equal_plans_at_any_time,
    equal_calls_have_equal_plans_on_every_rank,
    last_tokens_are_found,
    maxima_bound_the_rows,
    segments_stand_request_by_request,
    the_worked_segments_hold,
    valid_rows_are_numbered_in_order,
)
from sharedkv_conformance.laws.planning_order import (
    arrays_say_what_the_plan_says,
    bases_count_the_tokens_of_earlier_requests,
    collected_values_are_those_of_last_tokens,
    dealt_values_follow_the_rows,
    every_array_is_there_with_its_type,
    gather_names_the_token_of_each_row,
    restore_is_the_inverse_of_gather,
    restored_values_follow_the_tokens,
    rows_of_another_number_are_not_taken,
    the_worked_gather_holds,
    values_of_another_number_are_not_dealt,
)
from sharedkv_conformance.laws.planning_rows import (
    a_multiple_below_one_is_refused,
    compute_rows_are_valid_rows_and_listed_dummies,
    dummies_stay_in_their_request,
    no_rank_is_without_a_row,
    only_empty_segments_are_padded,
    static_rows_are_the_most_rounded_up,
    valid_rows_are_new_tokens,
)
from sharedkv_conformance.marks import check
from sharedkv_conformance.model.allocation_state import batch_of

BATCH = ("planning.batch",)
WORKED = OpenConfig(cp_size=2, page_size=4, pages=16)
MOST_ROWS = 64
WORKED_BATCH = batch_of((8, 13), (0, 5))


@check(
    "planning.request-local",
    "RFC-0002:C-PLAN#S1",
    witnesses=("planned_several_requests", "planned_one_request", "planned_a_shorter_tail_inside"),
    needs=BATCH,
)
def test_each_request_has_its_own_split(histories: Histories) -> None:
    """A batch planned as one sequence has the right number of tokens and pages of the wrong ranks."""
    histories.run("planning", laws=[each_request_has_its_own_split])


@check(
    "planning.counted-in-pages",
    "RFC-0002:C-PLAN#S1",
    witnesses=("planned_several_requests", "planned_one_request"),
    cases=("KV-56", "KV-80"),
    needs=BATCH,
)
def test_pages_and_tokens_of_a_batch_are_counted_apart(histories: Histories) -> None:
    """Three requests of half a page are three pages of lane 0; a logical page has as many tokens on any rank."""
    for cp_size, page_size, requests in ((2, 64, ((0, 33),) * 2 + ((0, 34),)), (4, 16, ((0, 200),))):
        config = OpenConfig(cp_size=cp_size, page_size=page_size, pages=4 * cp_size)
        with histories.written("planning", config, laws=[each_request_has_its_own_split]) as call:
            call("planning.plan", batch=batch_of(*requests), static_multiple=1)


@check(
    "planning.row-order",
    "RFC-0002:C-PLAN#S2",
    witnesses=("planned_several_requests", "planned_cached_prefixes", "planned_a_tiny_request_in_company"),
    cases=("KV-54",),
    needs=BATCH,
)
def test_segments_stand_request_by_request(histories: Histories) -> None:
    """Rows in another order than the locations beside them give every request the keys of another."""
    histories.run("planning", laws=[segments_stand_request_by_request])


@check(
    "planning.worked-batch",
    "RFC-0002:C-PLAN#S2",
    "RFC-0002:C-RESTORE#S1",
    witnesses=("planned_several_requests",),
    needs=BATCH,
)
def test_the_worked_batch_has_its_rows(histories: Histories) -> None:
    """The tables of the clauses hold to the number, so that no shared formula can be wrong on both sides."""
    with histories.written("planning", WORKED, laws=[the_worked_segments_hold, the_worked_gather_holds]) as call:
        call("planning.plan", batch=WORKED_BATCH, static_multiple=1)


@check(
    "planning.valid-numbering",
    "RFC-0002:C-PLAN#S3",
    witnesses=("planned_several_requests", "planned_a_tiny_request_in_company"),
    needs=BATCH,
)
def test_valid_rows_are_numbered_in_order(histories: Histories) -> None:
    """A segment that begins at a wrong row is written from the rows of its neighbour."""
    histories.run("planning", laws=[valid_rows_are_numbered_in_order])


@check(
    "planning.last-tokens",
    "RFC-0002:C-PLAN#S4",
    witnesses=("planned_several_requests", "planned_a_tiny_request_in_company"),
    needs=BATCH,
)
def test_last_tokens_are_found_in_a_batch(histories: Histories) -> None:
    """The next token of a request would be sampled from the middle of it, or from another request."""
    histories.run("planning", laws=[last_tokens_are_found])


@check(
    "planning.maxima",
    "RFC-0002:C-PLAN#S5",
    witnesses=("planned_several_requests", "planned_cached_prefixes", "planned_a_rank_without_tokens"),
    needs=BATCH,
)
def test_maxima_bound_the_rows(histories: Histories) -> None:
    """A kernel that is launched for too few rows or keys leaves the rest as it was."""
    histories.run("planning", laws=[maxima_bound_the_rows])


@check(
    "planning.batch-refusal",
    "RFC-0002:C-PLAN#S6",
    witnesses=("asked_for_an_empty_batch", "asked_for_a_faulty_request_in_company", "planned_several_requests"),
    needs=BATCH,
)
def test_a_batch_without_a_plan_is_refused(histories: Histories) -> None:
    """One faulty request that is planned with the others writes into a page of another rank."""
    histories.run("planning", laws=[a_batch_without_a_plan_is_refused_by_name, a_batch_with_a_plan_is_planned])


@check(
    "planning.same-again", "RFC-0002:C-PLAN#S7", witnesses=("planned_again", "planned_several_requests"), needs=BATCH
)
def test_equal_calls_have_equal_plans_at_any_time(histories: Histories) -> None:
    """A plan that depends on what was planned before disagrees with the plan that others hold."""
    histories.run("planning", laws=[equal_calls_have_equal_plans_at_any_time])


@check("planning.same-on-every-rank", "RFC-0002:C-PLAN#S7", witnesses=("planned_on_a_second_rank",), needs=BATCH)
def test_equal_calls_have_equal_plans_on_every_rank(histories: Histories) -> None:
    """Ranks that plan one batch in two ways exchange rows that do not belong together."""
    laws = [equal_calls_have_equal_plans_on_every_rank]
    histories.run("planning", laws=laws, ranks=None, opening=small_opening)


@check(
    "planning.valid-rows",
    "RFC-0002:C-ROWS#S1",
    witnesses=("planned_a_rank_without_tokens", "planned_several_requests", "planned_to_a_multiple"),
    needs=BATCH,
)
def test_valid_rows_are_new_tokens(histories: Histories) -> None:
    """A count with padding in it puts padding into the cache."""
    histories.run("planning", laws=[valid_rows_are_new_tokens])


@check(
    "planning.compute-rows",
    "RFC-0002:C-ROWS#S2",
    witnesses=("planned_a_rank_without_tokens", "planned_several_requests"),
    needs=BATCH,
)
def test_compute_rows_are_valid_rows_and_listed_dummies(histories: Histories) -> None:
    """A dummy row that nobody listed is taken for a token."""
    histories.run("planning", laws=[compute_rows_are_valid_rows_and_listed_dummies])


@check(
    "planning.no-idle-rank",
    "RFC-0002:C-ROWS#S3",
    witnesses=("planned_a_rank_without_tokens", "planned_several_requests"),
    needs=BATCH,
)
def test_no_rank_is_without_a_row(histories: Histories) -> None:
    """A rank without a row skips a collective, and all others hang in it."""
    histories.run("planning", laws=[no_rank_is_without_a_row])


@check(
    "planning.no-padded-tail",
    "RFC-0002:C-ROWS#S4",
    witnesses=("planned_a_shorter_tail_inside", "planned_a_tiny_request_in_company"),
    needs=BATCH,
)
def test_only_empty_segments_are_padded(histories: Histories) -> None:
    """Padding of every page tail costs long requests rows, and one more place to take padding for tokens."""
    histories.run("planning", laws=[only_empty_segments_are_padded])


@check(
    "planning.dummy-position",
    "RFC-0002:C-ROWS#S5",
    witnesses=("planned_a_rank_without_tokens", "planned_cached_prefixes"),
    needs=BATCH,
)
def test_dummies_stay_in_their_request(histories: Histories) -> None:
    """A dummy row that sees too far reads the keys of another request."""
    histories.run("planning", laws=[dummies_stay_in_their_request])


@check(
    "planning.static-rows",
    "RFC-0002:C-ROWS#S6",
    witnesses=("planned_to_a_multiple", "planned_ranks_of_unequal_rows"),
    needs=BATCH,
)
def test_static_rows_are_the_most_rounded_up(histories: Histories) -> None:
    """Ranks with buffers of different sizes cannot gather them."""
    histories.run("planning", laws=[static_rows_are_the_most_rounded_up])


@check(
    "planning.static-multiple",
    "RFC-0002:C-ROWS#S7",
    witnesses=("asked_for_a_multiple_below_one", "planned_to_a_multiple"),
    needs=BATCH,
)
def test_a_multiple_below_one_is_refused(histories: Histories) -> None:
    """A multiple of zero is a setting that was never made, and rounds everything to nothing."""
    histories.run("planning", laws=[a_multiple_below_one_is_refused])


@check(
    "planning.gather",
    "RFC-0002:C-RESTORE#S1",
    witnesses=("planned_several_requests", "planned_a_shorter_tail_inside"),
    needs=BATCH,
)
def test_gather_names_the_token_of_each_row(histories: Histories) -> None:
    """Embeddings are picked by the gather permutation: a wrong entry computes another token twice."""
    histories.run("planning", laws=[gather_names_the_token_of_each_row])


@check(
    "planning.restore",
    "RFC-0002:C-RESTORE#S2",
    witnesses=("planned_several_requests", "planned_a_tiny_request_in_company"),
    needs=BATCH,
)
def test_restore_is_the_inverse_of_gather(histories: Histories) -> None:
    """A reverse order built for one request mixes the tokens of two."""
    histories.run("planning", laws=[restore_is_the_inverse_of_gather])


@check("planning.deal", "RFC-0002:C-RESTORE#S3", witnesses=("dealt_several_requests",), needs=BATCH)
def test_dealt_values_follow_the_rows(histories: Histories) -> None:
    """Locations that are dealt in another order than rows are written to other tokens' slots."""
    histories.run("planning", laws=[dealt_values_follow_the_rows])
    with histories.written("planning", WORKED, laws=[dealt_values_follow_the_rows]) as call:
        call("planning.plan", batch=WORKED_BATCH, static_multiple=1)
        call("planning.deal", batch=WORKED_BATCH, values=tuple(range(100, 118)))


@check("planning.restored-values", "RFC-0002:C-RESTORE#S4", witnesses=("restored_several_requests",), needs=BATCH)
def test_restored_values_follow_the_tokens(histories: Histories) -> None:
    """Rows in the order of ranks are taken for tokens in the order of requests."""
    histories.run("planning", laws=[restored_values_follow_the_tokens])
    with histories.written("planning", WORKED, laws=[restored_values_follow_the_tokens]) as call:
        call("planning.plan", batch=WORKED_BATCH, static_multiple=1)
        call("planning.restore", batch=WORKED_BATCH, rows=(tuple(range(100, 109)), tuple(range(200, 209))))


@check(
    "planning.collect-last",
    "RFC-0002:C-RESTORE#S5",
    witnesses=("collected_several_requests", "collected_beside_dummies"),
    needs=BATCH,
)
def test_collected_values_are_those_of_last_tokens(histories: Histories) -> None:
    """Only last tokens are collected for output; a wrong row answers for another token."""
    histories.run("planning", laws=[collected_values_are_those_of_last_tokens])
    batch = batch_of((8, 5), (0, 3))
    config = OpenConfig(cp_size=4, page_size=4, pages=16)
    with histories.written("planning", config, laws=[collected_values_are_those_of_last_tokens]) as call:
        ranks = call("planning.plan", batch=batch, static_multiple=1).ranks
        counts = [min(rank.compute_rows, MOST_ROWS) for rank in ranks]
        rows = tuple(tuple(range(100 * rank, 100 * rank + count)) for rank, count in enumerate(counts, 1))
        call("planning.collect_last", batch=batch, rows=rows)


@check(
    "planning.row-numbers",
    "RFC-0002:C-RESTORE#S6",
    witnesses=(
        "values_of_another_number",
        "rows_of_another_number",
        "collected_several_requests",
    ),
    needs=BATCH,
)
def test_rows_of_another_number_are_refused(histories: Histories) -> None:
    """Metadata of one request restores a part of the batch and leaves the rest as it was."""
    histories.run("planning", laws=[values_of_another_number_are_not_dealt, rows_of_another_number_are_not_taken])


@check("planning.descriptor-types", "RFC-0002:C-DESCRIPTORS#S1", witnesses=("described_several_requests",), needs=BATCH)
def test_every_array_is_there_with_its_type(histories: Histories) -> None:
    """A kernel reads an array of another type as other numbers."""
    histories.run("planning", laws=[every_array_is_there_with_its_type])


@check("planning.descriptors", "RFC-0002:C-DESCRIPTORS#S2", witnesses=("described_several_requests",), needs=BATCH)
def test_arrays_say_what_the_plan_says(histories: Histories) -> None:
    """Kernel and host would speak of different rows."""
    histories.run("planning", laws=[arrays_say_what_the_plan_says])


@check("planning.kv-base", "RFC-0002:C-DESCRIPTORS#S3", witnesses=("described_several_requests",), needs=BATCH)
def test_bases_count_the_tokens_of_earlier_requests(histories: Histories) -> None:
    """A base that forgets cached tokens, or counts padding, points into another request's keys."""
    histories.run("planning", laws=[bases_count_the_tokens_of_earlier_requests])

"""The laws of the three row domains: valid rows, compute rows with their dummies, static rows."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.planning import BatchPlan
from sharedkv_conformance.laws.planning_batch import PLAN, found, plan_of, rejected_for
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.planning_batch import dummy_rows, static_rows, unplannable, valid_rows
from sharedkv_conformance.model.planning_state import PlanningState, is_of_batch
from sharedkv_conformance.step import Answer, Call


@law("RFC-0002:C-ROWS#S1", on=PLAN)
def valid_rows_are_new_tokens(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Each rank, in rank order, counts the tokens of its segments and nothing else."""
    plan = plan_of(before, call, answer)
    if plan is None:
        return
    ranks = range(before.geometry.cp_size)
    wanted = [(rank, valid_rows(plan.segments, rank)) for rank in ranks]
    counted = [(rank.rank, rank.valid_rows) for rank in plan.ranks]
    if counted != wanted:
        yield f"valid rows (rank, rows) {counted}, expected {wanted}"


@law("RFC-0002:C-ROWS#S2", on=PLAN)
def compute_rows_are_valid_rows_and_listed_dummies(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows of the compute domain are numbered, counted and, where they are dummies, named."""
    plan = plan_of(before, call, answer)
    if plan is None or not all(is_of_batch(before.geometry, call.batch, s) for s in plan.segments):
        return
    following = [0] * before.geometry.cp_size
    for s in plan.segments:
        if s.first_compute_row != following[s.rank]:
            at, wanted = s.first_compute_row, following[s.rank]
            yield f"rank {s.rank}: request {s.request} {s.part} begins at compute row {at}, expected {wanted}"
            return
        following[s.rank] += s.end - s.start + s.dummy_rows
    counted = [rank.compute_rows for rank in plan.ranks]
    if counted != following:
        yield f"compute rows by rank {counted}, expected {following}"
    named = [(dummy.rank, dummy.row, dummy.request) for dummy in plan.dummies]
    expected = sorted((dummy.rank, dummy.row, dummy.request) for dummy in dummy_rows(call.batch, plan.segments))
    if named != expected:
        yield f"dummy rows (rank, row, request) {named}, expected {expected}"


@law("RFC-0002:C-ROWS#S3", on=PLAN)
def no_rank_is_without_a_row(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A rank that has nothing to compute skips what the others wait in."""
    plan = plan_of(before, call, answer)
    for rank in () if plan is None else plan.ranks:
        if rank.compute_rows < 1:
            yield f"rank {rank.rank} has {rank.compute_rows} compute rows"


@law("RFC-0002:C-ROWS#S4", on=PLAN)
def only_empty_segments_are_padded(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The tail of a page is no reason for a dummy row."""
    plan = plan_of(before, call, answer)
    for s in () if plan is None else plan.segments:
        if s.dummy_rows > (allowed := int(s.start == s.end)):
            yield f"rank {s.rank}: request {s.request} {s.part} has {s.dummy_rows} dummy rows, allowed are {allowed}"


@law("RFC-0002:C-ROWS#S5", on=PLAN)
def dummies_stay_in_their_request(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A dummy row reads what the last token of its request reads, never another request's tokens."""
    plan = plan_of(before, call, answer)
    for dummy in () if plan is None else plan.dummies:
        if 0 <= dummy.request < len(call.batch):
            tokens = call.batch[dummy.request].prefix_tokens + call.batch[dummy.request].extend_tokens
            if (dummy.position, dummy.kv_tokens) != (tokens - 1, tokens):
                at = f"rank {dummy.rank} row {dummy.row} of request {dummy.request}"
                yield f"{at}: position {dummy.position} sees {dummy.kv_tokens}, expected {tokens - 1} and {tokens}"


@law("RFC-0002:C-ROWS#S6", on=PLAN)
def static_rows_are_the_most_rounded_up(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Every rank pads to the same number, the least multiple that holds the rows of each."""
    plan = plan_of(before, call, answer)
    if plan is not None and plan.ranks:
        wanted = static_rows(_compute_rows(plan), call.static_multiple)
        counted = [rank.static_rows for rank in plan.ranks]
        if counted != [wanted] * len(counted):
            yield f"static rows by rank {counted} for a multiple of {call.static_multiple}, expected {wanted} on each"


@law("RFC-0002:C-ROWS#S7", on=PLAN)
def a_multiple_below_one_is_refused(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Nothing can be rounded up to a multiple of zero."""
    reasons = frozenset({Reason.STATIC_MULTIPLE_INVALID})
    if call.static_multiple < 1 and not unplannable(before.geometry, call.batch) and not rejected_for(answer, reasons):
        wanted = Reason.STATIC_MULTIPLE_INVALID
        yield f"multiple {call.static_multiple}: expected a rejection for {wanted}, got {found(answer)}"


def _compute_rows(plan: BatchPlan) -> list[int]:
    return [rank.compute_rows for rank in plan.ranks]

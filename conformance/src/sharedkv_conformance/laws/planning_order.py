"""The laws of permutations: gather and restore of a plan, values dealt, restored and collected, and descriptors.

Which rows a rank has is judged elsewhere. Here a plan is taken as it was given, as long as its rows can be counted on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.planning import BatchPlan, Descriptor
from sharedkv_conformance.laws.planning_batch import PLAN, WORKED, found, plan_of, rejected_for, sound_plan_of
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.planning_batch import (
    compute_rows,
    descriptors,
    inverse,
    kv_bases,
    last_tokens,
    new_tokens,
    tokens_by_rank,
    unplannable,
    valid_rows,
)
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.step import Answer, Call, Err, Ok

DEAL = "planning.deal"
RESTORE = "planning.restore"
COLLECT = "planning.collect_last"
DESCRIPTORS = "planning.descriptors"
BASE = "kv_base"


def gathered(geometry: Geometry, batch: Sequence[ExtendRequest], plan: BatchPlan) -> tuple[int, ...]:
    """Return the gather permutation that the segments of a plan ask for."""
    return tuple(token for tokens in tokens_by_rank(geometry, batch, plan.segments) for token in tokens)


@law("RFC-0002:C-RESTORE#S1", on=PLAN)
def gather_names_the_token_of_each_row(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows of all ranks, one rank after another, are the tokens of their segments."""
    plan = sound_plan_of(before, call, answer)
    if plan is not None and plan.gather != (wanted := gathered(before.geometry, call.batch, plan)):
        yield f"gather {_first_difference(plan.gather, wanted)}"


@law("RFC-0002:C-RESTORE#S1", on=PLAN)
def the_worked_gather_holds(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The picture of the clause, as numbers that nothing computes."""
    plan = sound_plan_of(before, call, answer)
    asked = tuple((request.prefix_tokens, request.extend_tokens) for request in call.batch)
    is_worked = (before.geometry.cp_size, before.geometry.page_size, asked) == WORKED
    if plan is not None and is_worked and _is_request_major(plan) and plan.gather != WORKED_GATHER:
        yield f"gather {_first_difference(plan.gather, WORKED_GATHER)}"


@law("RFC-0002:C-RESTORE#S2", on=PLAN)
def restore_is_the_inverse_of_gather(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """What the gather permutation puts at a row, the restore permutation finds there."""
    plan = plan_of(before, call, answer)
    if plan is not None and sorted(plan.gather) == list(range(len(plan.gather))):
        wanted = inverse(plan.gather)
        if plan.restore != wanted:
            yield f"restore {_first_difference(plan.restore, wanted)}"


@law("RFC-0002:C-RESTORE#S3", on=DEAL)
def dealt_values_follow_the_rows(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Each rank gets what its rows compute."""
    plan = before.sound_plan(call.batch)
    if plan is None or not isinstance(answer, Ok) or len(call.values) != new_tokens(call.batch):
        return
    by_rank = tokens_by_rank(before.geometry, call.batch, plan.segments)
    wanted = tuple(tuple(call.values[token] for token in tokens) for tokens in by_rank)
    if answer.value != wanted:
        yield f"dealt {found(answer)}, expected {wanted}"


@law("RFC-0002:C-RESTORE#S4", on=RESTORE)
def restored_values_follow_the_tokens(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Each token gets what its row computed."""
    plan = before.sound_plan(call.batch)
    if plan is None or not isinstance(answer, Ok) or _counts(call.rows) != _valid_rows(before.geometry, plan):
        return
    values = [value for rows in call.rows for value in rows]
    row_of = inverse(gathered(before.geometry, call.batch, plan))
    wanted = tuple(values[row] for row in row_of)
    if answer.value != wanted:
        yield f"restored {_first_difference(answer.value, wanted)}"


@law("RFC-0002:C-RESTORE#S5", on=COLLECT)
def collected_values_are_those_of_last_tokens(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Each request gets the row of its own last token."""
    plan = before.sound_plan(call.batch)
    if plan is None or not isinstance(answer, Ok) or _counts(call.rows) != _compute_rows(before.geometry, plan):
        return
    wanted = tuple(call.rows[last.rank][last.compute_row] for last in last_tokens(call.batch, plan.segments))
    if answer.value != wanted:
        yield f"collected {found(answer)}, expected {wanted}"


@law("RFC-0002:C-RESTORE#S6", on=DEAL)
def values_of_another_number_are_not_dealt(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Values of one request do not pass for those of a batch."""
    if not unplannable(before.geometry, call.batch):
        yield from _number(answer, [len(call.values)], [new_tokens(call.batch)])


@law("RFC-0002:C-RESTORE#S6", on=(RESTORE, COLLECT))
def rows_of_another_number_are_not_taken(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Rows of one rank, of one request or of another domain do not pass for those of the plan."""
    plan = before.sound_plan(call.batch)
    if plan is not None:
        wanted = (_valid_rows if call.op == RESTORE else _compute_rows)(before.geometry, plan)
        yield from _number(answer, _counts(call.rows), wanted)


@law("RFC-0002:C-DESCRIPTORS#S1", on=DESCRIPTORS)
def every_array_is_there_with_its_type(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Kernels find each array once and read it as what it is."""
    if not isinstance(answer, Ok) or unplannable(before.geometry, call.batch):
        return
    wanted = {array.name: array.dtype for array in descriptors(call.batch, (), ()).values()}
    types = [(array.name, array.dtype) for array in answer.value if array.name in wanted]
    if sorted(types) != sorted(wanted.items()):
        yield f"arrays {sorted(types)}, expected {sorted(wanted.items())}"


@law("RFC-0002:C-DESCRIPTORS#S2", on=DESCRIPTORS)
def arrays_say_what_the_plan_says(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A kernel and the host speak of the same rows."""
    plan = before.sound_plan(call.batch)
    if plan is None or not isinstance(answer, Ok):
        return
    wanted = descriptors(call.batch, plan.segments, gathered(before.geometry, call.batch, plan))
    empty = [s.start == s.end for s in plan.segments]
    for name, array in _arrays(answer.value).items():
        if name != BASE and name in wanted and _said(name, array, empty) != _said(name, wanted[name], empty):
            yield f"{name}: {_first_difference(array.values, wanted[name].values)}"


@law("RFC-0002:C-DESCRIPTORS#S3", on=DESCRIPTORS)
def bases_count_the_tokens_of_earlier_requests(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The keys of a request begin behind those of all requests before it."""
    plan = before.sound_plan(call.batch)
    if plan is None or not isinstance(answer, Ok) or BASE not in (arrays := _arrays(answer.value)):
        return
    bases = kv_bases(call.batch)
    wanted = tuple(bases[s.request] for s in plan.segments)
    if arrays[BASE].values != wanted:
        yield f"{BASE}: {_first_difference(arrays[BASE].values, wanted)}"


# The batch of the clause: 9 rows of rank 0, then 9 of rank 1.
WORKED_GATHER = (0, 1, 2, 3, 12, 13, 14, 15, 16, 4, 5, 6, 7, 8, 9, 10, 11, 17)


def _is_request_major(plan: BatchPlan) -> bool:
    places = [(s.rank, s.request, s.part == "next") for s in plan.segments]
    return places == sorted(places)


def _counts(rows: Sequence[Sequence[int]]) -> list[int]:
    return [len(values) for values in rows]


def _valid_rows(geometry: Geometry, plan: BatchPlan) -> list[int]:
    return [valid_rows(plan.segments, rank) for rank in range(geometry.cp_size)]


def _compute_rows(geometry: Geometry, plan: BatchPlan) -> list[int]:
    return [compute_rows(plan.segments, rank) for rank in range(geometry.cp_size)]


def _number(answer: Answer, given: list[int], wanted: list[int]) -> Iterator[str]:
    if given != wanted and not rejected_for(answer, frozenset({Reason.ROWS_MISMATCH})):
        yield f"{given} rows where {wanted} are: expected a rejection for {Reason.ROWS_MISMATCH}, got {found(answer)}"
    elif given == wanted and isinstance(answer, Err):
        yield f"{given} rows are as many as there should be, got {found(answer)}"


def _arrays(given: Sequence[Descriptor]) -> dict[str, Descriptor]:
    return {array.name: array for array in given}


def _said(name: str, array: Descriptor, empty: Sequence[bool]) -> tuple[int, ...]:
    """Return what an array says; the key-value length of an empty segment means nothing."""
    if name != "kv_tokens" or len(array.values) != len(empty):
        return array.values
    return tuple(0 if nothing else value for value, nothing in zip(array.values, empty, strict=True))


def _first_difference(values: Sequence[int], wanted: Sequence[int]) -> str:
    if len(values) != len(wanted):
        return f"has {len(values)} entries, expected {len(wanted)}"
    place = next((i for i, (one, other) in enumerate(zip(values, wanted, strict=True)) if one != other), 0)
    return f"entry {place} is {values[place]}, expected {wanted[place]} ({list(values)}, expected {list(wanted)})"

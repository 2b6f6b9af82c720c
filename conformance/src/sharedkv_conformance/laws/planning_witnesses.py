"""The witnesses of batch plans: situations that a check has to have met before its silence counts."""

from __future__ import annotations

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.laws.planning_batch import EVERY_CALL, OF_BATCH, PLAN
from sharedkv_conformance.laws.planning_calls import CHUNK, STRIP, chunk_reasons, tail_reasons
from sharedkv_conformance.laws.planning_order import COLLECT, DEAL, DESCRIPTORS, RESTORE
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.planning_batch import (
    compute_rows,
    lane_min,
    listed,
    new_tokens,
    segment_min,
    unplannable,
    valid_rows,
)
from sharedkv_conformance.model.planning_state import PlanningState
from sharedkv_conformance.step import Answer, Call, Ok


def _answered(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Say whether a batch that has a plan was answered."""
    return isinstance(answer, Ok) and not unplannable(before.geometry, call.batch)


def _lengths_differ(call: Call) -> bool:
    return len({(request.prefix_tokens, request.extend_tokens) for request in call.batch}) > 1


def _mixes_parts(before: PlanningState, call: Call) -> bool:
    """Say whether a planned batch has a request with rows in `next` before another, where orders of parts differ."""
    pages = [before.geometry.pages_for(request.extend_tokens) for request in call.batch]
    return before.sound_plan(call.batch) is not None and max(pages[:-1], default=0) > before.geometry.cp_size


@witness(on=PLAN)
def planned_several_requests(before: PlanningState, call: Call, answer: Answer) -> bool:
    """A batch has requests of different lengths."""
    return _answered(before, call, answer) and _lengths_differ(call)


@witness(on=PLAN)
def planned_one_request(before: PlanningState, call: Call, answer: Answer) -> bool:
    """A batch has one request."""
    return _answered(before, call, answer) and len(call.batch) == 1


@witness(on=PLAN)
def planned_cached_prefixes(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Requests of a batch have cached tokens, and not all as many."""
    return _answered(before, call, answer) and len({request.prefix_tokens for request in call.batch}) > 1


@witness(on=PLAN)
def planned_a_shorter_tail_inside(before: PlanningState, call: Call, answer: Answer) -> bool:
    """A request that is not the last of its batch ends inside a page."""
    size = before.geometry.page_size
    return _answered(before, call, answer) and any(r.extend_tokens % size for r in call.batch[:-1])


@witness(on=PLAN)
def planned_a_rank_without_tokens(before: PlanningState, call: Call, answer: Answer) -> bool:
    """All requests together leave a rank without a valid row."""
    return _answered(before, call, answer) and bool(lane_min(before.geometry, call.batch))


@witness(on=PLAN)
def planned_a_tiny_request_in_company(before: PlanningState, call: Call, answer: Answer) -> bool:
    """A batch has a request with empty segments and one without."""
    if not _answered(before, call, answer):
        return False
    tiny = {request for request, _, _ in segment_min(before.geometry, call.batch)}
    return 0 < len(tiny) < len(call.batch)


@witness(on=PLAN)
def planned_ranks_of_unequal_rows(before: PlanningState, call: Call, answer: Answer) -> bool:
    """One rank has fewer rows than another."""
    if not _answered(before, call, answer):
        return False
    rows = dict.fromkeys(range(before.geometry.cp_size), 0)
    for _, segment in listed(before.geometry, call.batch):
        rows[segment.rank] += segment.end - segment.start
    return len(set(rows.values())) > 1


@witness(on=PLAN)
def planned_to_a_multiple(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Rows are padded to a multiple above one."""
    return _answered(before, call, answer) and call.static_multiple > 1


@witness(on=PLAN)
def asked_for_a_multiple_below_one(before: PlanningState, call: Call, answer: Answer) -> bool:
    """A plan is asked for with a multiple that nothing can be rounded up to."""
    return bool(call.static_multiple < 1) and not unplannable(before.geometry, call.batch)


@witness(on=OF_BATCH)
def asked_for_an_empty_batch(before: PlanningState, call: Call, answer: Answer) -> bool:
    """A batch has no request."""
    return not call.batch


@witness(on=OF_BATCH)
def asked_for_a_faulty_request_in_company(before: PlanningState, call: Call, answer: Answer) -> bool:
    """A batch has a request with a split and one without."""
    faults = [bool(unplannable(before.geometry, (request,))) for request in call.batch]
    return any(faults) and not all(faults)


@witness(on=EVERY_CALL)
def planned_on_a_second_rank(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Another rank than the first answers the call."""
    return before.peer_answer is not None and isinstance(answer, Ok)


@witness(on=PLAN)
def planned_again(before: PlanningState, call: Call, answer: Answer) -> bool:
    """An equal plan was asked for before, and other calls in between."""
    return before.earlier(call) is not None and before.calls[-1] != call


@witness(on=DEAL)
def dealt_several_requests(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Values of several requests are dealt by a plan that was given before, one with late rows before another."""
    return _answered(before, call, answer) and _mixes_parts(before, call)


@witness(on=RESTORE)
def restored_several_requests(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Rows of several requests are restored by a plan that was given before, one with late rows before another."""
    return _answered(before, call, answer) and _mixes_parts(before, call)


@witness(on=COLLECT)
def collected_several_requests(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Last tokens of several requests are collected by a plan that was given before."""
    return _answered(before, call, answer) and len(call.batch) > 1 and before.sound_plan(call.batch) is not None


@witness(on=COLLECT)
def collected_beside_dummies(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Last tokens are collected from ranks of which one has no valid row."""
    return _answered(before, call, answer) and bool(lane_min(before.geometry, call.batch))


@witness(on=DEAL)
def values_of_another_number(before: PlanningState, call: Call, answer: Answer) -> bool:
    """There are more or fewer values than new tokens."""
    return not unplannable(before.geometry, call.batch) and len(call.values) != new_tokens(call.batch)


@witness(on=(RESTORE, COLLECT))
def rows_of_another_number(before: PlanningState, call: Call, answer: Answer) -> bool:
    """There are more or fewer rows, or ranks, than a plan that was given before has."""
    plan = before.sound_plan(call.batch)
    count = valid_rows if call.op == RESTORE else compute_rows
    ranks = range(before.geometry.cp_size)
    given = [len(values) for values in call.rows]
    return plan is not None and given != [count(plan.segments, rank) for rank in ranks]


@witness(on=DESCRIPTORS)
def described_several_requests(before: PlanningState, call: Call, answer: Answer) -> bool:
    """Descriptors of several requests of different lengths are asked for, of which a plan was given before."""
    return _answered(before, call, answer) and _lengths_differ(call) and before.sound_plan(call.batch) is not None


@witness(on=STRIP)
def stripped_a_tail(before: PlanningState, call: Call, answer: Answer) -> bool:
    """There is a tail, and its proof."""
    return tail_reasons(before, call) == frozenset() and len(call.locations) > new_tokens(call.batch)


@witness(on=STRIP)
def stripped_without_a_tail(before: PlanningState, call: Call, answer: Answer) -> bool:
    """There is no tail."""
    return tail_reasons(before, call) == frozenset() and len(call.locations) == new_tokens(call.batch)


@witness(on=STRIP)
def tail_of_another_length_than_recorded(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The tail is zeros alone, and not as long as was recorded."""
    tokens, reasons = new_tokens(call.batch), tail_reasons(before, call)
    return reasons == frozenset({Reason.STATIC_TAIL_UNPROVEN}) and not any(call.locations[tokens:])


@witness(on=STRIP)
def tail_with_a_location(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The tail is as long as was recorded, and holds a location."""
    reasons = tail_reasons(before, call)
    return reasons == frozenset({Reason.STATIC_TAIL_UNPROVEN}) and call.static_tokens == len(call.locations)


@witness(on=STRIP)
def locations_missing(before: PlanningState, call: Call, answer: Answer) -> bool:
    """There are fewer locations than new tokens."""
    return not unplannable(before.geometry, call.batch) and len(call.locations) < new_tokens(call.batch)


@witness(on=CHUNK)
def chunk_takes_all(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The budget covers all that remains, and that is no whole page."""
    is_odd = bool(call.remaining_tokens % before.geometry.page_size)
    return is_odd and call.budget_tokens >= call.remaining_tokens and not chunk_reasons(before, call)


@witness(on=CHUNK)
def chunk_is_cut(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The budget ends inside a page and before the request does."""
    is_odd = bool(call.budget_tokens % before.geometry.page_size)
    return is_odd and call.budget_tokens < call.remaining_tokens and not chunk_reasons(before, call)


@witness(on=CHUNK)
def budget_below_a_page(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The budget covers neither a page nor what remains."""
    return chunk_reasons(before, call) == {Reason.CHUNK_TOO_SMALL}


@witness(on=CHUNK)
def nothing_remains(before: PlanningState, call: Call, answer: Answer) -> bool:
    """The whole request is cached."""
    return chunk_reasons(before, call) == {Reason.EXTEND_EMPTY}

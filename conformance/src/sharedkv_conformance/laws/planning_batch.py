"""The laws of batch plans: requests, order of segments, numbering, last tokens, maxima, refusals, equal answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.planning import BatchPlan, RequestSplit, SegmentRows
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.planning_batch import listed, max_kv_tokens, max_query_rows, unplannable
from sharedkv_conformance.model.planning_split import request_split
from sharedkv_conformance.model.planning_state import PlanningState, is_sound
from sharedkv_conformance.step import Answer, Call, Err, Ok

PLAN = "planning.plan"
OF_BATCH = (
    PLAN,
    "planning.descriptors",
    "planning.deal",
    "planning.restore",
    "planning.collect_last",
    "planning.strip",
)
EVERY_CALL = ("planning.split", *OF_BATCH, "planning.chunk")


def plan_of(before: PlanningState, call: Call, answer: Answer) -> BatchPlan | None:
    """Return the plan that a law may judge: one given for a batch that has one."""
    is_judged = isinstance(answer, Ok) and not unplannable(before.geometry, call.batch) and call.static_multiple > 0
    return answer.value if isinstance(answer, Ok) and is_judged else None


def sound_plan_of(before: PlanningState, call: Call, answer: Answer) -> BatchPlan | None:
    """Return a plan whose rows can be counted on, for laws that read it by its rows."""
    plan = plan_of(before, call, answer)
    return plan if plan is not None and is_sound(before.geometry, call.batch, plan) else None


def rejected_for(answer: Answer, reasons: frozenset[Reason]) -> bool:
    """Say whether an answer is a rejection for one of the reasons."""
    return isinstance(answer, Err) and isinstance(answer.error, Rejected) and answer.error.reason in reasons


def found(answer: Answer) -> str:
    """Return an answer as a person can take it in."""
    text = str(answer.error if isinstance(answer, Err) else answer.value)
    return text if len(text) <= 200 else text[:197] + "..."  # noqa: PLR2004 - enough to see the difference


def lengths(batch: Sequence[ExtendRequest]) -> str:
    """Return the lengths of a batch."""
    return "prefix+extend tokens [" + ", ".join(f"{r.prefix_tokens}+{r.extend_tokens}" for r in batch) + "]"


@law("RFC-0002:C-PLAN#S1", on=PLAN)
def each_request_has_its_own_split(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A request in company has the owners, segments and last token that it has alone."""
    plan = plan_of(before, call, answer)
    if plan is None:
        return
    if len(plan.requests) != len(call.batch):
        yield f"{lengths(call.batch)}: {len(plan.requests)} splits for {len(call.batch)} requests"
        return
    for index, (request, split) in enumerate(zip(call.batch, plan.requests, strict=True)):
        wanted = request_split(before.geometry, request.prefix_tokens, request.extend_tokens)
        if _comparable(split) != _comparable(wanted):
            yield f"{lengths(call.batch)}: request {index} has {_comparable(split)}, alone it has {_comparable(wanted)}"


@law("RFC-0002:C-PLAN#S2", on=PLAN)
def segments_stand_request_by_request(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A rank has all rows of one request before those of the next, `prev` before `next`."""
    plan = plan_of(before, call, answer)
    if plan is None:
        return
    expected = [(r, s.rank, s.part, *_tokens(s)) for r, s in listed(before.geometry, call.batch)]
    for place, (segment, wanted) in enumerate(zip(_listed(plan), expected, strict=False)):
        if segment != wanted:
            yield f"segment {place} (request, rank, part, start, end, sees) is {segment}, expected {wanted}"
            return
    if len(plan.segments) != len(expected):
        yield f"{len(plan.segments)} segments, expected {len(expected)}: two a rank and request"


@law("RFC-0002:C-PLAN#S2", on=PLAN)
def the_worked_segments_hold(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The table of the clause, as numbers that nothing computes."""
    plan = plan_of(before, call, answer)
    if plan is not None and _is_worked(before, call) and (listed_now := tuple(_listed(plan))) != WORKED_SEGMENTS:
        yield f"segments {listed_now}, the table says {WORKED_SEGMENTS}"


@law("RFC-0002:C-PLAN#S3", on=PLAN)
def valid_rows_are_numbered_in_order(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Each segment's rows begin where those before it on the rank end."""
    plan = plan_of(before, call, answer)
    yield from () if plan is None else _misnumbered(plan.segments)


@law("RFC-0002:C-PLAN#S4", on=PLAN)
def last_tokens_are_found(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """The last token of a request is the last row of the segment that ends the request, in both domains."""
    plan = sound_plan_of(before, call, answer)
    if plan is None:
        return
    wanted = [_last(plan, index, request) for index, request in enumerate(call.batch)]
    named = [(last.rank, last.row, last.compute_row) for last in plan.last_tokens]
    if named != wanted:
        yield f"last tokens (rank, row, compute row) {named}, expected {wanted}"


@law("RFC-0002:C-PLAN#S5", on=PLAN)
def maxima_bound_the_rows(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Kernels are launched with the longest segment and the largest key-value length of each rank."""
    plan = sound_plan_of(before, call, answer)
    for rank in () if plan is None else plan.ranks:
        own = [s for s in plan.segments if s.rank == rank.rank] if plan else []
        if not own:
            continue
        wanted = (max_query_rows(own, rank.rank), max_kv_tokens(call.batch, own, rank.rank))
        if (rank.max_query_rows, rank.max_kv_tokens) != wanted:
            yield f"rank {rank.rank}: maxima {rank.max_query_rows}, {rank.max_kv_tokens}, expected {wanted}"


@law("RFC-0002:C-PLAN#S6", on=OF_BATCH)
def a_batch_without_a_plan_is_refused_by_name(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """No call serves a batch that has no plan, and its reason is one of the batch's own."""
    reasons = unplannable(before.geometry, call.batch)
    if reasons and not rejected_for(answer, reasons | OTHER_REASONS.get(call.op, _none)(call)):
        yield f"{lengths(call.batch)}: expected a rejection for {' or '.join(sorted(reasons))}, got {found(answer)}"


@law("RFC-0002:C-PLAN#S6", on=PLAN)
def a_batch_with_a_plan_is_planned(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A batch is not refused because it is long, tiny or of several requests."""
    if isinstance(answer, Err) and call.static_multiple > 0 and not unplannable(before.geometry, call.batch):
        yield f"{lengths(call.batch)}: has a plan, got {found(answer)}"


@law("RFC-0002:C-PLAN#S7", on=EVERY_CALL)
def equal_calls_have_equal_plans_on_every_rank(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """Ranks that plan one batch in two ways exchange rows that do not belong together."""
    if before.peer_answer is not None and answer != before.peer_answer:
        yield f"rank {before.config.rank} answers {found(answer)}, rank 0 {found(before.peer_answer)}"


@law("RFC-0002:C-PLAN#S7", on=EVERY_CALL)
def equal_calls_have_equal_plans_at_any_time(before: PlanningState, call: Call, answer: Answer) -> Iterator[str]:
    """A plan that is made again in another place is the plan that was published."""
    earlier = before.earlier(call)
    if earlier is not None and answer != earlier:
        yield f"{call.op} answers {found(answer)}, and answered {found(earlier)} before"


# Where a call can be refused for more than its batch, a batch that has no plan may be refused for that as well: which
# fault is found first is for the implementation to choose.
def _none(_call: Call) -> frozenset[Reason]:
    return frozenset()


def _multiple(call: Call) -> frozenset[Reason]:
    return frozenset({Reason.STATIC_MULTIPLE_INVALID}) if call.static_multiple < 1 else frozenset()


def _rows(_call: Call) -> frozenset[Reason]:
    return frozenset({Reason.ROWS_MISMATCH})


def _tail(_call: Call) -> frozenset[Reason]:
    return frozenset({Reason.LOCATIONS_MISMATCH, Reason.STATIC_TAIL_UNPROVEN})


OTHER_REASONS: dict[str, Callable[[Call], frozenset[Reason]]] = {PLAN: _multiple, "planning.deal": _rows}
OTHER_REASONS |= {"planning.restore": _rows, "planning.collect_last": _rows, "planning.strip": _tail}

# The batch of the clause: two ranks, pages of 4 tokens, (8 cached, 13 new) and (0 cached, 5 new).
WORKED = (2, 4, ((8, 13), (0, 5)))
WORKED_SEGMENTS = (
    (0, 0, "prev", 0, 4, 12),
    (0, 0, "next", 12, 13, 21),
    (1, 0, "prev", 0, 4, 4),
    (1, 0, "next"),
    (0, 1, "prev", 4, 8, 16),
    (0, 1, "next", 8, 12, 20),
    (1, 1, "prev", 4, 5, 5),
    (1, 1, "next"),
)


def _is_worked(before: PlanningState, call: Call) -> bool:
    asked = tuple((request.prefix_tokens, request.extend_tokens) for request in call.batch)
    return (before.geometry.cp_size, before.geometry.page_size, asked) == WORKED


def _comparable(split: RequestSplit) -> tuple[object, ...]:
    """Return what a split has to say; empty segments may lie anywhere."""
    parts = sorted((s.rank, s.part, s.start, s.end, s.kv_tokens) for s in split.segments if s.start != s.end)
    return split.owners, parts, split.last_rank, split.last_row


def _listed(plan: BatchPlan) -> Iterator[tuple[int | str, ...]]:
    for s in plan.segments:
        yield (s.request, s.rank, s.part, *_tokens(s))


def _tokens(segment: object) -> tuple[int, ...]:
    """Return tokens and key-value length of a segment; those of an empty one mean nothing."""
    start, end, sees = (getattr(segment, name) for name in ("start", "end", "kv_tokens"))
    return (start, end, sees) if start != end else ()


def _misnumbered(segments: Sequence[SegmentRows]) -> Iterator[str]:
    following: dict[int, int] = {}
    for s in segments:
        if s.first_row != following.setdefault(s.rank, 0):
            wanted = following[s.rank]
            yield f"rank {s.rank}: request {s.request} {s.part} begins at row {s.first_row}, expected {wanted}"
            return
        following[s.rank] += s.end - s.start


def _last(plan: BatchPlan, index: int, request: ExtendRequest) -> tuple[int, int, int] | None:
    """Return rank, row and compute row of a request's last token, by the plan's own segments."""
    return next(
        (
            (s.rank, s.first_row + s.end - s.start - 1, s.first_compute_row + s.end - s.start - 1)
            for s in plan.segments
            if s.request == index and s.start < s.end == request.extend_tokens
        ),
        None,
    )

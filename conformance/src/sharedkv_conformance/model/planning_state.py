"""What the laws of planning know before a call: the geometry, what was answered before, and what a peer answers.

A plan has no history. What was answered is kept because equal calls have equal answers, and because where dummy rows
are put is for the implementation to choose: rows that are dealt and collected are judged by the plan that it gave.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from sharedkv_conformance.contract.allocation import ExtendRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.planning import BatchPlan, SegmentRows
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.planning_batch import tokens_by_rank, unplannable
from sharedkv_conformance.model.planning_split import segments
from sharedkv_conformance.step import Answer, Call, Ok

Batch = tuple[ExtendRequest, ...]


class PlanningState:
    """The state before a call; answers are adopted as they are."""

    def __init__(self, config: OpenConfig) -> None:
        self.config = config
        self.geometry = Geometry.of(config)
        self.peer_answer: Answer | None = None
        self.sound_plans: dict[Batch, BatchPlan] = {}
        self.calls: list[Call] = []
        self._answers: dict[Hashable, Answer] = {}

    def adopt(self, call: Call, answer: Answer) -> None:
        """Take the answer as it is."""
        if call.op == "planning.plan" and isinstance(answer, Ok) and not unplannable(self.geometry, call.batch):
            self._adopt_plan(tuple(call.batch), answer.value)
        self._answers.setdefault(_key(call), answer)
        self.calls.append(call)

    def earlier(self, call: Call) -> Answer | None:
        """Return what an equal call was answered before."""
        return self._answers.get(_key(call))

    def sound_plan(self, batch: Sequence[ExtendRequest]) -> BatchPlan | None:
        """Return the plan that was given for a batch, if its rows can be counted on."""
        return self.sound_plans.get(tuple(batch))

    def _adopt_plan(self, batch: Batch, plan: BatchPlan) -> None:
        self.sound_plans.pop(batch, None)
        if is_sound(self.geometry, batch, plan):
            self.sound_plans[batch] = plan


def is_sound(geometry: Geometry, batch: Sequence[ExtendRequest], plan: BatchPlan) -> bool:
    """Say whether the rows of a plan, in whatever order, are numbered without gaps and hold each new token once."""
    if not all(is_of_batch(geometry, batch, s) for s in plan.segments):
        return False
    tokens = [token for rank in tokens_by_rank(geometry, batch, plan.segments) for token in rank]
    if sorted(tokens) != list(range(sum(request.extend_tokens for request in batch))):
        return False
    return all(numbered(plan.segments, rank) for rank in range(geometry.cp_size))


def is_usable(geometry: Geometry, batch: Sequence[ExtendRequest], plan: BatchPlan) -> bool:
    """Say whether a plan is sound and gives each rank the tokens of the split, so that rows can be laid by it."""
    if unplannable(geometry, batch) or not is_sound(geometry, batch, plan):
        return False
    wanted = {
        (index, s.rank, s.start, s.end)
        for index, request in enumerate(batch)
        for s in segments(geometry, request.prefix_tokens, request.extend_tokens)
        if s.start != s.end
    }
    return {(s.request, s.rank, s.start, s.end) for s in plan.segments if s.start != s.end} == wanted


def numbered(rows: Sequence[SegmentRows], rank: int) -> bool:
    """Say whether the rows of a rank begin, in both domains, where those before them end, in the order of the list."""
    valid = compute = 0
    for s in rows:
        if s.rank == rank:
            if (s.first_row, s.first_compute_row) != (valid, compute):
                return False
            valid += s.end - s.start
            compute += s.end - s.start + s.dummy_rows
    return True


def is_of_batch(geometry: Geometry, batch: Sequence[ExtendRequest], s: SegmentRows) -> bool:
    """Say whether a segment is one of a request of the batch and of a rank of the group."""
    return (
        0 <= s.request < len(batch)
        and 0 <= s.rank < geometry.cp_size
        and 0 <= s.start <= s.end <= batch[s.request].extend_tokens
        and 0 <= s.dummy_rows <= batch[s.request].extend_tokens + geometry.page_size
    )


def _key(call: Call) -> Hashable:
    return call.op, tuple(call.args.values())

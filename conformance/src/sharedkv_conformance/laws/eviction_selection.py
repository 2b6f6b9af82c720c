"""The laws of choice: who goes in each round, and when a plan ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sharedkv_conformance.laws.eviction import PLAN, PLANS, planned
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.eviction_rounds import Round, Worth, rounds_of
from sharedkv_conformance.step import Answer, Call

Key = Callable[[Worth], object]


def _rounds(before: EvictionState, call: Call, answer: Answer) -> tuple[Round, ...]:
    plan = planned(before, call, answer)
    return rounds_of(call.nodes, call.deficit, plan.victims) if plan else ()


def _rivals(played: Round, alike: Key) -> Iterator[tuple[Worth, Worth]]:
    """Yield the victim with each other candidate that equals it in the keys that come first."""
    victim = played.victim
    if victim is not None and victim.is_something:
        yield from ((victim, rival) for rival in played.candidates if alike(rival) == alike(victim))


def _told(played: Round, victim: Worth, rival: Worth) -> str:
    return f"short of {list(played.left)}: {victim} was taken before {rival}"


@law("RFC-0008:C-SELECTION#S1", on=PLANS)
def the_largest_contribution_goes_first(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """Fewer nodes are lost when each gives much of what is missing."""
    for played in _rounds(before, call, answer):
        for victim, rival in _rivals(played, lambda worth: ()):
            if rival.contribution > victim.contribution:
                yield _told(played, victim, rival)


@law("RFC-0008:C-SELECTION#S2", on=PLANS)
def then_the_largest_unlock(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """The way to an ancestor with missing pages leads over its children."""
    for played in _rounds(before, call, answer):
        for victim, rival in _rivals(played, lambda worth: worth.contribution):
            if rival.unlock > victim.unlock:
                yield _told(played, victim, rival)


@law("RFC-0008:C-SELECTION#S3", on=PLANS)
def then_the_least_recent_in_its_segment(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """What was matched twice stays longer, and what was matched last."""
    for played in _rounds(before, call, answer):
        for victim, rival in _rivals(played, lambda worth: (worth.contribution, worth.unlock)):
            if rival.recency < victim.recency:
                yield _told(played, victim, rival)


@law("RFC-0008:C-SELECTION#S4", on=PLANS)
def then_the_node_created_first(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """Whatever is equal otherwise is told apart by what every rank knows."""
    for played in _rounds(before, call, answer):
        for victim, rival in _rivals(played, lambda worth: (worth.contribution, worth.unlock, worth.recency)):
            if rival.node < victim.node:
                yield _told(played, victim, rival)


@law("RFC-0008:C-SELECTION#S5", on=PLANS)
def nobody_goes_for_nothing(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """Neither beyond the deficit, nor for an ancestor that cannot go."""
    for played in _rounds(before, call, answer):
        if played.victim is not None and not played.victim.is_something:
            yield f"short of {list(played.left)}: {played.victim} was taken, and gives and unlocks nothing"


@law("RFC-0008:C-SELECTION#S6", on=PLAN)
def a_plan_goes_as_far_as_it_can(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """What can be freed is freed, also where a lane stays short all the same."""
    for played in _rounds(before, call, answer):
        if played.victim is None and played.candidates:
            best = min(played.candidates, key=lambda worth: worth.order)
            yield f"short of {list(played.left)}: the plan ends, and {best} could go"

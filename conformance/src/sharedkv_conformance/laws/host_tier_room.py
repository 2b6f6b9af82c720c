"""The laws of room that is made ahead of need, on both tiers."""

from __future__ import annotations

from collections.abc import Iterator

from sharedkv_conformance.contract.implementation import FreeRoom
from sharedkv_conformance.laws.host_tier_decisions import (
    HISTORY,
    MAKE_HOST_ROOM,
    MAKE_ROOM,
    asked,
    changed,
    is_error,
    miscounted,
    off,
    since,
    succeeds,
)
from sharedkv_conformance.laws.host_tier_write_back import NOT_OF_A_BACKUP
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_tree_state import LANES, STATISTICS, TREE, HostTreeState
from sharedkv_conformance.step import Answer, Call, Ok


def policy_of(before: HostTreeState, op: str) -> FreeRoom:
    """Return the policy that a call follows."""
    return before.config.free_room if op == MAKE_ROOM else before.config.host.free_room


def _made(before: HostTreeState, call: Call, answer: Answer, op: str) -> Iterator[str]:
    """Yield an answer that names other pages or counts than those that the formula leads to."""
    step = asked(before, call, answer, op)
    if step and succeeds(step) and isinstance(answer, Ok):
        policy = policy_of(before, op)
        for message in off(step, answer):
            yield f"{list(call.required)} required, target {policy.target}, least {policy.min_chunk}: {message}"


@law("RFC-0006:C-FREE-ROOM#S1", on=(MAKE_ROOM, TREE, LANES, STATISTICS), history=HISTORY)
def room_on_the_device_follows_the_formula(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Lane by lane, counting what is pending; one plan for all lanes."""
    yield from _made(before, call, answer, MAKE_ROOM)
    if call.op != MAKE_ROOM and (last := since(before, MAKE_ROOM)) and succeeds(last):
        if call.op == LANES:
            yield from miscounted(before, call, answer)
        elif before.config.host.write != "write_back":
            yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)
        elif call.op == TREE:
            yield from changed(before, call, answer, *NOT_OF_A_BACKUP)


@law("RFC-0006:C-FREE-ROOM#S2", on=(MAKE_HOST_ROOM, TREE, STATISTICS, LANES), history=HISTORY)
def room_on_the_host_follows_the_formula(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """The same formula, with the host's policy and the host's free pages."""
    yield from _made(before, call, answer, MAKE_HOST_ROOM)
    if call.op != MAKE_HOST_ROOM and (last := since(before, MAKE_HOST_ROOM)) and succeeds(last):
        yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)


@law("RFC-0006:C-FREE-ROOM#S3", on=(MAKE_ROOM, MAKE_HOST_ROOM), history=HISTORY)
def room_that_cannot_be_made_is_no_failure(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """What is missing is said; exact need is asked for later."""
    step = asked(before, call, answer, MAKE_ROOM, MAKE_HOST_ROOM)
    if step and succeeds(step) and not isinstance(answer, Ok):
        yield f"{call.op} of {list(call.required)} is answered with {answer.error}"


@law("RFC-0006:C-FREE-ROOM#S5", on=(MAKE_ROOM, MAKE_HOST_ROOM, TREE, LANES, STATISTICS), history=HISTORY)
def counts_that_are_none_make_no_room(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """What is required has one count a lane, none below 0."""
    if step := asked(before, call, answer, MAKE_ROOM, MAKE_HOST_ROOM):
        if is_error(step):
            yield from (f"{call.op} of {list(call.required)}: {message}" for message in off(step, answer))
    elif (last := since(before, MAKE_ROOM, MAKE_HOST_ROOM)) and is_error(last):
        yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)

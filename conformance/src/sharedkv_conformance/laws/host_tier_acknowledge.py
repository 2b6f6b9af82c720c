"""The laws of acknowledgement, of reset, and of what ranks tell each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharedkv_conformance.contract.probe import Collective
from sharedkv_conformance.laws.host_tier_decisions import (
    CANCEL,
    HISTORY,
    INSERT,
    LOAD_BACK,
    POLL,
    RESET,
    asked,
    changed,
    last_call,
    miscounted,
    off,
    since,
    told,
)
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.host_tier_copies import InFlight
from sharedkv_conformance.model.host_tier_tree_state import COLLECTIVES, COPIES, LANES, STATISTICS, TREE, HostTreeState
from sharedkv_conformance.step import Answer, Call, Ok

CALLS = (
    "host_tier.match",
    INSERT,
    "host_tier.lock",
    "host_tier.unlock",
    "host_tier.evict",
    "host_tier.evict_host",
    "host_tier.make_room",
    "host_tier.make_host_room",
    "host_tier.admit",
    CANCEL,
    LOAD_BACK,
    POLL,
    RESET,
)


def _polled(before: HostTreeState, call: Call, answer: Answer) -> tuple[Sequence[int], Sequence[int]] | None:
    """Return the copies that a poll has to acknowledge, and those of its answer."""
    step = asked(before, call, answer, POLL)
    if step is None or not isinstance(step.expected, Ok) or not isinstance(answer, Ok):
        return None
    return step.expected.value, answer.value


def _too_early(before: HostTreeState, call: Call, answer: Answer) -> list[InFlight]:
    """Return the copies in flight that a poll acknowledges before their time."""
    wanted, got = _polled(before, call, answer) or ((), ())
    return [own for number, own in before.model.ledger.copies.items() if number in got and number not in wanted]


def is_waited_for(before: HostTreeState, own: InFlight) -> bool:
    """Say whether a copy is finished on some rank, and not on all."""
    return 0 < len(set.union(*own.left.values())) < before.config.cp_size


@law("RFC-0006:C-ACKNOWLEDGE#S1", on=POLL, history=HISTORY)
def what_is_finished_is_acknowledged(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """At the next poll, whatever else goes on: what waits is protected, and fills both tiers."""
    if asked(before, call, answer, POLL) and not isinstance(answer, Ok):
        yield f"a poll is answered with {answer.error}"
    wanted, got = _polled(before, call, answer) or ((), ())
    late = [copy for copy in wanted if copy not in got]
    if late and before.model.ledger.copies.keys() >= set(got):
        yield f"copies {late} are finished on all ranks and not acknowledged"


@law("RFC-0006:C-ACKNOWLEDGE#S2", on=POLL, history=HISTORY)
def no_copy_is_acknowledged_before_every_rank_has_it(
    before: HostTreeState, call: Call, answer: Answer
) -> Iterator[str]:
    """What one rank has is not enough: the others would evict what they do not have."""
    for own in _too_early(before, call, answer):
        ranks = sorted(set.union(*own.left.values()))
        if is_waited_for(before, own):
            yield f"{own.kind} {own.number} is acknowledged before ranks {ranks} have finished it"


@law("RFC-0006:C-ACKNOWLEDGE#S3", on=POLL, history=HISTORY)
def copies_of_a_kind_are_acknowledged_in_order(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Every rank counts how many are finished, and all mean the same ones."""
    for own in _too_early(before, call, answer):
        if own.is_finished:
            yield f"{own.kind} {own.number} is acknowledged before another that was submitted before it"
    wanted, got = _polled(before, call, answer) or ((), ())
    if tuple(wanted) != tuple(got) and sorted(wanted) == sorted(got):
        yield f"copies are acknowledged in the order {list(got)}, submitted in the order {list(wanted)}"


@law("RFC-0006:C-ACKNOWLEDGE#S4", on=(POLL, LOAD_BACK), history=HISTORY)
def each_copy_is_acknowledged_once_by_its_number(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Numbers of copies in flight are different, and a poll names none that is not in flight."""
    flying = before.model.ledger.copies
    if call.op == POLL:
        _, got = _polled(before, call, answer) or ((), ())
        if strange := sorted({copy for copy in got if copy not in flying or list(got).count(copy) > 1}):
            yield f"copies {strange} are acknowledged twice, or are not in flight"
    elif asked(before, call, answer, LOAD_BACK) and isinstance(answer, Ok) and answer.value.copy in flying:
        yield f"a load-back has the number {answer.value.copy} of a copy in flight"


@law("RFC-0006:C-ACKNOWLEDGE#S5", on=(TREE, STATISTICS, LANES), history=HISTORY)
def nodes_are_released_with_their_copies(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Those of the copies that a poll acknowledges, and no others."""
    if since(before, POLL, "probe.hold", "probe.finish"):
        yield from changed(before, call, answer) if call.op == TREE else miscounted(before, call, answer)


@law("RFC-0006:C-RESET#S1", on=(RESET, TREE, COPIES), history=HISTORY)
def a_reset_leaves_no_node_and_no_copy(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Nothing that was computed before can be found."""
    if call.op == RESET:
        if asked(before, call, answer, RESET) and not isinstance(answer, Ok):
            yield f"a reset is answered with {answer.error}"
    elif since(before, RESET):
        if call.op == TREE:
            yield from changed(before, call, answer)
        elif before.deviates(call, answer):
            yield f"copies in flight after a reset: {told(answer)}"


@law("RFC-0006:C-RESET#S2", on=(STATISTICS, LANES), history=HISTORY)
def a_reset_frees_what_the_tree_had(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """On both tiers, with what was reserved; what callers hold stays theirs."""
    if since(before, RESET):
        yield from miscounted(before, call, answer)


@law("RFC-0006:C-RESET#S3", on=(CANCEL, "host_tier.unlock"), history=HISTORY)
def a_reset_ends_locks_and_reservations(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Who gives one up afterwards is told that there is none."""
    known = before.ended_requests if call.op == CANCEL else before.ended_locks
    name = call.request if call.op == CANCEL else call.lock
    step = asked(before, call, answer, CANCEL, "host_tier.unlock")
    if step and name in known:
        yield from (f"{call.op} of {name!r}, which a reset has ended: {message}" for message in off(step, answer))


@law("RFC-0006:C-RANKS#S1", on=CALLS, history=HISTORY)
def ranks_decide_alike(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Whichever lane's memory a rank holds itself."""
    if before.peer_answer is not None and not before.diverged and answer != before.peer_answer:
        rank = before.config.rank
        yield f"{call.op}: rank {rank} answers {told(answer)}, rank 0 {told(before.peer_answer)}"


@law("RFC-0006:C-RANKS#S2", on=COLLECTIVES, history=HISTORY)
def every_poll_makes_the_same_collectives(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """A rank that leaves the exchange out hangs those that do not."""
    if (new := _made(before, answer)) is None or not since(before, POLL):
        return
    if not new:
        yield "a poll made no collective"
    elif before.first_poll is not None and _kinds(new) != _kinds(before.first_poll):
        yield f"a poll made collectives {_kinds(new)}, the first {_kinds(before.first_poll)}"


@law("RFC-0006:C-RANKS#S3", on=COLLECTIVES, history=HISTORY)
def no_other_call_makes_a_collective(before: HostTreeState, call: Call, answer: Answer) -> Iterator[str]:
    """Admission and load-back are decided from what every rank has."""
    if (new := _made(before, answer)) and last_call(before).op in CALLS and last_call(before).op != POLL:
        yield f"{last_call(before).op} made collectives {_kinds(new)}"


def _made(before: HostTreeState, answer: Answer) -> Sequence[Collective] | None:
    """Return the collectives since they were shown last."""
    if before.diverged or not isinstance(answer, Ok):
        return None
    made: Sequence[Collective] = answer.value[len(before.collectives) :]
    return made


def _kinds(collectives: Sequence[Collective]) -> list[tuple[str, str]]:
    return [(made.kind, made.buffer) for made in collectives]

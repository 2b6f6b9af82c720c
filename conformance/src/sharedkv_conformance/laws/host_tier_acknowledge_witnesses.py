"""The witnesses of acknowledgement, of reset and of ranks: which situation a call is."""

from __future__ import annotations

from sharedkv_conformance.laws.host_tier_acknowledge import is_waited_for
from sharedkv_conformance.laws.host_tier_decisions import (
    ADMIT,
    CANCEL,
    HISTORY,
    LOAD_BACK,
    POLL,
    RESET,
    asked,
    since,
    succeeds,
)
from sharedkv_conformance.laws.host_tier_load_back import loaded
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.host_tier_copies import BACKUP, LOAD, InFlight
from sharedkv_conformance.model.host_tier_tree_state import COLLECTIVES, TREE, HostTreeState
from sharedkv_conformance.model.lane_pages import FREE
from sharedkv_conformance.step import Answer, Call, Ok

UNLOCK = "host_tier.unlock"


def _flying(before: HostTreeState, call: Call, answer: Answer) -> list[InFlight]:
    """Return the copies in flight at a poll."""
    return list(before.model.ledger.copies.values()) if asked(before, call, answer, POLL) else []


@witness(on=POLL, history=HISTORY)
def polled_with_loads_alone(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A load was finished, and no backup was in flight."""
    flying = _flying(before, call, answer)
    return any(own.kind == LOAD and own.is_finished for own in flying) and all(own.kind == LOAD for own in flying)


@witness(on=POLL, history=HISTORY)
def polled_with_backups_alone(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Two backups were finished, and no load was in flight."""
    flying = _flying(before, call, answer)
    return sum(own.is_finished for own in flying) > 1 and all(own.kind == BACKUP for own in flying)


@witness(on=POLL, history=HISTORY)
def polled_behind_another_kind(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A copy was finished, and one of another kind that was submitted before it was not."""
    flying = _flying(before, call, answer)
    waiting = next((own for own in flying if not own.is_finished), None)
    return waiting is not None and any(own.is_finished and own.kind != waiting.kind for own in flying)


@witness(on=POLL, history=HISTORY)
def finished_on_some_ranks(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A copy was finished on the first rank and not on all, and no copy of its kind was before it."""
    flying = _flying(before, call, answer)
    firsts = [next((own for own in flying if own.kind == kind), None) for kind in (BACKUP, LOAD)]
    return any(own is not None and is_waited_for(before, own) and _has_finished(own, 0) for own in firsts)


def _has_finished(own: InFlight, rank: int) -> bool:
    return all(rank not in ranks for ranks in own.left.values())


@witness(on=POLL, history=HISTORY)
def finished_out_of_order(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A copy was finished, and another of its kind that was submitted before it was not."""
    waiting: set[str] = set()
    for own in _flying(before, call, answer):
        if own.is_finished and own.kind in waiting:
            return True
        waiting |= set() if own.is_finished else {own.kind}
    return False


@witness(on=POLL, history=HISTORY)
def several_loads_polled(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Two loads were in flight, one of them finished and the other not, or both finished."""
    loads = [own for own in _flying(before, call, answer) if own.kind == LOAD]
    return len(loads) > 1 and loads[0].is_finished


@witness(on=TREE, history=HISTORY)
def some_copies_acknowledged(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """The tree was shown after a poll that acknowledged some copies and left others."""
    last = since(before, POLL)
    return last is not None and isinstance(last.expected, Ok) and bool(last.expected.value) and _is_pending(before)


def _is_pending(before: HostTreeState) -> bool:
    return any(node.backups or node.loads for node in before.model.tree.nodes.values())


def _is_reset(before: HostTreeState, call: Call, answer: Answer) -> bool:
    return asked(before, call, answer, RESET) is not None


@witness(on=RESET, history=HISTORY)
def reset_under_copies(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A reset came while a backup and a load were not finished."""
    kinds = {own.kind for own in before.model.ledger.copies.values() if not own.is_finished}
    return _is_reset(before, call, answer) and {BACKUP, LOAD} <= kinds


@witness(on=RESET, history=HISTORY)
def reset_under_locks(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A reset came while a node was locked."""
    return _is_reset(before, call, answer) and any(node.locks for node in before.model.tree.nodes.values())


@witness(on=RESET, history=HISTORY)
def reset_with_a_reservation(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A reset came while a request had a reservation, and callers had host pages or device pages of their own."""
    return _is_reset(before, call, answer) and bool(before.model.reservations) and bool(before.model.tree.nodes)


@witness(on=RESET, history=HISTORY)
def reset_beside_allocated_host_pages(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A reset came while host pages were allocated that are neither of the tree nor reserved."""
    model = before.model
    known = {host for node in model.tree.nodes.values() for host in node.host}
    known |= {host for own in model.reservations.values() for host in own.values()}
    held = {(lane, page) for lane, own in enumerate(model.lanes) for page in own.allocated}
    return _is_reset(before, call, answer) and bool(held - known)


@witness(on=(CANCEL, UNLOCK), history=HISTORY)
def asked_for_after_a_reset(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lock or a reservation was given up that a reset had ended."""
    if asked(before, call, answer, CANCEL, UNLOCK) is None:
        return False
    return call.request in before.ended_requests if call.op == CANCEL else call.lock in before.ended_locks


def _own_lane_differs(before: HostTreeState, need: tuple[int, ...], free: tuple[int, ...]) -> bool:
    """Say whether the lane of a rank beyond the first decides otherwise than all lanes together."""
    rank = before.config.rank
    fitting = [want <= have for want, have in zip(need, free, strict=True)]
    return rank > 0 and fitting[rank] != all(fitting)


@witness(on=ADMIT, history=HISTORY)
def admitted_against_a_ranks_own_lane(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """On a rank beyond the first a batch fits on its own lane and not on all."""
    step = asked(before, call, answer, ADMIT)
    if step is None or not succeeds(step):
        return False
    return _own_lane_differs(before, tuple(before.model.admission_need(call.batch)), tuple(before.model.free()))


@witness(on=LOAD_BACK, history=HISTORY)
def loaded_against_a_ranks_own_lane(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """On a rank beyond the first a load-back fits on its own lane and not on all."""
    if asked(before, call, answer, LOAD_BACK) is None:
        return False
    lanes = before.model.load_lanes(before.model.to_load(before.model.tree.walk(call.tokens)))
    need = tuple(lanes.count(lane) for lane in range(before.config.cp_size))
    return _own_lane_differs(before, need, tuple(before.model.allocation.pages.counts(FREE)))


@witness(on=POLL, history=HISTORY)
def polled_where_one_rank_has_finished(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """On a rank beyond the first a copy was finished there and not everywhere."""
    rank = before.config.rank
    return rank > 0 and any(not own.is_finished and _has_finished(own, rank) for own in _flying(before, call, answer))


@witness(on=COLLECTIVES, history=HISTORY)
def collectives_of_an_idle_poll(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Collectives were shown after a poll with nothing in flight, and had been after one with copies."""
    last = since(before, POLL)
    is_idle = last is not None and not last.earlier.ledger.copies
    return is_idle and isinstance(answer, Ok) and before.first_poll is not None


@witness(on=COLLECTIVES, history=HISTORY)
def collectives_of_a_busy_poll(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Collectives were shown after a poll with copies in flight of which none was acknowledged."""
    last = since(before, POLL)
    return last is not None and isinstance(answer, Ok) and bool(last.after.ledger.copies) and last.expected == Ok(())


@witness(on=COLLECTIVES, history=HISTORY)
def collectives_of_an_admission(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Collectives were shown after an admission that had to make room."""
    last = since(before, ADMIT)
    if last is None or not isinstance(answer, Ok) or not isinstance(last.expected, Ok):
        return False
    return any(last.expected.value.evicted)


@witness(on=COLLECTIVES, history=HISTORY)
def collectives_of_a_load_back(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Collectives were shown after a load-back that loaded something."""
    return isinstance(answer, Ok) and loaded(since(before, LOAD_BACK)) is not None

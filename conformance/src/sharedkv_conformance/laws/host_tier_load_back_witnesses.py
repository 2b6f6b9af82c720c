"""The witnesses of load-back and of room made ahead: which situation a call is."""

from __future__ import annotations

from sharedkv_conformance.contract.host_tier import LoadBack
from sharedkv_conformance.laws.host_tier_decisions import (
    HISTORY,
    LOAD_BACK,
    MAKE_HOST_ROOM,
    MAKE_ROOM,
    asked,
    is_error,
    since,
    succeeds,
)
from sharedkv_conformance.laws.host_tier_load_back import has_room, is_skipped, loaded
from sharedkv_conformance.laws.host_tier_room import policy_of
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.allocation import by_lane
from sharedkv_conformance.model.host_tier_copies import BACKUP, LOAD
from sharedkv_conformance.model.host_tier_tree_state import TREE, HostTreeState
from sharedkv_conformance.model.lane_pages import FREE, IN_USE
from sharedkv_conformance.step import Answer, Call

WRITE_BACK = "write_back"


def _loads(before: HostTreeState, call: Call, answer: Answer) -> LoadBack | None:
    return loaded(asked(before, call, answer, LOAD_BACK))


def _found(before: HostTreeState, call: Call) -> int:
    return len(before.model.to_load(before.model.tree.walk(call.tokens)))


@witness(on=LOAD_BACK, history=HISTORY)
def loaded_behind_residents(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A part of a way was on the device and two pages or more behind it were loaded."""
    load = _loads(before, call, answer)
    return load is not None and len(load.pages) > 1 and bool(before.model.tree.walk(call.tokens)[0][0].pages)


@witness(on=LOAD_BACK, history=HISTORY)
def part_of_a_node_loaded(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A load-back ended inside a node."""
    load = _loads(before, call, answer)
    found = before.model.tree.walk(call.tokens)
    return load is not None and any(held < before.model.tree.num_pages(node) for node, held in found)


@witness(on=LOAD_BACK, history=HISTORY)
def loaded_onto_unequal_lanes(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Pages were loaded that lie on unequal lanes, not in ascending order, and not as many on each."""
    load = _loads(before, call, answer)
    if load is None:
        return False
    lanes = before.model.lanes_of(load.pages)
    return list(lanes) != sorted(lanes) and len({lanes.count(lane) for lane in set(lanes)}) > 1


@witness(on=LOAD_BACK, history=HISTORY)
def quota_beside_backups(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """As many pages were loaded as may be at a time or fewer, while backups of others were in flight."""
    load, most = _loads(before, call, answer), before.config.host.load_back_most
    return load is not None and most > 0 and before.model.ledger.pages_of(BACKUP) + len(load.pages) > most


@witness(on=LOAD_BACK, history=HISTORY)
def loads_exactly_the_most(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Pages were loaded that made exactly the most be in flight, with others or not."""
    load, most = _loads(before, call, answer), before.config.host.load_back_most
    return load is not None and 0 < most == len(load.pages) + before.model.ledger.pages_of(LOAD)


@witness(on=LOAD_BACK, history=HISTORY)
def load_back_short_by_a_part(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lane had some of the pages that a load-back needed, and fewer had to go than stood off the way."""
    step = asked(before, call, answer, LOAD_BACK)
    if loaded(step) is None or step is None or has_room(before, call):
        return False
    model = before.model
    need = by_lane(model.geometry, model.load_lanes(model.to_load(model.tree.walk(call.tokens))))
    some = any(0 < have < want for have, want in zip(model.allocation.pages.counts(FREE), need, strict=True))
    way = {node.number for node, _ in model.tree.walk(call.tokens)}
    left = [node for node in step.after.tree.nodes.values() if node.pages and node.number not in way]
    return some and bool(left)


@witness(on=LOAD_BACK, history=HISTORY)
def load_back_after_a_reset_under_a_load(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Pages were loaded that would have been too many with those of loads that a reset had ended."""
    load, most = _loads(before, call, answer), before.config.host.load_back_most
    return load is not None and 0 < most < before.ended_loads + len(load.pages)


@witness(on=LOAD_BACK, history=HISTORY)
def loaded_way_could_give_way(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Victims of a load-back had no host pages, and the only ones that could make room for theirs were those loaded."""
    step = asked(before, call, answer, LOAD_BACK)
    if before.config.host.write != WRITE_BACK or loaded(step) is None or has_room(before, call):
        return False
    tree = before.model.tree
    way = {node.number for node, _ in tree.walk(call.tokens)}
    other = [node for node in tree.nodes.values() if node.host and node.number not in way]
    return not other and any(node.pages and not node.host for node in tree.nodes.values())


@witness(on=LOAD_BACK, history=HISTORY)
def loaded_beside_pages_in_use(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Pages were loaded while the lane had others in use, some of the tree and some of callers."""
    load = _loads(before, call, answer)
    if load is None:
        return False
    tree, pool = before.model.tree.device_pages(), before.model.allocation.pages
    lanes = set(before.model.lanes_of(load.pages))
    taken = {page for lane in pool.by_lane(IN_USE) for page in lane}
    own = {page for page in taken if before.geometry.lane(page) in lanes}
    return bool(own & tree) and bool(own - tree)


@witness(on=LOAD_BACK, history=HISTORY)
def load_back_needs_an_eviction(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lane was short, and nodes off the way made room."""
    return _loads(before, call, answer) is not None and not has_room(before, call)


@witness(on=LOAD_BACK, history=HISTORY)
def way_would_make_room(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lane was short, and a resident node of the way, with nothing of the device below, had pages of it."""
    step = asked(before, call, answer, LOAD_BACK)
    if step is None or is_skipped(step) or has_room(before, call):
        return False
    found = [node for node, _ in before.model.tree.walk(call.tokens) if node.pages and node.host]
    return bool(found) and not (found[-1].locks or found[-1].backups or found[-1].loads)


@witness(on=LOAD_BACK, history=HISTORY)
def load_back_waits(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A load-back had to wait, and some nodes could have been evicted."""
    step = asked(before, call, answer, LOAD_BACK)
    if step is None or not is_error(step):
        return False
    free = before.model.allocation.pages.counts(FREE)
    return tuple(getattr(getattr(step.expected, "error", None), "available", free)) != tuple(free)


@witness(on=LOAD_BACK, history=HISTORY)
def load_back_inside_a_node_waits(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A load-back that ended inside a node had to wait."""
    step = asked(before, call, answer, LOAD_BACK)
    found = before.model.tree.walk(call.tokens)
    return step is not None and is_error(step) and any(held < before.model.tree.num_pages(node) for node, held in found)


@witness(on=LOAD_BACK, history=HISTORY)
def too_few_to_load(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A load-back found pages, and fewer than the least."""
    is_judged = asked(before, call, answer, LOAD_BACK) is not None
    return is_judged and 0 < _found(before, call) < before.config.host.load_back_least


@witness(on=LOAD_BACK, history=HISTORY)
def nothing_to_load(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A load-back found nothing, and tokens that end inside a node."""
    if asked(before, call, answer, LOAD_BACK) is None or _found(before, call):
        return False
    return any(held < before.model.tree.num_pages(node) for node, held in before.model.tree.walk(call.tokens))


@witness(on=LOAD_BACK, history=HISTORY)
def too_many_in_flight(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A load-back would have been allowed, had no other been in flight."""
    if asked(before, call, answer, LOAD_BACK) is None:
        return False
    most, found, flying = before.config.host.load_back_most, _found(before, call), before.model.ledger.pages_of(LOAD)
    return max(1, before.config.host.load_back_least) <= found <= most < found + flying


@witness(on=TREE, history=HISTORY)
def several_nodes_loaded(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """The tree was shown after a load of two nodes."""
    load = loaded(since(before, LOAD_BACK))
    return load is not None and sum(bool(node.loads) for node in before.model.tree.nodes.values()) > 1


def _room(before: HostTreeState, call: Call, answer: Answer, op: str) -> list[tuple[int, int, int]] | None:
    """Return free, required and asked of each lane, of a call that has to succeed."""
    step = asked(before, call, answer, op)
    if step is None or not succeeds(step):
        return None
    model = before.model
    free = model.allocation.pages.counts(FREE) if op == MAKE_ROOM else model.free()
    asked_of = model.room_to_make(call.required) if op == MAKE_ROOM else model.host_room_to_make(call.required)
    return list(zip(free, call.required, asked_of, strict=True))


def _is_ahead(before: HostTreeState, call: Call, answer: Answer, op: str) -> bool:
    """Say whether room was wanted on a lane whose free pages hold what is required, and on another it was not."""
    lanes = _room(before, call, answer, op) or []
    return any(want and need <= free for free, need, want in lanes) and any(not want for _, _, want in lanes)


def _is_chunk(before: HostTreeState, call: Call, answer: Answer, op: str) -> bool:
    """Say whether the least chunk was more than what was missing on a lane."""
    chunk = policy_of(before, op).min_chunk
    return any(want == chunk > max(0, need - free) for free, need, want in _room(before, call, answer, op) or [])


def _is_shortage(before: HostTreeState, call: Call, answer: Answer, op: str) -> bool:
    """Say whether more was missing on a lane than the least chunk, and the target is above that."""
    policy = policy_of(before, op)
    lanes = _room(before, call, answer, op) or []
    return any(want > policy.min_chunk and policy.target > 0 for _, _, want in lanes)


@witness(on=MAKE_ROOM, history=HISTORY)
def device_room_ahead(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Room was wanted on a lane of the device whose free pages hold what is required, and not on another."""
    return _is_ahead(before, call, answer, MAKE_ROOM)


@witness(on=MAKE_ROOM, history=HISTORY)
def device_room_in_chunks(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """The least chunk was more than what was missing on a lane of the device."""
    return _is_chunk(before, call, answer, MAKE_ROOM)


@witness(on=MAKE_ROOM, history=HISTORY)
def device_room_by_shortage(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """More was missing on a lane of the device than the least chunk."""
    return _is_shortage(before, call, answer, MAKE_ROOM)


@witness(on=MAKE_HOST_ROOM, history=HISTORY)
def host_room_ahead(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Room was wanted on a host lane whose free pages hold what is required, and not on another."""
    return _is_ahead(before, call, answer, MAKE_HOST_ROOM)


@witness(on=MAKE_HOST_ROOM, history=HISTORY)
def host_room_in_chunks(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """The least chunk was more than what was missing on a host lane."""
    return _is_chunk(before, call, answer, MAKE_HOST_ROOM)


@witness(on=MAKE_HOST_ROOM, history=HISTORY)
def host_room_by_shortage(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """More was missing on a host lane than the least chunk."""
    return _is_shortage(before, call, answer, MAKE_HOST_ROOM)


@witness(on=(MAKE_ROOM, MAKE_HOST_ROOM), history=HISTORY)
def room_that_cannot_be_made(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Room was wanted where nobody could go far enough, and the lane had fewer free pages than are required."""
    step = asked(before, call, answer, MAKE_ROOM, MAKE_HOST_ROOM)
    if step is None or not succeeds(step):
        return False
    short = any(need > free for free, need, _ in _room(before, call, answer, call.op) or [])
    return short and any(getattr(getattr(step.expected, "value", None), "remaining", ()))


@witness(on=MAKE_ROOM, history=HISTORY)
def device_room_for_no_counts(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Room was asked for on the device with counts that are none, of a tree that could give some."""
    step = asked(before, call, answer, MAKE_ROOM)
    return step is not None and is_error(step) and bool(before.model.tree.nodes)


@witness(on=MAKE_HOST_ROOM, history=HISTORY)
def host_room_for_no_counts(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Room was asked for on the host with counts that are none, of a tree that could give some."""
    step = asked(before, call, answer, MAKE_HOST_ROOM)
    return step is not None and is_error(step) and bool(before.model.tree.nodes)

"""The witnesses of locks and evictions in tree histories."""

from __future__ import annotations

from sharedkv_conformance.laws.host_tier_decisions import LOAD_BACK
from sharedkv_conformance.laws.host_tier_parts import EVICT, EVICT_HOST, INSERT, LOCK, UNLOCK, by_lane
from sharedkv_conformance.laws.host_tier_tree_witnesses import walked
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.host_tier_tree import Node
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState
from sharedkv_conformance.step import Answer, Call, Ok

PROTECTED = 2
"""The hits from which on a node is in the protected segment."""


def _victims(before: HostTreeState, call: Call, answer: Answer) -> list[Node]:
    """Return the nodes that have to lose pages by an eviction on a tier."""
    if before.diverged:
        return []
    after = before.step(call, answer).after.tree.nodes
    on_host = call.op == EVICT_HOST
    return [
        node
        for number, node in before.model.tree.nodes.items()
        if (node.host if on_host else node.pages)
        and not (number in after and (after[number].host if on_host else after[number].pages))
    ]


# -- locks -----------------------------------------------------------------------------------------------------------


@witness(on=LOCK, history="host_tree")
def lock_beside_another(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node was locked that another lock covered."""
    way = walked(before, call)
    return any(node.locks for node, _ in way) and isinstance(before.step(call, answer).expected, Ok)


@witness(on=LOCK, history="host_tree")
def locked_after_an_unlock_beside_another(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lock was taken right after another one was given up, while a third was held."""
    known = not before.diverged and bool(before.model.held_locks)
    return known and before.cause() == UNLOCK and isinstance(before.step(call, answer).expected, Ok)


@witness(on=(EVICT, EVICT_HOST), history="host_tree")
def segment_decides_over_recency(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim was more recent than a node with two hits and as many pages of each lane that stays unprotected."""
    model = before.model
    victims = _victims(before, call, answer)
    planned = [] if before.diverged else model.tree.on_host() if call.op == EVICT_HOST else model.tree.on_device()
    gone = [node for node in planned if node.node in {victim.number for victim in victims}]
    stays = [node for node in planned if node not in gone and not node.locked and not node.pending]
    return any(
        other.hits == PROTECTED > node.hits and other.last_tick < node.last_tick and other.owners == node.owners
        for node in gone
        for other in stays
    )


@witness(on=LOCK, history="host_tree")
def lock_of_several_nodes(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Two nodes were locked at once that had another below them."""
    way = walked(before, call)
    below = bool(way) and any(before.model.tree.children(way[-1][0].number))
    return len(way) > 1 and below and isinstance(before.step(call, answer).expected, Ok)


@witness(on=LOCK, history="host_tree")
def lock_of_what_is_on_the_host(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lock asked for a way of which the upper part is on the device and the lower on the host alone."""
    way = walked(before, call)
    return any(node.pages for node, _ in way) and any(not node.pages for node, _ in way)


@witness(on=UNLOCK, history="host_tree")
def unlock_beside_another(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lock was given up that covered several nodes, one of which another lock covers."""
    if before.diverged:
        return False
    covered = [node.locks for node in before.model.tree.nodes.values() if call.lock in node.locks]
    return len(covered) > 1 and any(len(locks) > 1 for locks in covered)


@witness(on=UNLOCK, history="host_tree")
def unlock_of_no_lock(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A lock was given up that was not held."""
    return not before.diverged and call.lock not in before.model.held_locks


# -- eviction --------------------------------------------------------------------------------------------------------


def _asked(before: HostTreeState, call: Call, node: Node) -> bool:
    """Say whether a node has pages on the tier of an eviction, on a lane that is short."""
    if before.diverged or len(call.deficit) != before.config.cp_size:
        return False
    lanes = [lane for lane, _ in node.host] if call.op == EVICT_HOST else before.model.lanes_of(node.pages)
    return any(call.deficit[lane] > 0 for lane in lanes)


@witness(on=EVICT, history="host_tree")
def evict_past_a_lock(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An eviction asked for pages of lanes on which a locked node without a copy in flight has some."""
    nodes = before.model.tree.nodes.values()
    return any(node.locks and not node.backups | node.loads and _asked(before, call, node) for node in nodes)


@witness(on=EVICT, history="host_tree")
def evict_past_a_backup(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An eviction asked for pages of lanes on which a node under a backup, and no lock, has some."""
    nodes = before.model.tree.nodes.values()
    return any(node.backups and not node.locks and _asked(before, call, node) for node in nodes)


@witness(on=EVICT, history="host_tree")
def evict_past_a_load(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An eviction asked for pages of lanes on which a node under a load, and no lock, has some."""
    nodes = before.model.tree.nodes.values()
    return any(node.loads and not node.locks and _asked(before, call, node) for node in nodes)


@witness(on=EVICT, history="host_tree")
def way_of_a_load_back_that_waited_evicted(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim was on the way of a load-back that had to wait right before."""
    if before.diverged or before.last is None or before.cause() != LOAD_BACK or isinstance(before.last[1], Ok):
        return False
    way = {node.number for node, _ in before.model.tree.walk(before.last[0].tokens)}
    return any(node.number in way for node in _victims(before, call, answer))


@witness(on=EVICT_HOST, history="host_tree")
def way_of_a_backup_that_failed_evicted(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim of the host was on the way of an insert right before, of which a node found no host pages."""
    if before.diverged or before.last is None or before.cause() != INSERT:
        return False
    way = [node for node, _ in before.model.tree.walk(before.last[0].tokens)]
    numbers = {node.number for node in way}
    failed = before.config.host.write == "write_through" and any(not node.host for node in way)
    return failed and any(node.number in numbers for node in _victims(before, call, answer))


@witness(on=EVICT, history="host_tree")
def evict_some_of_several(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An eviction had victims, and others that could have gone stayed."""
    victims = _victims(before, call, answer)
    rest = [node for node in before.model.tree.nodes.values() if node.pages and not node.locks and node not in victims]
    return bool(victims) and any(not node.backups | node.loads for node in rest)


@witness(on=EVICT, history="host_tree")
def evict_several_in_order(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An eviction had several victims, one below another."""
    victims = {node.number: node for node in _victims(before, call, answer)}
    return any(node.parent in victims for node in victims.values())


@witness(on=EVICT, history="host_tree")
def evict_more_than_asked(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """The victims of an eviction had more pages of a lane than it was short of, and it stayed short of another."""
    victims = _victims(before, call, answer)
    freed = by_lane(before.geometry, [page for node in victims for page in node.pages])
    pairs = list(zip(freed, call.deficit, strict=False))
    return bool(victims) and any(have > need for have, need in pairs) and any(have < need for have, need in pairs)


@witness(on=EVICT, history="host_tree")
def evict_backed_up(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim of the device was backed up before."""
    return any(node.host for node in _victims(before, call, answer))


@witness(on=EVICT, history="host_tree")
def evict_without_host_pages(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim of the device had no host pages, and the session does not write back."""
    return before.config.host.write != "write_back" and any(not n.host for n in _victims(before, call, answer))


@witness(on=EVICT, history="host_tree")
def evict_for_no_deficit(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An eviction on the device was asked for counts that are no deficit, while there was somebody to evict."""
    return _is_no_deficit(before, call) and any(node.pages for node in before.model.tree.nodes.values())


@witness(on=EVICT_HOST, history="host_tree")
def evict_host_for_no_deficit(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An eviction on the host was asked for counts that are no deficit, while there was somebody to evict."""
    return _is_no_deficit(before, call) and any(node.host for node in before.model.tree.nodes.values())


def _is_no_deficit(before: HostTreeState, call: Call) -> bool:
    return not before.diverged and (len(call.deficit) != before.config.cp_size or min(call.deficit) < 0)


@witness(on=EVICT_HOST, history="host_tree")
def evict_host_some_of_several(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A host eviction had victims, and others that could have gone stayed."""
    victims = _victims(before, call, answer)
    rest = [node for node in before.model.tree.nodes.values() if node.host and node not in victims]
    free = [node for node in rest if not node.locks | node.readers | node.backups | node.loads]
    return bool(victims) and bool(free)


@witness(on=EVICT_HOST, history="host_tree")
def evict_host_falls_short(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A host eviction had victims, and a lane stayed short."""
    victims = _victims(before, call, answer)
    lanes = [lane for node in victims for lane, _ in node.host]
    return bool(victims) and any(lanes.count(lane) < short for lane, short in enumerate(call.deficit))


@witness(on=EVICT_HOST, history="host_tree")
def evict_host_past_a_load(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A host eviction asked for pages of lanes on which a node that is loaded back has some."""
    return any(node.loads and _asked(before, call, node) for node in before.model.tree.nodes.values())


@witness(on=EVICT_HOST, history="host_tree")
def evict_host_past_a_backup(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A host eviction asked for pages of lanes on which a node under a backup has some."""
    return any(node.backups and _asked(before, call, node) for node in before.model.tree.nodes.values())


@witness(on=EVICT_HOST, history="host_tree")
def evict_host_past_a_lock(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A host eviction asked for pages of lanes on which a locked node without a copy in flight has some."""
    nodes = before.model.tree.nodes.values()
    return any(node.locks and not node.backups | node.loads and _asked(before, call, node) for node in nodes)


@witness(on=EVICT_HOST, history="host_tree")
def evict_host_of_a_mirror(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim of the host was resident."""
    return any(node.pages for node in _victims(before, call, answer))


@witness(on=EVICT_HOST, history="host_tree")
def evict_host_of_the_last_copy(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim of the host was on the host alone."""
    return any(not node.pages for node in _victims(before, call, answer))

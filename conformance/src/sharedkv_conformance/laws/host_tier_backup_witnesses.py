"""The witnesses of backups: which situation an insert, or an eviction under `write_back`, is."""

from __future__ import annotations

from sharedkv_conformance.laws.host_tier_backup import Case, backup_case
from sharedkv_conformance.laws.host_tier_decisions import EVICTIONS, HISTORY, INSERT, asked, hosted, succeeds
from sharedkv_conformance.marks import witness
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_refusals import LAYOUTS, WRITE_POLICIES
from sharedkv_conformance.model.host_tier_tree import Node
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState, Step
from sharedkv_conformance.step import Answer, Call
from sharedkv_conformance.trace import OPEN


def _inserted(before: HostTreeState, call: Call, answer: Answer, *cases: Case) -> Step | None:
    """Return the step of an insert that has to succeed, whose backups fit in one of these ways."""
    step = asked(before, call, answer, INSERT)
    if step is None or not succeeds(step) or backup_case(before.model, step.after, call) not in cases:
        return None
    return step


def _way(model: HostTierModel, call: Call) -> list[Node]:
    return [node for node, _ in model.tree.walk(call.tokens)]


@witness(on=INSERT, history=HISTORY)
def several_nodes_backed_up(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert backed up two nodes or more."""
    step = _inserted(before, call, answer, Case.FITS)
    return step is not None and len(hosted(step.after) - hosted(before.model)) > 1


@witness(on=INSERT, history=HISTORY)
def backed_up_at_the_second_hit(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Under `write_through_selective` an insert went a second time through a node that has no host pages."""
    step = _inserted(before, call, answer, Case.FITS)
    if step is None or before.config.host.write != "write_through_selective":
        return False
    return any(node.hits == 1 and not node.host for node in _way(before.model, call))


@witness(on=INSERT, history=HISTORY)
def inserted_in_chunks(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """An insert went on where one of the same request ended, and both were backed up by the policy."""
    step = _inserted(before, call, answer, Case.FITS)
    if step is None or before.config.host.write != "write_through" or not _way(before.model, call):
        return False
    return bool(hosted(step.after) - hosted(before.model))


@witness(on=INSERT, history=HISTORY)
def first_hit_of_two(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Under `write_through_selective` an insert made a node, with room for it on the host."""
    step = _inserted(before, call, answer, Case.FITS)
    return step is not None and before.config.host.write == "write_through_selective" and _has_new_node(step, call)


@witness(on=INSERT, history=HISTORY)
def inserted_under_write_back(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Under `write_back` an insert went through nodes without host pages, with room for them on the host."""
    step = _inserted(before, call, answer, Case.FITS)
    return step is not None and before.config.host.write == "write_back" and bool(_way(before.model, call))


def _has_new_node(step: Step, call: Call) -> bool:
    new = [node for node in _way(step.after, call) if node.hits == 1 and not node.host]
    return bool(new) and step.after.fits(step.after.host_need(new))


@witness(on=INSERT, history=HISTORY)
def way_would_give_way(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Backups of an insert needed an eviction, and a node of the way had host pages that would have done."""
    step = _inserted(before, call, answer, Case.EVICTS)
    return step is not None and any(
        node.host and not (node.locks or node.readers or node.backups or node.loads)
        for node in _way(before.model, call)
    )


@witness(on=INSERT, history=HISTORY)
def mirror_gives_way(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Backups of an insert needed an eviction, and host pages went of a node that is on the device as well."""
    step = _inserted(before, call, answer, Case.EVICTS)
    if step is None:
        return False
    gone = hosted(before.model) - hosted(step.after)
    return any(step.after.tree.path(node) in gone and node.pages for node in step.after.tree.nodes.values())


@witness(on=INSERT, history=HISTORY)
def two_backups_need_room(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Two nodes or more were backed up after one eviction."""
    step = _inserted(before, call, answer, Case.EVICTS)
    if step is None:
        return False
    return sum(bool(node.host and node.backups) for node in _way(step.after, call)) > 1


@witness(on=INSERT, history=HISTORY)
def later_backup_would_fit(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Of the nodes of a way one did not fit on the host, and one below it would have."""
    step = _inserted(before, call, answer, Case.SHORT)
    if step is None:
        return False
    missed = step.after.due_for_backup(_way(step.after, call))
    return any(step.after.fits(step.after.host_need([node])) for node in missed[1:])


@witness(on=INSERT, history=HISTORY)
def first_backup_fits(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Of the nodes of a way the first fitted on the host and a later one did not."""
    step = _inserted(before, call, answer, Case.SHORT)
    return step is not None and bool(hosted(step.after) - hosted(before.model))


@witness(on=INSERT, history=HISTORY)
def victims_in_vain_of_backups(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """Backups did not fit even after an eviction, and some node off the way had host pages that could go."""
    step = _inserted(before, call, answer, Case.SHORT)
    way = [node.number for node in _way(before.model, call)]
    return step is not None and any(
        node.host and node.number not in way and not (node.locks or node.readers or node.backups or node.loads)
        for node in before.model.tree.nodes.values()
    )


def _victims(before: HostTreeState, call: Call, answer: Answer) -> tuple[Step, list[Node]] | None:
    """Return the step of an eviction under `write_back`, and its victims as they were before it."""
    step = asked(before, call, answer, *EVICTIONS)
    if step is None or not succeeds(step) or before.config.host.write != "write_back":
        return None
    later = {number for number, node in step.after.tree.nodes.items() if node.pages}
    return step, [node for number, node in before.model.tree.nodes.items() if node.pages and number not in later]


@witness(on=EVICTIONS, history=HISTORY)
def victim_below_an_unsaved_node(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim without host pages was below a node that had none and stayed on the device."""
    step, victims = _victims(before, call, answer) or (None, [])
    if step is None:
        return False
    numbers = {node.number for node in victims}
    return any(
        not above.host and above.number not in numbers
        for node in victims
        if not node.host
        for above in before.model.tree.above(node)
    )


@witness(on=EVICTIONS, history=HISTORY)
def victim_written_back(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim without host pages was backed up while copies were held."""
    step, victims = _victims(before, call, answer) or (None, [])
    if step is None or not before.model.ledger.is_holding:
        return False
    return any(not node.host and node.number in step.after.tree.nodes for node in victims)


@witness(on=EVICTIONS, history=HISTORY)
def way_of_a_victim_could_give_way(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim without host pages lacked a host page of a lane that a node above it had, and nothing protected it."""
    step, victims = _victims(before, call, answer) or (None, [])
    if step is None:
        return False
    model, free = before.model, before.model.free()
    return any(
        not free[lane] and not model.tree.is_held_on_host(above) and not model.tree.is_pending(above)
        for node in victims
        if not node.host
        for above in model.tree.above(node)
        for lane in {own for own, _ in above.host} & set(model.lanes_of(node.pages))
    )


@witness(on=EVICTIONS, history=HISTORY)
def victim_without_room(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A victim left the tree because the host had no room for it, while another was backed up."""
    step, victims = _victims(before, call, answer) or (None, [])
    if step is None:
        return False
    kept = [node.number in step.after.tree.nodes for node in victims if not node.host]
    return any(kept) and not all(kept)


@witness(on=INSERT, history=HISTORY)
def lanes_of_a_node_out_of_order(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A node was backed up whose pages lie on unequal lanes, not in ascending order."""
    step = asked(before, call, answer, INSERT)
    if step is None or not succeeds(step):
        return False
    for node in _way(step.after, call):
        lanes = [lane for lane, _ in node.host]
        if node.backups and lanes != sorted(lanes):
            return True
    return False


@witness(on=OPEN, history=HISTORY)
def opened_with_an_unknown_policy(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A session was opened with a write policy that is none."""
    return before.config.host.write not in WRITE_POLICIES


@witness(on=OPEN, history=HISTORY)
def opened_with_an_unknown_layout(before: HostTreeState, call: Call, answer: Answer) -> bool:
    """A session was opened with a host layout that is none."""
    return before.config.host.layout not in LAYOUTS

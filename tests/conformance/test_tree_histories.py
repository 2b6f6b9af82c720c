"""Tests of tree histories: what the model of the host tier keeps, and that no wrong answer goes unnoticed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from sharedkv_conformance.catalogue import load_laws
from sharedkv_conformance.contract.errors import Reason, Rejected
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.contract.operations import OPERATIONS
from sharedkv_conformance.contract.probe import TreeNode
from sharedkv_conformance.effort import GATE
from sharedkv_conformance.facets import FACETS
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.marks import Law
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.host_tier import HostTierModel
from sharedkv_conformance.model.host_tier_tree_state import COLLECTIVES, COPIES, LANES, STATISTICS, HostTreeState
from sharedkv_conformance.model.host_tier_tree_view import TreeView, differences
from sharedkv_conformance.model.implementation import model
from sharedkv_conformance.model.lane_pages import IN_USE
from sharedkv_conformance.step import Answer, Call, Err, Ok

EVERY_CALL = frozenset(operation.name for operation in OPERATIONS)
LAWS = tuple(law for law in load_laws() if law.history == "host_tree")
SCRIPTS = FACETS["host_tree"].scripts


Look = Callable[[HostTreeState, Call, Answer], Iterable[str]]
Script = tuple[OpenConfig, Callable[[Any], None]]


def watching(look: Look) -> Law:
    """Return a law that sees every step of a history."""
    return Law(name="watching", statement="", on=EVERY_CALL, violations=look, meaning="", history="host_tree")


def broken_invariants(model: HostTierModel) -> Iterator[str]:
    """Yield what is wrong with a model that should be right at every moment."""
    tree, pool = model.tree, model.allocation.pages
    pages = [page for node in tree.nodes.values() for page in node.pages]
    hosts = [page for node in tree.nodes.values() for page in node.host]
    reserved = [page for own in model.reservations.values() for page in own.values()]
    if len(set(pages)) < len(pages) or any(pool.state(page) != IN_USE for page in pages):
        yield f"device pages {pages} of the tree are not each in use once"
    allocated = {(lane, page) for lane, own in enumerate(model.lanes) for page in own.allocated}
    if len({*hosts, *reserved}) < len([*hosts, *reserved]) or not allocated.issuperset([*hosts, *reserved]):
        yield f"host pages {sorted(hosts)} of the tree, {sorted(reserved)} reserved, of {sorted(allocated)} allocated"
    waiting = {copy for node in tree.nodes.values() for copy in node.backups | node.loads | node.readers}
    if not waiting <= model.ledger.copies.keys():
        yield f"nodes wait for copies {waiting}, in flight are {sorted(model.ledger.copies)}"
    for node in tree.nodes.values():
        above = tree.nodes.get(node.parent)
        if not node.tokens or len(node.tokens) % model.config.page_size or not (node.pages or node.host):
            yield f"{node} has no whole pages, or pages nowhere"
        if above is None and node.parent != ROOT:
            yield f"{node} is below nothing"
        if above is not None and ((node.pages and not above.pages) or (node.host and not above.host)):
            yield f"{node} is below a gap"
        if any(tree.common(node.tokens, other.tokens) for other in tree.children(node.parent) if other is not node):
            yield f"{node} begins like another below the same parent"


def test_the_model_keeps_one_owner_for_each_page_on_both_tiers() -> None:
    found: list[str] = []

    def look(before: HostTreeState, _call: Call, _answer: Answer) -> tuple[()]:
        found.extend(broken_invariants(before.model))
        return ()

    Histories(model(), replace(GATE, examples=40)).run("host_tree", laws=[watching(look)])

    assert not found


def variants(value: object) -> Iterator[Any]:
    """Yield values that differ from a value in one place."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from (replace(value, **{field.name: other}) for other in variants(getattr(value, field.name)))
    elif isinstance(value, tuple) and value:
        yield from (value[:-1], value[1:])
        for index, item in enumerate(value if is_dataclass(value[0]) else value[:1]):
            yield from ((*value[:index], other, *value[index + 1 :]) for other in variants(item))


def wrong_answers(call: Call, answer: Answer) -> Iterator[Answer]:
    """Yield answers that are wrong in one place."""
    yield from map(Ok, variants(answer.value)) if isinstance(answer, Ok) else ()
    if call.op.startswith("host_tier.") and call.op != STATISTICS:
        yield Err(Rejected(Reason.NODE_NEGATIVE))


def is_of_the_tree(before: HostTreeState, call: Call) -> bool:
    """Say whether laws of trees have to judge a call: what callers do with their own pages is of the pools."""
    if call.op == STATISTICS and before.cause() in ("host_tier.allocate", "host_tier.release"):
        return isinstance(before.last[1], Err) if before.last else False
    return call.op not in (COPIES, COLLECTIVES) and not (call.op == LANES and before.cause().startswith("allocation."))


@pytest.mark.parametrize("written", SCRIPTS, ids=[f"script{index}" for index, _ in enumerate(SCRIPTS)])
def test_every_answer_that_is_not_the_right_one_breaks_a_law(written: Script) -> None:
    config, script = written
    unnoticed: list[str] = []

    def look(before: HostTreeState, call: Call, answer: Answer) -> tuple[()]:
        judges = [law for law in LAWS if call.op in law.on]
        unnoticed.extend(
            f"{call} after {before.cause()}: {other}, and was {answer}"
            for other in (wrong_answers(call, answer) if is_of_the_tree(before, call) else ())
            if before.deviates(call, other) and not any(list(law(before, call, other)) for law in judges)
        )
        return ()

    with Histories(model(), GATE).written("host_tree", config, laws=[watching(look)]) as call:
        script(call)

    assert not unnoticed[:3]


def test_a_tree_that_is_none_is_told_and_never_raises() -> None:
    node = TreeNode(
        node=0,
        parent=1,
        tokens=(1, 1),
        pages=(1,),
        host_lanes=(0,),
        host_pages=(),
        device_counts=(1, 0),
        host_counts=(0, 0),
        locks=0,
        readers=0,
        backup_pending=False,
        load_pending=False,
        hits=0,
        last_tick=0,
    )
    cycle = (node, replace(node, node=1, parent=0))
    orphan = (replace(node, parent=7),)
    odd = (replace(node, parent=ROOT, tokens=(1,)), replace(node, parent=ROOT))

    for nodes in (cycle, orphan, odd):
        found = differences(TreeView(), TreeView.of(nodes, 2), {}, 1)
        assert found["malformed"]

"""Plans as numbers that nothing computes: the rows of the tables of the specification."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sharedkv_conformance.contract.eviction import EvictionNode
from sharedkv_conformance.laws.eviction import PLANS, planned
from sharedkv_conformance.marks import law
from sharedkv_conformance.model.eviction import EvictionState
from sharedkv_conformance.model.eviction_rounds import rounds_of
from sharedkv_conformance.step import Answer, Call


@dataclass(frozen=True, kw_only=True)
class Row:
    """One tree, what two lanes are short of, and whom the first round takes."""

    nodes: tuple[EvictionNode, ...]
    deficit: tuple[int, ...]
    first: int
    statement: str


def _tree(*lines: tuple[int, tuple[int, ...], int, int]) -> tuple[EvictionNode, ...]:
    """Return nodes in the order of creation from (parent, owners, hits, last tick)."""
    return tuple(
        EvictionNode(node=n, parent=parent, owners=owners, locked=False, pending=False, hits=hits, last_tick=tick)
        for n, (parent, owners, hits, tick) in enumerate(lines)
    )


WRITTEN: tuple[Row, ...] = (
    # Node 1 has more pages; node 2 has more of those that are missing.
    Row(
        statement="S1",
        nodes=_tree((-1, (0,), 1, 1), (-1, (0, 0, 0, 0, 1), 1, 2), (-1, (0, 1, 1), 1, 3)),
        deficit=(1, 2),
        first=2,
    ),
    # Nobody who can go has pages of lane 1; one child hides two ancestors with one page each, the other one with one.
    Row(
        statement="S2",
        nodes=_tree((-1, (1,), 1, 1), (0, (1,), 1, 1), (0, (0,), 0, 1), (1, (0,), 0, 2)),
        deficit=(0, 2),
        first=3,
    ),
    # Two ancestors have one page of lane 0 each, where one is missing; the other ancestor has one of each lane.
    Row(
        statement="S2",
        nodes=_tree((-1, (0,), 1, 1), (0, (0,), 1, 1), (-1, (0, 1), 1, 1), (1, (0,), 0, 1), (2, (0,), 0, 2)),
        deficit=(1, 1),
        first=4,
    ),
    # Of three alike, the older ones were matched twice, or are.
    Row(statement="S3", nodes=_tree((-1, (0,), 2, 1), (-1, (0,), 1, 7), (-1, (0,), 0, 9)), deficit=(1, 0), first=1),
)


def _disagrees(before: EvictionState, call: Call, answer: Answer, statement: str) -> Iterator[str]:
    plan = planned(before, call, answer)
    row = next((row for row in WRITTEN if (row.nodes, row.deficit) == (call.nodes, call.deficit)), None)
    if plan is None or row is None or row.statement != statement:
        return
    first = rounds_of(call.nodes, call.deficit, plan.victims[:1])[:1]
    victim = first[0].victim if first else None
    if victim is not None and victim.node != row.first:
        yield f"node {victim.node} goes first, the table says {row.first}"


@law("RFC-0008:C-SELECTION#S1", on=PLANS)
def the_table_of_contributions_holds(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """The row of the clause's table that contributions decide."""
    yield from _disagrees(before, call, answer, "S1")


@law("RFC-0008:C-SELECTION#S2", on=PLANS)
def the_table_of_unlocks_holds(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """The row of the clause's table that unlocks decide."""
    yield from _disagrees(before, call, answer, "S2")


@law("RFC-0008:C-SELECTION#S3", on=PLANS)
def the_table_of_recency_holds(before: EvictionState, call: Call, answer: Answer) -> Iterator[str]:
    """The row of the clause's table that recency decides."""
    yield from _disagrees(before, call, answer, "S3")

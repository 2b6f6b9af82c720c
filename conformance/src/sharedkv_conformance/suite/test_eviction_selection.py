"""The checks of `eviction`: who goes in each round, and when a plan ends."""

from __future__ import annotations

from collections.abc import Iterable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.eviction import PLANS
from sharedkv_conformance.laws.eviction_selection import (
    a_plan_goes_as_far_as_it_can,
    nobody_goes_for_nothing,
    the_largest_contribution_goes_first,
    then_the_largest_unlock,
    then_the_least_recent_in_its_segment,
    then_the_node_created_first,
)
from sharedkv_conformance.laws.eviction_written import (
    WRITTEN,
    the_table_of_contributions_holds,
    the_table_of_recency_holds,
    the_table_of_unlocks_holds,
)
from sharedkv_conformance.marks import Law, check


@check(
    "eviction.contribution",
    "RFC-0008:C-SELECTION#S1",
    witnesses=("contribution_decides", "pages_beyond_the_deficit"),
)
def test_the_largest_contribution_goes_first(histories: Histories) -> None:
    """Large nodes without the missing pages are thrown away first, and the lane is short still."""
    histories.run("eviction", laws=[the_largest_contribution_goes_first])


@check("eviction.unlock", "RFC-0008:C-SELECTION#S2", witnesses=("unlock_decides", "only_a_way_to_an_ancestor"))
def test_then_the_largest_unlock(histories: Histories) -> None:
    """A score that changes with what siblings do makes a lazy queue choose otherwise than a plain loop."""
    histories.run("eviction", laws=[then_the_largest_unlock])


@check(
    "eviction.recency",
    "RFC-0008:C-SELECTION#S3",
    witnesses=("recency_decides", "protection_decides"),
    cases=("KV-87",),
)
def test_then_the_least_recent_in_its_segment(histories: Histories) -> None:
    """A clock that ranks read at different moments orders their nodes differently."""
    histories.run("eviction", laws=[then_the_least_recent_in_its_segment])


@check("eviction.number", "RFC-0008:C-SELECTION#S4", witnesses=("number_decides",))
def test_then_the_node_created_first(histories: Histories) -> None:
    """The order of a hash table decides, and is another one on the next rank."""
    histories.run("eviction", laws=[then_the_node_created_first])


@check(
    "eviction.nobody-for-nothing",
    "RFC-0008:C-SELECTION#S5",
    witnesses=("more_than_is_needed", "a_way_that_is_blocked", "nothing_is_missing"),
    cases=("KV-81",),
)
def test_nobody_goes_for_nothing(histories: Histories) -> None:
    """Warm prefixes are thrown away, and no lane is better off."""
    histories.run("eviction", laws=[nobody_goes_for_nothing])


@check(
    "eviction.as-far-as-it-goes",
    "RFC-0008:C-SELECTION#S6",
    witnesses=("only_a_way_to_an_ancestor", "short_in_the_end", "several_victims"),
)
def test_a_plan_goes_as_far_as_it_can(histories: Histories) -> None:
    """A small deficit of one lane stays, in the midst of a large cache that could be evicted."""
    histories.run("eviction", laws=[a_plan_goes_as_far_as_it_can])


@check(
    "eviction.table",
    "RFC-0008:C-SELECTION#S1",
    "RFC-0008:C-SELECTION#S2",
    "RFC-0008:C-SELECTION#S3",
    witnesses=("contribution_decides", "unlock_decides", "protection_decides"),
)
def test_the_written_table_holds(histories: Histories) -> None:
    """The rows of the clause's table hold to the number, so that no shared formula can be wrong on both sides."""
    _issue_rows(histories, (the_table_of_contributions_holds, the_table_of_unlocks_holds, the_table_of_recency_holds))


def _issue_rows(histories: Histories, laws: Iterable[Law]) -> None:
    for row in WRITTEN:
        config = OpenConfig(cp_size=len(row.deficit), page_size=4, pages=8)
        with histories.written("eviction", config, laws=laws) as call:
            for op in PLANS:
                call(op, nodes=row.nodes, deficit=row.deficit)

"""The checks of `host_tier`: acknowledgement, reset, and what ranks tell each other."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.host_tier_scripts import TreeScript, copy_of, tree_config
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier_acknowledge import (
    a_reset_ends_locks_and_reservations,
    a_reset_frees_what_the_tree_had,
    a_reset_leaves_no_node_and_no_copy,
    copies_of_a_kind_are_acknowledged_in_order,
    each_copy_is_acknowledged_once_by_its_number,
    every_poll_makes_the_same_collectives,
    no_copy_is_acknowledged_before_every_rank_has_it,
    no_other_call_makes_a_collective,
    nodes_are_released_with_their_copies,
    ranks_decide_alike,
    what_is_finished_is_acknowledged,
)
from sharedkv_conformance.marks import Law, check

POLICIES = ("write_through", "write_through_selective", "write_back")
TREE = ("host_tier.tree", "probe.tree")
PLAIN = tree_config(host=6, pages=6)
WITH_DRAFT = tree_config(host=6, pages=6, draft=1)


def _play(
    histories: Histories, law: Law, *scripts: tuple[OpenConfig, Callable[[TreeScript], None]], ranks: int = 1
) -> None:
    """Play written histories, then draw some."""
    for config, script in scripts:
        with histories.written("host_tree", config, laws=[law], ranks=ranks) as call:
            script(TreeScript(call, config))
    histories.run("host_tree", laws=[law], ranks=ranks)


def idle(script: TreeScript) -> None:
    """Backups are finished and nothing runs; then loads alone."""
    script.insert("a", "0")
    script.insert("ab", ".1")
    script.insert("ab", "..")
    script.insert("c", "1")
    script.poll()
    script.poll()
    script.evict(4, 4)
    script.load_back("ab")
    script.poll()
    script.load_back("c")
    script.poll()
    script.evict(4, 4)


def two_ranks(script: TreeScript) -> None:
    """Copies of both kinds are finished on one rank, then on the other; the later ones first."""
    script.insert("x", "0")
    script.insert("y", "1")
    script.poll()
    script.evict(1, 1)
    script.hold()
    first = copy_of(script.insert("a", "0"))
    load = copy_of(script.load_back("x"))
    second = copy_of(script.insert("b", "1"))
    other = copy_of(script.load_back("y"))
    script.poll()
    for copy, rank in ((first, 0), (second, 0), (second, 1), (load, 0), (load, 1)):
        script.finish(copy, rank=rank)
        script.poll()
    for copy, rank in ((other, 1), (first, 1), (other, 0)):
        script.finish(copy, rank=rank)
        script.poll()
    script.poll()


def reset(script: TreeScript) -> None:
    """A reset comes under copies, locks, a reservation and host pages that a caller has allocated."""
    script.call.attempt("host_tier.allocate", pages=(1, 0))
    script.insert("x", "0")
    script.insert("y", "1")
    script.poll()
    script.evict(1, 0)
    script.hold()
    script.insert("a", "0")
    script.load_back("x")
    lock = script.lock("y")
    script.admit(("r1", "01", 0), ("r2", "1", 0))
    script.reset()
    script.cancel("r1")
    script.cancel("r2")
    script.unlock(lock)
    script.poll()
    script.match("x")
    script.admit(("r1", "0", 0))


def against_a_ranks_lane(script: TreeScript) -> None:
    """The second rank has room on its own lane where the first lane has none, and the other way round."""
    script.insert("a", "0")
    script.insert("b", "0")
    script.insert("c", "1")
    script.poll()
    script.admit(("x", "01", 0))
    script.cancel("x")
    script.evict(2, 1)
    script.extend()
    script.extend()
    script.load_back("b")
    script.load_back("c")
    script.admit(("y", "0", 0))
    script.make_host_room(1, 1)
    script.poll()


@check(
    "host_tier.acknowledged-when-finished",
    "RFC-0006:C-ACKNOWLEDGE#S1",
    witnesses=("polled_with_loads_alone", "polled_with_backups_alone", "polled_behind_another_kind"),
    cases=("KV-20",),
    needs=("host_tier.tree",),
)
def test_what_is_finished_is_acknowledged(histories: Histories) -> None:
    """An idle engine keeps its pages protected for good, and stalls when the next request comes."""
    played = [(tree_config(host=6, pages=6, write=write, draft=draft), idle) for write in POLICIES for draft in (0, 1)]
    _play(histories, what_is_finished_is_acknowledged, *played, (PLAIN, two_ranks))


@check(
    "host_tier.acknowledged-on-all-ranks",
    "RFC-0006:C-ACKNOWLEDGE#S2",
    witnesses=("finished_on_some_ranks",),
    cases=("KV-67", "KV-69"),
    needs=("host_tier.tree", "probe.copies"),
)
def test_no_copy_is_acknowledged_before_every_rank_has_it(histories: Histories) -> None:
    """One rank evicts a device page whose backup is still running on another."""
    _play(histories, no_copy_is_acknowledged_before_every_rank_has_it, (PLAIN, two_ranks))


@check(
    "host_tier.acknowledged-in-order",
    "RFC-0006:C-ACKNOWLEDGE#S3",
    witnesses=("finished_out_of_order",),
    needs=("host_tier.tree", "probe.copies"),
)
def test_copies_of_a_kind_are_acknowledged_in_order(histories: Histories) -> None:
    """Two ranks agree that one copy is finished, and mean different ones."""
    _play(histories, copies_of_a_kind_are_acknowledged_in_order, (PLAIN, two_ranks))


@check(
    "host_tier.acknowledged-once",
    "RFC-0006:C-ACKNOWLEDGE#S4",
    witnesses=("several_loads_polled", "polled_with_backups_alone"),
    needs=("host_tier.tree", "probe.copies"),
)
def test_each_copy_is_acknowledged_once_by_its_number(histories: Histories) -> None:
    """Two loads of one step end with one acknowledgement, and the nodes of the other stay pending."""
    _play(histories, each_copy_is_acknowledged_once_by_its_number, (PLAIN, two_ranks), (PLAIN, idle))


@check(
    "host_tier.released-with-its-copy",
    "RFC-0006:C-ACKNOWLEDGE#S5",
    witnesses=("some_copies_acknowledged",),
    cases=("KV-20",),
    needs=(*TREE, "probe.copies"),
)
def test_nodes_are_released_with_their_copies(histories: Histories) -> None:
    """A node is locked twice and unlocked once, or unlocked while another copy still reads it."""
    _play(histories, nodes_are_released_with_their_copies, (PLAIN, two_ranks), (WITH_DRAFT, idle))


@check(
    "host_tier.reset-tree",
    "RFC-0006:C-RESET#S1",
    witnesses=("reset_under_copies", "reset_under_locks"),
    needs=(*TREE, "probe.copies"),
)
def test_a_reset_leaves_no_node_and_no_copy(histories: Histories) -> None:
    """After new weights a prefix is found that the old ones have computed."""
    _play(histories, a_reset_leaves_no_node_and_no_copy, (PLAIN, reset))


@check(
    "host_tier.reset-pages",
    "RFC-0006:C-RESET#S2",
    witnesses=("reset_with_a_reservation", "reset_beside_allocated_host_pages", "reset_under_locks"),
    needs=("host_tier.tree",),
)
def test_a_reset_frees_what_the_tree_had(histories: Histories) -> None:
    """Both tiers are smaller after every change of weights."""
    _play(histories, a_reset_frees_what_the_tree_had, (PLAIN, reset))


@check(
    "host_tier.reset-locks",
    "RFC-0006:C-RESET#S3",
    witnesses=("asked_for_after_a_reset",),
    needs=("host_tier.tree",),
)
def test_a_reset_ends_locks_and_reservations(histories: Histories) -> None:
    """A request of before the reset gives back host pages that a request of after it has."""
    _play(histories, a_reset_ends_locks_and_reservations, (PLAIN, reset))


@check(
    "host_tier.ranks-decide-alike",
    "RFC-0006:C-RANKS#S1",
    witnesses=(
        "admitted_against_a_ranks_own_lane",
        "loaded_against_a_ranks_own_lane",
        "polled_where_one_rank_has_finished",
    ),
    cases=("KV-66", "KV-69"),
    needs=("host_tier.tree", "probe.copies"),
)
def test_ranks_decide_alike(histories: Histories) -> None:
    """Two ranks load different lengths of one prefix, and hang in the next collective."""
    tight = tree_config(host=2, pages=6)
    _play(histories, ranks_decide_alike, (tight, against_a_ranks_lane), (PLAIN, two_ranks), ranks=2)


@check(
    "host_tier.poll-collectives",
    "RFC-0006:C-RANKS#S2",
    witnesses=("collectives_of_an_idle_poll", "collectives_of_a_busy_poll"),
    cases=("KV-67",),
    needs=("host_tier.tree", "probe.collectives"),
)
def test_every_poll_makes_the_same_collectives(histories: Histories) -> None:
    """A rank without pending copies leaves the exchange out, and the others wait for it for ever."""
    _play(histories, every_poll_makes_the_same_collectives, (PLAIN, idle), (PLAIN, two_ranks))


@check(
    "host_tier.no-other-collective",
    "RFC-0006:C-RANKS#S3",
    witnesses=("collectives_of_an_admission", "collectives_of_a_load_back"),
    needs=("host_tier.tree", "probe.collectives"),
)
def test_no_other_call_makes_a_collective(histories: Histories) -> None:
    """Every batch waits for the slowest rank before it begins."""
    tight = tree_config(host=2, pages=6)
    _play(histories, no_other_call_makes_a_collective, (tight, against_a_ranks_lane), (PLAIN, idle))

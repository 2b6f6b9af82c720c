"""The checks of `host_tier`: load-back, and room that is made ahead of need."""

from __future__ import annotations

from collections.abc import Callable

from sharedkv_conformance.contract.implementation import FreeRoom, OpenConfig
from sharedkv_conformance.draws.host_tier_scripts import TreeScript, tree_config
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier_load_back import (
    a_load_back_that_waits_leaves_no_trace,
    a_load_back_without_room_waits,
    all_that_can_be_loaded_is,
    loaded_nodes_are_resident_and_pending,
    one_eviction_makes_room_for_a_load_back,
    pages_are_loaded_into_free_ones,
    pages_are_loaded_onto_the_lanes_of_their_host_pages,
    what_is_not_worth_loading_is_skipped,
)
from sharedkv_conformance.laws.host_tier_room import (
    counts_that_are_none_make_no_room,
    room_on_the_device_follows_the_formula,
    room_on_the_host_follows_the_formula,
    room_that_cannot_be_made_is_no_failure,
)
from sharedkv_conformance.marks import Law, check

TREE = ("host_tier.tree", "probe.tree")
LARGE = tree_config(host=6, pages=6)
SPARING = tree_config(host=6, pages=6, least=2, most=3)
ROOMS = tree_config(host=4, pages=6, room=FreeRoom(target=2, min_chunk=2), host_room=FreeRoom(target=1, min_chunk=3))


def _play(histories: Histories, law: Law, *scripts: tuple[OpenConfig, Callable[[TreeScript], None]]) -> None:
    """Play written histories, then draw some."""
    for config, script in scripts:
        with histories.written("host_tree", config, laws=[law]) as call:
            script(TreeScript(call, config))
    histories.run("host_tree", laws=[law])


def behind_a_resident(script: TreeScript) -> None:
    """A part of a node is loaded, then the rest of it with the next node."""
    script.hold()
    for copy in script.backed_up("a", "0") + script.backed_up("abcd", ".101") + script.backed_up("abcde", "....0"):
        script.finish(copy)
    script.poll()
    script.evict(2, 2)
    script.load_back("ab")
    script.load_back("abcde")
    script.poll()


def short_of_a_lane(script: TreeScript) -> None:
    """Lane 0 has no page left: the way has a large node that could go, and two small ones stand off it."""
    script.insert("cd", "00")
    script.insert("cdab", "..00")
    script.insert("x", "0")
    script.insert("y", "0")
    script.poll()
    script.evict(2, 0)
    script.extend()
    script.extend()
    held = [script.lock("x"), script.lock("y")]
    script.load_back("cda")
    script.unlock(held[0])
    script.load_back("cdab")
    script.unlock(held[1])
    script.load_back("cdab")


def short_of_one_page(script: TreeScript) -> None:
    """Two pages are loaded onto a lane that has one."""
    script.insert("ab", "00")
    script.insert("x", "0")
    script.insert("y", "0")
    script.poll()
    script.evict(2, 0)
    script.extend()
    script.load_back("ab")


def sparing(script: TreeScript) -> None:
    """One page is too few, two are loaded, and two more are too many at a time."""
    script.insert("abc", "010")
    script.insert("xy", "01")
    script.insert("z", "1")
    script.poll()
    script.hold()
    script.load_back("ab")
    script.evict(4, 4)
    script.load_back("z")
    script.load_back("ab")
    script.load_back("xy")
    script.load_back("z")


def rooms(script: TreeScript) -> None:
    """Lane 0 is near its target, lane 1 is not; then more is pending than there is."""
    for letter, lane in zip("abcdef", "000111", strict=True):
        script.insert(letter, lane)
    script.poll()
    script.free("01")
    script.make_host_room(1, 0)
    script.make_host_room(5, 0)
    script.insert("g", "1")
    script.poll()
    script.make_room(0, 0)
    script.make_room(1, 0)
    script.make_room(9, 3)


def device_rooms(script: TreeScript) -> None:
    """One lane of the device is near its target and the other is not; then three pages are missing."""
    for letter, lane in zip("abcd", "0000", strict=True):
        script.insert(letter, lane)
    script.poll()
    script.free("111")
    script.make_room(0, 1)
    script.make_room(5, 0)
    script.make_host_room(0, 0)
    script.make_host_room(8, 0)


def no_counts(script: TreeScript) -> None:
    """Room is asked for with a lane too few, one too many, and fewer than no page."""
    script.insert("a", "0")
    script.poll()
    for make in (script.make_room, script.make_host_room):
        make(3)
        make(3, 3, 3)
        make(3, -1)


@check(
    "host_tier.load-back-all",
    "RFC-0006:C-LOAD-BACK#S1",
    witnesses=(
        "loaded_behind_residents",
        "part_of_a_node_loaded",
        "quota_beside_backups",
        "loads_exactly_the_most",
        "load_back_after_a_reset_under_a_load",
    ),
    needs=("host_tier.tree",),
)
def test_all_that_can_be_loaded_is(histories: Histories) -> None:
    """A prefix is computed again that lies on the host, or a page is loaded that nobody has a copy of."""
    _play(histories, all_that_can_be_loaded_is, (LARGE, behind_a_resident))


@check(
    "host_tier.load-back-lanes",
    "RFC-0006:C-LOAD-BACK#S2",
    witnesses=("loaded_onto_unequal_lanes",),
    needs=("host_tier.tree",),
)
def test_pages_are_loaded_onto_the_lanes_of_their_host_pages(histories: Histories) -> None:
    """The rank that owns a page looks for it in its own memory, and another has loaded it."""
    _play(histories, pages_are_loaded_onto_the_lanes_of_their_host_pages, (LARGE, behind_a_resident))


@check(
    "host_tier.load-back-pages",
    "RFC-0006:C-LOAD-BACK#S3",
    witnesses=("loaded_beside_pages_in_use", "load_back_needs_an_eviction"),
    needs=("host_tier.tree",),
)
def test_pages_are_loaded_into_free_ones(histories: Histories) -> None:
    """A load overwrites what a running request reads."""
    _play(histories, pages_are_loaded_into_free_ones, (LARGE, behind_a_resident), (LARGE, short_of_a_lane))


@check(
    "host_tier.load-back-makes-room",
    "RFC-0006:C-LOAD-BACK#S4",
    witnesses=(
        "load_back_needs_an_eviction",
        "load_back_short_by_a_part",
        "way_would_make_room",
        "loaded_way_could_give_way",
    ),
    cases=("KV-81",),
    needs=TREE,
)
def test_one_eviction_makes_room_for_a_load_back(histories: Histories) -> None:
    """A load-back evicts the prefix that it goes on from, or more than it lacks."""
    law = one_eviction_makes_room_for_a_load_back
    _play(histories, law, (LARGE, short_of_a_lane), (LARGE, short_of_one_page))


@check(
    "host_tier.load-back-waits",
    "RFC-0006:C-LOAD-BACK#S5",
    witnesses=("load_back_waits",),
    needs=("host_tier.tree",),
)
def test_a_load_back_without_room_waits(histories: Histories) -> None:
    """Half of a prefix is loaded, on those lanes that had room."""
    _play(histories, a_load_back_without_room_waits, (LARGE, short_of_a_lane))


@check(
    "host_tier.load-back-failure-changes-nothing",
    "RFC-0006:C-LOAD-BACK#S6",
    witnesses=("load_back_waits", "load_back_inside_a_node_waits"),
    cases=("KV-18",),
    needs=TREE,
)
def test_a_load_back_that_waits_leaves_no_trace(histories: Histories) -> None:
    """Every failed load-back leaves a lock behind, until nothing can be evicted any more."""
    _play(histories, a_load_back_that_waits_leaves_no_trace, (LARGE, short_of_a_lane))


@check(
    "host_tier.load-back-skipped",
    "RFC-0006:C-LOAD-BACK#S7",
    witnesses=("too_few_to_load", "nothing_to_load", "too_many_in_flight"),
    needs=TREE,
)
def test_what_is_not_worth_loading_is_skipped(histories: Histories) -> None:
    """A page is loaded that is computed sooner, and every forward waits for it."""
    _play(histories, what_is_not_worth_loading_is_skipped, (SPARING, sparing))


@check(
    "host_tier.load-back-pending",
    "RFC-0006:C-LOAD-BACK#S8",
    witnesses=("several_nodes_loaded",),
    needs=TREE,
)
def test_loaded_nodes_are_resident_and_pending(histories: Histories) -> None:
    """The host page is given away under the load that still reads it."""
    _play(histories, loaded_nodes_are_resident_and_pending, (LARGE, behind_a_resident))


@check(
    "host_tier.device-free-room",
    "RFC-0006:C-FREE-ROOM#S1",
    witnesses=("device_room_ahead", "device_room_in_chunks", "device_room_by_shortage"),
    needs=TREE,
)
def test_room_on_the_device_follows_the_formula(histories: Histories) -> None:
    """Every batch evicts a page or two on the way to its own pages, and waits for that."""
    _play(histories, room_on_the_device_follows_the_formula, (ROOMS, rooms), (ROOMS, device_rooms))


@check(
    "host_tier.host-free-room",
    "RFC-0006:C-FREE-ROOM#S2",
    witnesses=("host_room_ahead", "host_room_in_chunks", "host_room_by_shortage"),
    needs=TREE,
)
def test_room_on_the_host_follows_the_formula(histories: Histories) -> None:
    """A host lane is full when the batch comes, and nothing of it is backed up in time."""
    _play(histories, room_on_the_host_follows_the_formula, (ROOMS, rooms), (ROOMS, device_rooms))


@check(
    "host_tier.free-room-best-effort",
    "RFC-0006:C-FREE-ROOM#S3",
    witnesses=("room_that_cannot_be_made",),
    needs=("host_tier.tree",),
)
def test_room_that_cannot_be_made_is_no_failure(histories: Histories) -> None:
    """A batch that would have fitted is turned down because room for the next one could not be made."""
    _play(histories, room_that_cannot_be_made_is_no_failure, (ROOMS, rooms))


@check(
    "host_tier.free-room-refused",
    "RFC-0006:C-FREE-ROOM#S5",
    witnesses=("device_room_for_no_counts", "host_room_for_no_counts"),
    needs=("host_tier.tree",),
)
def test_counts_that_are_none_make_no_room(histories: Histories) -> None:
    """A lane that is left out of the counts gives up what it need not, or is short when the batch comes."""
    _play(histories, counts_that_are_none_make_no_room, (ROOMS, no_counts))

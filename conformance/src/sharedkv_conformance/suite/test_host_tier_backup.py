"""The checks of `host_tier`: what is backed up, when, and where to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sharedkv_conformance.contract.implementation import HostConfig, OpenConfig
from sharedkv_conformance.draws.host_tier_scripts import TreeScript, tree_config
from sharedkv_conformance.histories import Histories
from sharedkv_conformance.laws.host_tier_backup import (
    backups_that_do_not_fit_evict_nobody,
    host_pages_lie_on_the_lanes_of_device_pages,
    nodes_with_enough_hits_are_backed_up,
    one_eviction_makes_room_for_backups,
    other_nodes_are_not_backed_up,
    unknown_policies_are_refused,
)
from sharedkv_conformance.laws.host_tier_write_back import (
    a_failed_backup_is_none,
    an_eviction_waits_for_its_copies,
    victims_are_written_back_first,
)
from sharedkv_conformance.marks import Law, check

POLICIES = ("write_through", "write_through_selective", "write_back")
WRITE_BACK = tree_config(host=3, write="write_back")
SMALL_WRITE_BACK = tree_config(host=1, write="write_back")
TREE = ("host_tier.tree", "probe.tree")


def _play(histories: Histories, law: Law, *scripts: tuple[OpenConfig, Callable[[TreeScript], None]]) -> None:
    """Play written histories, then draw some."""
    for config, script in scripts:
        with histories.written("host_tree", config, laws=[law]) as call:
            script(TreeScript(call, config))
    histories.run("host_tree", laws=[law])


def hits(script: TreeScript) -> None:
    """A request comes in chunks and once more; two nodes of one insert get their second hit together."""
    script.insert("a", "1")
    script.insert("abc", ".01")
    script.insert("abc", "...", request="s")
    script.insert("xyz", "010")
    script.match("x")
    script.insert("xyz", "...")


def way_is_kept(script: TreeScript) -> None:
    """The largest node that could go is one of the way."""
    script.insert("ab", "00")
    script.insert("x", "0")
    script.insert("y", "0")
    script.poll()
    script.insert("abcd", "..00")


def two_nodes_need_room(script: TreeScript) -> None:
    """One large node has what two nodes of a way lack together, two small ones what each lacks by itself."""
    script.insert("a", "0")
    script.insert("b", "0")
    script.insert("ef", "00")
    script.insert("cd", "00")
    script.match("c")
    script.poll()
    script.insert("cd", "..")


def small_host(script: TreeScript) -> None:
    """More nodes come than the host has pages; the oldest mirrors give way."""
    for letter, lane in zip("abcdef", "010101", strict=True):
        script.insert(letter, lane)
        script.poll()


def gap_in_the_room(script: TreeScript) -> None:
    """The first node of a way lacks a lane that a lock keeps full, the second has room, and the other way round."""
    script.insert("a", "0")
    script.poll()
    script.lock("a")
    script.insert("cd", "01")
    script.match("c")
    script.insert("cd", "..")
    script.insert("ef", "10")
    script.match("e")
    script.insert("ef", "..")


def too_large(script: TreeScript) -> None:
    """A node has more pages than the host; what could go would go in vain."""
    script.insert("a", "0")
    script.poll()
    script.insert("bcd", "000")


def chain(script: TreeScript) -> None:
    """A leaf goes whose parents stay, and none of them has host pages."""
    script.hold()
    script.insert("a", "0")
    script.insert("abc", ".10")
    script.match("ab")
    script.evict(1, 0)
    script.poll()
    script.match("abc")


def half_of_the_victims(script: TreeScript) -> None:
    """Two nodes go, and the host has room for one."""
    script.insert("a", "0")
    script.insert("b", "0")
    script.evict(2, 0)
    script.match("b")


@check(
    "host_tier.backup-threshold",
    "RFC-0006:C-BACKUP#S1",
    witnesses=("several_nodes_backed_up", "backed_up_at_the_second_hit", "inserted_in_chunks"),
    needs=TREE,
)
def test_nodes_with_enough_hits_are_backed_up(histories: Histories) -> None:
    """A long prompt that was computed in chunks is computed again, for no chunk was ever backed up."""
    law = nodes_with_enough_hits_are_backed_up
    _play(histories, law, *((tree_config(host=6, write=write), hits) for write in POLICIES))


@check(
    "host_tier.backup-below-threshold",
    "RFC-0006:C-BACKUP#S2",
    witnesses=("first_hit_of_two", "inserted_under_write_back"),
    needs=TREE,
)
def test_other_nodes_are_not_backed_up(histories: Histories) -> None:
    """Prompts that nobody asks for again push those off the host that somebody does."""
    law = other_nodes_are_not_backed_up
    _play(histories, law, *((tree_config(host=6, write=write), hits) for write in POLICIES))


@check(
    "host_tier.backup-makes-room",
    "RFC-0006:C-BACKUP#S3",
    witnesses=("way_would_give_way", "two_backups_need_room", "mirror_gives_way"),
    cases=("KV-83", "KV-86"),
    needs=TREE,
)
def test_one_eviction_makes_room_for_backups(histories: Histories) -> None:
    """A host smaller than the device fills up once with mirrors, and nothing is ever backed up again."""
    law = one_eviction_makes_room_for_backups
    large, small = tree_config(host=4, pages=6), tree_config(host=2)
    _play(histories, law, (large, way_is_kept), (large, two_nodes_need_room), (small, small_host))


@check(
    "host_tier.backup-does-not-fit",
    "RFC-0006:C-BACKUP#S4",
    witnesses=("later_backup_would_fit", "first_backup_fits", "victims_in_vain_of_backups"),
    cases=("KV-84",),
    needs=TREE,
)
def test_backups_that_do_not_fit_evict_nobody(histories: Histories) -> None:
    """A backup below a node without one is found by nobody, and costs host pages that somebody would find."""
    law = backups_that_do_not_fit_evict_nobody
    _play(histories, law, (tree_config(host=1), gap_in_the_room), (tree_config(host=2), too_large))


@check(
    "host_tier.write-back",
    "RFC-0006:C-BACKUP#S5",
    witnesses=("victim_below_an_unsaved_node", "victim_written_back", "way_of_a_victim_could_give_way"),
    needs=TREE,
)
def test_victims_are_written_back_first(histories: Histories) -> None:
    """Under write-back the host keeps nothing of what the device gave up."""
    law = victims_are_written_back_first
    _play(histories, law, (WRITE_BACK, chain), (SMALL_WRITE_BACK, half_of_the_victims))


@check(
    "host_tier.failed-backup",
    "RFC-0006:C-BACKUP#S6",
    witnesses=("victim_without_room",),
    needs=TREE,
)
def test_a_failed_backup_is_none(histories: Histories) -> None:
    """A node counts as backed up that the host had no room for, and what is loaded back is somebody else's."""
    _play(histories, a_failed_backup_is_none, (SMALL_WRITE_BACK, half_of_the_victims))


@check(
    "host_tier.write-back-waits",
    "RFC-0006:C-BACKUP#S7",
    witnesses=("victim_written_back",),
    needs=(*TREE, "probe.copies"),
)
def test_an_eviction_waits_for_its_copies(histories: Histories) -> None:
    """The device page is given to the next request while the copy to the host still reads it."""
    law = an_eviction_waits_for_its_copies
    _play(histories, law, (WRITE_BACK, chain), (SMALL_WRITE_BACK, half_of_the_victims))


@check(
    "host_tier.backup-lanes",
    "RFC-0006:C-BACKUP#S8",
    witnesses=("lanes_of_a_node_out_of_order",),
    needs=TREE,
)
def test_host_pages_lie_on_the_lanes_of_device_pages(histories: Histories) -> None:
    """Tokens come back in another order, or on a rank that looks for others."""
    law = host_pages_lie_on_the_lanes_of_device_pages
    _play(histories, law, (tree_config(host=6), hits), (tree_config(host=2), small_host))


@check(
    "host_tier.unknown-policy",
    "RFC-0006:C-BACKUP#S9",
    witnesses=("opened_with_an_unknown_policy", "opened_with_an_unknown_layout"),
    needs=("host_tier.tree",),
)
def test_unknown_policies_are_refused(histories: Histories) -> None:
    """A misspelt policy backs nothing up, which shows as a slow service a day later."""
    config = tree_config(host=2)
    for host in (
        HostConfig(write="write_around"),
        HostConfig(write=""),
        HostConfig(layout="token_first"),
        *(HostConfig(write=write) for write in POLICIES),
        *(HostConfig(layout=layout) for layout in ("layer_first", "page_first", "page_first_direct")),
    ):
        opened = replace(config, host=host)
        histories.opened("host_tree", opened, laws=[unknown_policies_are_refused])

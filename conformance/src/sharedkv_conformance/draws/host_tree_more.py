"""Written tree histories about who is held for how long: nodes that stood aside, once, are evicted like any other."""

from __future__ import annotations

from sharedkv_conformance.contract.implementation import FreeRoom
from sharedkv_conformance.draws.host_tier_scripts import TreeScript, tree_config
from sharedkv_conformance.draws.host_tree_prefixes import scripted


def evicted_after_a_wait(script: TreeScript) -> None:
    """Evict the way of a load-back right after it had to wait for want of nodes off its way."""
    script.insert("a", "0")
    script.insert("ab", ".0")
    script.poll()
    script.evict(1, 0)
    script.extend()
    script.load_back("ab")
    script.evict(1, 0)


def evicted_after_a_load(script: TreeScript) -> None:
    """Evict the way of a load-back that made room off its way, right after its acknowledgement."""
    script.insert("a", "0")
    script.insert("ab", ".0")
    script.insert("x", "0")
    script.match("ab")
    script.poll()
    script.lock("x")
    script.evict(1, 0)
    script.extend()
    script.insert("y", "0")
    script.poll()
    script.load_back("ab")
    script.poll()
    script.evict(2, 0)


def evicted_after_a_failed_backup(script: TreeScript) -> None:
    """Evict the way of an insert on the host, right after its backup found no host pages but those of the way."""
    script.insert("a", "0")
    script.poll()
    script.insert("ab", ".0")
    script.evict_host(1, 0)


def evicted_after_a_backup(script: TreeScript) -> None:
    """Evict the way of an insert on the host that made room off its way, right after its acknowledgement."""
    script.insert("x", "0")
    script.insert("a", "0")
    script.poll()
    script.insert("ab", ".0")
    script.poll()
    script.evict_host(2, 0)


def loaded_in_order(script: TreeScript) -> None:
    """Load three pages back that lie on two lanes, the higher one first."""
    script.insert("abc", "100")
    script.poll()
    script.evict(2, 1)
    script.load_back("abc")


def room_for_more_than_a_chunk(script: TreeScript) -> None:
    """Ask for room on both tiers where a lane lacks more than the least chunk."""
    script.insert("a", "0")
    script.insert("bc", "00")
    script.insert("d", "1")
    script.poll()
    script.make_host_room(3, 0)
    script.make_room(3, 0)


def admitted_on_unequal_lanes(script: TreeScript) -> None:
    """Admit three pages at once, two of them on one lane, where a node has to make room for them."""
    script.insert("ab", "00")
    script.poll()
    script.admit(("r", "100", 0))
    script.insert_admitted("xyz", "r")
    script.poll()


CHUNK = FreeRoom(target=1, min_chunk=1)
SCRIPTS = (
    scripted(tree_config(host=4), evicted_after_a_wait),
    scripted(tree_config(host=6, pages=4), evicted_after_a_load),
    scripted(tree_config(host=1), evicted_after_a_failed_backup),
    scripted(tree_config(host=2), evicted_after_a_backup),
    scripted(tree_config(host=3), loaded_in_order),
    scripted(tree_config(host=4, room=CHUNK, host_room=CHUNK), room_for_more_than_a_chunk),
    scripted(tree_config(host=3), admitted_on_unequal_lanes),
    scripted(tree_config(host=4), admitted_on_unequal_lanes),
)

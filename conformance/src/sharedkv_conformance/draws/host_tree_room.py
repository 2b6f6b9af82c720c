"""Written tree histories about room: who gives way to whom, and what counts as in flight or as held."""

from __future__ import annotations

from sharedkv_conformance.draws.host_tier_scripts import TreeScript, copy_of, tree_config
from sharedkv_conformance.draws.host_tree_prefixes import scripted


def victims_below_a_mirror(script: TreeScript) -> None:
    """Under write-back, a leaf goes below a node whose host page is the only one that could make room for it."""
    script.insert("a", "0")
    script.evict(1, 0)
    script.insert("ab", "00")
    script.evict(1, 0)
    script.match("ab")


def victims_beside_a_mirror(script: TreeScript) -> None:
    """Let the same happen with another node on the host, more recent than the node above the victim."""
    script.insert("x", "0")
    script.insert("x", ".")
    script.insert("a", "0")
    script.evict(2, 0)
    script.insert("ab", "00")
    script.match("x")
    script.evict(1, 0)
    script.match("ab")
    script.match("x")


def load_back_beside_victims(script: TreeScript) -> None:
    """Under write-back a load-back evicts a node that is not backed up, and the host is full of what is loaded."""
    script.insert("a", "0")
    script.evict(1, 0)
    script.extend()
    script.insert("y", "0")
    script.load_back("a")
    script.poll()
    script.match("a")


def load_back_of_a_part_beside_victims(script: TreeScript) -> None:
    """Let the same happen with a load-back that ends inside the node whose host pages fill the host."""
    script.insert("ab", "00")
    script.evict(2, 0)
    script.extend()
    script.extend()
    script.insert("y", "0")
    script.load_back("a")
    script.poll()
    script.match("ab")


def backups_beside_a_load(script: TreeScript) -> None:
    """As many pages are loaded as may be, while a backup of as many is in flight."""
    script.insert("ab", "01")
    script.poll()
    script.evict(1, 1)
    script.hold()
    script.insert("cd", "01")
    script.load_back("ab")


def reset_under_a_load(script: TreeScript) -> None:
    """End a load of as many pages as may be by a reset, and load another node back after it."""
    script.insert("ab", "01")
    script.poll()
    script.evict(1, 1)
    script.hold()
    script.load_back("ab")
    script.reset()
    script.extend()
    script.finish(copy_of(script.insert("c", "0")))
    script.poll()
    script.evict(1, 0)
    script.load_back("c")


def older_lock_given_up(script: TreeScript) -> None:
    """Give the older of two locks up and take two more; then give the others up."""
    script.insert("abc", "010")
    first, second = script.lock("a"), script.lock("ab")
    script.unlock(first)
    third, fourth = script.lock("abc"), script.lock("a")
    script.unlock(second)
    script.evict(6, 6)
    script.unlock(third)
    script.unlock(fourth)


def most_at_a_time(script: TreeScript) -> None:
    """Load as many pages as may be at a time in two load-backs, and find that one more is too many."""
    script.insert("a", "0")
    script.insert("bc", "01")
    script.insert("d", "1")
    script.poll()
    script.evict(2, 2)
    script.hold()
    script.load_back("a")
    script.load_back("bc")
    script.load_back("d")


def segment_over_recency(script: TreeScript) -> None:
    """Evict right after an insert on either tier: a node with two hits stays, a more recent one with one hit goes."""
    script.insert("x", "0")
    script.insert("x", ".")
    script.insert("y", "0")
    script.poll()
    script.evict(1, 0)
    script.match("y")
    script.evict_host(1, 0)


def short_by_a_part(script: TreeScript) -> None:
    """Load three pages back onto a lane that has one, beside three nodes of one page of which two have to go."""
    for letter in "xyz":
        script.insert(letter, "0")
    script.insert("abc", "000")
    for letter in "yzx":
        script.match(letter)
    script.poll()
    script.evict(3, 0)
    script.extend()
    script.extend()
    script.load_back("abc")


WRITE_BACK = "write_back"
SPARING = tree_config(host=4, most=2)
SCRIPTS = (
    scripted(tree_config(host=1, write=WRITE_BACK), victims_below_a_mirror),
    scripted(tree_config(host=2, write=WRITE_BACK), victims_beside_a_mirror),
    scripted(tree_config(host=1, write=WRITE_BACK), load_back_beside_victims),
    scripted(tree_config(host=2, write=WRITE_BACK), load_back_of_a_part_beside_victims),
    scripted(SPARING, backups_beside_a_load),
    scripted(SPARING, reset_under_a_load),
    scripted(tree_config(host=4, most=3), most_at_a_time),
    scripted(tree_config(host=4), segment_over_recency),
    scripted(tree_config(host=6, pages=6), short_by_a_part),
    scripted(tree_config(host=6), older_lock_given_up),
)

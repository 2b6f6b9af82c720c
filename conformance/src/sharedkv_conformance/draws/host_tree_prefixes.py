"""Written tree histories about prefixes: what tells pages apart, where nodes branch, and whose pages are whose."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.draws.host_tier_scripts import Calls, TreeScript, tree_config

Play = Callable[[TreeScript], None]


def pages_alike(script: TreeScript) -> None:
    """Ask for pages that differ from those of the tree in the last token alone, or in all others."""
    script.insert("bd", "010", extra=1)
    for letters in ("cd", "be", "Bd", "bD"):
        script.match(letters)
    script.call.attempt("host_tier.lock", tokens=script.tokens("be"))
    script.call.attempt("host_tier.match", tokens=script.tokens("b")[:-1])
    script.insert("bef", ".101", extra=script.size - 1)
    script.insert("ceD", "010")
    script.insert("BD", "10")
    script.poll()
    script.evict(6, 6)
    script.match("ce")
    script.free_slots()
    script.load_back("bdF")


def late_branches(script: TreeScript) -> None:
    """Branch off nodes of five pages after the fourth and the third of them, and go on for as long as the node."""
    script.insert("abcde", "01010")
    script.match("abcdz")
    script.insert("fghij", "10101")
    script.match("fghyz")


def early_branches(script: TreeScript) -> None:
    """Branch off nodes of five pages after the second and the first of them, and go on for as long as the node."""
    script.insert("abcde", "01010")
    script.match("abxyz")
    script.insert("fghij", "10101")
    script.match("fwxyz")


def split_under_locks(script: TreeScript) -> None:
    """Split a node under two locks, by a match and by an insert, and give the locks up one by one."""
    script.insert("abcd", "0101")
    first, second = script.lock("abcd"), script.lock("abcd")
    script.match("ab")
    script.insert("ax", ".0")
    script.unlock(first)
    script.evict(6, 6)
    script.unlock(second)
    script.evict(6, 6)
    script.free_slots()


def own_pages_elsewhere(script: TreeScript) -> None:
    """Give the tree pages of its own in each other's place, and one to the node below that is on the host alone."""
    script.insert("ab", "01")
    script.insert("abc", "..0")
    script.poll()
    script.evict(1, 0)
    first, second = script.home["a"], script.home["ab"]
    other, more = script.take("01")
    script.insert_pages("ab", (second, first))
    script.insert_pages("abc", (first, other, second))
    script.insert_pages("abcd", (first, other, second, more))
    script.insert_pages("ab", (other, first))
    script.insert_pages("abcd", (first, second, other, more))
    script.free_slots()


def _played(config: OpenConfig, play: Play, call: Calls) -> None:
    play(TreeScript(call, config))


def scripted(config: OpenConfig, play: Play) -> tuple[OpenConfig, Callable[[Calls], None]]:
    """Return a written history as facets have it."""
    return config, partial(_played, config, play)


SCRIPTS = (
    scripted(tree_config(host=8, pages=6, page_size=4), pages_alike),
    scripted(tree_config(host=6, pages=6, page_size=2), pages_alike),
    scripted(tree_config(host=0, pages=5), late_branches),
    scripted(tree_config(host=0, pages=5), early_branches),
    scripted(tree_config(host=6), split_under_locks),
    scripted(tree_config(host=6), own_pages_elsewhere),
)

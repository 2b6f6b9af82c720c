"""Tree histories in which callers give up pages that are not theirs: the tree's, on either tier, and reserved ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.draws.host_tier_scripts import TreeScript, tree_config
from sharedkv_conformance.draws.host_tier_tree import held
from sharedkv_conformance.draws.host_tree_prefixes import scripted
from sharedkv_conformance.model.host_tier_tree_state import NAMING, HostTreeState
from sharedkv_conformance.step import Answer, Call, Ok

Draw = Callable[..., Any]
Kind = Callable[[Draw, HostTreeState], Call]
RELEASE, RETAIN, RELEASE_LOCATIONS = NAMING


def kinds(state: HostTreeState) -> list[Kind]:
    """Offer to give up pages of the tree, once it has some."""
    return [give_up] if state.model.tree.device_pages() else []


def give_up(draw: Draw, state: HostTreeState) -> Call:
    """Name a page of the tree, perhaps after one of the caller's, to retain it or to give it back."""
    page = draw(st.sampled_from(sorted(state.model.tree.device_pages())))
    mine = draw(st.sampled_from((held(state)[:1], [])))
    return naming(draw(st.sampled_from(NAMING)), [*mine, page], state.config.page_size)


def naming(op: str, pages: Sequence[int], size: int) -> Call:
    """Return a call that names pages, or the first and the last location in each."""
    if op == RELEASE_LOCATIONS:
        locations = tuple(page * size + offset for page in pages for offset in (0, size - 1))
        return Call(op=op, args={"locations": locations})
    return Call(op=op, args={"pages": tuple(pages)})


def device_pages_given_up(script: TreeScript) -> None:
    """Give up pages of the tree beside pages of the caller's own: on the device alone, on both tiers, and locked."""
    script.insert("b", "0")
    script.insert("df", "10")
    script.insert("df", "..")
    script.poll()
    lock = script.lock("df")
    (mine,) = script.take("1")
    for op in NAMING:
        for pages in (
            (mine, script.home["b"]),
            (script.home["df"], mine),
            (script.home["d"],) * 2,
            (0, script.home["b"]),
        ):
            _name(script, op, pages)
    script.unlock(lock)
    for op in NAMING:
        for path in ("d", "df"):
            _name(script, op, (mine, script.home[path]))
    script.evict(1, 1)
    _name(script, RELEASE, (mine,))
    script.reset()


def _name(script: TreeScript, op: str, pages: Sequence[int]) -> None:
    call = naming(op, pages, script.size)
    script.call.attempt(call.op, **call.args)


def host_pages_given_up(script: TreeScript) -> None:
    """Give back host pages of the tree, and reserved ones, beside pages that the caller allocated."""
    script.insert("bd", "01")
    script.poll()
    mine = _given(script)
    in_tree = _in_tree(script.call.attempt("probe.tree"))
    for lane, pages in in_tree.items():
        for named in ([*mine[lane], *pages], [*pages, *mine[lane]], pages * 2):
            script.call.attempt("host_tier.release", lane=lane, pages=tuple(named))
    script.evict(1, 1)
    for lane, pages in in_tree.items():
        script.call.attempt("host_tier.release", lane=lane, pages=(*mine[lane], *pages))
    script.admit(("r", "01", 0))
    for lane in (0, 1):
        shown = script.call.attempt("host_tier.free_slots", lane=lane)
        free = {slot // script.size for slot in shown.value} if isinstance(shown, Ok) else set()
        kept = set(range(6)) - free - set(mine[lane]) - set(in_tree.get(lane, ()))
        for page in sorted(kept):
            script.call.attempt("host_tier.free_slots", lane=lane)
            script.call.attempt("host_tier.release", lane=lane, pages=(*mine[lane], page))
    script.cancel("r")
    for lane in (0, 1):
        script.call.attempt("host_tier.release", lane=lane, pages=mine[lane])
    script.reset()


def _given(script: TreeScript) -> tuple[tuple[int, ...], ...]:
    """Allocate a host page of each lane."""
    answer = script.call.attempt("host_tier.allocate", pages=(1, 1))
    pages: tuple[tuple[int, ...], ...] = answer.value.pages if isinstance(answer, Ok) else ((), ())
    return pages


def _in_tree(shown: Answer) -> dict[int, list[int]]:
    """Return the host pages of a tree that was shown, by lane."""
    found: dict[int, list[int]] = {}
    for node in shown.value if isinstance(shown, Ok) else ():
        for lane, page in zip(node.host_lanes, node.host_pages, strict=False):
            found.setdefault(lane, []).append(page)
    return found


SCRIPTS = (
    scripted(tree_config(host=6, pages=3, write="write_through_selective"), device_pages_given_up),
    scripted(tree_config(host=6, pages=3), host_pages_given_up),
)

"""Calls on fetches: what is begun, how it comes in, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.model.host_tier_copies import EVERY_RANK
from sharedkv_conformance.model.storage_fetches import POLICIES, Fetch
from sharedkv_conformance.model.storage_keys import identity, session_namespace
from sharedkv_conformance.model.storage_state import StorageState
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, StorageState], Call]
Tokens = tuple[int, ...]


def fetch_kinds(state: StorageState) -> list[Kind]:
    """Offer fetches of what is stored and gone, and for each in flight what may happen to it."""
    offered: list[Kind] = []
    for own in state.fetches.values():
        offered += [look] * 6 if own.unlooked else []
        offered += [check, end, revoke, advance]
        offered += [arrive] * 3 if min(own.arrived.values()) < len(own.plan) else [check, *[end] * 3]
    if state.storage.store.objects and len(state.fetches) < 3:  # noqa: PLR2004 - more make histories longer
        offered += [fetch] * (10 if not state.fetches and any(is_gone(state, path) for path in saved(state)) else 2)
    return [*offered, unknown]


def saved(state: StorageState) -> list[Tokens]:
    """Return the ends of stored pages, the longest prefixes first."""
    own, stored = identity(session_namespace(state.config)), {key for key, _ in state.storage.store.objects}
    known = state.seen.model_keys()
    paths = [page[1] for key, page in state.seen.page_of.items() if page[0] == own and known[key] in stored]
    return sorted(paths, key=lambda path: (-len(path), path))


def is_gone(state: StorageState, tokens: Tokens) -> bool:
    """Say whether a fetch of tokens would be begun if there is room."""
    storage = state.storage
    return not storage.declines(len(storage.plan(tokens, storage.pages_in_tree(tokens))))


def fetching(draw: Draw, state: StorageState) -> Tokens:
    """Draw tokens that were saved at some time, or a part of them, or with more behind."""
    size, paths = state.config.page_size, saved(state)
    gone = [path for path in paths if is_gone(state, path)]
    path: Tokens = draw(st.sampled_from([*gone[:3] * 2, *paths[:3]] or [(0,) * size]))
    return (*path, *draw(st.sampled_from(((), (), (1,) * size, (2,)))))


def fetch(draw: Draw, state: StorageState) -> Call:
    """Begin a fetch of what no save in flight writes."""
    tokens = fetching(draw, state)
    unsure = state.saving()
    if any(key in unsure for key in state.storage.own_keys(tokens)):
        return Call(op="storage.query", args={"tokens": tokens})
    policy = draw(st.sampled_from(POLICIES))
    return begin(tokens, policy, draw(st.integers(1, 2)))


def begin(tokens: Tokens, policy: str, timeout: int = 1) -> Call:
    """Return the begin of a fetch."""
    return Call(op="storage.fetch", args={"tokens": tokens, "policy": policy, "timeout": timeout})


def look(draw: Draw, state: StorageState) -> Call:
    """Let one rank, or all, have looked at the objects of a fetch."""
    number = draw(st.sampled_from([number for number, own in state.fetches.items() if own.unlooked]))
    rank = draw(st.sampled_from((EVERY_RANK, EVERY_RANK, EVERY_RANK, *sorted(state.fetches[number].unlooked))))
    state.due += _coming(draw, state, number) if rank == EVERY_RANK else [_of_fetch("check", number)]
    return Call(op="probe.finish", args={"copy": number, "source": "query", "rank": rank})


def arrive(draw: Draw, state: StorageState) -> Call:
    """Let pages of one part after another arrive, often all of them, and then look."""
    number = draw(st.sampled_from([n for n, own in state.fetches.items() if min(own.arrived.values()) < len(own.plan)]))
    first, *others = _coming(draw, state, number)
    state.due += others
    return first


def _coming(draw: Draw, state: StorageState, number: int) -> list[Call]:
    own = state.fetches[number]
    parts = [part for part, count in own.arrived.items() if count < len(own.plan)]
    some = draw(st.permutations(parts))[: draw(st.sampled_from((len(parts), len(parts), 1)))]
    coming = [_arriving(number, part, _some_of(draw, own)) for part in some]
    return [*coming, _of_fetch("check", number), *draw(st.sampled_from(((_of_fetch("end", number),), ())))]


def check(draw: Draw, state: StorageState) -> Call:
    """Ask how far a fetch is."""
    return _of_fetch("check", draw(st.sampled_from(list(state.fetches))))


def end(draw: Draw, state: StorageState) -> Call:
    """End a fetch."""
    return _of_fetch("end", draw(st.sampled_from(list(state.fetches))))


def revoke(draw: Draw, state: StorageState) -> Call:
    """Revoke a fetch."""
    return _of_fetch("revoke", draw(st.sampled_from(list(state.fetches))))


def advance(draw: Draw, state: StorageState) -> Call:
    """Let the clock go on, then look at every fetch."""
    state.due += [_of_fetch("check", number) for number in state.fetches]
    return Call(op="probe.advance", args={"ticks": draw(st.integers(1, 2))})


def unknown(draw: Draw, state: StorageState) -> Call:
    """Name a fetch that has ended or never was, or a policy that nobody knows."""
    gone = sorted(state.ended - state.fetches.keys() - state.model.ledger.copies.keys())
    number = draw(st.sampled_from([*gone[-2:], max([*state.fetches, *state.model.ledger.copies], default=0) + 7]))
    if draw(st.sampled_from((False, False, True))):
        return begin(fetching(draw, state), draw(st.sampled_from(("", "all", "wait"))))
    return _of_fetch(draw(st.sampled_from(("check", "end", "revoke"))), number)


def _some_of(draw: Draw, own: Fetch) -> int:
    pages: int = draw(st.sampled_from((len(own.plan), len(own.plan), 1)))
    return pages


def _arriving(number: int, part: str, pages: int) -> Call:
    return Call(op="probe.arrive", args={"fetch": number, "part": part, "pages": pages})


def _of_fetch(method: str, number: int) -> Call:
    return Call(op=f"storage.{method}", args={"fetch": number})

"""Calls that decide around the tree: admissions, cancels, room made ahead, copies held and finished, resets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from sharedkv_conformance.contract.host_tier import BackupRequest
from sharedkv_conformance.draws.host_tier_tree import held, inserting, page_tokens, tokens
from sharedkv_conformance.model.host_tier_tree_state import HostTreeState
from sharedkv_conformance.model.lane_pages import FREE
from sharedkv_conformance.step import Call

Draw = Callable[..., Any]
Kind = Callable[[Draw, HostTreeState], Call]
NAMES = ("a", "b", "c")
EVERY_RANK = -1


def kinds(state: HostTreeState) -> list[Kind]:
    """Offer what makes sense now: a batch is admitted before it is inserted, and copies are held before they end."""
    offered: list[Kind] = []
    if held(state) and len(state.model.reservations) < len(NAMES):
        offered += [*[admit] * 4, bad_admission]
    if state.model.reservations:
        offered += [*[insert_admitted] * 5, cancel, cancel, bad_admission]
    if state.model.tree.nodes:
        offered += [make_room, make_host_room, reset, *([] if state.model.ledger.is_holding else [hold])]
    if any(not own.is_finished for own in state.model.ledger.copies.values()):
        offered += [finish] * 6
    if state.ended_requests or state.ended_locks:
        offered += [find_again] * 3
    return offered


def admit(draw: Draw, state: HostTreeState) -> Call:
    """Admit one request or two, with pages that are held and new tokens that fill them or not."""
    names = [name for name in NAMES if name not in state.model.reservations]
    return Call(op="host_tier.admit", args={"batch": _batch(draw, state, names[: draw(st.sampled_from((2, 1)))])})


def _batch(draw: Draw, state: HostTreeState, names: list[str]) -> tuple[BackupRequest, ...]:
    taken = {page for pages in state.model.reservations.values() for page in pages}
    spare, size = [page for page in held(state) if page not in taken], state.config.page_size
    batch = []
    for name in names:
        own = [spare.pop(draw(st.integers(0, len(spare) - 1))) for _ in range(draw(st.integers(0, min(3, len(spare)))))]
        missing = draw(st.sampled_from((0, 0, 1))) if own else 0
        batch.append(BackupRequest(request=name, extend_tokens=len(own) * size - missing, pages=tuple(own)))
    return tuple(batch)


def insert_admitted(draw: Draw, state: HostTreeState) -> Call:
    """Insert the pages of a request with a reservation, below what the tree has; perhaps one page less or more."""
    request = draw(st.sampled_from(sorted(state.model.reservations)))
    own = [page for page in state.model.reservations[request] if page in held(state)]
    size = state.config.page_size
    path = tokens(draw, state, most=0)
    prefix = path[: len(path) // size * size]
    above = [page for node, count in state.model.tree.walk(prefix) for page in node.pages[:count]]
    spare = [page for page in held(state) if page not in own]
    own = draw(st.sampled_from((own, own, own, own[:-1], own + spare[:1])))
    new = [draw(st.integers(0, 2)) for _ in own]
    given = (*prefix[: len(above) * size], *page_tokens(new, size))
    return inserting(given, [*above, *own], request)


def cancel(draw: Draw, state: HostTreeState) -> Call:
    """Give a reservation back."""
    return _cancelling(draw(st.sampled_from(sorted(state.model.reservations))))


def _cancelling(request: str) -> Call:
    return Call(op="host_tier.cancel", args={"request": request})


def bad_admission(draw: Draw, state: HostTreeState) -> Call:
    """Ask for what must be refused: a name or a page given twice, a page that is not held, a request unknown."""
    reserved = sorted(state.model.reservations)
    if draw(st.booleans()):
        return _cancelling(next(name for name in (*NAMES, "d") if name not in reserved))
    (first,) = _batch(draw, state, [draw(st.sampled_from((*reserved, "d")))])
    free = [page for lane in state.model.allocation.pages.by_lane(FREE) for page in lane]
    kept = [page for pages in state.model.reservations.values() for page in pages]
    odd = [0, *free[:1], *sorted(state.model.tree.device_pages())[:1], *kept[-1:]]
    stray = BackupRequest(request="e", extend_tokens=state.config.page_size, pages=(draw(st.sampled_from(odd)),))
    short = BackupRequest(request="e", extend_tokens=state.config.page_size, pages=())
    second = draw(st.sampled_from((first, stray, short)))
    return Call(op="host_tier.admit", args={"batch": (first, second)})


def make_room(draw: Draw, state: HostTreeState) -> Call:
    """Make room on the device for what is pending: as much as is free, a little less or more."""
    free = state.model.allocation.pages.counts(FREE)
    return Call(op="host_tier.make_room", args={"required": _around(draw, free)})


def make_host_room(draw: Draw, state: HostTreeState) -> Call:
    """Make room on the host for what is pending."""
    return Call(op="host_tier.make_host_room", args={"required": _around(draw, state.model.free())})


def _around(draw: Draw, free: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(max(0, count + draw(st.sampled_from((0, -1, 1, -2, 2)))) for count in free)


def hold(draw: Draw, state: HostTreeState) -> Call:
    """Let no copy finish by itself from now on."""
    return Call(op="probe.hold")


def finish(draw: Draw, state: HostTreeState) -> Call:
    """Let a held copy finish, on one rank or on all."""
    copies = [own for own in state.model.ledger.copies.values() if not own.is_finished]
    own = draw(st.sampled_from(copies))
    source = draw(st.sampled_from([source for source, ranks in own.left.items() if ranks]))
    rank = draw(st.sampled_from((EVERY_RANK, EVERY_RANK, *sorted(own.left[source]))))
    return Call(op="probe.finish", args={"copy": own.number, "source": source, "rank": rank})


def reset(draw: Draw, state: HostTreeState) -> Call:
    """Let the tree forget everything."""
    return Call(op="host_tier.reset")


def find_again(draw: Draw, state: HostTreeState) -> Call:
    """Give up a lock or a reservation that a reset has ended."""
    ended: list[Call] = [_cancelling(request) for request in sorted(state.ended_requests)]
    ended += [Call(op="host_tier.unlock", args={"lock": lock}) for lock in sorted(state.ended_locks)]
    return draw(st.sampled_from(ended))  # type: ignore[no-any-return]

"""Why pages cannot be given to the tree, or reserved behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from sharedkv_conformance.contract.errors import Reason
from sharedkv_conformance.contract.host_tier import BackupRequest
from sharedkv_conformance.contract.implementation import OpenConfig
from sharedkv_conformance.model.geometry import Geometry
from sharedkv_conformance.model.host_tier_tree import PrefixTree
from sharedkv_conformance.model.lane_pages import IN_USE, LanePages
from sharedkv_conformance.step import Call

WRITE_POLICIES = ("write_through", "write_through_selective", "write_back")
LAYOUTS = ("layer_first", "page_first", "page_first_direct")


def is_unknown_config(config: OpenConfig) -> bool:
    """Say whether the host tier of a session is to behave in a way that nobody knows."""
    return config.host.write not in WRITE_POLICIES or config.host.layout not in LAYOUTS


def insert_refusals(
    geometry: Geometry, pool: LanePages, tree: PrefixTree, tokens: Sequence[int], pages: Sequence[int]
) -> frozenset[Reason]:
    """Return every reason why the pages of an insert cannot be taken."""
    own = [page for node, held in tree.walk(tokens) for page in node.pages[:held]]
    at_home = {page for page, there in zip(pages, own, strict=False) if page == there}
    return _page_refusals(geometry, pool, pages, tree.device_pages() - at_home) | _mismatch(
        geometry, [(len(tokens), len(pages))]
    )


def admit_refusals(
    geometry: Geometry,
    pool: LanePages,
    tree: PrefixTree,
    batch: Sequence[BackupRequest],
    reserved: Mapping[str, Collection[int]],
) -> frozenset[Reason]:
    """Return every reason why nothing can be reserved for a batch; `reserved` are the device pages by request."""
    pages = [page for request in batch for page in request.pages]
    names = Counter([request.request for request in batch])
    twice = any(count > 1 for count in names.values()) or any(name in names for name in reserved)
    return (
        _page_refusals(geometry, pool, pages, tree.device_pages())
        | (frozenset({Reason.PAGE_NAMED_TWICE}) if _is_reserved(pages, reserved) else frozenset())
        | _mismatch(geometry, [(request.extend_tokens, len(request.pages)) for request in batch])
        | (frozenset({Reason.REQUEST_NAMED_TWICE}) if twice else frozenset())
    )


def _is_reserved(pages: Sequence[int], reserved: Mapping[str, Collection[int]]) -> bool:
    return any(page in own for own in reserved.values() for page in pages)


def _page_refusals(geometry: Geometry, pool: LanePages, pages: Sequence[int], elsewhere: set[int]) -> frozenset[Reason]:
    inside = [page for page in pages if geometry.holds(page)]
    faults = {
        Reason.PAGE_OUTSIDE_POOL: len(inside) < len(pages),
        Reason.PAGE_NOT_ALLOCATED: any(pool.state(page) != IN_USE for page in inside),
        Reason.PAGE_NAMED_TWICE: len(set(pages)) < len(pages),
        Reason.PAGE_IN_TREE: not elsewhere.isdisjoint(pages),
    }
    return frozenset(reason for reason, present in faults.items() if present)


def _mismatch(geometry: Geometry, counts: Iterable[tuple[int, int]]) -> frozenset[Reason]:
    wrong = any(tokens < 0 or geometry.pages_for(tokens) != pages for tokens, pages in counts)
    return frozenset({Reason.PAGES_MISMATCH}) if wrong else frozenset()


def named_pages(geometry: Geometry, call: Call) -> tuple[int, ...]:
    """Return the device pages that a call names, by their number or by locations in them."""
    if "pages" in call.args:
        return tuple(call.pages)
    return tuple(dict.fromkeys(location // geometry.page_size for location in call.locations))


def naming_refusals(
    geometry: Geometry, pool: LanePages, tree: PrefixTree, pages: Sequence[int], allowed: Sequence[str]
) -> frozenset[Reason]:
    """Return every reason why a caller cannot retain pages or give them back; none where no page is the tree's.

    `allowed` are the states in which pages can be named.

    What callers do with pages of their own is not judged here.
    """
    if tree.device_pages().isdisjoint(pages):
        return frozenset()
    inside = [page for page in pages if geometry.holds(page)]
    are_free = any(pool.state(page) not in allowed for page in inside)
    return named_wrongly(pages, are_foreign=len(inside) < len(pages), are_free=are_free)


def named_wrongly(pages: Sequence[int], *, are_foreign: bool, are_free: bool) -> frozenset[Reason]:
    """Return every reason against pages of which one is the tree's."""
    faults = {
        Reason.PAGE_IN_TREE: True,
        Reason.PAGE_OUTSIDE_POOL: are_foreign,
        Reason.PAGE_NAMED_TWICE: len(set(pages)) < len(pages),
        Reason.PAGE_NOT_ALLOCATED: are_free,
    }
    return frozenset(reason for reason, present in faults.items() if present)

"""Two trees compared page by page and node by node, whatever numbers their nodes have.

A page is named by the tokens up to its end, a node by those of its last page. Nothing here raises on a malformed tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from sharedkv_conformance.contract.probe import TreeNode
from sharedkv_conformance.model.eviction_tree import ROOT

Path = tuple[int, ...]

FIELDS = (
    "malformed",
    "pages_there",
    "boundaries",
    "device",
    "host",
    "host_numbers",
    "device_counts",
    "host_counts",
    "locks",
    "readers",
    "backup_pending",
    "load_pending",
    "hits",
    "last_tick",
)
"""In what trees can differ: whether they are any, which pages they have, where nodes end, where pages are, the rest."""
_OF_NODES = FIELDS[6:]


class Difference(str):
    """What is wrong at a page of a tree, as a message; `path` are the tokens up to its end, none for the whole tree."""

    __slots__ = ("path",)
    path: Path

    def __new__(cls, path: Path, message: str) -> Self:
        """Keep the page beside the message."""
        made = super().__new__(cls, message)
        made.path = path
        return made


class Place(NamedTuple):
    """Where one page of the tree is: its device page, its host lane and its host page; None where it is not."""

    device: int | None
    lane: int | None
    host: int | None


@dataclass(kw_only=True)
class TreeView:
    """A tree by pages and by nodes; `malformed` says what is no tree."""

    places: dict[Path, Place] = field(default_factory=dict)
    nodes: dict[Path, TreeNode] = field(default_factory=dict)
    malformed: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, nodes: Sequence[TreeNode], page_size: int) -> TreeView:
        """Look at nodes as a tree of whole pages."""
        view = cls()
        by_number = {node.node: node for node in nodes}
        if len(by_number) < len(nodes):
            view.malformed.append(f"of {len(nodes)} nodes only {len(by_number)} have numbers of their own")
        for node in nodes:
            view.malformed += view._add(node, _tokens_above(node, by_number), page_size)
        return view

    def _add(self, node: TreeNode, above: Path | None, size: int) -> Iterator[str]:
        pages, odd = divmod(len(node.tokens), size)
        if above is None:
            yield f"node {node.node} is not below the root"
            return
        if odd or not pages:
            yield f"node {node.node} has {len(node.tokens)} tokens, in pages of {size}"
        counts = {len(node.pages), len(node.host_lanes), len(node.host_pages)} - {0, pages}
        if counts or len(node.host_lanes) != len(node.host_pages):
            yield f"node {node.node} of {pages} pages has {len(node.pages)} device, {len(node.host_pages)} host pages"
            return
        for index in range(pages):
            path = (*above, *node.tokens[: (index + 1) * size])
            if path in self.places:
                yield f"node {node.node} has a page that another node has"
            self.places[path] = Place(_at(node.pages, index), _at(node.host_lanes, index), _at(node.host_pages, index))
        self.nodes[above + node.tokens] = node


def _at(values: Sequence[int], index: int) -> int | None:
    return values[index] if values else None


def _tokens_above(node: TreeNode, by_number: Mapping[int, TreeNode]) -> Path | None:
    """Return the tokens above a node; None where the way up does not come to the root."""
    parts: list[Path] = []
    parent = node.parent
    for _ in by_number:
        if parent == ROOT or parent not in by_number:
            break
        parts.append(by_number[parent].tokens)
        parent = by_number[parent].parent
    return tuple(token for part in reversed(parts) for token in part) if parent == ROOT else None


def differences(
    expected: TreeView, seen: TreeView, names: Mapping[tuple[int, int], int], host_pages: int
) -> Mapping[str, tuple[Difference, ...]]:
    """Return in which fields a tree differs, and how.

    `names` are the host pages that are known by lane and number; each lane has `host_pages` of them.
    """
    found = {
        "malformed": [Difference((), message) for message in seen.malformed],
        "pages_there": list(_pages_there(expected, seen)),
        "boundaries": list(_boundaries(expected, seen)),
        "device": list(_devices(expected, seen)),
        "host": list(_hosts(expected, seen)),
        "host_numbers": list(_host_numbers(expected, seen, names, host_pages)),
    }
    found |= {name: list(_of_nodes(name, expected, seen)) for name in _OF_NODES}
    return {name: tuple(messages) for name, messages in found.items() if messages}


def _pages_there(expected: TreeView, seen: TreeView) -> Iterator[Difference]:
    for path in sorted(expected.places.keys() ^ seen.places.keys()):
        have, want = (path in seen.places, path in expected.places)
        told = f"{'in' if have else 'not in'} the tree, and {'has to be' if want else 'must not'}"
        yield Difference(path, f"page {list(path)} is {told}")


def _boundaries(expected: TreeView, seen: TreeView) -> Iterator[Difference]:
    for path in sorted(expected.nodes.keys() ^ seen.nodes.keys()):
        if path in expected.places and path in seen.places:
            yield Difference(path, f"{'no node' if path in expected.nodes else 'a node'} ends at {list(path)}")


def _both(expected: TreeView, seen: TreeView) -> Iterator[tuple[Path, Place, Place]]:
    for path in sorted(expected.places.keys() & seen.places.keys()):
        yield path, expected.places[path], seen.places[path]


def _devices(expected: TreeView, seen: TreeView) -> Iterator[Difference]:
    for path, want, have in _both(expected, seen):
        if want.device != have.device:
            yield Difference(path, f"page {list(path)} has device page {have.device}, expected {want.device}")


def _hosts(expected: TreeView, seen: TreeView) -> Iterator[Difference]:
    for path, want, have in _both(expected, seen):
        if want.lane != have.lane:
            yield Difference(path, f"page {list(path)} has its host page on lane {have.lane}, expected {want.lane}")


def _host_numbers(
    expected: TreeView, seen: TreeView, names: Mapping[tuple[int, int], int], host_pages: int
) -> Iterator[Difference]:
    """Yield host pages that moved, that two places have, or that no lane has."""
    homes: dict[tuple[int | None, int | None], Path] = {}
    for path, want, have in _both(expected, seen):
        if want.lane != have.lane or want.lane is None or want.host is None:
            continue
        if have.host is not None and not 0 <= have.host < host_pages:
            yield Difference(path, f"page {list(path)} has host page {have.host}, of {host_pages} that a lane has")
        known = names.get((want.lane, want.host))
        if known is not None and known != have.host:
            yield Difference(path, f"page {list(path)} has host page {have.host} of lane {have.lane}, and had {known}")
        if (other := homes.setdefault((have.lane, have.host), path)) != path:
            told = f"pages {list(other)} and {list(path)} both have host page {have.host} of lane {have.lane}"
            yield Difference(path, told)


def _of_nodes(name: str, expected: TreeView, seen: TreeView) -> Iterator[Difference]:
    for path in sorted(expected.nodes.keys() & seen.nodes.keys()):
        want, have = getattr(expected.nodes[path], name), getattr(seen.nodes[path], name)
        if want != have:
            yield Difference(path, f"the node to {list(path)} has {name} {have}, expected {want}")

"""A radix tree over whole pages of tokens: what is cached for which prefix, and on which tier.

Knows nodes, ways down and splits, and which device pages it has. Does not know pools, copies or who may go. A call
touches the nodes on its way, never the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sharedkv.geometry import Geometry, PageId
from sharedkv.tree_columns import NodeColumns, Tier
from sharedkv.tree_node import ROOT_NUMBER, HostPage, Node, Tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """How far the tree has some tokens: whole nodes from the root down, and so many pages of one more.

    `tokens` are the whole pages that were asked for, `num_pages` counts those that the tree has.
    """

    tokens: Tokens
    page_size: int
    nodes: tuple[Node, ...]
    partial: Node | None
    partial_pages: int
    num_pages: int

    def all_nodes(self) -> tuple[Node, ...]:
        """Return every node that has a page of the way."""
        return self.nodes if self.partial is None else (*self.nodes, self.partial)

    def pieces(self) -> Iterator[tuple[Node, int]]:
        """Yield every node that has a page of the way, and how many of its pages, the first ones, are on it."""
        for node in self.nodes:
            yield node, len(node.tokens) // self.page_size
        if self.partial is not None:
            yield self.partial, self.partial_pages


class PrefixTree:
    """Nodes below one root. Who changes a node's locks, copies or hits calls `columns.refresh`."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.columns = NodeColumns(geometry.cp_size)
        self.root = Node(ROOT_NUMBER, None, ())
        self.nodes: dict[int, Node] = {}
        self.tick = 0
        self._holds = bytearray(geometry.last_page + 1)
        self._next_number = 0

    def whole_pages(self, tokens: Sequence[int]) -> Tokens:
        """Return the tokens of the full pages."""
        size = self.geometry.page_size
        return tuple(tokens[: len(tokens) // size * size])

    def walk(self, tokens: Sequence[int]) -> Way:
        """Find how far the tree has the full pages of tokens. Changes nothing."""
        size = self.geometry.page_size
        asked = self.whole_pages(tokens)
        nodes: list[Node] = []
        node, start = self.root, 0
        partial: Node | None = None
        partial_pages = 0
        while start < len(asked):
            child = node.children.get(asked[start : start + size])
            if child is None:
                break
            partial_pages = self._common_pages(child, asked, start)
            start += partial_pages * size
            if partial_pages * size < len(child.tokens):
                partial = child
                break
            nodes.append(child)
            node, partial_pages = child, 0
        return Way(
            tokens=asked,
            page_size=size,
            nodes=tuple(nodes),
            partial=partial,
            partial_pages=partial_pages,
            num_pages=start // size,
        )

    def touch(self, nodes: Sequence[Node]) -> None:
        """Let a tick pass, in which tokens were asked for that hold all of these nodes."""
        self.tick += 1
        for node in nodes:
            node.last_tick = self.tick
            self.columns.refresh(node)

    def end_node(self, way: Way) -> tuple[Node, ...]:
        """Split the node in which a way ends, if it ends in one; return the nodes of the way."""
        if way.partial is None:
            return way.nodes
        return (*way.nodes, self.split(way.partial, way.partial_pages))

    def split(self, lower: Node, num_pages: int) -> Node:
        """Put the first pages of a node into a new one above it; both have every lock, copy and counter of the node."""
        parent = lower.parent
        if parent is None:
            raise AssertionError("the root has no pages to split")
        size = self.geometry.page_size
        cut = num_pages * size
        upper = self._made(parent, lower.tokens[:cut])
        upper.locks, upper.hits, upper.last_tick = lower.locks, lower.hits, lower.last_tick
        upper.copies = list(lower.copies)
        for copy in upper.copies:
            copy.owners.append(upper)
        upper.pages, lower.pages = lower.pages[:num_pages], lower.pages[num_pages:]
        upper.host, lower.host = lower.host[:num_pages], lower.host[num_pages:]
        lower.tokens = lower.tokens[cut:]
        lower.parent = upper
        upper.children[lower.tokens[:size]] = lower
        self.columns.move_counts(Tier.DEVICE, lower, upper, self._device_lanes(upper))
        self.columns.move_counts(Tier.HOST, lower, upper, _host_lanes(upper))
        self.columns.put_between(upper, lower)
        self.columns.refresh(upper)
        return upper

    def add(self, parent: Node, tokens: Tokens) -> Node:
        """Make a node below another, with pages nowhere yet."""
        return self._made(parent, tokens)

    def remove(self, node: Node) -> None:
        """Take out a node that has pages nowhere and nobody below it."""
        parent = node.parent
        if parent is None or node.children or node.pages or node.host:
            raise AssertionError(f"node {node.number} cannot leave the tree")
        del parent.children[node.tokens[: self.geometry.page_size]]
        del self.nodes[node.number]
        self.columns.drop(node)

    def clear(self) -> None:
        """Take out every node. What its pages were is the caller's business."""
        self.root.children.clear()
        self.nodes.clear()
        self.columns.clear()
        self._holds = bytearray(len(self._holds))

    def set_pages(self, node: Node, pages: tuple[int, ...]) -> None:
        """Give a node its device pages, or none."""
        holds = self._holds
        for page in node.pages:
            holds[page] = False
        for page in pages:
            holds[page] = True
        node.pages = pages
        self.columns.set_counts(Tier.DEVICE, node, self._device_lanes(node))

    def set_host(self, node: Node, host: tuple[HostPage, ...]) -> None:
        """Give a node its host pages, or none."""
        node.host = host
        self.columns.set_counts(Tier.HOST, node, _host_lanes(node))

    def holds(self, page: int) -> bool:
        """Say whether a device page of the pool is the tree's."""
        return bool(self._holds[page])

    def lane(self, page: int) -> int:
        """Return the lane of a device page."""
        return self.geometry.lane(PageId(page))

    def _made(self, parent: Node, tokens: Tokens) -> Node:
        node = Node(self._next_number, parent, tokens)
        self._next_number += 1
        parent.children[tokens[: self.geometry.page_size]] = node
        self.nodes[node.number] = node
        self.columns.append(node, parent)
        return node

    def _common_pages(self, node: Node, asked: Tokens, start: int) -> int:
        """Count the pages from the first on, at least one, that a node has in common with tokens from a place on."""
        size = self.geometry.page_size
        own, ahead = node.tokens, asked[start : start + len(node.tokens)]
        if own == ahead:
            return len(own) // size
        first, last = size, len(ahead)
        while first < last:
            middle = (first + last + size) // (2 * size) * size
            if own[:middle] == ahead[:middle]:
                first = middle
            else:
                last = middle - size
        return first // size

    def _device_lanes(self, node: Node) -> list[int]:
        cp_size = self.geometry.cp_size
        return [(page - 1) % cp_size for page in node.pages]

    def invariants(self) -> list[str]:
        """List the laws that the tree breaks. Reads every page of every node."""
        broken = self.columns.invariants()
        device = [page for node in self.nodes.values() for page in node.pages]
        if len(set(device)) < len(device) or {page for page, held in enumerate(self._holds) if held} != set(device):
            broken.append("a device page is under two nodes, or the flags of pages differ from the nodes")
        host = [page for node in self.nodes.values() for page in node.host]
        if len(set(host)) < len(host):
            broken.append("a host page is under two nodes")
        reached = [self.root]
        for node in reached:
            reached += node.children.values()
        if {node.number for node in reached[1:]} != self.nodes.keys():
            broken.append("the nodes that are reached are not those that are known")
        return broken + [law for node in self.nodes.values() for law in self._broken_by(node)]

    def _broken_by(self, node: Node) -> Iterator[str]:
        parent, size = node.parent, self.geometry.page_size
        num_pages = len(node.tokens) // size
        if parent is None or parent.children.get(node.tokens[:size]) is not node:
            yield f"node {node.number} is not a child of its parent"
            return
        if not node.tokens or len(node.tokens) % size:
            yield f"node {node.number} has {len(node.tokens)} tokens, not whole pages"
        if not (node.pages or node.host) or {len(node.pages), len(node.host)} - {0, num_pages}:
            yield f"node {node.number} has {len(node.pages)} device and {len(node.host)} host pages of {num_pages}"
        if node.pages and not (parent.is_root or parent.pages):
            yield f"node {node.number} is resident below one that is not"
        if node.host and not parent.can_have_host_below:
            yield f"node {node.number} has host pages below one that has none"
        if not node.pages and not node.is_backed_up:
            yield f"node {node.number} is nowhere complete"
        if node.locks and not node.pages:
            yield f"node {node.number} is locked and not resident"
        yield from self._wrong_counts(node)

    def _wrong_counts(self, node: Node) -> Iterator[str]:
        for tier, lanes in ((Tier.DEVICE, self._device_lanes(node)), (Tier.HOST, _host_lanes(node))):
            counted = tuple(lanes.count(lane) for lane in range(self.geometry.cp_size))
            if self.columns.counts(tier, node) != counted:
                yield f"node {node.number} keeps counts {self.columns.counts(tier, node)}, has {counted}"


def _host_lanes(node: Node) -> list[int]:
    return [page.lane for page in node.host]

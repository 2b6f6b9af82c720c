"""The prefix tree of the host tier as a structure: nodes of whole pages, the way that tokens take, and splits.

Knows nothing of policies, pools or copies: who decides hands the decisions in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field

from sharedkv_conformance.contract.eviction import EvictionNode
from sharedkv_conformance.model.eviction_tree import ROOT
from sharedkv_conformance.model.geometry import Geometry

Tokens = tuple[int, ...]
HostPage = tuple[int, int]
"""A host page by its lane and its number in the lane."""


@dataclass(kw_only=True, slots=True)
class Node:
    """Whole pages of one prefix. `backups`, `loads` and `readers` name copies (and fetches) that were not acknowledged.

    `pages` are device pages, none where the node is not resident; `host` are its host pages, none where it has none.
    """

    number: int
    parent: int
    tokens: Tokens
    pages: tuple[int, ...] = ()
    host: tuple[HostPage, ...] = ()
    locks: set[int] = field(default_factory=set)
    backups: set[int] = field(default_factory=set)
    loads: set[int] = field(default_factory=set)
    readers: set[int] = field(default_factory=set)
    hits: int = 0
    last_tick: int = 0

    def twin(self) -> Node:
        """Return an independent copy."""
        other = copy(self)
        other.locks, other.backups = set(self.locks), set(self.backups)
        other.loads, other.readers = set(self.loads), set(self.readers)
        return other


class PrefixTree:
    """The nodes of one session by number, in the order of creation."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.nodes: dict[int, Node] = {}
        self.next_number = 0

    def twin(self) -> PrefixTree:
        """Return an independent copy."""
        other = copy(self)
        other.nodes = {number: node.twin() for number, node in self.nodes.items()}
        return other

    # -- looking -----------------------------------------------------------------------------------------------------

    def num_pages(self, node: Node) -> int:
        """Count the pages of a node."""
        return len(node.tokens) // self.geometry.page_size

    def whole(self, tokens: Sequence[int]) -> Tokens:
        """Return the tokens of whole pages."""
        return tuple(tokens[: len(tokens) // self.geometry.page_size * self.geometry.page_size])

    def children(self, number: int) -> Iterator[Node]:
        """Yield the nodes right below a node, or below the root."""
        return (node for node in self.nodes.values() if node.parent == number)

    def walk(self, tokens: Sequence[int]) -> list[tuple[Node, int]]:
        """Return the nodes that tokens go through, downwards, each with the number of its pages that they hold."""
        found: list[tuple[Node, int]] = []
        rest, above = self.whole(tokens), ROOT
        while (node := self._child(above, rest)) is not None:
            held = self.common(node.tokens, rest)
            found.append((node, held))
            if held < self.num_pages(node):
                break
            rest, above = rest[len(node.tokens) :], node.number
        return found

    def _child(self, above: int, rest: Tokens) -> Node | None:
        return next((node for node in self.children(above) if self.common(node.tokens, rest)), None)

    def common(self, one: Tokens, other: Tokens) -> int:
        """Count the leading pages of tokens that are equal."""
        size, pages = self.geometry.page_size, 0
        while (
            len(one) >= (pages + 1) * size
            and one[pages * size : (pages + 1) * size] == other[pages * size : (pages + 1) * size]
        ):
            pages += 1
        return pages

    def above(self, node: Node) -> Iterator[Node]:
        """Yield the nodes above a node, upwards."""
        while node.parent != ROOT:
            node = self.nodes[node.parent]
            yield node

    def path(self, node: Node) -> Tokens:
        """Return the tokens from the root to the end of a node."""
        parts = [node.tokens, *(other.tokens for other in self.above(node))]
        return tuple(token for part in reversed(parts) for token in part)

    def device_pages(self) -> set[int]:
        """Return every device page of the tree."""
        return {page for node in self.nodes.values() for page in node.pages}

    # -- changing ----------------------------------------------------------------------------------------------------

    def way(self, tokens: Sequence[int]) -> list[Node]:
        """Return the nodes that tokens go through, split where they end inside one."""
        return [node if held == self.num_pages(node) else self.split(node, held) for node, held in self.walk(tokens)]

    def split(self, node: Node, pages: int) -> Node:
        """Make the first pages of a node a node of their own above the rest, and return it."""
        cut = pages * self.geometry.page_size
        upper = node.twin()
        upper.number = self.number()
        upper.tokens, node.tokens = node.tokens[:cut], node.tokens[cut:]
        upper.pages, node.pages = node.pages[:pages], node.pages[pages:]
        upper.host, node.host = node.host[:pages], node.host[pages:]
        node.parent = upper.number
        self.nodes[upper.number] = upper
        return upper

    def add(self, parent: int, tokens: Tokens) -> Node:
        """Add a node without pages below another, or below the root."""
        node = Node(number=self.number(), parent=parent, tokens=tokens)
        self.nodes[node.number] = node
        return node

    def remove(self, node: Node) -> None:
        """Let a node leave the tree; there is none below it."""
        del self.nodes[node.number]

    def number(self) -> int:
        """Return the number of the next node."""
        self.next_number += 1
        return self.next_number - 1

    # -- as plans of eviction see it ---------------------------------------------------------------------------------

    def on_device(self, kept: Collection[int] = ()) -> tuple[EvictionNode, ...]:
        """Return the tree with residents; `kept` nodes count as locked."""
        return tuple(
            self._planned(node, [self.geometry.lane(page) for page in node.pages], self.is_held_on_device(node), kept)
            for node in self.nodes.values()
        )

    def on_host(self, kept: Collection[int] = ()) -> tuple[EvictionNode, ...]:
        """Return the tree with nodes that have host pages in place of residents; `kept` nodes count as locked."""
        return tuple(
            self._planned(node, [lane for lane, _ in node.host], self.is_held_on_host(node), kept)
            for node in self.nodes.values()
        )

    def is_held_on_device(self, node: Node) -> bool:
        """Say whether a lock covers the node."""
        return bool(node.locks)

    def is_held_on_host(self, node: Node) -> bool:
        """Say whether a lock covers the node, or something reads or writes its host pages."""
        return bool(node.locks or node.readers)

    def is_pending(self, node: Node) -> bool:
        """Say whether a backup or a load of the node was not acknowledged."""
        return bool(node.backups or node.loads)

    def _planned(self, node: Node, owners: Sequence[int], held: bool, kept: Collection[int]) -> EvictionNode:  # noqa: FBT001 - one of four facts
        return EvictionNode(
            node=node.number,
            parent=node.parent,
            owners=tuple(owners),
            locked=held or node.number in kept,
            pending=self.is_pending(node),
            hits=node.hits,
            last_tick=node.last_tick,
        )

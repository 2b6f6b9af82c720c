"""The pages of a cache as a third tier sees them: what it may save, and where what it fetches goes.

Knows nodes and host pages by position of tokens. Does not know objects, keys or policies of fetching.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv.copy_ledger import CopyKind, Progress
from sharedkv.host_cache import HostCache
from sharedkv.tree_node import HostPage, Node


class StoredPages:
    """One cache behind which objects are stored."""

    def __init__(self, cache: HostCache) -> None:
        self._cache = cache
        self._tree = cache.tree

    def known_pages(self, tokens: Sequence[int]) -> int:
        """Count the leading full pages of tokens that the tree has, on either tier."""
        return self._tree.walk(tokens).num_pages

    def backed_up(self, tokens: Sequence[int]) -> list[HostPage]:
        """List the host pages of the leading full pages of tokens that are backed up."""
        pages: list[HostPage] = []
        for node, num_pages in self._tree.walk(tokens).pieces():
            if not node.is_backed_up:
                break
            pages += node.host[:num_pages]
        return pages

    def submit_save(
        self, tokens: Sequence[int], positions: Sequence[int], progress: Progress, sources: Sequence[str]
    ) -> int:
        """Enter a copy that reads the host pages at some positions of tokens; return it.

        The nodes that have one of these pages keep all of theirs until the copy is acknowledged.
        """
        nodes = self._nodes_at(tokens, set(positions))
        flight = self._cache.ledger.submit(CopyKind.SAVE, sources, progress, nodes, len(positions))
        for node in nodes:
            node.copies.append(flight)
            self._tree.columns.refresh(node)
        return flight.copy

    def reserve(self, lanes: Sequence[int], tokens: Sequence[int]) -> list[HostPage] | None:
        """Allocate a host page on each of these lanes, in their order, or change nothing and return None.

        Nodes that have none of the tokens may give up host pages for it, all that is needed or none.
        """
        room = self._cache.host_room
        if room.make_fit(room.needed(lanes), self._tree.walk(tokens).all_nodes()) is None:
            return None
        return list(room.take(lanes))

    def attach(self, tokens: Sequence[int], first_page: int, pages: Sequence[HostPage]) -> range:
        """Make a node of what follows on the tree, and return the positions whose pages it took.

        `pages` are those of the positions of tokens from `first_page` on, and filled. Pages that the tree has already
        are not taken, nor any that would lie behind a gap or below a node without host pages: they stay the caller's.
        """
        size = self._tree.geometry.page_size
        end = first_page + len(pages)
        way = self._tree.walk(tokens[: end * size])
        start = way.num_pages
        last = way.partial or (way.nodes[-1] if way.nodes else self._tree.root)
        if not first_page <= start < end or not last.can_have_host_below:
            return range(start, start)
        nodes = self._tree.end_node(way)
        node = self._tree.add(nodes[-1] if nodes else self._tree.root, way.tokens[start * size :])
        self._tree.set_host(node, tuple(pages[start - first_page :]))
        node.last_tick = self._tree.tick
        self._tree.columns.refresh(node)
        return range(start, end)

    def free(self, pages: Sequence[HostPage]) -> None:
        """Give back host pages that `reserve` gave and the tree did not take."""
        self._cache.host_room.give(pages)

    def _nodes_at(self, tokens: Sequence[int], positions: set[int]) -> list[Node]:
        nodes = []
        start = 0
        for node, num_pages in self._tree.walk(tokens).pieces():
            if not positions.isdisjoint(range(start, start + num_pages)):
                nodes.append(node)
            start += num_pages
        return nodes

"""Inserts: where every page of a request's tokens goes.

Knows what the tree has for the tokens, and what was reserved for the request. Does not know how room is made.

    positions   0 ............ num_pages ............ full pages ...... started pages
    the tree    has it         has nothing
    page        freed, adopted adopted by a new node  left with the caller
"""

from __future__ import annotations

from collections.abc import Sequence

from sharedkv.allocation import OwnerLaneAllocator
from sharedkv.backups import Backups
from sharedkv.errors import Refusal, RefusedError
from sharedkv.geometry import PageId
from sharedkv.host_admissions import HostAdmissions, Reservation
from sharedkv.prefix_tree import PrefixTree, Way
from sharedkv.tier_values import Inserted
from sharedkv.tree_node import Node, Tokens


class Insertion:
    """Gives pages to the tree."""

    def __init__(
        self, tree: PrefixTree, allocator: OwnerLaneAllocator, backups: Backups, admissions: HostAdmissions
    ) -> None:
        self._tree = tree
        self._allocator = allocator
        self._backups = backups
        self._admissions = admissions

    def insert(self, request: str, tokens: Sequence[int], pages: Sequence[int]) -> Inserted:
        """Give the pages of tokens to the tree, and back up what the policy wants on the host."""
        way = self._tree.walk(tokens)
        require_started_pages(len(tokens), pages, self._tree.geometry.page_size)
        require_given_pages(self._tree, self._allocator, pages, resident_pages(way))
        nodes = self._tree.end_node(way)
        cached, adopted, freed = self._fill(nodes, pages)
        num_full = len(way.tokens) // way.page_size
        new = self._add(nodes[-1] if nodes else self._tree.root, way, tuple(pages[way.num_pages : num_full]))
        if new is not None:
            nodes = (*nodes, new)
            adopted += new.pages
        if num_full:
            for node in nodes:
                node.hits += 1
            self._tree.touch(nodes)
        self._allocator.keep([PageId(page) for page in adopted])
        self._allocator.release([PageId(page) for page in freed])
        return Inserted(
            cached=cached,
            adopted=tuple(adopted),
            freed=tuple(freed),
            left=tuple(pages[num_full:]),
            backups=tuple(self._back_up(request, nodes, new)),
        )

    def _fill(self, nodes: Sequence[Node], pages: Sequence[int]) -> tuple[int, list[int], list[int]]:
        """Give pages to nodes without; count the others' pages, and list what was adopted and what is not needed."""
        cached = start = 0
        adopted: list[int] = []
        freed: list[int] = []
        for node in nodes:
            given = tuple(pages[start : start + len(node.pages or node.host)])
            start += len(given)
            if node.pages:
                cached += len(given)
                freed += [page for page, own in zip(given, node.pages, strict=True) if page != own]
            else:
                self._tree.set_pages(node, given)
                adopted += given
        return cached, adopted, freed

    def _add(self, parent: Node, way: Way, pages: tuple[int, ...]) -> Node | None:
        if not pages:
            return None
        tokens: Tokens = way.tokens[way.num_pages * way.page_size :]
        node = self._tree.add(parent, tokens)
        self._tree.set_pages(node, pages)
        return node

    def _back_up(self, request: str, nodes: Sequence[Node], new: Node | None) -> list[int]:
        """Let a new node take what was reserved for it, give the rest back, and do what the policy says."""
        reservation = self._admissions.take(request)
        if new is not None and self._is_covered(new, reservation):
            host = tuple([reservation.pop(page) for page in new.pages])
            copies = [self._backups.adopt(new, host, request)]
            self._admissions.give_rest_back(reservation)
        else:
            self._admissions.give_back(request, reservation)
            copies = []
        return copies + self._backups.back_up_way(nodes)

    def _is_covered(self, new: Node, reservation: Reservation) -> bool:
        parent = new.parent
        return parent is not None and parent.can_have_host_below and reservation.keys() >= set(new.pages)


def require_started_pages(num_tokens: int, pages: Sequence[int], page_size: int) -> None:
    """Refuse another number of pages than tokens start."""
    started = -(-num_tokens // page_size)
    if num_tokens < 0 or len(pages) != started:
        raise RefusedError(Refusal.PAGES_MISMATCH, f"{len(pages)} pages for {num_tokens} tokens, wanted {started}")


def require_given_pages(
    tree: PrefixTree, allocator: OwnerLaneAllocator, pages: Sequence[int], own: Sequence[int] = ()
) -> None:
    """Refuse pages that a caller cannot give: none of the pool, not in use, named twice, or the tree's.

    A page may be the tree's at its place in `own`.
    """
    allocator.require_in_use([PageId(page) for page in pages])
    for place, page in enumerate(pages):
        if tree.holds(page) and not (place < len(own) and own[place] == page):
            raise RefusedError(Refusal.PAGE_IN_TREE, page)


def resident_pages(way: Way) -> list[int]:
    """List the device pages of a way, in order of position: residents come first."""
    return [page for node, num_pages in way.pieces() for page in node.pages[:num_pages]]

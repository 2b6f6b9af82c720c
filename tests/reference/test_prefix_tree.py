"""The radix tree against a plain set of prefixes, and its columns against a count of every page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharedkv.geometry import Geometry
from sharedkv.prefix_tree import PrefixTree
from sharedkv.tree_columns import FIRST_SLOTS, Tier
from sharedkv.tree_node import HostPage, Node

SIZE = 2
Pages = tuple[int, ...]
prefixes = st.lists(st.integers(0, 1), max_size=6).map(tuple)


class Grown:
    """A tree that prefixes were put into, each page on the device with the next page of the pool."""

    def __init__(self, *, cp_size: int = 3, pages: int = 600) -> None:
        self.tree = PrefixTree(Geometry(cp_size=cp_size, page_size=SIZE, pages=pages))
        self.known: set[Pages] = set()
        self.next_page = 1

    def tokens(self, pages: Pages) -> tuple[int, ...]:
        return tuple(token for page in pages for token in (page, page))

    def put(self, pages: Pages) -> list[Node]:
        """Put a prefix in, and return the nodes of its way."""
        way = self.tree.walk(self.tokens(pages))
        nodes = list(self.tree.end_node(way))
        if way.num_pages < len(pages):
            node = self.tree.add(nodes[-1] if nodes else self.tree.root, way.tokens[way.num_pages * SIZE :])
            count = len(pages) - way.num_pages
            self.tree.set_pages(node, tuple(range(self.next_page, self.next_page + count)))
            self.next_page += count
            nodes.append(node)
        self.known |= {pages[:count] for count in range(1, len(pages) + 1)}
        return nodes

    def longest(self, pages: Pages) -> int:
        return max((count for count in range(len(pages) + 1) if pages[:count] in self.known), default=0)


@given(st.lists(prefixes, max_size=12), prefixes)
def test_a_walk_finds_the_longest_prefix_that_was_put_in(put: list[Pages], asked: Pages) -> None:
    grown = Grown()
    for pages in put:
        grown.put(pages)

        assert grown.tree.invariants() == []

    way = grown.tree.walk(grown.tokens(asked))

    assert way.num_pages == grown.longest(asked)
    assert sum(count for _, count in way.pieces()) == way.num_pages
    assert grown.tree.walk((*grown.tokens(asked), 0)).num_pages == way.num_pages


@given(st.lists(prefixes, max_size=12), prefixes)
def test_a_walk_changes_nothing_and_ending_it_splits_at_most_one_node(put: list[Pages], asked: Pages) -> None:
    grown = Grown()
    for pages in put:
        grown.put(pages)
    before = {number: node.tokens for number, node in grown.tree.nodes.items()}
    way = grown.tree.walk(grown.tokens(asked))

    assert {number: node.tokens for number, node in grown.tree.nodes.items()} == before

    nodes = grown.tree.end_node(way)

    assert tuple(token for node in nodes for token in node.tokens) == grown.tokens(asked)[: way.num_pages * SIZE]
    assert len(grown.tree.nodes) - len(before) == (way.partial is not None)
    assert grown.tree.invariants() == []


@given(st.integers(1, 4))
def test_both_parts_of_a_split_have_what_the_node_had(cut: int) -> None:
    grown = Grown()
    (lower,) = grown.put((0, 1, 0, 1, 1))
    tree, pages = grown.tree, lower.pages
    host = tuple(HostPage(2, number) for number in range(5))
    tree.set_host(lower, host)
    lower.locks, lower.hits, lower.last_tick = 2, 3, 4
    upper = tree.split(lower, cut)

    assert (upper.pages, lower.pages) == (pages[:cut], pages[cut:])
    assert (upper.host, lower.host) == (host[:cut], host[cut:])
    assert (upper.parent, lower.parent, upper.number > lower.number) == (tree.root, upper, True)
    assert {(node.locks, node.hits, node.last_tick) for node in (upper, lower)} == {(2, 3, 4)}
    for tier, all_counts in ((Tier.DEVICE, (2, 2, 1)), (Tier.HOST, (0, 0, 5))):
        parts = zip(tree.columns.counts(tier, upper), tree.columns.counts(tier, lower), strict=True)
        assert tuple(map(sum, parts)) == all_counts


def test_columns_close_up_when_nodes_leave_and_keep_the_order_of_creation() -> None:
    grown = Grown(pages=3 * 40 * FIRST_SLOTS)
    tree = grown.tree
    kept: list[Node] = []
    for number in range(8 * FIRST_SLOTS):
        *above, node = grown.put((number, number + 1))
        assert above == []
        if number % 10:
            tree.set_pages(node, ())
            tree.remove(node)
        else:
            kept.append(node)
    counted = tree.columns.counted(Tier.DEVICE)

    assert tree.invariants() == []
    assert len(counted.numbers) < 3 * FIRST_SLOTS
    assert counted.numbers[counted.counts.sum(0) > 0].tolist() == [node.number for node in kept]


def test_columns_close_up_under_a_chain_of_splits() -> None:
    grown = Grown(pages=3 * 20 * FIRST_SLOTS)
    chain = tuple(range(6 * FIRST_SLOTS))
    grown.put(chain)
    for count in range(len(chain) - 1, 0, -1):
        grown.put(chain[:count])

    assert len(grown.tree.nodes) == len(chain)
    assert grown.tree.invariants() == []


def test_nodes_that_are_kept_are_held_in_that_plan_alone() -> None:
    grown = Grown()
    (node,) = grown.put((0, 1))

    assert grown.tree.columns.counted(Tier.HOST, [node]).is_held.tolist() == [True]
    assert grown.tree.columns.counted(Tier.HOST).is_held.tolist() == [False]


def test_a_node_that_has_pages_or_others_below_cannot_leave() -> None:
    grown = Grown()
    (node,) = grown.put((0, 1))
    with pytest.raises(AssertionError):
        grown.tree.remove(node)

    upper = grown.tree.split(node, 1)
    grown.tree.set_pages(upper, ())
    with pytest.raises(AssertionError):
        grown.tree.remove(upper)


@pytest.mark.parametrize(
    ("spoil", "law"),
    [
        (lambda _, node: setattr(node, "pages", (9,)), "flags"),
        (lambda _, node: setattr(node, "tokens", node.tokens[:3]), "not whole pages"),
        (lambda tree, node: tree.columns.set_counts(Tier.DEVICE, node, [0, 0]), "keeps counts"),
        (lambda tree, node: tree.nodes.pop(node.number), "reached"),
        (lambda tree, node: tree.set_pages(node, ()), "nowhere complete"),
        (lambda tree, node: tree.set_pages(node.parent, ()), "resident below one that is not"),
        (lambda tree, node: tree.set_host(node, (HostPage(0, 0), HostPage(0, 1))), "below one that has none"),
        (lambda tree, node: tree.columns.put_between(node, node), "below its parent"),
    ],
)
def test_a_tree_that_was_spoiled_says_so(spoil: object, law: str) -> None:
    grown = Grown()
    grown.put((0, 1))
    _, node = grown.put((0, 1, 0, 0))
    assert callable(spoil)
    spoil(grown.tree, node)

    assert any(law in broken for broken in grown.tree.invariants())

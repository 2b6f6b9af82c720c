"""Anchors are made from ids alone, no two are equal, and links lead from page to page."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from govctl import load_tree
from govctl.grammar import STATEMENT
from govctl.render.links import Target, encoded, statement_anchor, target_of
from tests.govctl.trees import write_tree

IDS = st.from_regex(STATEMENT, fullmatch=True)
ODD = "漢 字🙂:.()%#?/_é"


@given(st.text(), st.text())
def test_two_texts_never_have_one_anchor(one: str, other: str) -> None:
    assert (encoded(one) == encoded(other)) is (one == other)


@given(st.text(min_size=1))
def test_an_anchor_needs_no_escape_in_an_address(text: str) -> None:
    assert re.fullmatch("[A-Za-z0-9_-]+", encoded(text))


def test_an_anchor_of_odd_characters_is_not_empty() -> None:
    assert len({encoded(char) for char in ODD}) == len(ODD)


@given(IDS, IDS)
def test_two_statements_of_an_rfc_never_have_one_anchor(one: str, other: str) -> None:
    same_rfc = f"{one.partition(':')[0]}:{other.partition(':')[2]}"

    assert (statement_anchor(one) == statement_anchor(same_rfc)) is (one == same_rfc)


def test_a_statement_has_the_anchor_that_was_promised() -> None:
    assert statement_anchor("RFC-0001:C-OWNER-LANE-INVARIANT#S1") == "C-OWNER-LANE-INVARIANT.S1"


@pytest.mark.parametrize(
    ("here", "there", "address"),
    [
        ("rfc/RFC-0001.md", Target(page="rfc/RFC-0001.md", anchor="C-A"), "#C-A"),
        ("rfc/RFC-0001.md", Target(page="rfc/RFC-0002.md", anchor="C-A"), "RFC-0002.md#C-A"),
        ("rfc/RFC-0001.md", Target(page="codes.md"), "../codes.md"),
        ("index.md", Target(page="wrong/room.md", anchor="room.x"), "wrong/room.md#room.x"),
        ("proof/kills.md", Target(page="wrong/room.md"), "../wrong/room.md"),
        ("a/b/c.md", Target(page="a/d.md"), "../d.md"),
    ],
)
def test_an_address_is_relative_to_the_page_of_the_link(here: str, there: Target, address: str) -> None:
    assert there.seen_from(here) == address


@pytest.mark.parametrize("name", ["RFC-0009", "RFC-0001:C-NONE", "RFC-0001:C-RULE#S9", "nonsense"])
def test_an_id_that_the_tree_does_not_have_has_no_place(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    tree = load_tree(write_tree(tmp_path_factory.mktemp("tree")))

    assert target_of(tree, name) is None

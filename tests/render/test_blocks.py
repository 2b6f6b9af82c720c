"""Prose keeps its blocks: paragraphs, lists, tables and code; what only looks like a block is text."""

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from govctl.render.blocks import code_block, markdown_of


def test_paragraphs_stay_apart() -> None:
    assert markdown_of("one\ntwo\n\nthree\n") == "one two\n\nthree"


def test_a_table_stays_a_table() -> None:
    assert markdown_of("| a | b |\n|---|:-:|\n| 1 | `x|y` |") == (
        "| a | b |\n| --- | --- |\n| 1 | <code>x&#124;y</code> |"
    )


def test_a_short_row_of_a_table_is_filled_up() -> None:
    assert markdown_of("a | b\n--|--\n1 |").splitlines()[-1] == "| 1 |  |"


def test_text_before_a_table_is_a_paragraph() -> None:
    assert markdown_of("See:\n| a |\n|---|\n| 1 |").split("\n\n")[0] == "See:"


def test_a_list_keeps_its_levels() -> None:
    assert markdown_of("- a\n  more\n  - b\n- c") == "- a more\n    - b\n- c"


def test_a_numbered_list_keeps_its_numbers() -> None:
    assert markdown_of("3) a\n4) b") == "3. a\n4. b"


def test_code_is_kept_as_it_is() -> None:
    assert markdown_of("```toml\n<b> & *x*\n```\nafter") == "```\n<b> & *x*\n```\n\nafter"


def test_code_without_an_end_runs_to_the_end() -> None:
    assert markdown_of("~~~\na\n\nb") == "```\na\n\nb\n```"


@pytest.mark.parametrize("text", ["# title", "> quote", "<div>", "[x]: y", "title\n===", "    indented", "***"])
def test_what_only_looks_like_a_block_is_text(text: str) -> None:
    assert unescape(markdown_of(text)) == " ".join(text.split())


@given(st.text(alphabet="`~\nab"))
def test_no_code_ends_its_own_fence(text: str) -> None:
    first, *_, last = code_block(text).split("\n")
    inner = code_block(text).split("\n")[1:-1]

    assert first == last
    assert not any(line.startswith(first) for line in inner)


@given(st.text(alphabet="-*+1.|` \n:#ab>\\"))
def test_no_prose_is_too_strange(text: str) -> None:
    assert isinstance(markdown_of(text), str)

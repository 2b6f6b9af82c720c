"""Sentences and keywords of prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from govctl import prose


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It MUST hold.", ("MUST",)),
        ("It MUST\nNOT hold.", ("MUST NOT",)),
        ("It **MUST** hold.", ("MUST",)),
        ("NOT RECOMMENDED", ("NOT RECOMMENDED",)),
        ("It must hold; `MUST` is code.", ()),
        ("MUSTER, A-MUST and MUST_X", ()),
        ("It MUST and SHOULD hold, and MAY fail.", ("MUST", "SHOULD", "MAY")),
    ],
)
def test_keywords_are_whole_upper_case_words_outside_code(text: str, expected: tuple[str, ...]) -> None:
    assert prose.keywords(text) == expected


@pytest.mark.parametrize(
    ("keyword", "level"),
    [("MUST NOT", "MUST"), ("SHALL", "MUST"), ("REQUIRED", "MUST"), ("NOT RECOMMENDED", "SHOULD"), ("OPTIONAL", "MAY")],
)
def test_a_keyword_has_a_level(keyword: str, level: str) -> None:
    assert prose.level(keyword) == level


@pytest.mark.parametrize(
    "text",
    [
        "A lane, e.g. Lane 0, keeps 1.5 pages.",
        "It is `a. B` in code.",
        "See cf. Section 2 of it.",
        "The lane is (page - 1) % cp_size; page 0 is a dummy.",
    ],
)
def test_one_sentence_stays_one(text: str) -> None:
    assert prose.sentences(text) == [text]


def test_sentences_end_at_a_stop_before_a_capital() -> None:
    assert prose.sentences("It holds. `x` does\ntoo! Does it?") == ["It holds.", "`x` does too!", "Does it?"]


def normative(text: str) -> list[str]:
    return [sentence.text for sentence in prose.normative_sentences(text)]


def test_only_sentences_with_a_keyword_are_normative() -> None:
    assert normative("It is so. It MUST hold. It is fine.") == ["It MUST hold."]


def test_list_items_inherit_the_keyword_of_their_lead_in() -> None:
    found = prose.normative_sentences("Tests MUST cover:\n\n- one\n  request;\n- two.\n")

    assert [(s.text, s.keywords) for s in found] == [
        ("Tests MUST cover: one request;", ("MUST",)),
        ("Tests MUST cover: two.", ("MUST",)),
    ]


def test_an_item_with_a_keyword_of_its_own_inherits_none() -> None:
    assert normative("It does:\n- MUST hold;\n- fine.") == ["MUST hold;"]


@pytest.mark.parametrize("tail", ["", "\n\n```\ncode\n```", "\n\nNo list.", "\n\n| a |\n", "\n- it SHOULD too"])
def test_a_lead_in_without_an_heir_is_not_lost(tail: str) -> None:
    assert "It MUST hold:" in normative("It MUST hold:" + tail)


def test_a_rationale_is_not_normative_and_ends_with_its_paragraph() -> None:
    assert normative("**Rationale:** It MUST\nbe. SO MUST it.\n\nIt MUST hold.") == ["It MUST hold."]


def test_code_headings_and_tables_are_not_normative() -> None:
    assert normative("# It MUST\n```\nIt MUST.\n```\n| MUST |\n~~~\nMUST\n~~~") == []


def test_text_that_looks_like_structure_stays_text() -> None:
    assert normative("It MUST hold [clause]\nCovers: x\n---\nend.") == ["It MUST hold [clause] Covers: x --- end."]


@given(st.text(alphabet=st.sampled_from("AMUST a.\n-:`#|*1)"), max_size=80))
def test_every_needle_stands_in_the_text(text: str) -> None:
    flat = prose.collapse(text)
    for sentence in prose.normative_sentences(text):
        assert sentence.keywords
        assert all(word in flat for word in sentence.needle.split())


PIECES = [
    "It MUST x. ",
    "a:",
    " It MUST:",
    "\n",
    "\n\n",
    "- b",
    "1. c",
    " \n \n",
    "SHOULD y.",
    "\n- ",
    "A-MUST",
    "x",
    "`MUST`",
]


@given(st.lists(st.sampled_from(PIECES), max_size=10).map("".join))
def test_a_heading_above_a_text_changes_nothing(text: str) -> None:
    assert prose.normative_sentences(f"# Heading\n\n{text}") == prose.normative_sentences(text)

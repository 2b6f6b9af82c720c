"""Sentences of a clause in prose form keep their numbers."""

from hypothesis import given
from hypothesis import strategies as st

from govctl.lock import Entry
from govctl.numbering import number_sentences


def entries(*digests: str) -> list[Entry]:
    return [Entry(id=f"RFC-0001:C-A#S{n}", digest=digest) for n, digest in enumerate(digests, start=1)]


def test_without_a_lock_sentences_are_numbered_in_order() -> None:
    assert number_sentences("abc", []) == [1, 2, 3]


def test_sentences_that_move_keep_their_numbers() -> None:
    assert number_sentences("cab", entries("a", "b", "c")) == [3, 1, 2]


def test_a_new_sentence_takes_the_next_free_number() -> None:
    assert number_sentences("axb", entries("a", "b")) == [1, 3, 2]


def test_a_changed_sentence_keeps_the_number_between_its_neighbours() -> None:
    assert number_sentences("axc", entries("a", "b", "c")) == [1, 2, 3]


def test_the_number_of_a_removed_sentence_is_not_used_again() -> None:
    assert number_sentences("acx", entries("a", "b", "c")) == [1, 3, 4]


def test_a_withdrawn_number_is_given_to_no_other_sentence() -> None:
    locked = [Entry(id="RFC-0001:C-A#S1", digest="a", is_withdrawn=True)]

    assert number_sentences("x", locked) == [2]


@given(st.text(alphabet="abcd", max_size=6), st.text(alphabet="abcd", max_size=6))
def test_numbers_are_unique_and_an_unchanged_text_keeps_them(now: str, before: str) -> None:
    numbers = number_sentences(now, entries(*before))

    assert len(set(numbers)) == len(now)
    assert number_sentences(before, entries(*before)) == list(range(1, len(before) + 1))

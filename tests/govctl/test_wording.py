"""Words: what is left to write, what only looks like a demand, what no check can measure."""

from pathlib import Path

import pytest

from govctl.rules.wording import VAGUE_WORDS
from tests.govctl.trees import CLAUSE, FILES, RFC, edited, findings, write_tree


def messages(root: Path, code: str) -> list[str]:
    return [finding.message for finding in findings(root) if finding.code == code]


@pytest.mark.parametrize("word", ["TODO", "TBD", "TBA", "FIXME", "XXX", "???", "????", "Lorem ipsum", "<text here>"])
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (CLAUSE, "Every lane", "{} every lane"),
        (CLAUSE, '"Rule"', '"Rule {}"'),
        (CLAUSE, "one page free.", "one page free, {}."),
        (RFC, '"Example"', '"{} example"'),
        (RFC, '"Specification"', '"Specification {}"'),
        (RFC, "Initial draft", "Initial draft: {}"),
    ],
)
def test_a_placeholder_is_found_in_every_text(tmp_path: Path, word: str, file: str, old: str, new: str) -> None:
    write_tree(tmp_path, edited(file, old, new.format(word)))

    assert messages(tmp_path, "G0412") == [f"holds the placeholder {word}"]


@pytest.mark.parametrize("word", ["`TODO`", "TODOS", "AXXX", "what??", "<lane>", "XXXL", "tbd"])
def test_a_word_that_holds_a_placeholder_is_none(tmp_path: Path, word: str) -> None:
    write_tree(tmp_path, edited(CLAUSE, "Every lane", f"{word} every lane"))

    assert messages(tmp_path, "G0412") == []


@pytest.mark.parametrize("word", ["must", "must not", "shall", "shall not"])
def test_a_lower_case_keyword_is_a_note(tmp_path: Path, word: str) -> None:
    write_tree(tmp_path, edited(CLAUSE, "Every lane has", f"Every lane {word} have"))
    found = [(finding.severity.value, finding.message) for finding in findings(tmp_path) if finding.code == "G0411"]

    assert found == [("note", f'holds "{word}" in lower case, which binds nobody')]


@pytest.mark.parametrize("words", ["a must-have", "`must`", "musty", "marshall", "mustn't", "the lane's must_have"])
def test_a_word_that_holds_a_keyword_is_none(tmp_path: Path, words: str) -> None:
    write_tree(tmp_path, edited(CLAUSE, "Every lane has", f"Every lane has {words} and"))

    assert messages(tmp_path, "G0411") == []


def test_an_informative_clause_may_say_must(tmp_path: Path) -> None:
    text = FILES[CLAUSE].partition("[[content")[0].replace("normative", "informative").replace("has", "must have")
    write_tree(tmp_path, {CLAUSE: text})

    assert messages(tmp_path, "G0411") == []


@pytest.mark.parametrize("word", VAGUE_WORDS)
def test_a_vague_word_in_a_statement_is_a_note(tmp_path: Path, word: str) -> None:
    write_tree(tmp_path, edited(CLAUSE, "one page free.", f"pages {word} free."))

    assert messages(tmp_path, "G0413") == [f'holds "{word}", which no check can measure']


@pytest.mark.parametrize("word", ["inadequate", "robustness", "`etc.`", "quick"])
def test_a_word_that_holds_a_vague_one_is_none(tmp_path: Path, word: str) -> None:
    write_tree(tmp_path, edited(CLAUSE, "one page free.", f"pages {word} free."))

    assert messages(tmp_path, "G0413") == []


@pytest.mark.parametrize(("characters", "count"), [(500, 0), (501, 1)])
def test_a_statement_longer_than_a_breath_is_a_note(tmp_path: Path, characters: int, count: int) -> None:
    sentence = "A lane MUST be".ljust(characters - 1, "x") + "."
    write_tree(tmp_path, edited(CLAUSE, "A lane MUST keep one page free.", sentence))

    assert len(messages(tmp_path, "G0414")) == count


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ('"Rule"', '"What a lane MUST do"', "title"),
        ('"Every lane has pages."', '"Every lane MUST have pages."', "text"),
        ('"Every lane has pages."', '"Every lane has pages."\nrationale = "It MUST be so."', "rationale"),
    ],
)
def test_a_keyword_beside_the_statements_is_found(tmp_path: Path, old: str, new: str, part: str) -> None:
    write_tree(tmp_path, edited(CLAUSE, old, new))
    (message,) = messages(tmp_path, "G0403")

    assert message.startswith(f"the {part} holds MUST outside its statements")


def test_a_keyword_in_the_rationale_of_prose_is_found(tmp_path: Path) -> None:
    text = FILES[CLAUSE].partition("[[content")[0].replace("has pages", "MUST have pages")
    write_tree(tmp_path, {CLAUSE: f'{text}rationale = "It MUST be so."\n'})

    assert len(messages(tmp_path, "G0403")) == 1

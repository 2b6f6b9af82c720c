"""The quick reader of plain documents: what it reads, the whole parser reads alike."""

import pytest
import tomli
from hypothesis import example, given
from hypothesis import strategies as st

from govctl.toml_reader import plain_document
from tests.govctl.trees import CLAUSE, FILES

PIECES = [
    'a = "x"\n',
    'b = ""\n',
    'a_b = "\u00e9 # [x]"\n',
    'a = """\ntwo "lines"\n\n# no comment\n"""\n',
    'b = """\n"""\n',
    "[a]\n",
    "[b]\n",
    "[[a.b]]\n",
    "[[b.a]]\n",
    "# comment\n",
    "\n",
    "a = 1\n",
    'a = "\\n"\n',
    'a = """x"""\n',
    '"',
    "\\",
    "\t",
    "\x00",
    "\x7f",
    "\r",
    "=",
    "]",
]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@example('a = """\nx""""\n')
@example('a = """\nx"""""\n')
@example('a = "x"\n[a]\n')
@example('a = "x"\n[[a.b]]\n')
@example('[a]\nb = "x"\n[[a.b]]\n')
@example('[a]\n[[a.b]]\nb = "x"\n[[a.b]]\n[a]\n')
def test_what_is_plain_is_read_as_the_parser_reads_it(text: str) -> None:
    plain = plain_document(text)

    assert plain is None or plain == tomli.loads(text)


@given(st.integers(0, len(FILES[CLAUSE])), st.integers(0, 6), st.text(max_size=3))
def test_a_damaged_clause_is_never_read_in_another_way(start: int, length: int, new: str) -> None:
    text = FILES[CLAUSE][:start] + new + FILES[CLAUSE][start + length :]
    plain = plain_document(text)

    assert plain is None or plain == tomli.loads(text)


def test_a_usual_clause_is_plain() -> None:
    assert plain_document(FILES[CLAUSE]) == tomli.loads(FILES[CLAUSE])


@pytest.mark.parametrize("text", ['a = "x"', 'a = "x"\na = "y"\n', "[a]\n[a]\n", "[[a.b]]\n", "a = 'x'\n", 'a="x"\n'])
def test_what_needs_a_closer_look_is_left_to_the_parser(text: str) -> None:
    assert plain_document(text) is None

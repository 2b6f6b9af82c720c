"""One grammar of ids, in every place alike."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from govctl import grammar
from govctl.problems import Problems
from govctl.scanner import Scan, scan_source

IDS = ["RFC-0001:C-NAME#S1", "RFC-0001:C-2FA-X#S10", "RFC-9999:C-A#S9999"]
NO_IDS = [
    "RFC-1:C-NAME#S1",
    "rfc-0001:C-NAME#S1",
    "RFC-0001:C-name#S1",
    "RFC-0001:C-A.1#S1",
    "RFC-0001:C-A_1#S1",
    "RFC-0001:C-A-#S1",
    "RFC-0001:C-A#S0",
    "RFC-0001:C-A#S01",
    "RFC-0001:C-A#S1\n",
    "RFC-\u0660\u0660\u0660\u0661:C-A#S1",
    "RFC-0001:C-A#S1 ",
]


def in_mark(identifier: str) -> bool:
    scan = Scan()
    scan_source("x.py", f"@law({identifier!r}, on='a.b')\ndef f(): ...\n", scan, Problems())
    return bool(scan.marks)


def in_brackets(identifier: str) -> bool:
    return [c.text for c in grammar.citations(f"See [[{identifier}]].") if c.is_wellformed] == [identifier]


@pytest.mark.parametrize("identifier", IDS)
def test_a_legal_id_is_legal_in_text_and_in_source(identifier: str) -> None:
    assert grammar.is_statement_id(identifier)
    assert in_mark(identifier)
    assert in_brackets(identifier)


@pytest.mark.parametrize("identifier", NO_IDS)
def test_an_illegal_id_is_illegal_in_text_and_in_source(identifier: str) -> None:
    assert not grammar.is_statement_id(identifier)
    assert not in_mark(identifier)
    assert not in_brackets(identifier)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("RFC-0001.", ["RFC-0001"]),
        ("(RFC-0001)", ["RFC-0001"]),
        ("RFC-0001,RFC-0002", ["RFC-0001", "RFC-0002"]),
        ("RFC-00010", []),
        ("XRFC-0001", []),
        ("RFC-0001-old", []),
        ("RFC-0001:C-NAME-old", []),
        ("RFC-0001:C-NAME#S1", ["RFC-0001:C-NAME#S1"]),
        ("RFC-0001:C-NAME#S1x", []),
        ("`RFC-0001`", []),
        ("```\nRFC-0001\n```", []),
        ("example.org/RFC-0001", []),
        ("[[RFC-0001]]", ["RFC-0001"]),
    ],
)
def test_a_citation_is_a_whole_id(text: str, cited: list[str]) -> None:
    assert [citation.text for citation in grammar.citations(text) if citation.is_wellformed] == cited


@pytest.mark.parametrize(
    "text",
    ["RFC-1", "rfc-0001", "RFC-00010", "RFC-0001:C-name", "RFC-0001:C-NAME-old", "RFC-1:C-X", "RFC-0001:C-A#S1x"],
)
def test_bare_words_that_look_like_an_id_are_malformed(text: str) -> None:
    found = [(citation.written, citation.is_wellformed) for citation in grammar.citations(f"See {text}, and go on.")]

    assert found == [(text, False)]


@pytest.mark.parametrize(
    "text", ["RFC 2119", "RFC-0001-old", "XRFC-1", "`rfc-1`", "example.org/rfc-1", "C-NAME", "RFC-x"]
)
def test_words_that_do_not_look_like_an_id_cite_nothing(text: str) -> None:
    assert list(grammar.citations(f"See {text}, and go on.")) == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("rfc-1", "RFC-0001"),
        ("RFC 7", "RFC-0007"),
        ("RFC-0001:c_name", "RFC-0001:C-NAME"),
        ("C-NAME", "RFC-0002:C-NAME"),
        ("S3", "RFC-0002:C-HERE#S3"),
        ("#s3", "RFC-0002:C-HERE#S3"),
        (" RFC-0001 ", "RFC-0001"),
    ],
)
def test_a_malformed_citation_is_repaired_to_what_was_meant(text: str, meant: str) -> None:
    assert grammar.repaired(text, "RFC-0002:C-HERE") == meant


@pytest.mark.parametrize("text", ["[[rfc-1]]", "[[C-NAME]]", "[[RFC-0001:C-name]]", "[[ RFC-0001 ]]"])
def test_brackets_that_look_like_an_id_are_malformed(text: str) -> None:
    found = [citation for citation in grammar.citations(text) if not citation.is_wellformed]

    assert len(found) == 1


def test_brackets_that_are_a_list_cite_nothing() -> None:
    assert list(grammar.citations("[[1, 2], [3]] and [[a]]")) == []


def test_ids_are_ordered_by_number() -> None:
    ids = ["RFC-0001:C-A#S10", "RFC-0001:C-A#S2", "RFC-0001:C-B#S1"]

    assert sorted(ids, key=grammar.sort_key) == ["RFC-0001:C-A#S2", "RFC-0001:C-A#S10", "RFC-0001:C-B#S1"]


def test_versions_are_ordered_by_number() -> None:
    assert grammar.version_key("1.10.0") > grammar.version_key("1.9.0")


def test_a_range_of_rows_holds_both_ends() -> None:
    assert grammar.rows_of("W2-08..W2-10") == ("W2-08", "W2-09", "W2-10")


@pytest.mark.parametrize("text", ["W2-09..W2-07", "W2-01..W3-02", "W2-1..W2-100", "W2-01..", "w2-01"])
def test_what_is_no_range_of_rows_is_none(text: str) -> None:
    assert grammar.rows_of(text) is None


@given(st.text(alphabet=st.sampled_from("RFC-01:#SA[]` \n"), max_size=60))
def test_a_citation_stands_where_its_offset_says(text: str) -> None:
    for citation in grammar.citations(text):
        assert text[citation.offset :].startswith(citation.text)


PIECES = ["[[RFC-0001]]", "[[rfc-1]]", "RFC-0001", "rfc-1 ", "`RFC-0001`", "[[x]]", " "]


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
@example("[[x]] RFC-0001")
@example("[[RFC-0001:C-RFC-A]] and RFC-0002")
def test_a_text_that_plainly_cites_known_ids_alone_cites_no_other(text: str) -> None:
    known = frozenset({"RFC-0001", "RFC-0001:C-RFC-A"})
    is_plain = grammar.cites_only(text, known)

    assert not is_plain or {citation.text for citation in grammar.citations(text)} <= known


@pytest.mark.parametrize("text", ["", "[[RFC-0001]] and [[RFC-0001]]", "`[[RFC-0002]]` [[RFC-0001]]", "no id"])
def test_known_ids_in_brackets_are_plain(text: str) -> None:
    assert grammar.cites_only(text, frozenset({"RFC-0001"}))

"""The lock: drift is seen, acceptance is by name, ids never leave."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from govctl import load_tree
from govctl.acceptance import Acceptance, accept
from govctl.lock import Entry, Lock, parse_lock
from govctl.problems import Problems
from tests.govctl.trees import CLAUSE, LOCK, S1, S2, codes, edited, findings, write, write_tree

CHANGED = edited(CLAUSE, "keep one page", "keep three pages")
WITHOUT_S2 = {CLAUSE: edited(CLAUSE, "two", "2")[CLAUSE].rpartition("[[content.statements]]")[0]}
HEX = st.text(alphabet="0123456789abcdef", min_size=64, max_size=64)


def accepted(root: Path, *names: str, withdrawn: tuple[str, ...] = (), all_new: bool = False) -> Acceptance:
    return accept(load_tree(root), names, withdrawn, all_new=all_new)


def test_a_changed_sentence_names_the_checks_to_look_at_again(tmp_path: Path) -> None:
    (found,) = [f for f in findings(write_tree(tmp_path, CHANGED)) if f.code == "G0602"]

    assert "check room.one-page" in found.message
    assert [related.place.file for related in found.related] == ["suite/checks.py", "suite/checks.py"]


def test_a_line_break_is_no_change(tmp_path: Path) -> None:
    files = edited(CLAUSE, '"A lane MUST keep one page free."', '"""A lane MUST\n  keep one\r\npage free."""')

    assert codes(write_tree(tmp_path, files)) == []


def test_a_changed_sentence_is_accepted_by_name(tmp_path: Path) -> None:
    write_tree(tmp_path, CHANGED)
    write(tmp_path, {LOCK: accepted(tmp_path, S1).lock.text()})

    assert "G0602" not in codes(tmp_path)


def test_a_changed_sentence_is_not_accepted_with_the_new_ones(tmp_path: Path) -> None:
    result = accepted(write_tree(tmp_path, CHANGED), all_new=True)

    assert (result.accepted, result.left) == ((), (S1,))


def test_a_removed_statement_is_refused_without_a_tombstone(tmp_path: Path) -> None:
    result = accepted(write_tree(tmp_path, WITHOUT_S2), all_new=True)

    assert result.refused == (f"{S2} is gone without a tombstone: --withdraw it, or put it back",)


def test_a_removed_statement_stays_in_the_lock_as_withdrawn(tmp_path: Path) -> None:
    write_tree(tmp_path, WITHOUT_S2)
    write(tmp_path, {LOCK: accepted(tmp_path, withdrawn=(S2,)).lock.text()})

    assert load_tree(tmp_path).lock.entries[S2].is_withdrawn
    assert "G0604" not in codes(tmp_path)


def test_a_withdrawn_id_is_not_used_again(tmp_path: Path) -> None:
    write_tree(tmp_path, WITHOUT_S2)
    write(tmp_path, {LOCK: accepted(tmp_path, withdrawn=(S2,)).lock.text()})
    write(tmp_path, edited(CLAUSE, "two", "four"))

    assert "G0604" in codes(tmp_path)
    assert accepted(tmp_path, S2).refused


def test_a_statement_that_is_still_there_is_not_withdrawn(tmp_path: Path) -> None:
    assert accepted(write_tree(tmp_path), withdrawn=(S2,)).refused


def test_a_deprecated_clause_is_a_tombstone(tmp_path: Path) -> None:
    files = {CLAUSE: WITHOUT_S2[CLAUSE].replace('kind = "normative"', 'kind = "normative"\nstatus = "deprecated"')}

    assert "G0604" not in codes(write_tree(tmp_path, files))


def test_a_swap_of_two_sentences_is_refused(tmp_path: Path) -> None:
    text = CHANGED[CLAUSE].replace("keep three pages", "keep one page")
    swapped = text.replace('"S1"', '"S9"').replace('"S2"', '"S1"').replace('"S9"', '"S2"')
    write_tree(tmp_path, {CLAUSE: swapped})

    assert codes(tmp_path).count("G0605") == 2
    assert len(accepted(tmp_path, S1, S2).refused) == 2


def test_an_unknown_name_is_refused(tmp_path: Path) -> None:
    assert accepted(write_tree(tmp_path), "RFC-0001:C-RULE#S7").refused


@pytest.mark.parametrize("line", ["RFC-0001:C-RULE#S1", "x", f"{S1} {'0' * 63}", f"{S1} {'0' * 64} gone"])
def test_a_line_that_is_none_is_a_finding(tmp_path: Path, line: str) -> None:
    write_tree(tmp_path)
    with (tmp_path / LOCK).open("a") as lock:
        lock.write(f"{line}\n")

    assert codes(tmp_path) == ["G0601"]


@given(st.dictionaries(st.integers(1, 30).map(lambda n: f"RFC-0001:C-A#S{n}"), st.tuples(HEX, st.booleans())))
def test_what_is_written_is_read_back(entries: dict[str, tuple[str, bool]]) -> None:
    lock = Lock(entries={name: Entry(id=name, digest=d, is_withdrawn=w) for name, (d, w) in entries.items()})
    problems = Problems()
    again = parse_lock(lock.text(), problems)

    assert problems.found == []
    assert {e.id: (e.digest, e.is_withdrawn) for e in again.entries.values()} == entries
    assert again.text() == lock.text()

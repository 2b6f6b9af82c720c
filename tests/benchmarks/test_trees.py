"""Generated trees: equal bytes for equal sizes, the shape that is told, and nothing for govctl to find."""

from pathlib import Path

import pytest

from benchmarks.trees import files, num_statements, rfc_ids, write_tree
from govctl.cli import main as govctl

CLAUSES = 70


def test_equal_sizes_give_equal_files() -> None:
    assert list(files(CLAUSES)) == list(files(CLAUSES))


def test_a_tree_has_the_shape_that_is_told() -> None:
    tree = dict(files(CLAUSES))
    clauses = [text for name, text in tree.items() if name.startswith("gov/clauses/")]

    assert len(clauses) == CLAUSES
    assert sum(text.count("[[content.statements]]") for text in clauses) == 105
    assert sum(text.count("@check(") for text in tree.values()) == CLAUSES
    assert sum(name.startswith("gov/rfc/") for name in tree) == len(rfc_ids(CLAUSES)) == 4


def test_three_statements_for_two_clauses() -> None:
    assert sum(map(num_statements, range(10_000))) == 15_000


def test_a_clause_is_about_one_kilobyte() -> None:
    sizes = [len(text.encode()) for name, text in files(CLAUSES) if name.startswith("gov/clauses/")]

    assert 900 < sum(sizes) / len(sizes) < 1_200


def test_govctl_finds_nothing_in_a_locked_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tree(tmp_path, CLAUSES)
    folder = ["-C", str(tmp_path)]

    assert govctl(["lock", "--new", *folder]) == 0
    assert govctl(["lock", *(f"--seal={rfc}" for rfc in rfc_ids(CLAUSES)), *folder]) == 0
    assert govctl(["check", "--fail-on", "note", *folder]) == 0, capsys.readouterr().out

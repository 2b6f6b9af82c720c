"""`govctl render`: exit codes, and what is never written."""

from pathlib import Path

import pytest

from govctl import cli
from tests.govctl.trees import CLAUSE, write, write_tree
from tests.render.trees import CASES, rich_tree

Capture = pytest.CaptureFixture[str]


def run(root: Path, *words: str) -> int:
    return cli.main(["-C", str(root), "render", *words])


def test_a_rendered_folder_is_what_the_tree_says(tmp_path: Path) -> None:
    rich_tree(tmp_path)

    assert run(tmp_path, "--output", "out") == 0
    assert run(tmp_path, "--output", "out", "--check") == 0


def test_check_names_what_differs_and_writes_nothing(tmp_path: Path, capsys: Capture) -> None:
    rich_tree(tmp_path)
    run(tmp_path, "--output", "out")
    (tmp_path / "out" / "docs" / "codes.md").write_text("edited", encoding="utf-8")
    capsys.readouterr()

    assert run(tmp_path, "--output", "out", "--check") == 1
    assert capsys.readouterr().out == "out/docs/codes.md is not what the tree says: govctl render --output out\n"
    assert (tmp_path / "out" / "docs" / "codes.md").read_text(encoding="utf-8") == "edited"


def test_check_of_no_folder_is_a_finding(tmp_path: Path) -> None:
    rich_tree(tmp_path)

    assert run(tmp_path, "--output", "out", "--check") == 1
    assert not (tmp_path / "out").exists()


def test_a_tree_of_which_part_is_unreadable_is_not_rendered(tmp_path: Path) -> None:
    rich_tree(tmp_path, {CLAUSE: "not toml"})

    assert run(tmp_path, "--output", "out") == 1
    assert not (tmp_path / "out").exists()


def test_a_tree_with_nothing_beside_it_renders(tmp_path: Path) -> None:
    write_tree(tmp_path)

    assert run(tmp_path, "--output", "out") == 0


def test_an_empty_tree_renders(tmp_path: Path) -> None:
    write(tmp_path, {"gov/govctl.toml": '[project]\nname = "empty"\n'})

    assert run(tmp_path, "--output", "out") == 0


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (CASES, "[[cases]]\nid = 1", "is no file of cases"),
        (CASES, "not toml", "is no file of cases"),
        ("hand/codes.md", "# Codes", "generated pages have the names of hand-written ones: codes.md"),
        ("hand/index.md", "<!-- govctl: weather -->", "has the marker 'weather'"),
    ],
)
def test_what_the_author_has_to_mend_exits_with_2(
    tmp_path: Path, capsys: Capture, file: str, text: str, message: str
) -> None:
    rich_tree(tmp_path, {file: text})

    assert run(tmp_path, "--output", "out") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_foreign_folder_exits_with_2(tmp_path: Path) -> None:
    rich_tree(tmp_path)

    assert run(tmp_path, "--output", "gov") == 2
    assert (tmp_path / CLAUSE).is_file()

"""A folder of pages is replaced whole or not at all, and nothing else is ever replaced."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from govctl.render.folder import ForeignFolderError, WriteError, _swap, differences, replace_folder

OLD = {"a.md": b"old a", "sub/b.md": b"old b"}
NEW = {"a.md": b"new a", "sub/c.md": b"new c"}
LIMITED = """
import resource, sys
from pathlib import Path
from govctl.render.folder import WriteError, replace_folder
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_folder(Path(sys.argv[1]), {"a.md": b"new", "b.md": b"x" * 5000, "c.md": b"new"})
except WriteError as error:
    sys.exit(str(error))
"""


def content(folder: Path) -> dict[str, bytes]:
    """Return what stands in a folder, the marker left out."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in files.items() if name != ".rendered"}


def test_stale_files_go(tmp_path: Path) -> None:
    replace_folder(tmp_path / "out", OLD)
    replace_folder(tmp_path / "out", NEW)

    assert content(tmp_path / "out") == NEW


def test_nothing_is_left_beside_the_folder(tmp_path: Path) -> None:
    replace_folder(tmp_path / "out", OLD)
    replace_folder(tmp_path / "out", NEW)

    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_right_already_is_left_untouched(tmp_path: Path) -> None:
    replace_folder(tmp_path / "out", OLD)
    before = (tmp_path / "out" / "a.md").stat()
    replace_folder(tmp_path / "out", OLD)

    assert (tmp_path / "out" / "a.md").stat() == before


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    replace_folder(tmp_path / "out", OLD)

    assert content(tmp_path / "out") == OLD


def test_a_folder_that_was_not_rendered_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear", encoding="utf-8")

    with pytest.raises(ForeignFolderError):
        replace_folder(tmp_path, NEW)

    assert content(tmp_path) == {"letters.txt": b"dear"}


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", encoding="utf-8")

    with pytest.raises(ForeignFolderError):
        replace_folder(tmp_path / "out", NEW)


def test_a_place_that_cannot_hold_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file", encoding="utf-8")

    with pytest.raises(WriteError):
        replace_folder(tmp_path / "file" / "out", NEW)


def test_a_failure_in_the_middle_leaves_the_old_pages(tmp_path: Path) -> None:
    replace_folder(tmp_path / "out", OLD)
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "out")], capture_output=True, text=True, check=False
    )

    assert (ran.returncode, "it is as it was" in ran.stderr) == (1, True)
    assert content(tmp_path / "out") == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failure_at_the_last_step_puts_the_old_pages_back(tmp_path: Path) -> None:
    replace_folder(tmp_path / "out", OLD)

    with pytest.raises(FileNotFoundError):
        _swap(tmp_path / "out", tmp_path / "missing", tmp_path / "old")

    assert content(tmp_path / "out") == OLD


def test_two_runs_at_once_leave_the_pages_of_one_of_them(tmp_path: Path) -> None:
    replace_folder(tmp_path / "out", OLD)
    wanted = [{f"{number}.md": b"x" * number for number in range(run, run + 40)} for run in range(1, 9)]

    def run(files: dict[str, bytes]) -> None:
        try:
            replace_folder(tmp_path / "out", files)
        except WriteError:
            return  # another was faster; a run that fails says so

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, wanted))

    assert content(tmp_path / "out") in [OLD, *wanted]


@pytest.mark.parametrize(
    ("change", "named"),
    [({"a.md": b"x"}, ["a.md"]), ({"z.md": b"x"}, ["z.md"]), ({}, [])],
)
def test_each_file_that_is_not_as_it_should_be_is_named(
    tmp_path: Path, change: dict[str, bytes], named: list[str]
) -> None:
    replace_folder(tmp_path / "out", OLD)
    for name, data in change.items():
        (tmp_path / "out" / name).write_bytes(data)

    assert differences(tmp_path / "out", OLD) == named

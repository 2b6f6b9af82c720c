"""Writing: all or nothing, and nothing left behind."""

from pathlib import Path

import pytest

from govctl.writing import write_files


def names(root: Path) -> list[str]:
    return sorted(path.name for path in root.rglob("*"))


def test_all_files_are_written_with_lf(tmp_path: Path) -> None:
    write_files({tmp_path / "a": "1\n2\n", tmp_path / "new/b": "\u0416"})

    assert (tmp_path / "a").read_bytes() == b"1\n2\n"
    assert (tmp_path / "new/b").read_text(encoding="utf-8") == "\u0416"


def test_a_failure_leaves_no_temporary_file_and_no_half(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "file").write_text("in the way of a folder")
    before = names(tmp_path)

    with pytest.raises(OSError, match="file"):
        write_files({tmp_path / "a": "new", tmp_path / "file/b": "new"})

    assert names(tmp_path) == before
    assert (tmp_path / "a").read_text() == "old"


def test_a_failure_after_the_first_file_puts_it_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "folder").mkdir()
    before = names(tmp_path)

    with pytest.raises(OSError, match="folder"):
        write_files({tmp_path / "a": "new", tmp_path / "b": "new", tmp_path / "folder": "new"})

    assert names(tmp_path) == before
    assert (tmp_path / "a").read_text() == "old"


def test_what_cannot_be_encoded_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")

    with pytest.raises(UnicodeEncodeError):
        write_files({tmp_path / "a": "\ud800"})

    assert (names(tmp_path), (tmp_path / "a").read_text()) == (["a"], "old")


def test_the_mode_of_a_file_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o600)
    write_files({tmp_path / "a": "new"})

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600

"""Known findings: a baseline or an older revision leaves only what is new."""

import subprocess
from pathlib import Path

import pytest

from govctl import cli
from tests.govctl.trees import CLAUSE, FILES, edited, write, write_tree

Capture = pytest.CaptureFixture[str]
OLD = edited(CLAUSE, "Every lane", "TODO: every lane")
NEW = {CLAUSE: OLD[CLAUSE].replace("one page free", "an adequate page free")}


def run(root: Path, *words: str) -> int:
    return cli.main(["-C", str(root), "check", "--fail-on", "note", *words])


def found(capsys: Capture) -> list[str]:
    return [
        line.split("[")[1].split()[0]
        for line in capsys.readouterr().out.splitlines()
        if ": error[" in line or ": note[" in line
    ]


def baseline(root: Path) -> Path:
    file = root / "known.txt"
    assert run(root, "--write-baseline", str(file)) == 0
    return file


def test_what_a_baseline_lists_is_left_out(tmp_path: Path, capsys: Capture) -> None:
    file = baseline(write_tree(tmp_path, OLD))

    assert run(tmp_path, "--baseline", str(file)) == 0
    assert found(capsys) == []


def test_what_is_new_is_shown(tmp_path: Path, capsys: Capture) -> None:
    file = baseline(write_tree(tmp_path, OLD))
    write(tmp_path, NEW)

    assert run(tmp_path, "--baseline", str(file)) == 1
    assert found(capsys) == ["G0608", "G0602", "G0413", "G0613"]


def test_a_baseline_survives_an_edit_above(tmp_path: Path) -> None:
    file = baseline(write_tree(tmp_path, OLD))
    write(tmp_path, {CLAUSE: OLD[CLAUSE].replace("[content]", "\n\n[content]")})

    assert run(tmp_path, "--baseline", str(file)) == 0


def test_a_second_finding_of_one_kind_is_not_covered_by_the_first(tmp_path: Path) -> None:
    file = baseline(write_tree(tmp_path, OLD))
    write(tmp_path, {CLAUSE: OLD[CLAUSE].replace("has pages", "has TODO pages")})

    assert run(tmp_path, "--baseline", str(file)) == 1


def test_what_is_gone_from_a_baseline_is_said(tmp_path: Path, capsys: Capture) -> None:
    file = baseline(write_tree(tmp_path, OLD))
    write(tmp_path, {CLAUSE: FILES[CLAUSE]})

    assert run(tmp_path, "--baseline", str(file)) == 0
    assert "1 known finding no longer there" in capsys.readouterr().out


def test_a_baseline_is_the_same_twice_and_readable(tmp_path: Path) -> None:
    file = baseline(write_tree(tmp_path, OLD))
    first = file.read_text()
    second = baseline(tmp_path).read_text()

    assert first == second
    assert first.splitlines()[1].endswith(" G0412 gov/clauses/RFC-0001/C-RULE.toml RFC-0001:C-RULE")


@pytest.mark.parametrize("content", [b"nonsense\n", b"\xff\n", b"0123456789abcdeg x\n", None])
def test_a_baseline_that_is_none_is_a_wrong_call(tmp_path: Path, content: bytes | None) -> None:
    write_tree(tmp_path, {"known.txt": content} if content is not None else {})

    assert run(tmp_path, "--baseline", str(tmp_path / "known.txt")) == 2


def git(root: Path, *words: str) -> None:
    command = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org", *words]
    subprocess.run(command, check=True, capture_output=True)


def committed(root: Path, folder: str = ".") -> Path:
    root.mkdir(exist_ok=True)
    git(root, "init", "-q")
    tree = write_tree(root / folder, OLD)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "A tree")
    return tree


@pytest.mark.parametrize("folder", [".", "below/here"])
def test_what_a_revision_holds_already_is_left_out(tmp_path: Path, capsys: Capture, folder: str) -> None:
    tree = committed(tmp_path / "repository", folder)

    assert run(tree, "--since", "HEAD") == 0
    write(tree, NEW)
    assert run(tree, "--since", "HEAD") == 1
    assert found(capsys) == ["G0608", "G0602", "G0413", "G0613"]


@pytest.mark.parametrize("revision", ["nonsense", "--output=x", ""])
def test_a_revision_that_is_none_is_a_wrong_call(tmp_path: Path, revision: str) -> None:
    tree = committed(tmp_path / "repository")

    assert run(tree, f"--since={revision}x") == 2


def test_a_folder_without_a_repository_has_no_revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    assert run(write_tree(tmp_path), "--since", "HEAD") == 2


@pytest.mark.parametrize(("today", "code"), [("2026-06-30", 0), ("30 June", 2), ("2026-02-30", 2)])
def test_the_day_is_a_date(tmp_path: Path, today: str, code: int) -> None:
    assert run(write_tree(tmp_path), "--today", today) == code

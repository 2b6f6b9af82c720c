"""What is asked of the command line, and what it writes. No benchmark is timed here."""

from pathlib import Path

import pytest

from benchmarks.cli import EVIDENCE, PAGE, main
from benchmarks.page import page
from benchmarks.record import render_json
from tests.benchmarks.records import RECORD


@pytest.mark.parametrize(
    "arguments", [["nothing"], ["--write", "--quick"], ["--page", "growth"], ["--page", "--write"]]
)
def test_what_makes_no_sense_is_a_usage_error(arguments: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments, tmp_path)

    assert caught.value.code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_page_is_written_from_what_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / EVIDENCE / "growth.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(render_json(RECORD), "utf-8")

    assert main(["--page"], tmp_path) == 0
    assert (tmp_path / PAGE).read_text("utf-8") == page([RECORD])


def test_a_broken_record_is_told_and_no_page_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / EVIDENCE / "growth.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}", "utf-8")

    assert main(["--page"], tmp_path) == 1
    assert "growth.json" in capsys.readouterr().err
    assert not (tmp_path / PAGE).exists()

"""The JSON form of a result, and of what is kept as evidence."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.cli import BENCHMARKS, ROOT, kept_records
from benchmarks.errors import RecordError
from benchmarks.machine import this_machine
from benchmarks.page import page
from benchmarks.record import read_json, render_json
from tests.benchmarks.records import RECORD

KEPT = sorted((ROOT / "evidence" / "bench").glob("*.json"))


@pytest.mark.parametrize("indent", [None, 1])
def test_a_record_survives_its_form(indent: int | None) -> None:
    assert read_json("example", render_json(RECORD, indent=indent)) == RECORD


def test_equal_records_have_equal_text() -> None:
    assert render_json(RECORD) == render_json(read_json("example", render_json(RECORD)))


def test_without_an_indent_a_record_is_one_line() -> None:
    assert render_json(RECORD, indent=None).count("\n") == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"benchmark": 2}', '{"benchmark": 1, "result": {}}', '{"benchmark": 1}']
)
def test_what_is_no_record_is_refused_by_name(text: str) -> None:
    with pytest.raises(RecordError, match="example"):
        read_json("example", text)


def test_a_key_too_many_is_refused() -> None:
    changed = json.loads(render_json(RECORD)) | {"host": "here"}
    with pytest.raises(RecordError, match="host"):
        read_json("example", json.dumps(changed))


def test_this_machine_is_told_without_names_and_paths() -> None:
    machine = this_machine()

    assert machine.cores >= 1
    assert not any("/" in text for text in (machine.cpu, machine.system, machine.python))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_kept_results_are_full_runs_of_a_known_benchmark(file: Path) -> None:
    record = read_json(file.name, file.read_text("utf-8"))

    assert record.result.name == file.stem
    assert record.result.name in BENCHMARKS
    assert record.command == f"python -m benchmarks {file.stem}"
    assert not record.quick
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record.date)
    assert render_json(record) == file.read_text("utf-8")


def test_every_benchmark_has_kept_results() -> None:
    assert {file.stem for file in KEPT} == set(BENCHMARKS)


def test_the_page_says_what_is_kept() -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text("utf-8") == page(kept_records(ROOT))

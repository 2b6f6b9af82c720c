import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sharedkv_conformance.cli import COMMANDS, main
from sharedkv_conformance.report import parse_report

ADAPTER = """
from sharedkv_conformance.contract import Description
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.pathological import Uniform, unsupported

right = ModelImplementation()
unsupporting = Uniform(name="unsupporting", answering=unsupported)
silent = Uniform(name="silent", answering=unsupported, features=frozenset())

class Short(PlanningModel):
    def owners(self, extend_tokens):
        return super().owners(extend_tokens)[:-1]

wrong = ModelImplementation(name="wrong", planning=Short)

class Shapeless(ModelImplementation):
    def describe(self):
        return Description(name="", version="1", features=frozenset())

shapeless = Shapeless()
"""
COUNT = "planning.page-count"
KNOWN = f"""\
schema = 1
[[known]]
check = "{COUNT}"
expect = "fail"
message = "RFC"
issue = "https://example.org/1"
trace = "traces/count.jsonl"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "adapter.py").write_text(ADAPTER, encoding="utf-8")
    return tmp_path


def ran(*arguments: str, impl: str = "right") -> int:
    return main(["run", "--impl", f"adapter.py:{impl}", "--check", COUNT, *arguments])


def test_a_right_implementation_is_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran() == 0
    assert "incomplete, 1 of" in capsys.readouterr().out


def test_a_failure_is_unexpected_and_tells_all_that_a_person_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(impl="wrong") == 1
    told = capsys.readouterr().out

    assert "fail  planning.page-count" in told
    assert "RFC-0002:C-SPLIT#S1  The new pages of a request MUST" in told
    assert "trace    build/conformance/traces/planning.page-count.jsonl" in told
    assert "kvconform replay build/conformance/traces/planning.page-count.jsonl --impl adapter.py:wrong" in told


def test_a_trace_replays_to_the_same_violation_and_to_none_where_the_fault_is_not() -> None:
    ran("--trace-dir", "traces", impl="wrong")
    trace = "traces/planning.page-count.jsonl"

    assert main(["replay", trace, "--impl", "adapter.py:wrong"]) == 1
    assert main(["replay", trace, "--impl", "adapter.py:right"]) == 0


def test_a_trace_of_an_earlier_failure_is_gone_after_a_pass(folder: Path) -> None:
    ran("--trace-dir", "traces", impl="wrong")
    ran("--trace-dir", "traces")

    assert list((folder / "traces").iterdir()) == []


def test_enforced_an_incomplete_run_is_not_conformant() -> None:
    assert ran("--enforce") == 4
    assert ran("--enforce", impl="wrong") == 4


def test_nothing_executed_is_never_green() -> None:
    assert ran(impl="silent") == 3


def test_refusing_everything_is_never_green() -> None:
    assert ran(impl="unsupporting") == 1


def test_an_implementation_that_cannot_be_described_is_a_harness_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(impl="shapeless") == 3
    assert "name: wanted a text" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--impl", "nobody"],
        ["run", "--impl", "adapter.py:nothing"],
        ["run", "--impl", "cmd:./engine"],
        ["run", "--impl", "adapter.py:right", "--statement", "RFC-0002:C-SPLIT#S99"],
        ["run", "--impl", "adapter.py:right", "--check", "planning.nothing"],
        ["replay", "nothing.jsonl", "--impl", "adapter.py:right"],
        ["replay", "adapter.py", "--impl", "adapter.py:right"],
        ["report", "nothing.json"],
    ],
)
def test_wrong_usage_is_told_in_a_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("kvconform: ")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "required: --impl"),
        (["--seed", "abc"], "--seed: wanted a seed from 0 to 2**32 - 1, found abc"),
        (["--seed", "-1"], "found -1"),
        (["--jobs", "many"], "wanted 1 to 1024 processes, found many"),
        (["--jobs", "0"], "found 0"),
        (["--time-scale", "1e300"], "wanted a factor above 0 and at most 10000, or inf, found 1e300"),
        (["--time-scale", "nan"], "found nan"),
        (["--time-scale", "0"], "found 0"),
        (["--output", "-"], "wanted a file, found -"),
        (["--stream", "-"], "wanted a file, found -"),
    ],
)
def test_wrong_options_are_usage(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["run", *(["--impl", "adapter.py:right"] if options else []), *options])

    assert caught.value.code == 2
    assert told in capsys.readouterr().err


def test_a_profile_that_does_not_exist_is_the_fault_of_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("--profile", "alocation") == 2
    assert capsys.readouterr().err.startswith("kvconform: --profile: there is no profile 'alocation'; known: ")


@pytest.mark.parametrize(
    "options",
    [
        ["--known", "known.toml", "--output", "known.toml"],
        ["--known", "known.toml", "--stream", "./known.toml"],
        ["--known", "known.toml", "--output", "linked.toml"],
        ["--known", "known.toml", "--output", "hard.toml"],
        ["--known", "known.toml", "--output", "traces/count.jsonl"],
        ["--output", "same.json", "--stream", "../{folder}/same.json"],
    ],
)
def test_nothing_is_written_over_what_is_read_or_written(
    options: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "traces").mkdir()
    ran("--trace-dir", "traces", impl="wrong")
    (folder / f"traces/{COUNT}.jsonl").rename(folder / "traces/count.jsonl")
    (folder / "known.toml").write_text(KNOWN, encoding="utf-8")
    (folder / "linked.toml").symlink_to("known.toml")
    os.link(folder / "known.toml", folder / "hard.toml")
    before = {path: path.read_bytes() for path in folder.rglob("*.[tj]*") if path.is_file()}

    assert ran("--trace-dir", "others", *(option.format(folder=folder.name) for option in options)) == 2
    assert "it is the same file" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*.[tj]*") if path.is_file()} == before


def test_a_report_is_not_shown_over_itself(folder: Path) -> None:
    ran("--output", "report.json")
    before = (folder / "report.json").read_bytes()

    assert main(["report", "report.json", "--format", "html", "--output", "report.json"]) == 2
    assert (folder / "report.json").read_bytes() == before


def test_a_device_takes_whatever_is_written() -> None:
    assert ran("--output", os.devnull, "--stream", os.devnull) == 0
    assert Path(os.devnull).is_char_device()


def test_a_written_report_is_read_and_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran("--output", "results/report.json", impl="wrong")
    report = (folder / "results/report.json").read_text(encoding="utf-8")
    capsys.readouterr()

    assert main(["report", "results/report.json", "--format", "json"]) == 0
    assert capsys.readouterr().out == report
    assert parse_report(report)["implementation"]["name"] == "wrong"


def test_a_report_holds_no_absolute_path(folder: Path) -> None:
    ran("--output", "report.json", "--trace-dir", str(folder / "traces"), impl="wrong")
    report = (folder / "report.json").read_text(encoding="utf-8")

    assert str(folder) not in report
    assert '"file": "traces/planning.page-count.jsonl"' in report


def test_what_is_no_report_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.json").write_text("{}", encoding="utf-8")

    assert main(["report", "x.json"]) == 1
    assert "'report' is a required property" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["--checks", "--statements", "--laws", "--mutants", "--cases"])
def test_the_catalogue_is_listed(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", what]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 2


def test_the_catalogue_is_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "--format", "json"])
    listed = json.loads(capsys.readouterr().out)

    assert {"checks", "statements", "laws", "mutants", "benign", "cases", "digest"} < set(listed)


def test_smoke_says_whether_the_adapter_is_right() -> None:
    assert main(["smoke", "--impl", "adapter.py:right"]) == 0
    assert main(["smoke", "--impl", "adapter.py:unsupporting"]) == 1
    assert main(["smoke", "--impl", "adapter.py:silent"]) == 3


def test_json_and_markdown_are_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    ran("--format", "json")
    report = parse_report(capsys.readouterr().out)
    ran("--format", "md")

    assert report["run"]["complete"] is False
    assert capsys.readouterr().out.startswith("# Conformance of model")


@pytest.mark.parametrize("name", [command[0] for command in COMMANDS])
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])

    assert f"example:\n  kvconform {name}" in capsys.readouterr().out


def test_the_command_line_imports_nothing_that_is_installed() -> None:
    heavy = {"hypothesis", "pytest", "jsonschema", "rich"}
    program = f"import sys, sharedkv_conformance.cli; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout == "[]\n"


def test_a_replay_needs_neither_hypothesis_nor_pytest() -> None:
    ran("--trace-dir", "traces", impl="wrong")
    program = (
        "import sys; sys.modules.update(hypothesis=None, pytest=None); from sharedkv_conformance.cli import main;"
        "sys.exit(main(['replay', 'traces/planning.page-count.jsonl', '--impl', 'model']))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False, capture_output=True).returncode == 0


def test_a_trace_without_a_call_proves_nothing(folder: Path) -> None:
    header = {
        "trace": 1,
        "statement": "",
        "law": "",
        "facet": "planning",
        "config": {"cp_size": 2, "page_size": 4, "pages": 8},
    }
    (folder / "empty.jsonl").write_text(json.dumps(header) + "\n", encoding="utf-8")

    assert main(["replay", "empty.jsonl", "--impl", "model"]) == 3

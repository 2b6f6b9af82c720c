"""Programs and sockets on the command line."""

import gc
import json
import os
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sharedkv_conformance.cli import main
from sharedkv_conformance.effort import KILL
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.naming import NamingError, implementation_named
from sharedkv_conformance.parity import compared, served, trial_of_parity
from tests.conformance.small_world import CHECKS, small_catalogue
from tests.wire.programs import command

SERVE = [sys.executable, "-m", "sharedkv_conformance", "serve", "--impl"]
ADAPTER = """
from sharedkv_conformance.contract.errors import Rejected
from sharedkv_conformance.pathological import Uniform, nothing

def refuse(operation):
    raise Rejected("extend_empty")

shapeless = Uniform(name="shapeless", answering=nothing)
refusing = Uniform(name="refusing", answering=refuse)
"""
COUNT = "planning.page-count"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "adapter.py").write_text(ADAPTER, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("form", ["cmd:", "stdio:"])
def test_a_program_passes_what_it_passes_in_process(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--impl", form + shlex.join([*SERVE, "model"]), "--check", COUNT]) == 0
    assert "pass" in capsys.readouterr().out


def test_a_wrong_program_leaves_a_trace_that_replays_over_the_wire(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "cmd:" + shlex.join([*SERVE, "mutant:planning.page-too-many"])
    trace = "build/conformance/traces/planning.page-count.jsonl"

    assert main(["run", "--impl", wrong, "--check", COUNT]) == 1
    assert main(["replay", trace, "--impl", wrong]) == 1
    assert main(["replay", trace, "--impl", "model"]) == 0
    assert "violated: RFC-0002:C-SPLIT#S1" in capsys.readouterr().out


def test_a_crash_in_the_middle_leaves_a_complete_report(folder: Path) -> None:
    assert main(["run", "--impl", command("crash", 6), "--facet", "planning", "--output", "report.json"]) == 1
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    told = {check["check"]: check for check in report["checks"]}

    assert told[COUNT]["status"] == "crash"
    assert "signal 9 (SIGKILL)" in told[COUNT]["message"]
    assert "allocation.owner-lane" in told


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("model", 0, "the adapter is right"),
        ("adapter.py:shapeless", 1, "problems in the adapter"),
        ("adapter.py:refusing", 1, "the implementation, not the adapter"),
    ],
)
def test_validation_tells_a_broken_adapter_from_a_wrong_implementation(
    name: str, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["smoke", "-V", "--impl", "cmd:" + shlex.join([*SERVE, name])]) == code
    out = capsys.readouterr().out
    assert told in out
    assert "messages to it and" in out


def test_a_program_that_is_lost_ends_the_smoke_test(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["smoke", "--impl", command("leave", 4)]) == 1
    assert "it exited with code 3" in capsys.readouterr().out


def test_validation_of_an_object_is_a_usage_error() -> None:
    assert main(["smoke", "-V", "--impl", "model"]) == 2


def test_a_program_that_does_not_start_is_told_with_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--impl", command("early")]) == 3
    assert "no answer to hello: it exited with code 1; the end of its log:\nno device" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["cmd:", "stdio: ", "unix:", "cmd:./nobody", "cmd:'", "mutant:planning.page-too-few-x"]
)
def test_a_name_that_leads_nowhere_is_told(name: str) -> None:
    with pytest.raises(NamingError):
        implementation_named(name)


def test_a_socket_is_attached_to_again_and_again_until_the_end_is_asked_for(folder: Path) -> None:
    server = subprocess.Popen([*SERVE, "model", "--unix", "engine.sock"], stderr=subprocess.PIPE, env={**os.environ})
    assert server.stderr is not None
    assert server.stderr.readline() == b"listening on engine.sock\n"
    codes = [attached_run() for _ in range(2)]
    server.terminate()
    server.communicate(timeout=60)

    assert codes == [0, 0]
    assert server.returncode == 3
    assert not (folder / "engine.sock").exists()


def attached_run() -> int:
    """Run a check over the socket, and let go of the connection as the end of a process does."""
    code = main(["run", "--impl", "unix:engine.sock", "--check", COUNT])
    gc.collect()
    return code


def test_nobody_at_a_socket_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--impl", "unix:nobody.sock"]) == 3
    assert "it cannot be reached" in capsys.readouterr().err


def test_the_model_is_judged_alike_on_both_sides() -> None:
    trial = trial_of_parity(small_catalogue(checks=CHECKS[:2]), "model")

    assert (trial.compared, trial.failing, trial.problems) == (2, 0, ())


def test_sides_that_differ_are_told() -> None:
    catalogue = small_catalogue(checks=CHECKS[:2])
    with closing(served("mutant:planning.page-too-many")) as behind:
        trial = compared(catalogue, "it", ModelImplementation(), behind, catalogue.checks, KILL)

    assert "check planning.count differs in status: pass here, fail behind the wire" in trial.problems[0]


@pytest.mark.parametrize(("way", "code"), [("sour", 1), ("right", 0)])
def test_an_adapter_that_ends_badly_is_not_right(way: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["smoke", "--impl", command(way)]) == code
    assert ("exited with code 5" in capsys.readouterr().out) == bool(code)

"""An interruption is never a result, wherever it is lost on its way."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sharedkv_conformance.cli import main

ADAPTER = """
import os
import signal
import weakref

from sharedkv_conformance.contract import Description
from sharedkv_conformance.loss import Loss
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.status import Status

def end():
    os.kill(os.getpid(), signal.SIGNAL)

class Something:
    pass

def swallowed():
    try:
        end()
    except BaseException:
        pass

def finalized():
    something = Something()
    weakref.finalize(something, end)
    del something

def masked():
    try:
        end()
    finally:
        raise RuntimeError("the device is busy")

def lost():
    try:
        end()
    except BaseException:
        raise Loss(Status.TIMEOUT, "no answer")

def straight():
    end()

class Split(PlanningModel):
    calls = 0

    def split(self, prefix_tokens, extend_tokens):
        Split.calls += 1
        if Split.calls == 30:
            WAY()
        return super().split(prefix_tokens, extend_tokens)

class Engine(ModelImplementation):
    def describe(self):
        return Description(name="engine", version="1", features=frozenset({"planning"}))

engine = Engine(planning=Split)
"""
WAYS = ("straight", "swallowed", "finalized", "masked", "lost")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("number", "jobs"), [("SIGINT", "1"), ("SIGTERM", "1"), ("SIGINT", "2")])
def test_an_interruption_that_is_lost_is_no_verdict(
    way: str, number: str, jobs: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ADAPTER.replace("WAY", way).replace("SIGNAL", number)
    (folder / "adapter.py").write_text(text, encoding="utf-8")
    before = {wanted: signal.getsignal(wanted) for wanted in (signal.SIGINT, signal.SIGTERM)}
    written = ["--output", "report.json", "--stream", "report.jsonl", "-j", jobs]
    code = main(["run", "--impl", "adapter.py:engine", "--effort", "quick", "--check", "planning.page-count", *written])
    told = capsys.readouterr()

    assert (code, told.out) == (3, "")
    assert told.err.endswith("kvconform: interrupted\n")
    assert not (folder / "report.json").exists()
    assert "footer" not in (folder / "report.jsonl").read_text(encoding="utf-8")
    assert not any('"fail"' in line or '"error"' in line for line in (folder / "report.jsonl").open(encoding="utf-8"))
    assert {wanted: signal.getsignal(wanted) for wanted in before} == before


def test_the_exit_code_is_ours_wherever_the_interruption_came(folder: Path) -> None:
    text = ADAPTER.replace("WAY()", 'exec("end()")').replace("SIGNAL", "SIGINT")
    (folder / "adapter.py").write_text(text, encoding="utf-8")
    command = ["run", "--impl", "adapter.py:engine", "--effort", "quick", "--check", "planning.page-count"]
    ended = subprocess.run([sys.executable, "-m", "sharedkv_conformance", *command], capture_output=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (3, b"", b"kvconform: interrupted\n")

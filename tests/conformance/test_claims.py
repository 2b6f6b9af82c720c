import json
import sys
from pathlib import Path

import pytest

from sharedkv_conformance.cli import main
from sharedkv_conformance.console import Paint, claim_lines
from sharedkv_conformance.profiles import load_profiles
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.status import Status
from sharedkv_conformance.verdict import Claims

ADAPTER = """
from sharedkv_conformance.contract import Description
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.refusals import unclaimed

class Small:
    def __init__(self, session):
        self.planning, self.allocation, self.probe = session.planning, session.allocation, session.probe
        self.close = session.close

class Claiming(ModelImplementation):
    features = frozenset()

    def describe(self):
        return Description(name="claiming", version="1", features=self.features)

    def open(self, config):
        return Small(super().open(config))

class Boasting(Claiming):
    features = frozenset({"planning", "probe.cost"})

class Shy(Claiming):
    features = frozenset({"planning", "planning.batch", "allocation", "allocation.free-room"}) | {
        "probe.cost", "probe.events", "probe.pages"
    }

boasting, shy = Boasting(), Shy()
"""
BROKEN = CheckResult(check="refusal.probe.cost", status=Status.FAIL, message="it answered 0")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "adapter.py").write_text(ADAPTER, encoding="utf-8")
    return tmp_path


def test_claims_that_hold_are_not_worth_a_line() -> None:
    passed = CheckResult(check="refusal.planning", status=Status.PASS)

    assert list(claim_lines(Claims(refusals={"refusal.planning": passed}), Paint())) == []


def test_each_claim_that_does_not_hold_has_a_line() -> None:
    claims = Claims(not_met=("teleport",), refusals={BROKEN.check: BROKEN}, unclaimed_passes=("probe.cost",))

    assert list(claim_lines(claims, Paint())) == [
        "not met  teleport: claimed, and no check of it was executed, or one did not pass",
        "fail  refusal.probe.cost: it answered 0",
        "unclaimed  probe.cost: passes though not claimed: all of its checks would pass",
    ]


@pytest.mark.parametrize("claims", [Claims(not_met=("teleport",)), Claims(refusals={BROKEN.check: BROKEN})])
def test_claims_with_either_fault_do_not_hold(claims: Claims) -> None:
    assert not claims.hold


def test_a_claim_that_nothing_bears_out_is_unexpected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--impl", "adapter.py:boasting", "--profile", "planning", "--output", "report.json"]) == 1
    claims = json.loads(Path("report.json").read_text(encoding="utf-8"))["claims"]

    assert "not met  probe.cost" in capsys.readouterr().out
    assert claims["not_met"] == ["probe.cost"]
    ends = {refusal["check"]: refusal["status"] for refusal in claims["refusals"]}
    assert (ends["refusal.allocation"], ends["refusal.probe.pages"], ends["refusal.reuse"]) == ("fail", "fail", "pass")


def test_what_could_be_claimed_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--impl", "adapter.py:shy", "--profile", "allocation-core"]) == 1
    told = capsys.readouterr().out

    assert "fail  refusal.allocation.snapshot: allocation.snapshot: wanted Unsupported" in told
    assert "unclaimed  allocation.snapshot: passes though not claimed" in told
    assert "conformant to allocation-core" in told


def test_a_filtered_run_says_nothing_of_claims() -> None:
    arguments = ["run", "--impl", "adapter.py:boasting", "--check", "planning.page-count"]

    assert main([*arguments, "--output", "report.json"]) == 0
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert report["claims"] == {"not_met": [], "refusals": [], "unclaimed_passes": []}


def test_a_profile_that_is_none_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--impl", "model", "--profile", "allocation-cor"]) == 2
    assert "did you mean allocation-core?" in capsys.readouterr().err


def test_profiles_are_listed_with_what_they_require(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--profiles"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert [line.split()[0] for line in lines[1:-1]] == list(load_profiles())
    assert lines[-1] == f"{len(load_profiles())} profiles"

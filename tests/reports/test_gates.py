# ruff: noqa: ANN401 - JSON values are of any type

"""Wrong gates are caught from the command line: each test breaks one thing that a careless user would believe.

How hard a check tries is no matter of any gate: the efforts keep their names and are a few histories each.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sharedkv_conformance import trials
from sharedkv_conformance.catalogue import load_catalogue
from sharedkv_conformance.cli import main
from sharedkv_conformance.commands import running
from sharedkv_conformance.effort import DEEP, EFFORTS, STANDARD
from sharedkv_conformance.history import History
from sharedkv_conformance.marks import Check
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import InProcess
from sharedkv_conformance.status import Status

ADAPTER = """
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.model.planning import PlanningModel
from sharedkv_conformance.contract import Description
from sharedkv_conformance.pathological import UniformFacet, unsupported

class Only(ModelImplementation):
    def describe(self):
        return Description(name="planner", version="1.0", features=frozenset({"planning"}))

    def open(self, config):
        session = super().open(config)
        session.allocation = UniformFacet("allocation", unsupported)
        session.probe = UniformFacet("probe", unsupported)
        return session

class Shapeless(PlanningModel):
    def split(self, prefix_tokens, extend_tokens):
        return None

class Short(PlanningModel):
    def owners(self, extend_tokens):
        return super().owners(extend_tokens)[:-1]

right = Only()
wrong = Only(planning=Short)
shapeless = Only(planning=Shapeless)

class Refusing(Only):
    def open(self, config):
        session = super().open(config)
        session.planning = UniformFacet("planning", unsupported)
        return session

refusing = Refusing()
"""
KNOWN = """\
schema = 1
# The tail page is lost.
[[known]]
check = "planning.page-count"
expect = "fail"
message = "RFC-0002:C-SPLIT#S1: 1 tokens are 1 new pages"
issue = "https://example.org/1"
trace = "traces/planning.page-count.jsonl"
"""
COUNT = "planning.page-count"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(EFFORTS, "standard", replace(STANDARD, examples=20, steps=8))
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "adapter.py").write_text(ADAPTER, encoding="utf-8")
    return tmp_path


def ran(impl: str, *options: str) -> int:
    return main(["run", "--impl", f"adapter.py:{impl}", "--trace-dir", "traces", "--output", "report.json", *options])


def report(name: str = "report.json") -> Any:
    return json.loads(Path(name).read_text(encoding="utf-8"))


@pytest.fixture
def listed() -> None:
    ran("wrong", "--check", COUNT)
    Path("known.toml").write_text(KNOWN, encoding="utf-8")


@pytest.mark.usefixtures("listed")
def test_a_known_failure_is_as_expected_and_the_verdict_stays(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("wrong", "--known", "known.toml", "--facet", "planning") == 0
    found = report()

    assert found["profiles"][0]["verdict"] == "not conformant"
    assert next(c["expectation"] for c in found["checks"] if c["check"] == COUNT) == "as-expected"
    assert found["run"]["known"]["applying"] == 1
    assert "known failure, as-expected: planning.page-count ended with fail" in capsys.readouterr().out


@pytest.mark.usefixtures("listed")
def test_a_known_failure_is_not_conformant_under_enforce() -> None:
    assert ran("wrong", "--known", "known.toml", "--check", COUNT, "--enforce") == 4


@pytest.mark.usefixtures("listed")
def test_a_stale_entry_fails_the_run() -> None:
    assert ran("right", "--known", "known.toml", "--check", COUNT) == 1
    assert next(c["expectation"] for c in report()["checks"] if c["check"] == COUNT) == "stale"


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("1 tokens are", "2 tokens are"), ('"fail"', '"crash"'), ("schema = 1", "schema = 1\n[[known]]\nexpires = 1")],
)
@pytest.mark.usefixtures("listed")
def test_a_changed_or_broken_entry_fails_the_run(was: str, becomes: str) -> None:
    Path("known.toml").write_text(KNOWN.replace(was, becomes), encoding="utf-8")

    assert ran("wrong", "--known", "known.toml", "--check", COUNT) in (1, 2)


@pytest.mark.usefixtures("listed")
def test_an_entry_that_matches_no_check_fails_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.toml").write_text(KNOWN.replace("page-count", "page-cont"), encoding="utf-8")

    assert ran("wrong", "--known", "known.toml", "--check", COUNT) == 1
    assert "did you mean planning.page-count?" in capsys.readouterr().err


@pytest.mark.usefixtures("listed")
def test_an_expired_entry_fails_run_and_lint() -> None:
    Path("known.toml").write_text(f"{KNOWN}expires = 2020-01-01\n", encoding="utf-8")

    assert ran("wrong", "--known", "known.toml", "--check", COUNT) == 1
    assert main(["known", "lint", "known.toml"]) == 1


@pytest.mark.usefixtures("listed")
def test_a_trace_that_is_listed_is_not_removed_by_a_run_in_which_its_check_passes() -> None:
    ran("right", "--known", "known.toml", "--check", COUNT)

    assert main(["known", "lint", "known.toml"]) == 0


@pytest.mark.usefixtures("listed")
def test_lint_is_content_with_what_a_run_wrote() -> None:
    assert main(["known", "lint", "known.toml"]) == 0


@pytest.mark.usefixtures("listed")
def test_update_takes_a_stale_entry_out_and_refuses_a_filtered_run() -> None:
    ran("right", "--known", "known.toml", "--check", COUNT)
    filtered = main(["known", "update", "known.toml", "--report", "report.json"])
    ran("right", "--known", "known.toml")
    whole = main(["known", "update", "known.toml", "--report", "report.json"])

    assert (filtered, whole) == (1, 0)
    assert COUNT not in Path("known.toml").read_text(encoding="utf-8")


def test_a_whole_report_is_verified_and_one_without_a_check_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    ran("right", "--stream", "report.jsonl")
    whole = [main(["verify", name]) for name in ("report.json", "report.jsonl")]
    found = report()
    gone = found["checks"].pop(0)["check"]
    for statement in found["statements"]:
        statement["checks"] = [slug for slug in statement["checks"] if slug != gone]
    Path("less.json").write_text(json.dumps(found), encoding="utf-8")

    assert (whole, main(["verify", "less.json"])) == ([0, 0], 1)
    assert f"check {gone} is missing" in capsys.readouterr().out


def test_a_truncated_stream_is_no_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran("right", "--check", COUNT, "--stream", "s.jsonl")
    lines = (folder / "s.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "s.jsonl").write_text("\n".join(lines[:-1]), encoding="utf-8")

    assert main(["verify", "s.jsonl"]) == 1
    assert "cut off" in capsys.readouterr().err


def test_a_filtered_report_is_not_verified() -> None:
    ran("right", "-k", "page-count")

    assert main(["verify", "report.json"]) == 1


def test_two_runs_give_equal_reports_but_for_times_whatever_the_number_of_processes() -> None:
    ran("right")
    first = report()
    ran("right", "-j", "2")
    second = report()

    assert first | {"times": None} == second | {"times": None}


def test_a_regression_fails_where_it_is_asked_to() -> None:
    ran("right", "--check", COUNT)
    Path("report.json").rename("before.json")
    ran("wrong", "--check", COUNT)
    codes = [main(["diff", "before.json", "report.json", "--fail-on", what]) for what in ("nothing", "regression")]

    assert codes == [0, 1]


def test_reports_of_different_catalogues_do_not_compare() -> None:
    ran("right", "--check", COUNT)
    found = report()
    found["specification"]["digest"] = "f" * 64
    Path("other.json").write_text(json.dumps(found), encoding="utf-8")
    pair = ["report.json", "other.json"]

    assert [main(["diff", *pair]), main(["matrix", *pair]), main(["matrix", *pair, "--intersect"])] == [1, 1, 0]


def test_deep_tells_its_seed_and_repeats_what_failed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shallow = replace(DEEP, examples=5)
    monkeypatch.setattr(running, "DEEP", shallow)
    monkeypatch.setitem(EFFORTS, "deep", shallow)

    assert ran("wrong", "--check", COUNT, "--effort", "deep") == 1
    found = report()

    assert f"seed {found['run']['seed']};" in capsys.readouterr().err
    assert next(c["repeats"] for c in found["checks"] if c["check"] == COUNT) == {"tries": 3, "failed": 3}


@pytest.mark.parametrize("form", ["html", "junit", "ctrf", "badge", "badge-svg", "md", "json"])
def test_every_form_is_written_to_a_file(form: str) -> None:
    ran("wrong", "--check", COUNT)

    assert main(["report", "report.json", "--format", form, "--output", f"out.{form}"]) == 0
    assert Path(f"out.{form}").stat().st_size > 50


def test_a_broken_adapter_is_told_once_and_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("shapeless", "--facet", "planning") == 1
    told = capsys.readouterr().out
    met = [check["check"] for check in report()["checks"] if "malformed answer" in check["message"]]

    assert len(met) > 1
    assert told.count("broken adapter: the answer to planning.split: wanted RequestSplit") == 1
    assert told.count("\n\nfail  ") == 1
    assert told.index("broken adapter: ") < told.index(f"\n\nfail  {met[0]}: ")
    assert f"broken adapter, told above, as well: {', '.join(met[1:])}" in told
    assert {check["status"] for check in report()["checks"] if check["check"] in met} == {"fail"}


def passed(check: Check) -> CheckResult:
    return CheckResult(check=check.slug, status=Status.PASS)


def test_a_runner_that_executes_nothing_is_not_verified(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(InProcess, "execute", lambda _self, check: passed(check))
    ran("wrong")

    assert main(["verify", "report.json"]) == 1
    assert f"check {COUNT}: passed without" in capsys.readouterr().out


def test_a_runner_that_executes_nothing_kills_no_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "execute", lambda check, *_rest: passed(check))
    catalogue = load_catalogue()
    tried = [trials.trial_of_mutant(catalogue, mutant, full=False) for mutant in catalogue.mutants]

    assert all("survives" in trial.problems[0] for trial in tried)


def test_a_witness_that_is_never_raised_leaves_its_check_vacuous(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(History, "_judge", lambda *_: None)

    assert ran("wrong", "--check", COUNT) == 1
    assert next(c["status"] for c in report()["checks"] if c["check"] == COUNT) == "vacuous"


def test_an_adapter_that_refuses_everything_that_it_claims_is_not_conformant() -> None:
    assert ran("refusing", "--facet", "planning", "--enforce") == 4
    assert next(c["status"] for c in report()["checks"] if c["check"] == COUNT) == "vacuous"

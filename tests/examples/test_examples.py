import json
import shlex
from pathlib import Path

import pytest

from sharedkv_conformance.cli import main, parser
from sharedkv_conformance.commands.init_adapter import FILES
from tests.examples.engines import EXAMPLES, ROOT, SOURCES, Changed, engine, one_line

LARGEST = 300  # lines of every kind, comments and blank ones too
WIDEST = 120
FOLDERS = {"python": "python", "cpp": "cpp", "js": "javascript"}
TEMPLATES = ROOT / "conformance" / "src" / "sharedkv_conformance" / "templates"
LANE = one_line("return (page - 1) % cp_; }", "return page % cp_; }")
DOUBLE_FREE = one_line(
    "check_named(pages, {State::InUse, State::Evictable});",
    "check_named(pages, {State::InUse, State::Evictable, State::Free});",
)
OWNERS = one_line("Math.min(block, blocks - 1 - block)", "block % this.cpSize")
ADMISSION = one_line(
    "fits: deficit.every((count) => count === 0)",
    "fits: required.reduce((a, b) => a + b) <= this.room().reduce((a, b) => a + b)",
)
PLANTED = {
    "cpp-lane": ("cpp", LANE, "allocation.owner-lane", "RFC-0001:C-OWNER-LANE-INVARIANT#S1"),
    "cpp-double-free": ("cpp", DOUBLE_FREE, "allocation.double-free", "RFC-0001:C-RELEASE#S3"),
    "js-owners": ("js", OWNERS, "allocation.request-local", "RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S1"),
    "js-admission": ("js", ADMISSION, "allocation.admission", "RFC-0001:C-CAPACITY-AND-EVICTION#S6"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.mark.parametrize("language", SOURCES)
def test_the_example_is_a_right_adapter_and_conformant_to_its_profile(language: str, folder: Path) -> None:
    name = engine(language, folder)

    assert main(["smoke", "--impl", name]) == 0
    assert main(["run", "--impl", name, "--profile", "allocation-core", "--enforce", "--output", "report.json"]) == 0
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert report["profiles"][0]["name"] == "allocation-core"
    assert report["profiles"][0]["verdict"] == "conformant"
    assert {refusal["status"] for refusal in report["claims"]["refusals"]} == {"pass"}


@pytest.mark.parametrize("language", SOURCES)
def test_the_example_fits_into_an_afternoon(language: str) -> None:
    sources = [source for source in SOURCES[language] if source.name != "Makefile"]
    lines = [line for source in sources for line in source.read_text(encoding="utf-8").splitlines()]

    assert len(lines) < LARGEST
    assert max(map(len, lines)) <= WIDEST


@pytest.mark.parametrize(("language", "fault", "check", "statement"), PLANTED.values(), ids=PLANTED)
def test_a_planted_bug_fails_by_its_statement_and_its_trace_shows_the_difference(
    language: str, fault: Changed, check: str, statement: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = engine(language, folder, fault)

    assert main(["run", "--impl", name, "--profile", "allocation-core", "--check", check, "--trace-dir", "."]) == 1
    assert f"  {statement}  " in capsys.readouterr().out
    assert main(["replay", f"{check}.jsonl", "--impl", name]) == 1
    assert main(["replay", f"{check}.jsonl", "--impl", "model"]) == 0
    assert "answered otherwise than in the trace: call" in capsys.readouterr().out


def test_a_known_failure_of_a_program_is_as_expected_whatever_the_number_of_processes(folder: Path) -> None:
    name = engine("cpp", folder, DOUBLE_FREE)
    run = ["run", "--impl", name, "--profile", "allocation-core", "--effort", "quick"]

    assert main([*run, "--output", "first.json"]) == 1
    assert main(["known", "update", "known.toml", "--report", "first.json", "--issue", "https://example.org/1"]) == 0
    codes = [main([*run, "--known", "known.toml", "-j", jobs, "--output", f"{jobs}.json"]) for jobs in ("1", "2")]
    alone, together = (json.loads(Path(f"{jobs}.json").read_text(encoding="utf-8")) for jobs in ("1", "2"))

    assert codes == [0, 0]
    assert alone | {"times": None} == together | {"times": None}
    assert alone["profiles"][0]["verdict"] == "not conformant"
    assert [check["check"] for check in alone["checks"] if check["known"]] == ["allocation.double-free"]


@pytest.mark.parametrize("language", FOLDERS)
def test_a_template_is_the_example_itself(language: str) -> None:
    for name in FILES[language]:
        example = EXAMPLES / FOLDERS[language] / name

        assert (TEMPLATES / language / name).read_bytes() == example.read_bytes(), f"copy {example} to the templates"


@pytest.mark.parametrize("language", FILES)
def test_init_adapter_writes_the_template_and_says_what_is_next(
    language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init-adapter", language, "--output", "engine"]) == 0
    assert sorted(path.name for path in Path("engine").iterdir()) == sorted(FILES[language])
    assert "kvconform run --impl" in capsys.readouterr().out


def test_init_adapter_never_overwrites(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine/pool.js").write_text("mine", encoding="utf-8")

    assert main(["init-adapter", "js", "--output", "mine"]) == 2
    assert "pool.js already" in capsys.readouterr().err
    assert [path.name for path in Path("mine").iterdir()] == ["pool.js"]


@pytest.mark.parametrize("page", ["docs/adapters.md", "docs/testing.md", "examples/README.md"])
def test_every_command_of_a_page_is_one(page: str) -> None:
    lines = ROOT.joinpath(page).read_text(encoding="utf-8").splitlines()
    commands = [shlex.split(line.removeprefix("$ "))[1:] for line in lines if line.startswith("$ kvconform ")]

    assert commands
    assert all(parser().parse_args(command).body for command in commands)

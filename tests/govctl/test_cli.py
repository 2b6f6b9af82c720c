"""The command line: exit codes, forms of output, any folder, never a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from govctl import cli
from govctl.arguments import COMMANDS
from govctl.commands import check as check_command
from tests.govctl.test_evidence import selftest
from tests.govctl.trees import CHECKS, CLAUSE, EVIDENCE, LOCK, RFC, S1, S2, edited, write, write_tree

Capture = pytest.CaptureFixture[str]


def run(root: Path, *words: str) -> int:
    return cli.main(["-C", str(root), *words])


def test_a_clean_tree_exits_with_0(tmp_path: Path, capsys: Capture) -> None:
    assert run(write_tree(tmp_path), "check") == 0
    assert capsys.readouterr().out == "0 errors, 0 warnings, 0 notes in 1 RFC, 1 clause, 2 statements\n"


def test_findings_exit_with_1(tmp_path: Path) -> None:
    assert run(write_tree(tmp_path, edited(CLAUSE, "one page", "no page")), "check") == 1


def test_fail_on_sets_the_least_severity_that_counts(tmp_path: Path) -> None:
    write_tree(tmp_path, {RFC: "\n" + (edited(RFC, "Example", "Examples")[RFC])})

    assert run(tmp_path, "check") == 0
    assert run(tmp_path, "check", "--fail-on", "warning") == 1


@pytest.mark.parametrize("words", [["check", "--format", "xml"], ["nonsense"], [], ["show", "RFC-9999"], ["lock"]])
def test_a_wrong_call_exits_with_2(tmp_path: Path, words: list[str]) -> None:
    assert run(write_tree(tmp_path), *words) == 2


def test_a_folder_without_a_tree_exits_with_2(tmp_path: Path, capsys: Capture) -> None:
    assert run(tmp_path, "check") == 2
    assert run(tmp_path / "missing", "check") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_internal_error_exits_with_3_and_a_message(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("broken on purpose")

    monkeypatch.setattr(check_command, "run", broken)

    assert run(write_tree(tmp_path), "check") == 3
    assert capsys.readouterr().err == (
        "govctl: internal error: ZeroDivisionError: broken on purpose (--debug shows where)\n"
    )


def test_debug_shows_where_an_internal_error_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError("broken on purpose")

    monkeypatch.setattr(check_command, "run", broken)

    with pytest.raises(ZeroDivisionError):
        run(write_tree(tmp_path), "check", "--debug")


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_every_help_has_examples(command: str, capsys: Capture) -> None:
    assert cli.main([command, "--help"]) == 0
    assert f"examples:\n  govctl {command}" in capsys.readouterr().out


def test_the_result_does_not_depend_on_the_folder(tmp_path: Path, capsys: Capture) -> None:
    write_tree(tmp_path, edited(CLAUSE, "one page", "no page"))
    outputs = set()
    for folder in ("", "gov", "gov/clauses/RFC-0001", "suite"):
        assert run(tmp_path / folder, "check") == 1
        outputs.add(capsys.readouterr().out)

    assert len(outputs) == 1


def test_a_finding_shows_place_reason_and_remedy(tmp_path: Path, capsys: Capture) -> None:
    run(write_tree(tmp_path, edited(CLAUSE, "one page", "no page")), "check")
    lines = capsys.readouterr().out.splitlines()
    start = next(number for number, line in enumerate(lines) if "G0602" in line)

    assert lines[start].startswith(f"{CLAUSE}:13:9: error[G0602 sentence-changed]: ")
    assert lines[start + 1 : start + 3] == ['    13 | text = "A lane MUST keep no page free."', "       |         ^"]
    assert lines[start + 3].startswith("    why:  ")
    assert lines[start + 4].endswith(f"govctl lock '{S1}'")


def test_output_to_a_file_has_no_colour(tmp_path: Path, capsys: Capture) -> None:
    run(write_tree(tmp_path, edited(CLAUSE, "one page", "no page")), "check")

    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(("environment", "has_colour"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_has_colour_unless_it_is_declined(
    environment: dict[str, str], *, has_colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert cli._has_colour(Terminal()) is has_colour  # type: ignore[arg-type]  # a fake of the one method


def test_json_is_one_document_whose_fingerprints_survive_an_edit_above(tmp_path: Path, capsys: Capture) -> None:
    changed = edited(CLAUSE, "one page", "no page")[CLAUSE]
    fingerprints = []
    for text in (changed, changed.replace("[content]", "\n\n[content]")):
        write_tree(tmp_path, {CLAUSE: text})
        run(tmp_path, "check", "--format", "json")
        document = json.loads(capsys.readouterr().out)
        fingerprints.append(sorted(finding["fingerprint"] for finding in document["findings"]))

    assert fingerprints[0] == fingerprints[1]
    assert document["findings_format"] == 1
    assert document["summary"]["errors"] == len([f for f in document["findings"] if f["severity"] == "error"])


def test_github_annotations_are_one_line_a_finding(tmp_path: Path, capsys: Capture) -> None:
    run(write_tree(tmp_path, edited(CLAUSE, "one page", "no page")), "check", "--format", "github")
    lines = capsys.readouterr().out.splitlines()

    assert any(line.startswith(f"::error file={CLAUSE},line=13,col=9,title=G0602 sentence-changed::") for line in lines)
    assert all(line.startswith("::") for line in lines)


def test_coverage_prints_the_headline_last(tmp_path: Path, capsys: Capture) -> None:
    assert run(write_tree(tmp_path), "coverage", "--require", "RFC-0001") == 0
    assert capsys.readouterr().out.endswith("\nRFC-0001: 1 of 1 MUST checked, passing and killed\n")


def test_coverage_fails_for_an_rfc_that_must_be_proven_and_is_not(tmp_path: Path) -> None:
    assert run(write_tree(tmp_path, {EVIDENCE: None}), "coverage", "--require", "RFC-0001") == 1


def test_coverage_as_json_has_the_catalogue_and_every_statement(tmp_path: Path, capsys: Capture) -> None:
    run(write_tree(tmp_path), "coverage", "--format", "json")
    document = json.loads(capsys.readouterr().out)
    (rfc,) = document["rfcs"]

    assert len(document["catalogue"]) == 64
    assert rfc["is_proven"] is True
    assert [s["id"] for s in rfc["clauses"][0]["statements"]] == [S1, S2]


def test_coverage_as_markdown_has_a_table_of_rfcs_and_one_of_clauses(tmp_path: Path, capsys: Capture) -> None:
    run(write_tree(tmp_path), "coverage", "--format", "md")
    lines = capsys.readouterr().out.splitlines()

    assert "| RFC-0001 | Example | 0.1.0 | normative | stable | 1 | 1 | 1 | 1 | 0 | 0 |" in lines
    assert "| `C-RULE` | 1 | 1 | 1 | 1 | 1 | 1 | 1 |  |  |" in lines
    assert not any(line.startswith("###") for line in lines)


def test_coverage_as_markdown_names_what_is_open_and_what_is_excluded(tmp_path: Path, capsys: Capture) -> None:
    excluded = edited(
        CLAUSE, 'two pages free."', 'two pages free."\nexcluded = { class = "debt", reason = "<b> is *later*" }'
    )
    run(write_tree(tmp_path, {**excluded, EVIDENCE: None, CHECKS: ""}), "coverage", "--format", "md")
    lines = capsys.readouterr().out.splitlines()

    assert f"- `{S1}` MUST, unchecked: A lane MUST keep one page free." in lines
    assert f"- `{S2}` SHOULD, debt: \\<b\\> is \\*later\\*" in lines


def test_show_leads_from_a_statement_to_everything(tmp_path: Path, capsys: Capture) -> None:
    assert run(write_tree(tmp_path), "show", S1) == 0
    out = capsys.readouterr().out

    for part in (
        f"{CLAUSE}:13",
        "one_page_stays_free  suite/checks.py:1",
        "room.one-page  suite/checks.py:5  pass",
        "room.takes-all  suite/mutants.py:1  killed by room.one-page",
    ):
        assert part in out


@pytest.mark.parametrize(
    "name", ["RFC-0001", "RFC-0001:C-RULE", "room.one-page", "room.takes-all", "one_page_stays_free"]
)
def test_show_knows_every_kind_of_name(tmp_path: Path, capsys: Capture, name: str) -> None:
    assert run(write_tree(tmp_path), "show", name) == 0
    assert run(tmp_path, "show", name, "--format", "json") == 0
    assert name in capsys.readouterr().out


def test_show_suggests_the_nearest_name(tmp_path: Path, capsys: Capture) -> None:
    run(write_tree(tmp_path), "show", "room.one-pag")

    assert "did you mean room.one-page?" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["rfcs", "clauses", "statements", "laws", "checks", "mutants", "rules"])
def test_list_has_one_row_a_thing(tmp_path: Path, capsys: Capture, kind: str) -> None:
    assert run(write_tree(tmp_path), "list", kind) == 0
    rows = len(capsys.readouterr().out.splitlines()) - 1
    run(tmp_path, "list", kind, "--format", "json")

    assert len(json.loads(capsys.readouterr().out)) == rows > 0


def test_list_of_another_rfc_is_empty(tmp_path: Path, capsys: Capture) -> None:
    run(write_tree(tmp_path), "list", "statements", "--rfc", "RFC-0002")

    assert capsys.readouterr().out == "no statements\n"


def test_lock_writes_all_or_nothing(tmp_path: Path, capsys: Capture) -> None:
    write_tree(tmp_path, edited(CLAUSE, "one page", "no page"))
    before = (tmp_path / LOCK).read_bytes()

    assert run(tmp_path, "lock", S1, "RFC-0001:C-RULE#S9") == 1
    assert run(tmp_path, "lock", S1, "--dry-run") == 0
    assert (tmp_path / LOCK).read_bytes() == before
    assert run(tmp_path, "lock", S1) == 0
    assert (tmp_path / LOCK).read_bytes() != before
    assert f"accepted: {S1}" in capsys.readouterr().out


def test_a_broken_lock_is_never_rewritten(tmp_path: Path) -> None:
    write_tree(tmp_path, {LOCK: "broken\n"})

    assert run(tmp_path, "lock", "--new") == 1
    assert (tmp_path / LOCK).read_text() == "broken\n"


def test_evidence_is_compared_and_written(tmp_path: Path, capsys: Capture) -> None:
    write_tree(tmp_path, {"build/selftest.json": selftest()})
    source = str(tmp_path / "build/selftest.json")
    committed = (tmp_path / EVIDENCE).read_bytes()

    assert run(tmp_path, "evidence", "--from", source, "--compare") == 0
    write(tmp_path, {EVIDENCE: None})
    assert run(tmp_path, "evidence", "--from", source, "--compare") == 1
    assert not (tmp_path / EVIDENCE).exists()
    assert run(tmp_path, "evidence", "--from", source, "--write") == 0
    assert (tmp_path / EVIDENCE).read_bytes() == committed
    assert f"wrote {EVIDENCE}" in capsys.readouterr().out


def test_two_self_tests_of_one_rfc_are_refused(tmp_path: Path, capsys: Capture) -> None:
    write_tree(tmp_path, {"build/selftest.json": selftest()})
    source = str(tmp_path / "build/selftest.json")

    assert run(tmp_path, "evidence", "--from", source, "--from", source, "--compare") == 1
    assert "two results for RFC-0001" in capsys.readouterr().out


def test_evidence_may_come_from_several_self_tests(tmp_path: Path) -> None:
    nothing = '{"selftest": 1, "implementation": {"name": "other"}, "checks": [], "mutants": []}'
    write_tree(tmp_path, {"build/selftest.json": selftest(), "build/other.json": nothing})
    sources = [str(tmp_path / "build" / name) for name in ("selftest.json", "other.json")]

    assert run(tmp_path, "evidence", "--from", sources[0], "--from", sources[1], "--compare") == 0


def test_evidence_of_a_run_that_stops_at_the_first_kill_is_not_written(tmp_path: Path) -> None:
    write_tree(tmp_path, {"selftest.json": selftest(full=False)})
    committed = (tmp_path / EVIDENCE).read_bytes()

    assert run(tmp_path, "evidence", "--from", str(tmp_path / "selftest.json"), "--write") == 1
    assert (tmp_path / EVIDENCE).read_bytes() == committed


def test_evidence_of_a_suite_with_problems_is_not_written(tmp_path: Path) -> None:
    write_tree(tmp_path, {"selftest.json": selftest(problems=["a mutant survives"])})
    committed = (tmp_path / EVIDENCE).read_bytes()

    assert run(tmp_path, "evidence", "--from", str(tmp_path / "selftest.json"), "--write") == 1
    assert (tmp_path / EVIDENCE).read_bytes() == committed


@pytest.mark.parametrize("content", [b"\xff", b"", b"{", b"[]", b"[" * 100_000])
def test_a_self_test_that_is_none_is_a_finding(tmp_path: Path, content: bytes) -> None:
    write_tree(tmp_path, {"selftest.json": content})

    assert run(tmp_path, "evidence", "--from", str(tmp_path / "selftest.json"), "--compare") == 1


def test_a_self_test_that_is_missing_is_a_wrong_call(tmp_path: Path) -> None:
    assert run(write_tree(tmp_path), "evidence", "--from", str(tmp_path / "none.json"), "--compare") == 2


def test_schemas_are_written_and_compared(tmp_path: Path) -> None:
    write_tree(tmp_path)

    assert run(tmp_path, "schema", "--check") == 1
    assert run(tmp_path, "schema", "--write") == 0
    assert run(tmp_path, "schema") == 0
    write(tmp_path, {"schema/rfc.schema.json": "{}\n"})
    assert run(tmp_path, "schema") == 1


def fresh(root: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    code = (
        "import sys; from govctl.cli import main; c = main(sys.argv[1:]); "
        "print(sorted(sys.modules), file=sys.stderr); sys.exit(c)"
    )
    return subprocess.run(
        [sys.executable, "-c", code, "-C", str(root), *words],
        capture_output=True,
        check=False,
        env=dict(os.environ) | environment,
    )


def test_a_check_of_a_clean_tree_imports_nothing_that_is_slow(tmp_path: Path) -> None:
    result = fresh(write_tree(tmp_path), "check")
    slow = {"pydantic", "jsonschema", "rich", "tomlkit", "pytest", "hypothesis", "torch", "numpy", "importlib.metadata"}

    assert result.returncode == 0
    assert b"govctl.rules.run" in result.stderr
    assert not slow & {name.strip(" '[]\n") for name in result.stderr.decode().split(",")}


def test_output_is_the_same_in_every_locale_and_hash_order(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {CLAUSE: edited(CLAUSE, "one page", "\u0436\u0436 page")[CLAUSE], "gov/rfc/b.txt": "", "gov/rfc/a.txt": ""},
    )
    first = fresh(tmp_path, "check", PYTHONHASHSEED="1", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="utf-8")
    second = fresh(tmp_path, "check", PYTHONHASHSEED="2", LC_ALL="C.UTF-8", TZ="Asia/Tokyo")

    assert first.stdout == second.stdout
    assert "\u0436".encode() in first.stdout


def test_output_that_the_terminal_cannot_show_is_no_crash(tmp_path: Path) -> None:
    write_tree(tmp_path, edited(CLAUSE, "one page", "\u0436 page"))
    result = fresh(tmp_path, "check", PYTHONIOENCODING="ascii")

    assert result.returncode == 1
    assert b"internal error" not in result.stderr

"""Copies of the reference, each with one fault that engines have had, as a user of the suite would meet them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REFERENCE = Path(__file__).parents[2] / "reference" / "src"
IMPL = "sharedkv_adapter:cpu"
PLANNED = "splits = [split_pages(self.geometry, request.prefix_tokens, request.extend_tokens) for request in batch]"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault: what is replaced in which file, and the statement that has to be named."""

    name: str
    statement: str
    edits: tuple[tuple[str, str, str], ...]


FAULTS = (
    Fault(
        name="lane is id % C",
        statement="RFC-0001:C-OWNER-LANE-INVARIANT#S1",
        edits=(
            ("geometry.py", "Lane((page - 1) % self.cp_size)", "Lane(page % self.cp_size)"),
            (
                "geometry.py",
                "(physical - 1) * self.cp_size + lane + 1",
                "(physical - 1) * self.cp_size + (lane or self.cp_size)",
            ),
            ("geometry.py", "(physical.start - 1) * step + lane + 1", "(physical.start - 1) * step + (lane or step)"),
            ("geometry.py", "(physical.stop - 1) * step + lane + 1", "(physical.stop - 1) * step + (lane or step)"),
            ("lanes.py", "(page - 1) % self.geometry.cp_size", "page % self.geometry.cp_size"),
            ("lanes.py", "(found - 1) % self.geometry.cp_size", "found % self.geometry.cp_size"),
            (
                "lanes.py",
                "above, lane = divmod(pages.start - 1, pages.step)",
                "above, lane = (pages.start - 1) // pages.step, pages.start % pages.step",
            ),
        ),
    ),
    Fault(
        name="pages sorted by lane",
        statement="RFC-0001:C-OWNER-LANE-INVARIANT#S1",
        edits=(
            (
                "allocation.py",
                "pages += split.in_page_order([take(lane, count) for lane, count in enumerate(split.lane_counts())])",
                (
                    "own = split.in_page_order([take(lane, count) for lane, count in enumerate(split.lane_counts())])\n"
                    "            pages += sorted(own, key=lambda page: (page - 1) % self.geometry.cp_size)"
                ),
            ),
        ),
    ),
    Fault(
        name="lanes popped before a later lane fails",
        statement="RFC-0001:C-CAPACITY-AND-EVICTION#S4",
        edits=(
            (
                "allocation.py",
                "raise CapacityWaitError(admission.required,",
                (
                    "for lane, need in enumerate(required):\n"
                    "                if need > free[lane]:\n"
                    "                    break\n"
                    "                if need:\n"
                    "                    self._pool.take(lane, need)\n"
                    "            raise CapacityWaitError(admission.required,"
                ),
            ),
        ),
    ),
    Fault(
        name="batch planned as one concatenated sequence",
        statement="RFC-0001:C-REQUEST-LOCAL-OWNER-PLANNING#S1",
        edits=(
            (
                "allocation.py",
                PLANNED,
                (
                    f"{PLANNED}\n"
                    "            whole = sum(request.extend_tokens for request in batch)\n"
                    "            splits = [split_pages(self.geometry, 0, whole)]"
                ),
            ),
            (
                "allocation.py",
                "[request.extend_tokens for request in batch])",
                "[sum(request.extend_tokens for request in batch)])",
            ),
        ),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run of the suite on a broken copy left behind."""

    fault: Fault
    code: int
    shown: str
    report: dict[str, Any]
    traces: Path
    copy: Path

    def failed_check(self) -> dict[str, Any]:
        """Return the first failed check of the fault's statement."""
        return next(
            check
            for check in self.report["checks"]
            if check["status"] == "fail" and check["message"].startswith(self.fault.statement)
        )

    def trace(self) -> Path:
        """Return the trace of that check."""
        return self.traces / f"{self.failed_check()['check']}.jsonl"


def _kvconform(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    start = f"import sys; sys.path.insert(0, {str(path)!r})\n" if path else ""
    program = f"{start}from sharedkv_conformance.cli import main\nraise SystemExit(main({list(arguments)!r}))"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def _without_data_plane(copy: Path) -> None:
    """Let the copy be as it is where there is no torch: the faults are none of the data plane."""
    session = copy / "sharedkv_adapter" / "session.py"
    text = session.read_text("utf-8")
    asked = 'return find_spec("torch") is not None'
    assert asked in text
    session.write_text(text.replace(asked, 'return find_spec("no torch") is not None'), "utf-8")


@pytest.fixture(scope="module", params=FAULTS, ids=lambda fault: fault.name)
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    fault: Fault = request.param
    folder = tmp_path_factory.mktemp("broken")
    copy, report, traces = folder / "src", folder / "report.json", folder / "traces"
    shutil.copytree(REFERENCE, copy)
    _without_data_plane(copy)
    for name, old, new in fault.edits:
        file = copy / "sharedkv" / name
        text = file.read_text("utf-8")
        assert old in text, f"{name} no longer has {old!r}"
        file.write_text(text.replace(old, new), "utf-8")
    done = _kvconform("run", "--impl", IMPL, "--output", str(report), "--trace-dir", str(traces), path=copy)
    return Outcome(
        fault=fault,
        code=done.returncode,
        shown=done.stdout + done.stderr,
        report=json.loads(report.read_text("utf-8")),
        traces=traces,
        copy=copy,
    )


def test_a_broken_copy_fails_by_its_statement_and_its_trace_shows_the_difference(outcome: Outcome) -> None:
    """All in one test: each worker that gets a test of a fault would run the suite for it anew."""
    assert outcome.code == 1
    assert "not conformant" in outcome.shown
    assert outcome.fault.statement in outcome.shown
    assert outcome.failed_check()["status"] == "fail"
    _assert_replays_to_the_same_violation(outcome)
    right = _kvconform("replay", str(outcome.trace()), "--impl", IMPL)
    assert right.returncode == 0, right.stdout + right.stderr


def _assert_replays_to_the_same_violation(outcome: Outcome) -> None:
    written = [json.loads(line) for line in outcome.trace().read_text("utf-8").splitlines()]
    violations = [line["violation"] for line in written if "violation" in line]

    replayed = _kvconform("replay", str(outcome.trace()), "--impl", IMPL, path=outcome.copy)

    assert violations
    assert replayed.returncode == 1
    assert all(violation in replayed.stdout + replayed.stderr for violation in violations)

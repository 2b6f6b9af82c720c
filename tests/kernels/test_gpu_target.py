"""`make gpu` as far as a machine without a GPU can tell: it runs to its end, with the packages of a GPU machine alone.

The dry run goes through the tests of `on_device` too, in Triton's interpreter.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
BARE_MACHINE = Path(__file__).with_name("bare_machine.py")
EVIDENCE = ROOT / "evidence" / "gpu"


def run_bare(*arguments: str, python_path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a module on a bare machine, from the source tree."""
    paths = os.pathsep.join(map(str, (ROOT / "reference" / "src", *python_path)))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(BARE_MACHINE), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@dataclass(frozen=True, kw_only=True)
class DryRun:
    """What a dry run left."""

    output: str
    files: list[str]
    record: dict[str, Any]


@pytest.fixture(scope="module")
def dry_run(tmp_path_factory: pytest.TempPathFactory) -> DryRun:
    """One dry run, beside an installed package that is called `tests` as well."""
    folder = tmp_path_factory.mktemp("gpu")
    (folder / "site" / "tests").mkdir(parents=True)
    (folder / "site" / "tests" / "__init__.py").touch()
    run = run_bare("gpu", "--dry-run", "--output", str(folder / "out"), python_path=(folder / "site",))
    if run.returncode != 0:
        pytest.fail(f"exit status {run.returncode}\n{run.stdout}\n{run.stderr}", pytrace=False)
    (file,) = (folder / "out").iterdir()
    return DryRun(output=run.stdout, files=[file.name], record=json.loads(file.read_text(encoding="utf-8")))


def schema() -> dict[str, Any]:
    """The schema of a record."""
    found: dict[str, Any] = json.loads((EVIDENCE / "record.schema.json").read_text(encoding="utf-8"))
    return found


def records() -> list[Path]:
    """Records of GPUs that the tree keeps."""
    return sorted(file for file in EVIDENCE.glob("*.json") if not file.name.endswith(".schema.json"))


def test_a_dry_run_ends_well_on_a_bare_machine(dry_run: DryRun) -> None:
    tests = dry_run.record["tests"]

    assert (dry_run.record["dry_run"], tests["failed"], tests["passed"] > 30) == (True, 0, True)


def test_only_what_needs_a_gpu_is_skipped_without_one(dry_run: DryRun) -> None:
    reasons = [line for line in dry_run.output.splitlines() if line.startswith("SKIPPED")]

    assert sum(int(line.split("[")[1].split("]")[0]) for line in reasons) == dry_run.record["tests"]["skipped"]
    assert [line for line in reasons if not line.endswith("needs a CUDA device: make gpu")] == []


def test_every_kernel_is_timed(dry_run: DryRun) -> None:
    from sharedkv import kernels  # noqa: PLC0415 - Triton is imported where it is needed

    assert {timing["kernel"] for timing in dry_run.record["timings"]} == set(kernels.__all__)


def test_a_record_has_the_form_that_the_schema_describes(dry_run: DryRun) -> None:
    jsonschema.Draft202012Validator(schema(), format_checker=jsonschema.FormatChecker()).validate(dry_run.record)

    assert dry_run.files == ["interpreter.json"]


def test_kept_records_are_of_real_runs_and_have_the_form() -> None:
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in records()]
    validator = jsonschema.Draft202012Validator(schema())
    problems = [error.message for record in kept for error in validator.iter_errors(record)]

    assert (problems, [record for record in kept if record["dry_run"]]) == ([], [])


def test_a_run_in_which_no_test_passes_leaves_no_record(tmp_path: Path) -> None:
    run = run_bare("gpu", "--dry-run", "--output", str(tmp_path / "out"), "--", "-k", "no test has this name")

    assert (run.returncode, (tmp_path / "out").exists()) == (1, False)


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="speaks of machines without a GPU")
def test_without_a_gpu_nothing_is_run_and_said_so(tmp_path: Path) -> None:
    run = run_bare("gpu", "--output", str(tmp_path / "out"))

    assert (run.returncode, (tmp_path / "out").exists()) == (3, False)
    assert "torch sees no CUDA device" in run.stdout


@pytest.mark.parametrize("package", ["pydantic", "rich", "jsonschema", "tomli", "sharedkv_conformance"])
def test_a_bare_machine_lacks_what_a_gpu_machine_lacks(package: str) -> None:
    run = run_bare(package)

    assert (run.returncode, f"a GPU machine has no {package}" in run.stderr) == (1, True)

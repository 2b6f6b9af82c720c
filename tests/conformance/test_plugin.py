import subprocess
import sys
from pathlib import Path

import pytest

ADAPTER = """
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
"""


def pytest_on(folder: Path, impl: str | None, *options: str) -> str:
    (folder / "adapter.py").write_text(ADAPTER, encoding="utf-8")
    named = [] if impl is None else ["--kvconform-impl", f"adapter.py:{impl}"]
    plain = ["-q", "-rA", "-p", "no:cacheprovider", "-p", "sharedkv_conformance.plugin"]
    command = [sys.executable, "-m", "pytest", *plain, *named, "--pyargs", "sharedkv_conformance.suite.test_planning"]
    found = subprocess.run(
        [*command, "-k", "one_owner", *options], cwd=folder, capture_output=True, text=True, check=False
    )
    return found.stdout + found.stderr


@pytest.mark.parametrize(
    ("impl", "told"),
    [
        ("right", "1 passed"),
        ("wrong", "RFC-0002:C-SPLIT#S1"),
        ("unsupporting", "vacuous: "),
        ("silent", "not claimed: planning"),
        ("nothing", "has no 'nothing'"),
        (None, "--kvconform-impl NAME"),
    ],
)
def test_the_suite_runs_under_plain_pytest(tmp_path: Path, impl: str | None, told: str) -> None:
    assert told in pytest_on(tmp_path, impl)


def test_a_failure_shows_its_trace(tmp_path: Path) -> None:
    assert '"law":"each_new_page_has_one_owner"' in pytest_on(tmp_path, "wrong")

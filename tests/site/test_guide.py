"""The adapter of the guide is complete: the suite runs on it, and passes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.site.building import ROOT

GUIDE = ROOT / "docs" / "testing.md"


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """The code of the guide, saved as it says."""
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    path = tmp_path / "adapter.py"
    path.write_text(code, encoding="utf-8")
    return path


@pytest.mark.parametrize("words", [["smoke"], ["run", "--facet", "planning"]])
def test_the_adapter_of_the_guide_is_right(adapter: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "sharedkv_conformance", *words, "--impl", f"{adapter.name}:make"]
    ran = subprocess.run(command, cwd=adapter.parent, capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout


def test_every_command_of_the_guide_exists() -> None:
    commands = re.findall(r"^\$ kvconform (\S+)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    helped = [
        subprocess.run(
            [sys.executable, "-m", "sharedkv_conformance", command, "--help"], capture_output=True, check=False
        ).returncode
        for command in commands
    ]

    assert helped == [0] * 3

"""The example of the page on transfer does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_example_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "transfer.md").read_text(encoding="utf-8")
    (example,) = [block for block in BLOCK.findall(page) if "PrefillSender(" in block]
    program = tmp_path / "example.py"
    program.write_text(example, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", program], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")

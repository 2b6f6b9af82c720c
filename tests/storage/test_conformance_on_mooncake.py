"""The checks of `storage` hold over a Mooncake store too; `make check` runs them over files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path


def test_every_check_of_storage_passes(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    options = ["--impl", "sharedkv_adapter:cpu_mooncake", "-k", "storage.", "--output", str(report)]
    ended = subprocess.run(
        [sys.executable, "-m", "sharedkv_conformance", "run", *options], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stdout[-3_000:] + ended.stderr[-3_000:]
    checks = json.loads(report.read_text(encoding="utf-8"))["checks"]
    statuses = Counter(check["status"] for check in checks if check["check"].startswith("storage."))
    assert set(statuses) == {"pass"}
    assert statuses["pass"] > 40

"""The record of one run: its form in JSON, and its file.

Knows the form that `evidence/gpu/record.schema.json` describes. A file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sharedkv
from gpu.machine import this_machine
from gpu.testing import Tests
from gpu.timing import GOAL_SHARE_OF_COPY, Timing

FORM_VERSION = 1


def record_of(
    *, tests: Tests, timings: Sequence[Timing], backups: Sequence[dict[str, Any]], dry_run: bool
) -> dict[str, Any]:
    """Return a run as JSON values; `goal` tells which timings reach it, and decides nothing."""
    below = [index for index, timing in enumerate(timings) if timing.share_of_copy < GOAL_SHARE_OF_COPY]
    return {
        "gpu": FORM_VERSION,
        "date": datetime.now(UTC).date().isoformat(),
        "dry_run": dry_run,
        "machine": asdict(this_machine(has_gpu=not dry_run)),
        "kernels": source_digest(),
        "tests": {"passed": tests.passed, "failed": tests.failed, "skipped": tests.skipped},
        "timings": [_timing(timing) for timing in timings],
        "backups": list(backups),
        "goal": {"share_of_copy": GOAL_SHARE_OF_COPY, "below": below},
    }


def _timing(timing: Timing) -> dict[str, Any]:
    return {
        "kernel": timing.kernel,
        "shape": dict(timing.shape),
        "bytes_moved": timing.bytes_moved,
        "microseconds": round(timing.microseconds, 2),
        "gb_per_s": round(timing.gb_per_s, 1),
        "copy_gb_per_s": round(timing.copy_gb_per_s, 1),
        "share_of_copy": round(timing.share_of_copy, 3),
    }


def source_digest() -> str:
    """Return the SHA-256 of the sources of the kernels, so that a record of other kernels is seen as such."""
    folder = Path(str(sharedkv.__file__)).parent / "kernels"
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.py")):
        digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return f"sha256:{digest.hexdigest()}"


def write(record: dict[str, Any], folder: Path) -> Path:
    """Write a record into a folder under the name of its device, and return the file; an older one is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    name = this_machine(has_gpu=not record["dry_run"]).slug
    file = folder / f"{name}.json"
    text = json.dumps(record, indent=1, sort_keys=True) + "\n"
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False, encoding="utf-8") as part:
        part.write(text)
    Path(part.name).chmod(0o644)
    os.replace(part.name, file)  # noqa: PTH105 - the name says that it replaces
    return file

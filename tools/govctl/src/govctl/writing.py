"""Write files so that a reader never sees half of one.

Knows how a file is replaced. Knows nothing of what is written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_files(texts: Mapping[Path, str]) -> None:
    """Write all texts beside their targets first, and then put each in its place; on a failure none is left behind."""
    staged: list[tuple[Path, Path]] = []
    try:
        for target, text in texts.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            staged.append((_staged(target, text), target))
        for temporary, target in staged:
            temporary.replace(target)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)


def _staged(target: Path, text: str) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    Path(name).chmod(mode)
    return Path(name)

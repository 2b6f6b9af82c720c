"""Write files so that a reader never sees half of one.

Knows how a file is replaced. Knows nothing of what is written.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def write_files(texts: Mapping[Path, str]) -> None:
    """Write all texts beside their targets first, and then put each in its place.

    On a failure every target is as it was before, and no temporary file is left behind.
    """
    staged: list[tuple[Path, Path]] = []
    try:
        for target, text in texts.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            staged.append((_staged(target, text), target))
        _put_in_place(staged)
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)


def _put_in_place(staged: Sequence[tuple[Path, Path]]) -> None:
    before = {target: target.read_bytes() if target.is_file() else None for _, target in staged}
    done: list[Path] = []
    try:
        for temporary, target in staged:
            temporary.replace(target)
            done.append(target)
    except OSError:
        for target in done:
            _restore(target, before[target])
        raise


def _restore(target: Path, content: bytes | None) -> None:
    if content is None:
        target.unlink()
    else:
        target.write_bytes(content)


def _staged(target: Path, text: str) -> Path:
    content = text.encode()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(mode)
    except OSError:
        temporary.unlink()
        raise
    return temporary

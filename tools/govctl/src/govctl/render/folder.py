"""Put rendered files into a folder, all of them or none.

Knows how a folder of pages is replaced: the new one is written in full beside it, then takes its place. Only a folder
that was rendered before is replaced. Knows nothing of pages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

_MARKER = ".rendered"
_MARKER_TEXT = b"This folder is replaced by every `govctl render`.\n"


class ForeignFolderError(Exception):
    """The folder holds something that was not rendered."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def __str__(self) -> str:
        return f"{self.folder} is not a folder of rendered pages, and would be lost; name another or remove it"


class WriteError(Exception):
    """The folder could not be written; what was there is still there."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(folder, reason)
        self.folder = folder
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.folder} cannot be written: {self.reason}; it is as it was"


def differences(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Return the names of files that the folder lacks, has with other bytes, or has too many."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    wanted = {**files, _MARKER: _MARKER_TEXT}
    odd = {name for name in found if name not in wanted}
    return sorted(odd | {name for name, content in wanted.items() if not _holds(found.get(name), content)})


def replace_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the folder hold exactly these files; leave it untouched when it does already."""
    if folder.exists() and not _is_ours(folder):
        raise ForeignFolderError(folder)
    try:
        if folder.exists() and not differences(folder, files):
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as name:
            _swap(folder, _staged(Path(name), files), Path(name) / "old")
    except OSError as error:
        raise WriteError(folder, error.strerror or str(error)) from error


def _staged(parent: Path, files: Mapping[str, bytes]) -> Path:
    staged = parent / "new"
    for name, content in {**files, _MARKER: _MARKER_TEXT}.items():
        path = staged / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return staged


def _swap(folder: Path, new: Path, old: Path) -> None:
    """Put the new folder in the place of the old one, which is left to be removed; on a failure put it back."""
    if not folder.exists():
        new.rename(folder)
        return
    folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        old.rename(folder)
        raise


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and ((folder / _MARKER).is_file() or not any(folder.iterdir()))


def _holds(path: Path | None, content: bytes) -> bool:
    return path is not None and path.read_bytes() == content

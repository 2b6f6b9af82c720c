"""Read files and list folders.

Knows the file system: whole-file reads, sorted walks, globs, encodings. Symbolic links are never followed, so that
each real file is read once and no walk can run in a circle. Knows nothing of what the files hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from govctl.places import Place, Text
from govctl.problems import ProblemKind, Problems

_SKIPPED_FOLDERS = {"__pycache__", "node_modules"}
_BLOCK = 1 << 16
_BINARY = getattr(os, "O_BINARY", 0)  # Windows translates line ends without it
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_bytes(root: Path, file: str, problems: Problems) -> bytes | None:
    """Return the bytes of a file; None, and a problem, when that cannot be done."""
    try:
        return _content(f"{root}/{file}")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable file name"
        problems.add(
            ProblemKind.UNREADABLE,
            Place(file=file),
            f"cannot be read: {reason}",
            "make it a plain file that can be read",
        )
        return None


def _content(path: str) -> bytes:
    """Read a whole file with as few calls as can be: a tree has ten thousand small ones."""
    handle = os.open(path, os.O_RDONLY | _BINARY)
    try:
        content = os.read(handle, _BLOCK)
        if len(content) < _BLOCK:
            return content
        parts = [content]
        while parts[-1]:
            parts.append(os.read(handle, _BLOCK))
        return b"".join(parts)
    finally:
        os.close(handle)


def read_text(root: Path, file: str, problems: Problems) -> str | None:
    """Return the text of a UTF-8 file with LF line ends; None, and a problem, when it is none."""
    content = read_bytes(root, file, problems)
    return None if content is None else decode(file, content, problems)


def decode(file: str, content: bytes, problems: Problems) -> str | None:
    """Return the text of UTF-8 bytes with LF line ends; None, and a problem, when they are none."""
    if content.startswith(_BYTE_ORDER_MARK):
        problems.add(
            ProblemKind.BYTE_ORDER_MARK,
            Place(file=file),
            "begins with a UTF-8 byte order mark",
            "save the file as UTF-8 without a byte order mark",
        )
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", errors="replace").replace("\r\n", "\n")
        place = Text(file=file, text=before).place(len(before))
        message = f"is not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}{_guess(content)}"
        problems.add(ProblemKind.NOT_UTF8, place, message, "save the file as UTF-8")
        return None
    return _with_lf(file, text, problems) if "\r" in text else text


def _with_lf(file: str, text: str, problems: Problems) -> str | None:
    """Return the text with LF for CRLF; None, and a problem, when a carriage return stands alone."""
    unix = text.replace("\r\n", "\n")
    at = unix.find("\r")
    if at < 0:
        return unix
    problems.add(
        ProblemKind.CARRIAGE_RETURN,
        Text(file=file, text=unix[:at]).place(at),
        "holds a carriage return without a line feed",
        "save the file with LF or CRLF line ends",
    )
    return None


def _guess(content: bytes) -> str:
    return " (it looks like UTF-16)" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""


def list_folder(root: Path, folder: str, problems: Problems) -> list[tuple[str, bool]]:
    """List names of a folder, sorted, each with whether it is a folder; hidden names are left out.

    A link is left out too, and a link that leads nowhere is a problem. A folder that is not there is empty.
    """
    try:
        entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
    except OSError:
        return []
    names = []
    for entry in entries:
        if entry.is_symlink():
            if not os.path.exists(entry.path):  # noqa: PTH110  # DirEntry holds a string; no Path is needed
                place = Place(file=f"{folder}/{entry.name}")
                problems.add(ProblemKind.UNREADABLE, place, "is a link that leads nowhere", "remove or mend the link")
        elif not entry.name.startswith("."):
            names.append((entry.name, entry.is_dir(follow_symlinks=False)))
    return names


def glob_files(root: Path, patterns: Iterable[str]) -> dict[str, list[str]]:
    """Return the files of each pattern, sorted, relative to the root with forward slashes; `**` crosses folders."""
    return {pattern: _matching(root, pattern) for pattern in patterns}


def _matching(root: Path, pattern: str) -> list[str]:
    head, wildcard, _ = re.split(r"([*?\[]|$)", pattern, maxsplit=1)
    if not wildcard:
        return [pattern] if _is_file_inside(root, pattern) else []
    folder = head.rpartition("/")[0]
    accepts = re.compile(glob_expression(pattern), re.DOTALL)
    return [file for file in _walk(root, folder) if accepts.fullmatch(file)]


def _is_file_inside(root: Path, file: str) -> bool:
    return ".." not in file.split("/") and (root / file).is_file() and not (root / file).is_symlink()


def _walk(root: Path, folder: str) -> list[str]:
    found: list[str] = []
    stack = [] if ".." in folder.split("/") else [folder]
    while stack:
        here = stack.pop()
        for name, is_folder in list_folder(root, here or ".", Problems()):
            path = f"{here}/{name}" if here else name
            if not is_folder:
                found.append(path)
            elif name not in _SKIPPED_FOLDERS:
                stack.append(path)
    return sorted(found)


def glob_expression(pattern: str) -> str:
    """Return the regular expression of a glob: `**` crosses folders, `*` and `?` do not."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    wildcards = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(wildcards.get(part, re.escape(part)) for part in parts)

"""Examples of a rule: what changes between a valid tree and an invalid one, and what is then found.

Knows the folders `<CODE>/valid` and `<CODE>/invalid` with its `expected.txt`. Knows nothing of rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from govctl.files import glob_files, read_bytes
from govctl.problems import Problems

_EXPECTED = "expected.txt"


@dataclass(frozen=True, kw_only=True)
class Example:
    """What makes a valid tree invalid, as a unified diff, and the findings of the invalid tree."""

    difference: str
    found: tuple[str, ...]


def read_examples(root: Path, folder: str) -> dict[str, Example]:
    """Return the examples below a folder by their codes."""
    codes: dict[str, dict[str, bytes]] = {}
    for file in glob_files(root, [f"{folder}/**"])[f"{folder}/**"]:
        code, _, rest = file.removeprefix(f"{folder}/").partition("/")
        content = read_bytes(root, file, Problems())
        if rest and content is not None:
            codes.setdefault(code, {})[rest] = content
    return {code: _example(files) for code, files in sorted(codes.items())}


def _example(files: Mapping[str, bytes]) -> Example:
    valid, invalid = _side(files, "valid/"), _side(files, "invalid/")
    found = invalid.pop(_EXPECTED, b"").decode("utf-8", errors="replace").splitlines()
    parts = [_difference(name, valid.get(name), invalid.get(name)) for name in sorted({*valid, *invalid})]
    return Example(difference="\n".join(part for part in parts if part), found=tuple(found))


def _side(files: Mapping[str, bytes], prefix: str) -> dict[str, bytes]:
    return {name.removeprefix(prefix): content for name, content in files.items() if name.startswith(prefix)}


def _difference(name: str, before: bytes | None, after: bytes | None) -> str:
    if before == after:
        return ""
    lines = unified_diff(_lines(before), _lines(after), f"valid/{name}", f"invalid/{name}", n=2, lineterm="")
    heads = {f"--- valid/{name}": f"--- {'not there' if before is None else f'valid/{name}'}"}
    heads[f"+++ invalid/{name}"] = f"+++ {'not there' if after is None else f'invalid/{name}'}"
    return "\n".join(heads.get(line, line) for line in lines)


def _lines(content: bytes | None) -> list[str]:
    """Return the lines; what is no UTF-8 or no ordinary character is shown by its number."""
    text = (content or b"").decode("utf-8", errors="backslashreplace")
    return [line.replace("\r", "\\r").replace("\ufeff", "\\ufeff") for line in text.split("\n")]

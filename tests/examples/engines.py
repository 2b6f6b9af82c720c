"""The example engines as programs: copied, changed by one line where a test wants a fault, and built."""

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SOURCES = {
    "cpp": (EXAMPLES / "cpp" / "main.cpp", EXAMPLES / "cpp" / "pool.hpp", EXAMPLES / "cpp" / "Makefile"),
    "js": (EXAMPLES / "javascript" / "main.js", EXAMPLES / "javascript" / "pool.js"),
    "python": (EXAMPLES / "python" / "adapter.py",),
}
Changed = Callable[[str], str]


def one_line(right: str, wrong: str) -> Changed:
    """Return the change of a part of one line that stands once."""

    def change(text: str) -> str:
        assert text.count(right) == 1, f"{right!r} stands {text.count(right)} times"

        return text.replace(right, wrong)

    return change


def engine(language: str, folder: Path, change: Changed | None = None) -> str:
    """Put the engine of a language into a folder, with its pool changed, and return its name for `--impl`."""
    for source in SOURCES[language]:
        text = source.read_text(encoding="utf-8")
        (folder / source.name).write_text(change(text) if change and source.stem == "pool" else text, encoding="utf-8")
    if language == "js":
        return f"cmd:node {folder / 'main.js'}"
    if language == "python":
        return f"{folder / 'adapter.py'}:make"
    subprocess.run(["make", "-s", "-C", str(folder), "CXXFLAGS=-O0 -Wall -Wextra -Werror"], check=True)  # noqa: S607 - from the path, as people call it
    return f"cmd:{folder / 'engine'}"

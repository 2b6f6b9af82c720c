"""`kvconform init-adapter`: a complete small engine with its adapter, to be replaced piece by piece by one's own."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from sharedkv_conformance.commands.terminal import Terminal
from sharedkv_conformance.exits import CommandError, Exit

PROFILE = "allocation-core"
# For each language the files of its template, how they are built, and how the result is named; {0} is the folder.
FILES: Mapping[str, tuple[str, ...]] = {
    "python": ("adapter.py",),
    "cpp": ("Makefile", "main.cpp", "pool.hpp"),
    "js": ("main.js", "pool.js"),
}
BUILD: Mapping[str, str] = {"cpp": "make -C {0}"}
NAME: Mapping[str, str] = {
    "python": "{0}/adapter.py:make",
    "cpp": '"cmd:{0}/engine"',
    "js": '"cmd:node {0}/main.js"',
}


def init_adapter_command(options: Namespace, terminal: Terminal) -> Exit:
    """Write the template of a language and say what to do with it; a file that is there is never overwritten."""
    folder: Path = options.output or Path(f"{options.language}-adapter")
    texts = dict(_template(options.language))
    if there := sorted(name for name in texts if (terminal.folder / folder / name).exists()):
        raise CommandError(Exit.USAGE, f"{folder} has {', '.join(there)} already; nothing was written")
    for name, text in texts.items():
        terminal.write_file(folder / name, text)
        terminal.say(f"wrote {folder / name}")
    terminal.say(_next_steps(options.language, folder))
    return Exit.AS_EXPECTED


def _template(language: str) -> Iterator[tuple[str, str]]:
    place = files("sharedkv_conformance").joinpath("templates", language)
    for name in FILES[language]:
        yield name, place.joinpath(name).read_text(encoding="utf-8")


def _next_steps(language: str, folder: Path) -> Iterator[str]:
    name = NAME[language].format(folder)
    yield ""
    yield "It is a whole engine and conformant as it stands. Try it, then replace its pool by calls into yours:"
    if language in BUILD:
        yield f"  {BUILD[language].format(folder)}"
    yield f"  kvconform smoke --impl {name}"
    yield f"  kvconform run --impl {name} --profile {PROFILE}"

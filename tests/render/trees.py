"""The small tree of the other tests with what pages show beside it, and its pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from govctl import load_tree
from govctl.render.material import Material, gather
from govctl.render.site import site_files
from tests.govctl.trees import CHECKS, CONFIG, EVIDENCE, FILES, write, write_tree

RFC_PAGE = "docs/rfc/RFC-0001.md"
CASES = "cases.toml"
SITE = """
[site]
pages = "hand"
examples = "examples"
cases = "cases.toml"
contract = ["contract/*.py"]

[[site.reserved]]
rfc = "RFC-0002"
facet = "walls"
covers = "what walls are for"
"""
EXTRAS: dict[str, str | bytes | None] = {
    CONFIG: FILES[CONFIG] + SITE,
    CHECKS: '''\
@law("RFC-0001:C-RULE#S1", on="room.take")
def one_page_stays_free(before, call, answer): ...


@check("room.one-page", "RFC-0001:C-RULE#S1", witnesses=("lane_is_full",), cases=("KV-1",))
def test_one_page():
    """A lane without a free page stalls every rank."""


@check("room.two-pages", "RFC-0001:C-RULE#S2")
def test_two_pages(): ...
''',
    "suite/mutants.py": '''\
@mutant("room.takes-all", kills="RFC-0001:C-RULE#S1", also={"RFC-0001:C-RULE#S2": "it takes two"})
class TakesAll:
    """Takes the last page too."""


@benign("room.keeps-one", declines={"RFC-0001:C-RULE#S2": "one page is enough for it"})
class KeepsOne:
    """Keeps one page and never two."""
''',
    CASES: """\
[[cases]]
id = "KV-1"
title = "A lane runs dry"
link = "owner/project#12"
summary = "Every rank waited for one lane."
restated = "Take all pages of lane 0."
""",
    "contract/room.py": '''\
"""Room: what a lane keeps."""
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

@dataclass(frozen=True)
class Taken:
    """What was taken."""
    pages: tuple[int, ...]
    lane: int = 0

class Why(Enum):
    """Why not."""
    FULL = "full"

class Room(Protocol):
    """The lanes."""
    def take(self, count: int) -> Taken:
        """Take pages, or raise `Full`."""

class _Hidden: ...
''',
    "examples/G0101/valid/a.txt": "one\ntwo\n",
    "examples/G0101/invalid/a.txt": b"one\n\xff\n",
    "examples/G0101/invalid/expected.txt": "a.txt:2:1 error G0101 is not UTF-8\n",
    "hand/index.md": "# Rooms\n\n<!-- govctl: coverage -->\n\n[the rule](rfc/RFC-0001.md#C-RULE.S1)\n",
    "hand/guide.md": "# How to `begin`\n",
    "hand/assets/extra.css": "p { color: red }\n",
}


def rich_tree(root: Path, files: Mapping[str, str | bytes | None] | None = None) -> Path:
    """Write the tree with everything that pages can show and fresh evidence, and then the files of the test over it."""
    write_tree(root, EXTRAS)
    evidence = load_tree(root).evidence["RFC-0001"].evidence
    fresh = replace(evidence, digests=load_tree(root).digests_of("RFC-0001"))
    write(root, {EVIDENCE: fresh.canonical()})
    write(root, files or {})
    return root


def material(root: Path) -> Material:
    """Return what the pages of a tree are made of."""
    return gather(root, load_tree(root))


def pages(root: Path) -> dict[str, str]:
    """Return the text of every rendered file."""
    return {name: content.decode() for name, content in site_files(material(root)).items()}

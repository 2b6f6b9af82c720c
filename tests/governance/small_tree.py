"""A small tree in a folder of its own, and the program that judges it.

Knows how a tree is written, edited, accepted, proven, rendered and checked. Knows no rule.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from govctl import cli, load_tree
from govctl.acceptance import accept
from govctl.evidence import Evidence, MutantEvidence
from govctl.lock import Lock
from govctl.marks import MarkKind
from govctl.rules.table import RULES
from tests.governance.sound import EVIDENCE, FILES, LOCK

TODAY = "2026-06-05"  # the day after the newest version of the sound tree
Program = Callable[[Sequence[str]], int]
_RULE_NAMES = {rule.name for rule in RULES}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a program returned and printed."""

    exit_code: int
    output: str


class SmallTree:
    """A tree that a mutant may break; `program` is govctl, unless the mutant is a wrong one.

    Commands read: what the tree holds changes by the methods of this class alone, and then findings are asked anew.
    """

    def __init__(self, root: Path, program: Program = cli.main) -> None:
        self.root = root
        self.program = program
        self._findings: list[Mapping[str, object]] | None = None

    @classmethod
    def sound(cls, root: Path) -> SmallTree:
        """Write the sound tree below a folder."""
        tree = cls(root)
        for file, text in FILES.items():
            tree.write(file, text)
        tree.settle()
        return tree

    def text(self, file: str) -> str:
        """Return what a file holds."""
        return (self.root / file).read_text(encoding="utf-8")

    def write(self, file: str, text: str) -> None:
        """Write a file, in a new folder if need be."""
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        self._findings = None

    def edit(self, file: str, old: str, new: str) -> None:
        """Put one text in the place of another that stands in a file."""
        text = self.text(file)
        if old not in text:
            raise LookupError(f"{old!r} is not in {file}")
        self.write(file, text.replace(old, new))

    def remove(self, file: str) -> None:
        """Remove a file."""
        (self.root / file).unlink()
        self._findings = None

    def settle(self) -> None:
        """Accept every sentence as if it were the first, seal the version, and prove what there is."""
        self.write(LOCK, Lock().text())
        self.accept()
        self.seal()
        self.prove()

    def accept(self) -> None:
        """Accept every sentence that is new or changed, as a maintainer does by name; seals stay."""
        loaded = load_tree(self.root)
        self.write(LOCK, accept(loaded, sorted(loaded.statement_by_id), [], all_new=False).lock.text())

    def seal(self) -> None:
        """Seal the version with the statements that are there, also over an older seal of it."""
        loaded = load_tree(self.root)
        self.write(LOCK, loaded.lock.with_seals(loaded.seal_of(rfc) for rfc in loaded.rfc_by_id).text())

    def prove(self) -> None:
        """Write evidence in which each check that runs passes and kills the mutants of its statements."""
        loaded = load_tree(self.root)
        mutants = {
            mark.slug: MutantEvidence(
                kills=mark.statements[0],
                killed_by=tuple(check.slug for check in loaded.live_checks_of(mark.statements[0])),
            )
            for mark in loaded.marks
            if mark.kind is MarkKind.MUTANT
        }
        evidence = Evidence(
            rfc="RFC-0001",
            implementation="example",
            checks={check.slug: "pass" for check in loaded.checks if not check.skipped_by},
            mutants=mutants,
            digests=loaded.digests_of("RFC-0001"),
        )
        self.write(EVIDENCE, evidence.canonical())

    def run(self, *arguments: str, folder: str = ".") -> Answer:
        """Run the program in a folder of the tree."""
        output = StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            exit_code = self.program(["-C", str(self.root / folder), *arguments])
        return Answer(exit_code=exit_code, output=output.getvalue())

    def found(self, *rules: str) -> list[str]:
        """Return what `check` finds by these rules, in its words; each must be one that govctl has."""
        if unknown := sorted(set(rules) - _RULE_NAMES):
            raise LookupError(f"govctl has no rules {', '.join(unknown)}")
        if self._findings is None:
            self._findings = json.loads(self.run("check", "--format", "json", "--today", TODAY).output)["findings"]
        return [f"{found['name']}: {found['message']}" for found in self._findings if found["name"] in rules]

    def files(self) -> dict[str, bytes]:
        """Return every file of the tree with its bytes."""
        paths = sorted(path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def restore(self, files: Mapping[str, bytes]) -> None:
        """Make the tree hold exactly these files again."""
        now = self.files()
        for file in sorted(now.keys() - files.keys()):
            self.remove(file)
        for file, content in files.items():
            if now.get(file) != content:
                self.write(file, content.decode())

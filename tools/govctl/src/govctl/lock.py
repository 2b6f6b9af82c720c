"""The lock: the digest of each sentence as it was last accepted.

Knows the format of `gov/statements.lock` and how a new one is made from an old one. One line a statement, sorted by
id: the id, the digest, and the word `withdrawn` for a statement that is gone for good; then one line a sealed version
of an RFC. Ids never leave the file.
Knows nothing of sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from govctl import grammar
from govctl.places import Place
from govctl.problems import ProblemKind, Problems

LOCK_FILE = "gov/statements.lock"
_HEADER = """\
# The sha256 of each sentence as it was last accepted; written by `govctl lock`, read by `govctl check`.
# One line a statement. Ids never leave this file: `withdrawn` marks a statement that is gone for good.
"""
_SEAL_HEADER = "# Sealed versions: the digest of all statements, and that of the MUST statements.\n"
_LINE = re.compile(f"({grammar.STATEMENT}) ({grammar.HEX_DIGEST})( withdrawn)?")
_SEAL = re.compile(f"({grammar.RFC})@({grammar.VERSION}) ({grammar.HEX_DIGEST}) ({grammar.HEX_DIGEST})")


class Entry(NamedTuple):
    """One locked statement."""

    id: str
    digest: str
    is_withdrawn: bool = False
    line: int = 1

    @property
    def place(self) -> Place:
        """Return where the entry stands."""
        return Place(file=LOCK_FILE, line=self.line)


@dataclass(frozen=True, kw_only=True)
class Seal:
    """What one version of an RFC demands, as digests: of its statements, and of those that are a MUST."""

    rfc: str
    version: str
    digest: str
    must_digest: str
    line: int = field(default=1, compare=False)

    @property
    def name(self) -> str:
        """Return the name of the version, such as RFC-0001@0.2.0."""
        return f"{self.rfc}@{self.version}"

    @property
    def place(self) -> Place:
        """Return where the seal stands."""
        return Place(file=LOCK_FILE, line=self.line)


@dataclass(frozen=True, kw_only=True)
class Lock:
    """All locked statements by id, and the seals of versions by name."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    seals: Mapping[str, Seal] = field(default_factory=dict)

    @cached_property
    def _by_clause(self) -> dict[str, list[Entry]]:
        index: dict[str, list[Entry]] = {}
        for identifier in sorted(self.entries, key=grammar.sort_key):
            index.setdefault(grammar.clause_of(identifier), []).append(self.entries[identifier])
        return index

    @cached_property
    def _seals_by_rfc(self) -> dict[str, list[Seal]]:
        index: dict[str, list[Seal]] = {}
        for seal in sorted(self.seals.values(), key=lambda seal: grammar.version_key(seal.version)):
            index.setdefault(seal.rfc, []).append(seal)
        return index

    def of_clause(self, clause: str) -> list[Entry]:
        """Return the entries of one clause by number, withdrawn ones too."""
        return self._by_clause.get(clause, [])

    def with_entries(self, changed: Mapping[str, Entry]) -> Lock:
        """Return a lock in which these entries are new or replaced."""
        return Lock(entries={**self.entries, **changed}, seals=self.seals)

    def with_seals(self, new: Iterable[Seal]) -> Lock:
        """Return a lock in which these versions are sealed too."""
        return Lock(entries=self.entries, seals={**self.seals, **{seal.name: seal for seal in new}})

    def seals_of(self, rfc: str) -> list[Seal]:
        """Return the sealed versions of an RFC, the oldest first."""
        return self._seals_by_rfc.get(rfc, [])

    def text(self) -> str:
        """Return the text of the file."""
        ids = sorted(self.entries, key=grammar.sort_key)
        seals = [seal for rfc in sorted({seal.rfc for seal in self.seals.values()}) for seal in self.seals_of(rfc)]
        lines = [_line(self.entries[identifier]) for identifier in ids]
        lines += [_SEAL_HEADER] if seals else []
        return _HEADER + "".join([*lines, *(f"{s.name} {s.digest} {s.must_digest}\n" for s in seals)])


def _line(entry: Entry) -> str:
    return f"{entry.id} {entry.digest}{' withdrawn' if entry.is_withdrawn else ''}\n"


def parse_lock(text: str, problems: Problems) -> Lock:
    """Return the entries of a lock; each line that is none is a problem, and so is an id that stands twice."""
    entries: dict[str, Entry] = {}
    seals: dict[str, Seal] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if entry := _LINE.fullmatch(line):
            name, digest, withdrawn = entry.groups()
            new = Entry(id=name, digest=digest, is_withdrawn=withdrawn is not None, line=number)
            if entries.setdefault(name, new) is not new:
                _twice(name, number, entries[name].line, problems)
        elif match := _SEAL.fullmatch(line):
            rfc, version, digest, must_digest = match.groups()
            seal = Seal(rfc=rfc, version=version, digest=digest, must_digest=must_digest, line=number)
            if seals.setdefault(seal.name, seal) is not seal:
                _twice(seal.name, number, seals[seal.name].line, problems)
        else:
            problems.add(
                ProblemKind.LOCK,
                Place(file=LOCK_FILE, line=number),
                "is not a line of the lock",
                "restore the line from version control",
                subject=line[:80],
            )
    return Lock(entries=entries, seals=seals)


def _twice(name: str, line: int, first: int, problems: Problems) -> None:
    message = f"{name} stands in the lock twice"
    mend = f"keep one of the two lines; the other is line {first}"
    problems.add(ProblemKind.LOCK, Place(file=LOCK_FILE, line=line), message, mend)

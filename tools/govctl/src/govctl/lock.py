"""The lock: the digest of each sentence as it was last accepted.

Knows the format of `gov/statements.lock` and how a new one is made from an old one. One line a statement, sorted by
id: the id, the digest, and the word `withdrawn` for a statement that is gone for good. Ids never leave the file.
Knows nothing of sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from govctl import grammar
from govctl.places import Place, Text
from govctl.problems import ProblemKind, Problems

LOCK_FILE = "gov/statements.lock"
_HEADER = """\
# The sha256 of each sentence as it was last accepted; written by `govctl lock`, read by `govctl check`.
# One line a statement. Ids never leave this file: `withdrawn` marks a statement that is gone for good.
"""
_LINE = re.compile(f"({grammar.STATEMENT}) ({grammar.HEX_DIGEST})( withdrawn)?")


@dataclass(frozen=True, kw_only=True)
class Entry:
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
class Lock:
    """All locked statements by id."""

    entries: Mapping[str, Entry] = field(default_factory=dict)

    def of_clause(self, clause: str) -> list[Entry]:
        """Return the entries of one clause by number, withdrawn ones too."""
        found = [entry for entry in self.entries.values() if grammar.clause_of(entry.id) == clause]
        return sorted(found, key=lambda entry: grammar.sort_key(entry.id))

    def with_entries(self, changed: Mapping[str, Entry]) -> Lock:
        """Return a lock in which these entries are new or replaced."""
        return Lock(entries={**self.entries, **changed})

    def text(self) -> str:
        """Return the text of the file."""
        ids = sorted(self.entries, key=grammar.sort_key)
        return _HEADER + "".join(_line(self.entries[identifier]) for identifier in ids)


def _line(entry: Entry) -> str:
    return f"{entry.id} {entry.digest}{' withdrawn' if entry.is_withdrawn else ''}\n"


def parse_lock(text: str, problems: Problems) -> Lock:
    """Return the entries of a lock; each line that is none is a problem, and so is an id that stands twice."""
    entries: dict[str, Entry] = {}
    source = Text(file=LOCK_FILE, text=text)
    for number, line in enumerate(source.text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        place = Place(file=LOCK_FILE, line=number)
        if match is None:
            problems.add(
                ProblemKind.LOCK,
                place,
                "is not a line of the lock",
                "restore the line from version control",
                subject=line[:80],
            )
        elif match.group(1) in entries:
            first = entries[match.group(1)].line
            message = f"{match.group(1)} stands in the lock twice"
            problems.add(ProblemKind.LOCK, place, message, f"keep one of the two lines; the other is line {first}")
        else:
            entries[match.group(1)] = Entry(
                id=match.group(1), digest=match.group(2), is_withdrawn=match.group(3) is not None, line=number
            )
    return Lock(entries=entries)

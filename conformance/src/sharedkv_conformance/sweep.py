"""One drawn run judged by every law of a facet at once: a law that holds in it needs no run of its own.

Derandomized runs of one facet draw the same histories whatever laws are on, so that running them once tells what each
law would have said alone. A law that was broken is run again by itself, for a reduced trace of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sharedkv_conformance.ground import Ground
from sharedkv_conformance.history import Violation
from sharedkv_conformance.marks import Law


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What a sweep saw: the first violation of each statement, the witnesses, and how many histories there were."""

    laws: frozenset[tuple[str, str]]
    broken: Mapping[str, Violation]
    raised: Counter[str]
    examples: int

    def covers(self, laws: Sequence[Law]) -> bool:
        """Say whether every one of these laws was on."""
        return all((law.statement, law.name) in self.laws for law in laws)

    def violation_of(self, laws: Sequence[Law]) -> Violation | None:
        """Return the first violation of a statement of these laws."""
        return next((self.broken[law.statement] for law in laws if law.statement in self.broken), None)


@dataclass
class Sweeps:
    """The sweeps of one implementation, each made when it is first asked for; None where one could not be finished."""

    grounds: Mapping[str, Ground]
    done: dict[str, Swept | None] = field(default_factory=dict)

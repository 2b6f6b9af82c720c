"""A loaded tree: everything that rules look at.

Knows the whole and its indexes. Knows nothing of the file system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from govctl import grammar
from govctl.config import Config
from govctl.digests import catalogue_digest, sentence_digest, statements_digest
from govctl.evidence import EvidenceFile
from govctl.lock import Lock, Seal
from govctl.marks import BadMark, Mark, MarkKind
from govctl.problems import Problem
from govctl.specification import Clause, Rfc, Statement

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True)
class FacetSources:
    """Files of a facet by kind, and the digest of each kind."""

    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """All that was read.

    `broken` names RFCs and clauses whose file is there but could not be used; `catalogue_text` is what the catalogue
    file holds, None where there is no such file or no such setting; `today` is a date, or nothing when no day counts.
    """

    config: Config
    is_config_broken: bool = False
    are_sources_broken: bool = False
    is_lock_broken: bool = False
    rfcs: tuple[Rfc, ...] = ()
    clauses: tuple[Clause, ...] = ()
    broken: frozenset[str] = frozenset()
    marks: tuple[Mark, ...] = ()
    bad_marks: tuple[BadMark, ...] = ()
    lock: Lock = field(default_factory=Lock)
    evidence: Mapping[str, EvidenceFile] = field(default_factory=dict)
    broken_evidence: frozenset[str] = frozenset()
    sources: Mapping[str, FacetSources] = field(default_factory=dict)
    catalogue_text: str | None = None
    problems: tuple[Problem, ...] = ()
    today: str = ""

    @cached_property
    def rfc_by_id(self) -> dict[str, Rfc]:
        """Map ids to RFCs; of two with one id, the first."""
        return _first([(rfc.id, rfc) for rfc in self.rfcs])

    @cached_property
    def clause_by_id(self) -> dict[str, Clause]:
        """Map full ids to clauses; of two with one id, the first."""
        return _first([(clause.id, clause) for clause in self.clauses])

    @cached_property
    def statement_by_id(self) -> dict[str, Statement]:
        """Map full ids to statements, those of withdrawn clauses too."""
        return _first([(statement.id, statement) for clause in self.clauses for statement in clause.statements])

    @cached_property
    def known_ids(self) -> frozenset[str]:
        """Return the ids of all that could be read."""
        return frozenset().union(self.rfc_by_id, self.clause_by_id, self.statement_by_id)

    @cached_property
    def whole_text(self) -> str:
        """Return the text of all RFC and clause files: a word that is not in here has to be looked for no further."""
        documents = [*(rfc.document for rfc in self.rfcs), *(clause.document for clause in self.clauses)]
        return "\n".join([document.text for document in documents])

    @cached_property
    def checks(self) -> tuple[Mark, ...]:
        """Return all checks, skipped ones too."""
        return tuple(mark for mark in self.marks if mark.kind is MarkKind.CHECK)

    @cached_property
    def _marks_by_statement(self) -> dict[tuple[MarkKind, str], list[Mark]]:
        index: dict[tuple[MarkKind, str], list[Mark]] = {}
        for mark in self.marks:
            for statement in dict.fromkeys(mark.statements):
                index.setdefault((mark.kind, statement), []).append(mark)
        return index

    def marks_of(self, kind: MarkKind, statement: str) -> list[Mark]:
        """Return the marks of one kind that serve a statement."""
        return self._marks_by_statement.get((kind, statement), [])

    def live_checks_of(self, statement: str) -> list[Mark]:
        """Return the checks of a statement that run."""
        return self._live_checks.get(statement, [])

    @cached_property
    def _live_checks(self) -> dict[str, list[Mark]]:
        index: dict[str, list[Mark]] = {}
        for mark in self.checks:
            for statement in () if mark.skipped_by else dict.fromkeys(mark.statements):
                index.setdefault(statement, []).append(mark)
        return index

    @cached_property
    def _clauses_by_rfc(self) -> dict[str, list[Clause]]:
        index: dict[str, list[Clause]] = {}
        for clause in self.clause_by_id.values():
            index.setdefault(clause.rfc, []).append(clause)
        return index

    @cached_property
    def _read_clauses(self) -> dict[str, tuple[Clause, ...]]:
        return {rfc: tuple(self._in_reading_order(rfc)) for rfc in self._clauses_by_rfc}

    @cached_property
    def _active_statements(self) -> dict[str, tuple[Statement, ...]]:
        return {
            rfc: tuple(s for clause in clauses if clause.is_active for s in clause.statements)
            for rfc, clauses in self._read_clauses.items()
        }

    def clauses_of(self, rfc: str) -> tuple[Clause, ...]:
        """Return the clauses of an RFC in reading order, then those that no section lists."""
        return self._read_clauses.get(rfc, ())

    def _in_reading_order(self, rfc: str) -> list[Clause]:
        listed: dict[str, int] = {}
        for section in self.rfc_by_id[rfc].sections if rfc in self.rfc_by_id else ():
            for name in section.clauses:
                listed.setdefault(name, len(listed))
        clauses = self._clauses_by_rfc[rfc]
        return sorted(clauses, key=lambda clause: (listed.get(clause.name, len(listed)), clause.name))

    def active_statements_of(self, rfc: str) -> tuple[Statement, ...]:
        """Return the statements of the active clauses of an RFC, in reading order."""
        return self._active_statements.get(rfc, ())

    def knows(self, identifier: str) -> bool:
        """Say whether an id exists, or may exist in a file that could not be used."""
        if identifier in self.known_ids:
            return True
        return grammar.rfc_of(identifier) in self.broken or grammar.clause_of(identifier) in self.broken

    @property
    def is_specification_partial(self) -> bool:
        """Say whether the settings, an RFC or a clause could not be used."""
        return self.is_config_broken or bool(self.broken)

    @property
    def is_partial(self) -> bool:
        """Say whether so much is unreadable that nothing can be said about coverage."""
        return self.is_specification_partial or self.are_sources_broken

    def seal_of(self, rfc: str) -> Seal:
        """Return the seal that the RFC's version has to have."""
        statements = self.active_statements_of(rfc)
        return Seal(
            rfc=rfc,
            version=self.rfc_by_id[rfc].version,
            digest=statements_digest((s.id, _demand(s)) for s in statements),
            must_digest=statements_digest((s.id, _demand(s)) for s in statements if s.level == "MUST"),
        )

    def digests_of(self, rfc: str) -> dict[str, str]:
        """Return the digests that evidence of an RFC must hold."""
        pairs = [(statement.id, statement.digest) for statement in self.active_statements_of(rfc)]
        return {"statements": statements_digest(pairs), **self.sources.get(rfc, FacetSources()).digests}

    @cached_property
    def catalogue(self) -> str:
        """Return the digest over statements and the checks that are bound to them."""
        return catalogue_digest(
            (statement.id, statement.digest, check.slug)
            for rfc in self.rfc_by_id
            for statement in self.active_statements_of(rfc)
            for check in self.live_checks_of(statement.id)
        )


def _first(pairs: Sequence[tuple[str, _Value]]) -> dict[str, _Value]:
    index = dict(pairs)
    if len(index) < len(pairs):  # a key stands twice
        index |= dict(reversed(pairs))
    return index


def _demand(statement: Statement) -> str:
    """Return the digest of a sentence with the features and the exclusion that narrow what it demands."""
    if not statement.features and statement.excluded is None:
        return statement.digest
    kind = statement.excluded.kind if statement.excluded else ""
    return sentence_digest(f"{statement.digest} {' '.join(sorted(statement.features))} {kind}")

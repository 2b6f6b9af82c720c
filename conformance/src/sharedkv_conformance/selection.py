"""Which checks a run is asked for. A filtered run never speaks for the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.marks import Check


class SelectionError(Exception):
    """A filter names something that the catalogue does not have."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(self.problems)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Filters of a run: values of one kind widen it, kinds narrow one another. Empty means everything."""

    checks: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()

    @property
    def is_filtered(self) -> bool:
        """Say whether anything is left out on purpose."""
        return bool(self.checks or self.statements or self.clauses or self.facets)

    def selects(self, check: Check) -> bool:
        """Say whether a check is asked for."""
        return (
            (not self.checks or any(fnmatchcase(check.slug, pattern) for pattern in self.checks))
            and (not self.statements or bool(set(self.statements) & set(check.statements)))
            and (not self.clauses or bool(set(self.clauses) & {clause_of(name) for name in check.statements}))
            and (not self.facets or check.facet in self.facets)
        )

    def checked(self, catalogue: Catalogue) -> Selection:
        """Return the selection itself, or raise `SelectionError` when it can match nothing."""
        if problems := tuple(self._problems(catalogue)):
            raise SelectionError(problems)
        if not any(self.selects(check) for check in catalogue.checks):
            raise SelectionError(("no check is selected by every filter; each kind of filter narrows the others",))
        return self

    def _problems(self, catalogue: Catalogue) -> Iterator[str]:
        slugs = [check.slug for check in catalogue.checks]
        for pattern in self.checks:
            if not any(fnmatchcase(slug, pattern) for slug in slugs):
                yield f"no check matches {pattern!r}{_hint(pattern, slugs)}"
        for kind, names, known in (
            ("statement", self.statements, list(catalogue.statements)),
            ("clause", self.clauses, sorted({clause_of(name) for name in catalogue.statements})),
            ("facet", self.facets, sorted({check.facet for check in catalogue.checks})),
        ):
            for name in names:
                if name not in known:
                    yield f"no {kind} {name!r}{_hint(name, known)}"


def clause_of(statement: str) -> str:
    """Return the clause of a statement id."""
    return statement.partition("#")[0]


def _hint(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, 1)
    return f"; did you mean {close[0]}?" if close else ""

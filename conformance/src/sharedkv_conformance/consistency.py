"""Whether every part of the suite pulls its weight: statements have mutants, laws have checks, checks have laws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.result import CheckResult


def inconsistencies(catalogue: Catalogue, results: Mapping[str, CheckResult]) -> Iterator[str]:
    """Yield each gap; `results` are those of a run of every check, which tell the laws that each used."""
    yield from _unproven_musts(catalogue)
    yield from _idle_laws(catalogue, results)
    yield from _lawless_checks(catalogue, results)


def _unproven_musts(catalogue: Catalogue) -> Iterator[str]:
    facets = {check.facet for check in catalogue.checks}
    killed = {mutant.kills for mutant in catalogue.mutants}
    for statement in catalogue.statements.values():
        if not statement.is_must or statement.excluded or catalogue.specification.facet(statement) not in facets:
            continue
        if not catalogue.checks_of[statement.id]:
            yield f"{statement.id} has no check"
        if statement.id not in killed:
            yield f"{statement.id} has no mutant"


def _idle_laws(catalogue: Catalogue, results: Mapping[str, CheckResult]) -> Iterator[str]:
    used = {law for result in results.values() for law in result.laws}
    for law in catalogue.laws:
        if not catalogue.checks_of.get(law.statement):
            yield f"law {law.name} is of {law.statement}, which has no check"
        elif (law.statement, law.name) not in used:
            yield f"law {law.name} of {law.statement} is used by no check"


def _lawless_checks(catalogue: Catalogue, results: Mapping[str, CheckResult]) -> Iterator[str]:
    for check in catalogue.checks:
        judged = {statement for statement, _ in results[check.slug].laws}
        for statement in check.statements:
            if statement not in judged:
                yield f"check {check.slug} speaks for {statement} and uses no law of it"

"""The self-test: who tests the tests. Puts the trials together and says what is wrong with the suite.

Trials are independent of one another and are handed to a mapping function, so that they may run in several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.consistency import inconsistencies
from sharedkv_conformance.contract.implementation import Description, Implementation
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.naming import MODEL
from sharedkv_conformance.parity import ParityTrial, trial_of_parity
from sharedkv_conformance.pathological import pathological
from sharedkv_conformance.status import Status
from sharedkv_conformance.trials import (
    BenignTrial,
    MutantTrial,
    PathologicalTrial,
    Results,
    trial_of_benign,
    trial_of_implementation,
    trial_of_mutant,
    trial_of_pathological,
)

SELFTEST_VERSION = 1


class Kind(StrEnum):
    """What is put to a trial."""

    CHECKS = "checks"
    MUTANT = "mutant"
    BENIGN = "benign"
    PATHOLOGICAL = "pathological"
    PARITY = "parity"


@dataclass(frozen=True, kw_only=True)
class Task:
    """One trial by name, which is all that another process needs to know. `name` of checks is an implementation's."""

    kind: Kind
    name: str
    full: bool = False


Mapper = Callable[[Callable[[Task], Any], Sequence[Task]], Iterable[Any]]


@dataclass(frozen=True, kw_only=True)
class Selftest:
    """Every trial, and all that is wrong with the suite."""

    implementation: Description
    results: Results
    mutants: tuple[MutantTrial, ...]
    benign: tuple[BenignTrial, ...]
    pathological: tuple[PathologicalTrial, ...]
    parity: tuple[ParityTrial, ...]
    problems: tuple[str, ...]

    @property
    def killed(self) -> int:
        """Return how many mutants were killed by their statement."""
        return sum(bool(trial.killed_by) for trial in self.mutants)

    @property
    def mean_also(self) -> float:
        """Return how many other statements a mutant breaks on average, as declared."""
        return sum(len(trial.also) for trial in self.mutants) / len(self.mutants) if self.mutants else 0.0


def perform(task: Task, *, catalogue: Catalogue, resolve: Callable[[str], Implementation]) -> Any:
    """Perform one trial."""
    if task.kind is Kind.CHECKS:
        implementation = ModelImplementation() if task.name == MODEL else resolve(task.name)
        return trial_of_implementation(catalogue, implementation)
    if task.kind is Kind.MUTANT:
        mutant = next(mutant for mutant in catalogue.mutants if mutant.slug == task.name)
        return trial_of_mutant(catalogue, mutant, full=task.full)
    if task.kind is Kind.BENIGN:
        benign = next(benign for benign in catalogue.benign if benign.slug == task.name)
        return trial_of_benign(catalogue, benign, full=task.full)
    if task.kind is Kind.PARITY:
        return trial_of_parity(catalogue, task.name, full=task.full)
    return trial_of_pathological(catalogue, pathological()[task.name])


def tasks(catalogue: Catalogue, implementation: str, *, full: bool, parity: Sequence[str] = ()) -> list[Task]:
    """Return every trial, the longest first; `parity` are the names to compare across the wire."""
    return [
        *(Task(kind=Kind.CHECKS, name=name) for name in dict.fromkeys((MODEL, implementation))),
        *(Task(kind=Kind.PARITY, name=name, full=full) for name in parity),
        *(Task(kind=Kind.BENIGN, name=benign.slug, full=full) for benign in catalogue.benign),
        *(Task(kind=Kind.PATHOLOGICAL, name=name) for name in pathological()),
        *(Task(kind=Kind.MUTANT, name=mutant.slug, full=full) for mutant in catalogue.mutants),
    ]


def selftest(  # noqa: PLR0913 - one switch a kind of trial
    catalogue: Catalogue,
    implementation: str,
    description: Description,
    *,
    full: bool = False,
    parity: Sequence[str] = (),
    performing: Callable[[Task], Any] | None = None,
    mapper: Mapper = map,
) -> Selftest:
    """Perform every trial and collect what is wrong; `implementation` is the name of the one that has to pass."""
    planned = tasks(catalogue, implementation, full=full, parity=parity)
    perform_one = performing or partial(perform, catalogue=catalogue, resolve=_only_the_model)
    done = dict(zip(planned, mapper(perform_one, planned), strict=True))
    by_kind = {kind: tuple(found for task, found in done.items() if task.kind is kind) for kind in Kind}
    runs = {task.name: found for task, found in done.items() if task.kind is Kind.CHECKS}
    trials = (*by_kind[Kind.MUTANT], *by_kind[Kind.BENIGN], *by_kind[Kind.PATHOLOGICAL], *by_kind[Kind.PARITY])
    return Selftest(
        implementation=description,
        results=runs[implementation],
        mutants=by_kind[Kind.MUTANT],
        benign=by_kind[Kind.BENIGN],
        pathological=by_kind[Kind.PATHOLOGICAL],
        parity=by_kind[Kind.PARITY],
        problems=(
            *(problem for name, results in runs.items() for problem in _not_passed(name, results)),
            *inconsistencies(catalogue, runs[MODEL]),
            *(problem for trial in trials for problem in trial.problems),
        ),
    )


def selftest_form(done: Selftest, catalogue: Catalogue) -> dict[str, Any]:
    """Return the result as JSON values; it holds no times, so that equal results are equal."""
    return {
        "selftest": SELFTEST_VERSION,
        "implementation": {"name": done.implementation.name, "version": done.implementation.version},
        "catalogue": catalogue.digest,
        "checks": [
            {
                "check": check.slug,
                "status": str(done.results[check.slug].status),
                "statements": list(check.statements),
                "witnesses": dict(done.results[check.slug].witnesses),
            }
            for check in catalogue.checks
        ],
        "mutants": [_mutant_form(trial) for trial in done.mutants],
        "benign": [{"benign": trial.slug, "status": str(trial.status)} for trial in done.benign],
        "pathological": [
            {"pathological": trial.name, "verdict": trial.conformance, "statuses": dict(trial.statuses)}
            for trial in done.pathological
        ],
        "parity": [
            {"parity": trial.name, "compared": trial.compared, "failing": trial.failing} for trial in done.parity
        ],
        "problems": list(done.problems),
    }


def _mutant_form(trial: MutantTrial) -> dict[str, Any]:
    form: dict[str, Any] = {
        "mutant": trial.slug,
        "kills": trial.kills,
        "killed_by": list(trial.killed_by),
        "also": dict(trial.also),
    }
    return form if trial.breaks is None else form | {"breaks": list(trial.breaks)}


def _not_passed(name: str, results: Results) -> Iterator[str]:
    if not results:
        yield f"{name}: there is no check"
    for slug, result in results.items():
        if result.status is not Status.PASS:
            yield f"{name}: check {slug} ends with {result.status}: {result.message}"


def _only_the_model(name: str) -> Implementation:
    message = f"who performs the trials has to know the implementation {name!r}"
    raise LookupError(message)

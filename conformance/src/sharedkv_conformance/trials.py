"""Trials of the suite itself: one wrong, odd or dishonest implementation at a time, against the checks that concern it.

Pure but for running checks: knows nothing of files, processes or how a trial is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sharedkv_conformance.catalogue import Catalogue
from sharedkv_conformance.contract.implementation import Implementation
from sharedkv_conformance.description import described
from sharedkv_conformance.effort import ALARM, GATE, KILL, Effort
from sharedkv_conformance.execution import execute
from sharedkv_conformance.marks import Benign, Check, Mutant
from sharedkv_conformance.model.implementation import ModelImplementation
from sharedkv_conformance.pathological import Pathological
from sharedkv_conformance.progress import Silent
from sharedkv_conformance.result import CheckResult
from sharedkv_conformance.runner import InProcess, run
from sharedkv_conformance.selection import Selection
from sharedkv_conformance.status import Status

Results = Mapping[str, CheckResult]
DISHONEST = replace(KILL, examples=10)
"""Who is wrong everywhere is found out in a few histories."""


@dataclass(frozen=True, kw_only=True)
class MutantTrial:
    """What became of one mutant; `breaks` is known only where every check of the facet was tried."""

    slug: str
    kills: str
    killed_by: tuple[str, ...]
    also: Mapping[str, str] = field(default_factory=dict)
    breaks: tuple[str, ...] | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BenignTrial:
    """What became of one benign variant; `status` is `pass` or `fail`."""

    slug: str
    status: Status
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PathologicalTrial:
    """What became of one pathological implementation: its verdict, and how many checks got which status."""

    name: str
    conformance: str
    statuses: Mapping[str, int]
    problems: tuple[str, ...] = ()


def trial_of_implementation(catalogue: Catalogue, implementation: Implementation, effort: Effort = GATE) -> Results:
    """Run every check on an implementation."""
    return run(
        catalogue,
        InProcess(described(implementation), effort, catalogue),
        selection=Selection(),
        progress=Silent(),
        clock=float,
    ).results


def trial_of_mutant(catalogue: Catalogue, mutant: Mutant, *, full: bool) -> MutantTrial:
    """Run the checks of the statement that a mutant breaks, and in full every other check of its facet."""
    targeted = _results(catalogue, mutant.variant, catalogue.checks_of[mutant.kills])
    killed_by = tuple(slug for slug, result in targeted.items() if _breaks(result, mutant.kills))
    problems = [] if killed_by else [f"mutant {mutant.slug} survives {mutant.kills}: {_statuses(targeted)}"]
    results = _results_of_facet(catalogue, mutant.variant, _facet(mutant.slug)) if full else targeted
    breaks = {result.statement for result in results.values() if result.status is Status.FAIL}
    if full:
        problems += _surprises(mutant, results, breaks)
    return MutantTrial(
        slug=mutant.slug,
        kills=mutant.kills,
        killed_by=killed_by,
        also=mutant.also,
        breaks=tuple(sorted(breaks)) if full else None,
        problems=tuple(problems),
    )


def _surprises(mutant: Mutant, results: Results, breaks: set[str]) -> Iterator[str]:
    """Yield each way in which a mutant is wrong that it does not declare, and each that it declares and is not."""
    for slug, result in results.items():
        if result.status in (Status.ERROR, Status.HARNESS_ERROR):
            yield f"mutant {mutant.slug} ends check {slug} with {result.status}: {result.message}"
    for statement in sorted(breaks - {mutant.kills} - set(mutant.also)):
        by = ", ".join(slug for slug, result in results.items() if _breaks(result, statement))
        yield f"mutant {mutant.slug} also breaks {statement} (by {by}), and does not say so"
    for statement in sorted(set(mutant.also) - breaks):
        yield f"mutant {mutant.slug} says that it also breaks {statement}, and does not"


def trial_of_benign(catalogue: Catalogue, benign: Benign, *, full: bool = True) -> BenignTrial:
    """Run every check of the facet of a benign variant: it fails those that it declines and no others.

    In full every check must pass; otherwise there are few histories, and one that proves nothing is no alarm.
    """
    results = _results_of_facet(catalogue, benign.variant, _facet(benign.slug), KILL if full else ALARM)
    allowed = {Status.PASS} if full else {Status.PASS, Status.VACUOUS}
    failing = {result.statement for result in results.values() if result.status is Status.FAIL}
    problems = [
        f"benign variant {benign.slug} gets {result.status} from {slug}: {result.message}"
        for slug, result in results.items()
        if result.status not in allowed and result.statement not in benign.declines
    ]
    for statement in benign.declines:
        if not catalogue.statements[statement].is_should:
            level = catalogue.statements[statement].level
            problems.append(f"benign variant {benign.slug} declines {statement}, which is {level} and no SHOULD")
        elif statement not in failing:
            problems.append(f"benign variant {benign.slug} declines {statement}, and does not break it")
    return BenignTrial(slug=benign.slug, status=Status.FAIL if problems else Status.PASS, problems=tuple(problems))


def trial_of_pathological(catalogue: Catalogue, kind: Pathological) -> PathologicalTrial:
    """Run every check on a dishonest implementation and compare verdict and statuses with what it is known to get."""
    finished = run(
        catalogue,
        InProcess(described(kind.implementation), DISHONEST, catalogue),
        selection=Selection(),
        progress=Silent(),
        clock=float,
    )
    statuses = Counter(result.status for result in finished.results.values())
    problems = [f"{kind.name}: no check ends with {status}" for status in sorted(kind.gets - set(statuses))]
    for slug, result in finished.results.items():
        if result.status not in kind.gets | kind.may_get:
            problems.append(f"{kind.name}: check {slug} ends with {result.status}: {result.message}")
    if finished.profile.conformance is not kind.conformance:
        problems.append(f"{kind.name}: is {finished.profile.conformance}, has to be {kind.conformance}")
    return PathologicalTrial(
        name=kind.name,
        conformance=str(finished.profile.conformance),
        statuses={str(status): count for status, count in sorted(statuses.items())},
        problems=tuple(problems),
    )


def _results(catalogue: Catalogue, variant: type, checks: Sequence[Check]) -> Results:
    """Run a few checks, each to its first violation; a sweep would cost more than it saves."""
    implementation = described(ModelImplementation.with_variant(variant))
    return {check.slug: execute(check, implementation, KILL, catalogue.witnesses) for check in checks}


def _facet(slug: str) -> str:
    """Return the facet word that a slug begins with; the model that a variant is of may be another facet's."""
    return slug.partition(".")[0]


def _results_of_facet(catalogue: Catalogue, variant: type, facet: str, effort: Effort = KILL) -> Results:
    """Run every check of a facet on a variant, each to its first violation."""
    executor = InProcess(described(ModelImplementation.with_variant(variant)), effort, catalogue)
    return {check.slug: executor.execute(check) for check in catalogue.checks if check.facet == facet}


def _breaks(result: CheckResult, statement: str) -> bool:
    return result.status is Status.FAIL and result.statement == statement


def _statuses(results: Results) -> str:
    return ", ".join(f"{slug} {result.status}" for slug, result in results.items()) or "it has no check"
